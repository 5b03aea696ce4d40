//! The benchmarks: Rowcast beside the floor and beside the bare drivers (docs/performance.md).

mod alone;
mod database;
mod load;
mod measure;
mod program;
mod report;
mod scenario;
mod wire;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure, print one table, and write it as JSON
    Run(Run),
    /// Answer every request with the bytes of a file: the floor
    Floor { body: PathBuf },
    /// Answer requests with one statement each, by the driver crate alone
    Alone {
        /// A SQLite file, mysql://… or postgres://…
        database: String,
    },
}

/// What to measure, and how long.
#[derive(Args)]
struct Run {
    /// Scenarios; none means all but `bulk`, which takes minutes
    scenarios: Vec<String>,
    /// The program to measure
    #[arg(long)]
    program: PathBuf,
    /// Another program to measure beside it
    #[arg(long)]
    base: Option<PathBuf>,
    /// Engines, separated by commas
    #[arg(long, default_value = "sqlite,mysql,postgres")]
    engines: String,
    /// Interleaved rounds, of which the median counts
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of load in a round
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Rows of the large table
    #[arg(long, default_value_t = 6_000_000)]
    rows: u64,
    /// Where data and results are kept
    #[arg(long, default_value = "target/bench")]
    home: PathBuf,
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Run(run) => scenario::run(&run),
        Command::Floor { body } => alone::floor(&std::fs::read(body)?),
        Command::Alone { database } => alone::serve(&database),
    }
}
