//! The `rowcast` program: a REST API in front of a SQL database.

mod api;
mod auth;
mod cli;
mod config;
mod demo;
mod explain;
mod http;
mod log;
mod middleware;
mod pipeline;
mod scrape;
mod serve;
mod transfer;

use std::process::ExitCode;

// speed: fewer and shorter pauses than the system's allocator under threads (docs/performance.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
