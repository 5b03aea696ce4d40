//! Load: wrk with its requests written beforehand, and what it counted.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};

/// What is sent again and again.
pub struct Load {
    /// Connections, each with one request in flight.
    pub connections: u32,
    script: PathBuf,
}

/// What was answered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    pub requests: f64,
    pub seconds: f64,
    /// Milliseconds.
    pub p50: f64,
    pub p99: f64,
}

/// A load under way.
pub struct Running(Child);

/// One request: method, target and body.
pub type Asked = (&'static str, String, String);

impl Load {
    /// Requests that are sent in turn, written to a script in `home`.
    pub fn new(
        home: &Path,
        name: &str,
        connections: u32,
        header: &str,
        asked: &[Asked],
    ) -> anyhow::Result<Load> {
        let script = home.join(format!("{name}.lua"));
        let mut out = std::io::BufWriter::new(std::fs::File::create(&script)?);
        let headers = header.split_once(": ").map(|(name, value)| format!("['{name}']='{}'", value.trim()));
        writeln!(out, "local headers = {{ {} }}", headers.unwrap_or_default())?;
        writeln!(out, "local asked = {{}}")?;
        writeln!(out, "function init(arguments)")?;
        for (method, target, body) in asked {
            let body = if body.is_empty() { "nil".to_owned() } else { format!("[==[{body}]==]") };
            writeln!(out, "asked[#asked+1] = wrk.format('{method}', '{target}', headers, {body})")?;
        }
        writeln!(out, "end\n{}", include_str!("load.lua"))?;
        out.flush()?;
        Ok(Load { connections, script })
    }

    /// Sends for so long, and counts.
    pub fn run(&self, address: &str, seconds: f64) -> anyhow::Result<Counted> {
        self.start(address, seconds)?.finish()
    }

    /// Begins to send.
    pub fn start(&self, address: &str, seconds: f64) -> anyhow::Result<Running> {
        // wrk knows whole seconds only.
        let seconds = seconds.ceil().max(1.0);
        let child = Command::new("wrk")
            .args([
                "-t1",
                &format!("-c{}", self.connections),
                &format!("-d{seconds}s"),
                "--timeout",
                "30s",
                "-s",
            ])
            .arg(&self.script)
            .arg(address)
            .stdout(Stdio::piped())
            .spawn()
            .context("wrk is missing; tests/install bench installs it")?;
        Ok(Running(child))
    }
}

impl Running {
    /// Waits for the end. Any answer that is no success is an error: it would be measured as a fast one.
    pub fn finish(self) -> anyhow::Result<Counted> {
        let output = self.0.wait_with_output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().find_map(|line| line.strip_prefix("counted ")).context("wrk failed")?;
        let numbers: Vec<f64> = line.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        let [requests, seconds, p50, p99, errors] = numbers[..] else { bail!("wrk printed {line}") };
        if errors > 0.0 {
            bail!("{errors} of {requests} answers were errors");
        }
        Ok(Counted { requests, seconds: seconds / 1e6, p50: p50 / 1e3, p99: p99 / 1e3 })
    }
}
