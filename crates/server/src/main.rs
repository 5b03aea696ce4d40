//! The `rowcast` program: a REST API in front of a SQL database.

mod api;
#[allow(dead_code, unused_imports, reason = "the pipeline does not call it yet")]
mod auth;
mod cli;
mod config;
mod demo;
mod http;
mod log;
#[allow(dead_code, unused_imports, reason = "the pipeline does not call it yet")]
mod middleware;
mod pipeline;
mod serve;

use std::process::ExitCode;

// speed: fewer and shorter pauses than the system's allocator under threads (docs/performance.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
