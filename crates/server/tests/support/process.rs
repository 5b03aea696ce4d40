//! The real program as a process: started on a free port, ended with SIGTERM.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};

const START_TIMEOUT: Duration = Duration::from_secs(30);
const STOP_TIMEOUT: Duration = Duration::from_secs(15);

pub struct Server {
    child: Child,
    /// Everything it writes, by line; closed when it has ended.
    output: Receiver<String>,
    seen: Vec<String>,
    pub port: u16,
}

impl Server {
    /// Returns when the server has said where it listens.
    pub fn start(config: &Path, database_url: &str) -> Result<Self> {
        Self::start_with(config, database_url, &[])
    }

    /// The same with settings from the environment, by the names of their variables after `ROWCAST_`.
    pub fn start_with(config: &Path, database_url: &str, settings: &[(&str, &str)]) -> Result<Self> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rowcast"));
        command.arg("serve").arg("--config").arg(config).args(["--listen", "127.0.0.1:0", database_url]);
        // The developer's own variables are no part of the test.
        command.env_clear().env("TZ", "UTC").stdin(Stdio::null());
        command.envs(settings.iter().map(|(name, value)| (format!("ROWCAST_{name}"), value)));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (sender, output) = channel();
        send_lines(child.stdout.take().context("the server's output")?, sender.clone());
        send_lines(child.stderr.take().context("the server's errors")?, sender);
        let mut server = Self { child, output, seen: Vec::new(), port: 0 };
        server.port = server.wait_for_port().with_context(|| server.transcript_of_output())?;
        Ok(server)
    }

    /// Ends the server as an operator would. It must finish on its own, and well.
    pub fn stop(self) -> Result<()> {
        self.stop_and_read().map(drop)
    }

    /// The same; answers the lines that it wrote.
    pub fn stop_and_read(mut self) -> Result<Vec<String>> {
        let kill = format!("kill -TERM {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &kill]).status()?;
        ensure!(sent.success(), "the server had ended before its time\n{}", self.transcript_of_output());
        let deadline = Instant::now() + STOP_TIMEOUT;
        loop {
            match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => self.seen.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => bail!("the server did not end within {STOP_TIMEOUT:?}"),
            }
        }
        let status = self.child.wait()?;
        ensure!(status.success(), "the server ended with {status}\n{}", self.transcript_of_output());
        Ok(std::mem::take(&mut self.seen))
    }

    fn wait_for_port(&mut self) -> Result<u16> {
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    let port = port_in(&line);
                    self.seen.push(line);
                    if let Some(port) = port {
                        return Ok(port);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err(anyhow!("the server ended at once")),
                Err(RecvTimeoutError::Timeout) => bail!("no address within {START_TIMEOUT:?}"),
            }
        }
    }

    fn transcript_of_output(&self) -> String {
        let lines: Vec<String> = self.seen.iter().map(|line| format!("  | {line}")).collect();
        format!("the server wrote:\n{}", lines.join("\n"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail when it has ended already, which is what we want.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn send_lines(pipe: impl Read + Send + 'static, sender: Sender<String>) {
    thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
}

/// The port in a line that contains `http://127.0.0.1:PORT`.
fn port_in(line: &str) -> Option<u16> {
    let (_, rest) = line.split_once("http://127.0.0.1:")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_stands_in_the_line_that_says_the_address() {
        assert_eq!(port_in("INFO listening on http://127.0.0.1:4071/ now"), Some(4071));
        assert_eq!(port_in("listening address=\"http://127.0.0.1:80\""), Some(80));
        assert_eq!(port_in("opening the database"), None);
    }
}
