//! The real program with any arguments, until it ends or for as long as it serves.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// limit: how long anything may take before the test gives up.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What a program wrote until it ended.
pub struct Ended {
    pub code: Option<i32>,
    pub output: String,
    pub errors: String,
}

/// A server that has said where it listens.
pub struct Running {
    child: Child,
    lines: Receiver<String>,
    errors: Option<JoinHandle<String>>,
    /// What it wrote at the start, by line.
    pub said: Vec<String>,
    pub port: u16,
}

/// Runs the program until it ends; variables as `NAME=VALUE`.
pub fn run(arguments: &[&str], variables: &[&str]) -> Ended {
    let output = command(arguments, variables).output().expect("the program starts");
    Ended {
        code: output.status.code(),
        output: String::from_utf8_lossy(&output.stdout).into_owned(),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Serves a database on a free port.
pub fn serve(database: &str, arguments: &[&str]) -> Running {
    start(&[&["serve", database, "--listen", "127.0.0.1:0"], arguments].concat(), &[])
}

/// Starts the program, and returns when it has written everything that it writes at the start.
pub fn start(arguments: &[&str], variables: &[&str]) -> Running {
    let mut child = command(arguments, variables).spawn().expect("the program starts");
    let output = child.stdout.take().expect("the output is a pipe");
    let mut errors = child.stderr.take().expect("the errors are a pipe");
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let errors = thread::spawn(move || {
        let mut text = Vec::new();
        // What was read before an error is what there is.
        let _ = errors.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let mut running = Running { child, lines, errors: Some(errors), said: Vec::new(), port: 0 };
    running.listen();
    running
}

fn command(arguments: &[&str], variables: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowcast"));
    command.args(arguments).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for variable in variables {
        let (name, value) = variable.split_once('=').expect("a variable is NAME=VALUE");
        command.env(name, value);
    }
    command
}

impl Running {
    /// The last thing said is three requests to try, or that there is no table.
    fn listen(&mut self) {
        let is_last = |said: &[String]| {
            said.iter().filter(|line| line.contains("curl ")).count() == 3
                || said.iter().any(|line| line.starts_with("There is no table"))
        };
        while !is_last(&self.said) {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => self.said.push(line),
                Err(error) => {
                    self.child.kill().ok();
                    let errors = self.errors.take().map(JoinHandle::join);
                    panic!("{error}; it said {:#?} and {errors:#?}", self.said);
                }
            }
        }
        let address = self.said.iter().find_map(|line| line.split_once("://127.0.0.1:"));
        let digits: String = address
            .map(|(_, rest)| rest.chars().take_while(char::is_ascii_digit).collect())
            .unwrap_or_default();
        self.port = digits.parse().expect("it says its address");
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by its name: TERM, INT.
    pub fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        let status = Command::new("sh").args(["-c", &kill]).status().expect("there is a shell");
        assert!(status.success(), "the server had ended before");
    }

    /// Waits for the end. What it wrote to standard error comes with it.
    pub fn wait(mut self) -> (ExitStatus, String) {
        let mut status = None;
        wait_until("the end of the server", || {
            status = self.child.try_wait().expect("the child is ours");
            status.is_some()
        });
        let errors = self.errors.take().map(JoinHandle::join).and_then(Result::ok).unwrap_or_default();
        (status.expect("it has ended"), errors)
    }

    /// Ends the server as an operator would; it must end well, and must not have panicked.
    pub fn stop(self) -> String {
        self.signal("TERM");
        let (status, errors) = self.wait();
        assert!(status.success(), "{status}\n{errors}");
        assert!(!errors.contains("panicked"), "{errors}");
        errors
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail when it has ended already, which is what we want.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Looks again and again whether something has come about.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "{what} did not come about within {PATIENCE:?}");
        thread::sleep(Duration::from_millis(10));
    }
}
