//! `rowcast-lab`: races services that put a database on the web, and writes down what was measured.

mod bout;
mod cli;
mod contestant;
mod contract;
mod field;
mod lab;
mod load;
mod machine;
mod plan;
mod process;
mod report;
mod run;
mod sampler;
mod scenario;
mod servers;
mod statistics;
mod wire;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run() {
        Ok(code) => code,
        Err(error) => cli::explain(&error),
    }
}
