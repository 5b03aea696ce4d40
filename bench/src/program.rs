//! Program: a server that was started, and what its processes have used.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};

/// Ticks of the clock in a second, in which Linux counts the time of processes (proc(5)).
const TICKS: f64 = 100.0;

/// A server; it is ended when this is dropped.
pub struct Program {
    child: Child,
    /// `http://HOST:PORT/`.
    pub address: String,
}

impl Program {
    /// Starts a program that prints its address, and reads it.
    pub fn start(program: &Path, arguments: &[&str]) -> anyhow::Result<Program> {
        let shown = program.display();
        let mut child = Command::new(program)
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{shown} cannot be started"))?;
        let mut reader = BufReader::new(child.stdout.take().context("its output")?);
        let mut line = String::new();
        while line.find("http://").is_none() {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                bail!("{shown} {arguments:?} ended without an address");
            }
        }
        let address = line[line.find("http://").unwrap_or(0)..].trim().to_owned();
        // What else it prints is read and dropped, so that it never waits for us.
        std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
        Ok(Program { child, address })
    }

    /// Waits until it has ended by itself.
    pub fn wait(mut self) -> anyhow::Result<()> {
        self.child.wait()?;
        Ok(())
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Seconds of CPU that a process has used, its children and their ended children included.
pub fn cpu_seconds(pid: u32) -> f64 {
    let mut ticks = 0.0;
    for (process, parent, own, of_ended) in processes() {
        if process == pid {
            ticks += own + of_ended;
        } else if parent == pid {
            ticks += own;
        }
    }
    ticks / TICKS
}

/// The parent of a process.
pub fn parent(pid: u32) -> Option<u32> {
    processes().find(|(process, ..)| *process == pid).map(|(_, parent, ..)| parent)
}

/// Number, parent, ticks used, ticks of ended children; of every process.
fn processes() -> impl Iterator<Item = (u32, u32, f64, f64)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // The name of the program stands in parentheses and may hold anything.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
        let parent = fields.get(1)?.parse().ok()?;
        Some((pid, parent, ticks(11)? + ticks(12)?, ticks(13)? + ticks(14)?))
    })
}

/// Forgets the peak of a process' memory.
pub fn reset_peak(pid: u32) {
    // Without the right to do so the peak is that since the start.
    std::fs::write(format!("/proc/{pid}/clear_refs"), "5").ok();
}

/// A line of `/proc/PID/status` in MB: `VmHWM` is the peak, `VmRSS` the memory now.
pub fn memory(pid: u32, line: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let found = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':'));
    let kilobytes = found.and_then(|text| text.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}
