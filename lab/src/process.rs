//! Programs that the lab starts: each is a group of processes, watched, measured and ended as one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

const START_TIMEOUT: Duration = Duration::from_secs(60);
const STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// Ticks of `/proc/*/stat` in a second; Linux shows 100 to programs whatever the kernel counts in.
const TICKS_PER_SECOND: f64 = 100.0;

/// The groups that run. They are groups of their own, so a Ctrl-C does not reach them by itself.
static GROUPS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// A started program with everything it started.
pub struct Process {
    child: Child,
    log: PathBuf,
    name: String,
}

/// What a group has used so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    pub cpu_seconds: f64,
    /// Proportional set size: shared pages are counted once.
    pub memory_mib: f64,
}

/// How a program is started.
pub struct Start<'a> {
    pub name: &'a str,
    pub command: &'a [String],
    pub folder: &'a Path,
    pub environment: &'a BTreeMap<String, String>,
    pub log: PathBuf,
    /// The account that it runs as, if the one who runs the lab may choose.
    pub account: Option<(u32, u32)>,
}

impl Process {
    /// # Errors
    ///
    /// If the program cannot be started at all.
    pub fn start(start: &Start<'_>) -> Result<Process> {
        let (program, arguments) = start.command.split_first().context("an empty command")?;
        let log = File::create(&start.log).with_context(|| start.log.display().to_string())?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(start.folder).envs(start.environment).process_group(0);
        if let Some((user, group)) = start.account {
            command.uid(user).gid(group);
        }
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let child = command.spawn().with_context(|| format!("cannot start {program}"))?;
        groups().push(child.id());
        Ok(Process { child, log: start.log.clone(), name: start.name.to_owned() })
    }

    /// Waits until the question is answered with yes.
    ///
    /// # Errors
    ///
    /// With the end of the log, if the program ends before or takes too long.
    pub fn wait_until(&mut self, is_ready: impl Fn() -> bool) -> Result<()> {
        let deadline = Instant::now() + START_TIMEOUT;
        while !is_ready() {
            if let Some(status) = self.child.try_wait()? {
                bail!("{} ended with {status}; its log ends:\n{}", self.name, self.last_lines());
            }
            if Instant::now() > deadline {
                bail!("{} is not ready after {START_TIMEOUT:?}:\n{}", self.name, self.last_lines());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    pub fn last_lines(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(8)..].join("\n")
    }

    /// Sums over every process of the group; one that ends meanwhile counts with its parent.
    pub fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        let Ok(entries) = fs::read_dir("/proc") else { return usage };
        for entry in entries.flatten() {
            let folder = entry.path();
            if let Some(ticks) = ticks_in_group(&folder, self.child.id()) {
                usage.cpu_seconds += ticks as f64 / TICKS_PER_SECOND;
                usage.memory_mib += memory_kib(&folder).unwrap_or_default() as f64 / 1024.0;
            }
        }
        usage
    }
}

/// Ends every group, because the lab itself is told to end.
pub fn end_all() {
    let groups = groups().clone();
    for name in ["-TERM", "-KILL"] {
        groups.iter().for_each(|group| signal(*group, name));
        std::thread::sleep(Duration::from_millis(500));
    }
}

fn groups() -> MutexGuard<'static, Vec<u32>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn signal(group: u32, name: &str) {
    // Fails if nobody is left, which is what it is for.
    let _ = Command::new("kill").args([name, "--", &format!("-{group}")]).stderr(Stdio::null()).status();
}

impl Drop for Process {
    fn drop(&mut self) {
        signal(self.child.id(), "-TERM");
        let deadline = Instant::now() + STOP_TIMEOUT;
        while self.is_running() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        signal(self.child.id(), "-KILL");
        let _ = self.child.wait();
        groups().retain(|group| *group != self.child.id());
    }
}

/// Ticks of user and system time, of the process and of its children that ended.
fn ticks_in_group(folder: &Path, group: u32) -> Option<u64> {
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    let fields: Vec<&str> = stat[stat.rfind(')')? + 2..].split(' ').collect();
    if fields.get(2)?.parse() != Ok(group) {
        return None;
    }
    fields.get(11..15)?.iter().map(|field| field.parse::<u64>().ok()).sum()
}

fn memory_kib(folder: &Path) -> Option<u64> {
    let text = fs::read_to_string(folder.join("smaps_rollup")).ok()?;
    let line = text.lines().find(|line| line.starts_with("Pss:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// A port that nobody listens on right now.
pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

pub fn is_listening(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

/// Runs a program to its end and gives what it printed.
///
/// # Errors
///
/// If it fails; the message holds what it said.
pub fn output(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    // The last lines are what a failure is told by.
    command.env("RUST_BACKTRACE", "0");
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {program}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} failed, {}: {}", output.status, last_of(&said));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn last_of(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    lines[lines.len().saturating_sub(5)..].join("; ")
}
