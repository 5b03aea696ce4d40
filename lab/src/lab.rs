//! Where the lab keeps things, and how a run is set.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result};
use tokio::signal::unix::{SignalKind, signal};

use crate::process::end_all;
use crate::run::brief;

/// Everything a scenario needs to know.
pub struct Lab {
    /// `lab/`, with the contestants and the contract.
    pub root: PathBuf,
    /// `target/lab/`: what was built and installed.
    pub build: PathBuf,
    /// Data and logs of this run; deleted with it.
    pub scratch: tempfile::TempDir,
    /// The program under test.
    pub rowcast: PathBuf,
    pub options: Options,
}

/// Counts and durations of a run.
#[derive(Debug, Clone)]
pub struct Options {
    pub rounds: usize,
    /// Of one figure, where time limits it.
    pub seconds: f64,
    pub warm_up: f64,
    pub seed: u64,
    /// Names of contestants; empty for all.
    pub services: Vec<String>,
    /// Only measures whose name has this in it.
    pub measure: Option<String>,
    /// Rows of the storage scenario, and ids of the last one.
    pub rows: u64,
    /// Requests of one figure of `ab`, as published; time ends it earlier unless `published`.
    pub requests: u64,
    pub published: bool,
    /// Figures that mean nothing are enough.
    pub is_quick: bool,
    /// Files of one figure.
    pub files: u64,
    /// Sequential requests of the HTTPS clients.
    pub pages: Vec<u64>,
    /// Calls of each of ten threads.
    pub calls: u64,
    /// Requests a second of the open loops.
    pub rates: Vec<u64>,
}

impl Lab {
    /// # Errors
    ///
    /// If a folder cannot be made.
    pub fn open(options: Options) -> Result<Lab> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).to_owned();
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("../target"), PathBuf::from);
        let build = target.join("lab");
        fs::create_dir_all(&build).with_context(|| build.display().to_string())?;
        let build = build.canonicalize()?;
        // The servers' accounts must reach it, which is not so in a home directory.
        let scratch = tempfile::Builder::new().prefix("rowcast-lab-").tempdir()?;
        fs::set_permissions(scratch.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        end_with_us(scratch.path().to_owned())?;
        let rowcast = env::var_os("ROWCAST").map_or_else(|| target.join("release/rowcast"), PathBuf::from);
        let rowcast = rowcast.canonicalize().with_context(|| {
            format!("no rowcast at {}; `make build`, or name it in ROWCAST", rowcast.display())
        })?;
        Ok(Lab { root, build, scratch, rowcast, options })
    }

    /// A load generator or another tool that `lab/install` put into `target/lab/tools`, or that is on the path.
    pub fn tool(&self, name: &str) -> String {
        let own = self.build.join("tools/bin").join(name);
        if own.exists() { own.display().to_string() } else { name.to_owned() }
    }

    /// Whether the user wants to see this contestant.
    pub fn is_wanted(&self, name: &str) -> bool {
        self.options.services.is_empty() || self.options.services.iter().any(|wanted| wanted == name)
    }

    /// Whether the user wants to see this measure.
    pub fn is_measured(&self, name: &str) -> bool {
        self.options.measure.as_ref().is_none_or(|part| name.contains(part.as_str()))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }
}

/// Waits for Ctrl-C or SIGTERM beside everything else, and leaves nothing behind then.
fn end_with_us(scratch: PathBuf) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let asked = async {
        let mut terminated = signal(SignalKind::terminate())?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted,
            _ = terminated.recv() => Ok(()),
        }
    };
    thread::spawn(move || {
        if runtime.block_on(asked).is_ok() {
            end_all();
            let _ = fs::remove_dir_all(scratch);
            std::process::exit(130);
        }
    });
    Ok(())
}

/// Processors that the contestants may use.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// A line about what happens now.
pub fn say(line: &str) {
    // Nobody to tell is no reason to stop.
    let _ = writeln!(std::io::stderr(), "lab: {}", brief(line));
}
