//! Servers of databases: those that `tests/servers` runs for all tests, and one of a test's own, which it may kill.

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use crate::support::database::{Engine, ask};

const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How often a condition is looked at while it is waited for.
const POLL: Duration = Duration::from_millis(10);

/// The server that was started for the tests; none if there is no such server, which is said, and in CI an error.
pub fn admin_url(engine: Engine) -> Option<String> {
    let variable = engine.address_variable().expect("this engine has a server");
    match env::var(variable) {
        Ok(url) => Some(url),
        Err(_) if env::var("CI").is_ok_and(|ci| ci == "true") => {
            panic!("{variable} is not set; CI tests every engine: tests/servers run -- cargo test");
        }
        Err(_) => {
            // Not `eprintln!`: the test harness hides what a test that passes prints.
            say(&format!("{} is left out: {variable} is not set; try `make test`", engine.name()));
            None
        }
    }
}

/// Writes a line past the test harness.
pub fn say(line: &str) {
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).expect("standard error is open");
}

/// Looks at a condition until it holds.
pub fn wait_until(what: &str, timeout: Duration, mut condition: impl FnMut() -> bool) -> Result<()> {
    let deadline = Instant::now() + timeout;
    while !condition() {
        ensure!(Instant::now() < deadline, "{what}: not within {timeout:?}");
        thread::sleep(POLL);
    }
    Ok(())
}

/// A port that nobody listens on.
pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// A server of a test's own, with durable settings: what it has acknowledged is there after a crash.
pub struct OwnServer {
    engine: Engine,
    folder: TempDir,
    pub port: u16,
    /// Further arguments of the server, from the next start on.
    pub extra: Vec<String>,
    child: Option<Child>,
}

impl OwnServer {
    /// Makes the data directory; the server is not running yet.
    pub fn create(engine: Engine) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("rowcast-own-").tempdir()?;
        let server = Self { engine, folder, port: free_port()?, extra: Vec::new(), child: None };
        give_away(engine, server.folder())?;
        let data = server.data();
        let mut command = match engine {
            // A directory of its own for what is temporary: MariaDBs that share one delete each other's tables.
            Engine::MySql => {
                let mut command = server.command("mariadb-install-db");
                command.env("TMPDIR", server.folder());
                command
            }
            Engine::Postgres => server.command("initdb"),
            Engine::Sqlite => bail!("SQLite has no server"),
        };
        let output = match engine {
            Engine::MySql => command
                .args(["--no-defaults", "--skip-test-db", "--skip-name-resolve"])
                .args([&format!("--datadir={data}"), "--auth-root-authentication-method=normal"]),
            Engine::Postgres | Engine::Sqlite => {
                command.args([&format!("--pgdata={data}"), "--username=postgres", "--auth=trust"]);
                command.args(["--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"])
            }
        }
        .output()
        .context("making a data directory")?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(server)
    }

    /// Starts the server and waits until it accepts connections.
    pub fn start(&mut self) -> Result<()> {
        let mut command = self.serve();
        let began = Instant::now();
        let mut child = command.spawn().context("starting the server of the database")?;
        loop {
            if self.ask("", "SELECT 1").is_ok() {
                break;
            }
            // After a crash PostgreSQL refuses to start as long as a process of before is there.
            if child.try_wait()?.is_some() {
                child = command.spawn()?;
            }
            ensure!(began.elapsed() < START_TIMEOUT, "the database did not start:\n{}", self.log());
            thread::sleep(POLL);
        }
        self.child = Some(child);
        Ok(())
    }

    /// Ends it with SIGKILL, as a crash would.
    pub fn kill(&mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Runs SQL in one of its databases.
    pub fn ask(&self, database: &str, sql: &str) -> Result<String> {
        let database =
            if self.engine == Engine::Postgres && database.is_empty() { "postgres" } else { database };
        ask(&self.admin_url(), database, sql)
    }

    pub fn admin_url(&self) -> String {
        match self.engine {
            Engine::MySql => format!("mysql://root@127.0.0.1:{}/", self.port),
            Engine::Postgres | Engine::Sqlite => format!("postgres://postgres@127.0.0.1:{}/", self.port),
        }
    }

    /// Where its data, socket, log and what a test adds lie.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, program: &str) -> Command {
        command(self.engine, program, self.folder())
    }

    fn serve(&self) -> Command {
        let (data, folder) = (self.data(), self.folder().display());
        let mut command = match self.engine {
            Engine::MySql => {
                let mut command = self.command("mariadbd");
                command.args(["--no-defaults", "--bind-address=127.0.0.1", "--skip-name-resolve"]);
                command.args([format!("--datadir={data}"), format!("--socket={folder}/mysql.sock")]);
                command.arg(format!("--port={}", self.port));
                command.args(["--character-set-server=utf8mb4", "--innodb-flush-log-at-trx-commit=1"]);
                command
            }
            Engine::Postgres | Engine::Sqlite => {
                let mut command = self.command("postgres");
                command.args(["-D", &data, "-c", &format!("port={}", self.port)]);
                command.args(["-c", "listen_addresses=127.0.0.1", "-c", "synchronous_commit=on"]);
                command.args(["-c", &format!("unix_socket_directories={folder}")]);
                command
            }
        };
        let log = File::options().create(true).append(true).open(self.folder().join("log"));
        if let Ok(log) = log {
            command.stderr(log);
        }
        command.args(&self.extra).stdout(Stdio::null());
        command
    }

    fn data(&self) -> String {
        self.folder().join("data").display().to_string()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder().join("log")).unwrap_or_default()
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        // It fails when it has ended already, which is what we want.
        let _ = self.kill();
    }
}

/// Makes a file that of the account that the engine's programs run as.
pub fn give_away(engine: Engine, path: &Path) -> Result<()> {
    if let Some((user, group)) = account(engine) {
        chown(path, Some(user), Some(group))?;
    }
    Ok(())
}

/// A program of the engine, run by the account that it is made for.
pub fn command(engine: Engine, program: &str, folder: &Path) -> Command {
    let mut command = Command::new(find(program));
    command.current_dir(folder).stdin(Stdio::null());
    if let Some((user, group)) = account(engine) {
        command.uid(user).gid(group);
    }
    command
}

/// User and group, if we are root: no database server agrees to run as root.
fn account(engine: Engine) -> Option<(u32, u32)> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    if !status.lines().any(|line| line.starts_with("Uid:\t0\t")) {
        return None;
    }
    let name = if engine == Engine::MySql { "mysql:" } else { "postgres:" };
    let accounts = fs::read_to_string("/etc/passwd").ok()?;
    let line = accounts.lines().find(|line| line.starts_with(name))?;
    let mut fields = line.split(':').skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// Debian keeps the programs of servers off the path.
fn find(program: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    folders.push("/usr/sbin".into());
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    folders.extend(versions.map(|version| version.path().join("bin")));
    let found = folders.iter().map(|folder| folder.join(program)).find(|path| path.is_file());
    found.unwrap_or_else(|| program.into())
}
