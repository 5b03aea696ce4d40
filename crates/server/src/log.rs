//! The log: human or JSON lines on standard error.

use std::io::IsTerminal;
use std::time::Duration;

use tracing::level_filters::LevelFilter;

/// What is logged, and how.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    json: bool,
    level: LevelFilter,
    /// Whether each request is logged.
    pub requests: bool,
}

impl Options {
    /// Reads the settings. The error is a sentence that says what is allowed.
    pub fn parse(format: &str, level: &str, requests: bool) -> Result<Options, String> {
        let json = match format {
            "human" => false,
            "json" => true,
            other => return Err(format!("log.format is '{other}', but takes human or json")),
        };
        let level = level.parse().map_err(|_unknown| {
            format!("log.level is '{level}', but takes error, warn, info, debug or trace")
        })?;
        Ok(Options { json, level, requests })
    }
}

/// Starts logging; called once.
pub fn start(options: Options) {
    let builder = tracing_subscriber::fmt().with_max_level(options.level).with_writer(std::io::stderr);
    // A second start can only happen in tests, where the first log serves as well.
    let started = if options.json {
        builder.json().try_init()
    } else {
        builder.with_target(false).with_ansi(std::io::stderr().is_terminal()).try_init()
    };
    started.ok();
}

/// The line of one request. The path is without its query, because values may be private.
pub fn request(method: &str, path: &str, status: u16, elapsed: Duration) {
    let micros = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
    tracing::info!(method, path, status, micros, "request");
}
