//! A database that is opened for one command, and a runtime for it.

use std::sync::Arc;

use engine::database::Database;
use tokio::task::LocalSet;
use treeql::encode::Format;
use treeql::error::Error;

use crate::config::Config;
use crate::log;

/// Opens the database and runs `work` on a thread like that of a worker.
pub fn with_database<T>(
    config: &Config,
    work: impl AsyncFnOnce(&Arc<Database>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    log::start(config.log);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .on_thread_park(engine::driver::sqlite::end_turn)
        .build()?;
    let database = config.open().map_err(anyhow::Error::msg)?;
    let result = LocalSet::new().block_on(&runtime, work(&database));
    database.close();
    result
}

/// The format that the ending of a file name says.
pub fn format_of(name: &str) -> Option<Format> {
    let ending = name.rsplit('.').next()?.to_ascii_lowercase();
    match ending.as_str() {
        "csv" => Some(Format::Csv),
        "ndjson" | "jsonl" => Some(Format::Ndjson),
        "json" => Some(Format::Json),
        _ => None,
    }
}

/// An error of the protocol as a sentence for the terminal.
pub fn told(error: &Error) -> anyhow::Error {
    let details: Vec<String> =
        error.details.iter().map(|(about, sentence)| format!("{about}: {sentence}")).collect();
    if details.is_empty() {
        return anyhow::Error::msg(error.message());
    }
    anyhow::Error::msg(format!("{} ({})", error.message(), details.join("; ")))
}
