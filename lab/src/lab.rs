//! Where the lab keeps things, and how a run is set.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result};
use tokio::signal::unix::{SignalKind, signal};

use crate::plan::{Plan, clock};
use crate::process::{Process, Start, end_all, free_port, is_listening};
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
    pub plan: Plan,
    /// What the builds of contestants' folders said, so that each runs once.
    pub built: Mutex<BTreeMap<PathBuf, Result<String, String>>>,
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
    /// Rows of the storage scenario, random ids, and visitors of the survey.
    pub rows: u64,
    /// Requests of one figure of `ab`, as published; unless `published`, so many of them as the time allows.
    pub requests: u64,
    pub published: bool,
    /// Figures that mean nothing are enough.
    pub is_quick: bool,
    /// Whether rounds end early when the planned time is used up.
    pub is_bounded: bool,
    /// Files of one figure.
    pub files: u64,
    /// Sequential requests of the HTTPS clients.
    pub pages: Vec<u64>,
    /// Calls of each of ten threads.
    pub calls: u64,
    /// Requests a second of the open loops.
    pub rates: Vec<u64>,
}

/// Rounds that are run however long they take: fewer say nothing.
const ROUNDS_LEAST: usize = 3;

impl Options {
    /// Rounds that are run in any case, and rounds that are wanted.
    pub fn round_range(&self) -> RangeInclusive<usize> {
        self.rounds.min(ROUNDS_LEAST)..=self.rounds
    }

    /// The counts, for the report.
    pub fn told(&self) -> String {
        let numbers = |numbers: &[u64]| {
            let words: Vec<String> = numbers.iter().map(u64::to_string).collect();
            words.join(", ")
        };
        format!(
            "{} rounds; {} s for a figure that time limits, after a warm-up of {} s; {} rows, visitors and ids; {} files; {} calls \
             of each caller; N = {}; open loops at {} requests/s",
            self.rounds,
            self.seconds,
            self.warm_up,
            self.rows,
            self.files,
            self.calls,
            numbers(&self.pages),
            numbers(&self.rates),
        )
    }
}

impl Lab {
    /// # Errors
    ///
    /// If a folder cannot be made.
    pub fn open(options: Options, plan: Plan) -> Result<Lab> {
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
        Ok(Lab { root, build, scratch, rowcast, options, plan, built: Mutex::default() })
    }

    /// A load generator or another tool that `lab/install` put into `target/lab/tools`, or that is on the path.
    pub fn tool(&self, name: &str) -> String {
        let own = self.build.join("tools/bin").join(name);
        if own.exists() { own.display().to_string() } else { name.to_owned() }
    }

    /// Starts the program under test over a database; it, and its port.
    ///
    /// # Errors
    ///
    /// If it does not listen.
    pub fn serve(&self, database: &str, more: &[String]) -> Result<(Process, u16)> {
        let port = free_port()?;
        let listen = format!("127.0.0.1:{port}");
        let rowcast = self.rowcast.display().to_string();
        let mut words = [&rowcast, "serve", database, "--listen", &listen].map(str::to_owned).to_vec();
        words.extend_from_slice(more);
        let mut process = Process::start(&Start {
            name: "rowcast",
            command: &words,
            folder: self.scratch.path(),
            environment: &BTreeMap::new(),
            log: self.path(&format!("rowcast-{port}.log")),
            account: None,
        })?;
        process.wait_until(|| is_listening(port))?;
        Ok((process, port))
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

    /// A text without the folders of this machine.
    pub fn without_folders(&self, text: &str) -> String {
        let home = self.root.parent().unwrap_or(&self.root);
        let folders = [(self.scratch.path(), "scratch"), (self.build.as_path(), "target/lab"), (home, ".")];
        folders
            .iter()
            .fold(text.to_owned(), |text, (folder, name)| text.replace(&folder.display().to_string(), name))
    }

    /// A line about what happens now, with the time that is left.
    pub fn tell(&self, line: &str) {
        say(&format!("{} left: {line}", clock(self.plan.left())));
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

/// As published: visitors of the survey, rows of its storage, and its ids.
pub const ROWS: u64 = 6_000_000;

/// Says that there are fewer rows than published, if so.
pub fn fewer_rows(lab: &Lab, what: &str) -> Vec<String> {
    let rows = lab.options.rows;
    if rows < ROWS { vec![format!("{rows} {what} instead of {ROWS}.")] } else { Vec::new() }
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
