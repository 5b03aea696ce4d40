//! Database servers of the lab's own, with the settings of a small production server.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use mysql_async::prelude::Queryable;
use tokio::runtime::Runtime;

use crate::lab::Lab;
use crate::process::{Process, Start, free_port, is_listening, output};

/// As published (`innodb_flush_log_at_trx_commit=0`), with memory for 6,000,000 small rows.
const MARIADB: &[&str] = &[
    "--no-defaults",
    "--bind-address=127.0.0.1",
    "--socket=s",
    "--skip-name-resolve",
    "--skip-log-bin",
    "--performance-schema=0",
    "--max-connections=300",
    "--local-infile=1",
    "--character-set-server=utf8mb4",
    "--collation-server=utf8mb4_general_ci",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-buffer-pool-size=1G",
    "--innodb-log-file-size=256M",
];

const POSTGRES: &[&str] = &[
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "synchronous_commit=off",
    "max_connections=100",
    "shared_buffers=512MB",
    "maintenance_work_mem=256MB",
    "max_wal_size=4GB",
];

/// The statements of a text, with `;` between them.
pub fn split(statements: &str) -> impl Iterator<Item = &str> {
    statements.split(';').map(str::trim).filter(|statement| !statement.is_empty())
}

/// The database without a server, in the folder of this run.
pub const SQLITE_FILE: &str = "lab.db";

/// The started servers.
pub struct Servers {
    mariadb: Process,
    pub mariadb_port: u16,
    postgres: Option<Process>,
    pub postgres_port: u16,
    runtime: Runtime,
    connection: RefCell<mysql_async::Conn>,
}

impl Servers {
    /// # Errors
    ///
    /// If a server is not installed or does not start.
    pub fn start(lab: &Lab, with_postgres: bool) -> Result<Servers> {
        let (mariadb, mariadb_port) = start_mariadb(lab)?;
        let (postgres, postgres_port) = match with_postgres {
            true => start_postgres(lab).map(|(process, port)| (Some(process), port))?,
            false => (None, 0),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let options = mysql_async::OptsBuilder::default().ip_or_hostname("127.0.0.1");
        let options = options.tcp_port(mariadb_port).user(Some("root"));
        let connection =
            runtime.block_on(mysql_async::Conn::new(options)).context("connecting to MariaDB")?;
        let connection = RefCell::new(connection);
        let servers = Servers { mariadb, mariadb_port, postgres, postgres_port, runtime, connection };
        servers.run("CREATE DATABASE lab; USE lab")?;
        Ok(servers)
    }

    /// Runs statements on MariaDB, with `;` between them.
    ///
    /// # Errors
    ///
    /// If one fails.
    pub fn run(&self, statements: &str) -> Result<()> {
        let mut connection = self.connection.borrow_mut();
        for statement in split(statements) {
            self.runtime.block_on(connection.query_drop(statement)).with_context(|| statement.to_owned())?;
        }
        Ok(())
    }

    /// The one number that a query on MariaDB answers with.
    ///
    /// # Errors
    ///
    /// If it fails or has no row.
    pub fn number(&self, query: &str) -> Result<u64> {
        let mut connection = self.connection.borrow_mut();
        let row = self.runtime.block_on(connection.query_first(query)).with_context(|| query.to_owned())?;
        row.with_context(|| format!("{query} has no row"))
    }

    pub fn mariadb(&self) -> &Process {
        &self.mariadb
    }

    pub fn postgres(&self) -> Option<&Process> {
        self.postgres.as_ref()
    }

    pub fn mariadb_url(&self) -> String {
        format!("mysql://root@127.0.0.1:{}/lab", self.mariadb_port)
    }

    pub fn postgres_url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.postgres_port)
    }

    /// What contestants read in their environment.
    pub fn environment(&self, lab: &Lab) -> BTreeMap<String, String> {
        let variables = [
            ("DB_HOST", "127.0.0.1".to_owned()),
            ("DB_PORT", self.mariadb_port.to_string()),
            ("DB_USER", "root".to_owned()),
            ("DB_NAME", "lab".to_owned()),
            ("MARIADB_URL", self.mariadb_url()),
            ("POSTGRES_URL", self.postgres_url()),
            ("SQLITE_FILE", lab.path(SQLITE_FILE).display().to_string()),
        ];
        variables.map(|(name, value)| (name.to_owned(), value)).into()
    }
}

fn start_mariadb(lab: &Lab) -> Result<(Process, u16)> {
    let port = free_port()?;
    let home = lab.path(&format!("mariadb-{port}"));
    let account = own(&home, "mysql")?;
    let create = [
        "mariadb-install-db",
        "--no-defaults",
        &format!("--datadir={}", home.display()),
        "--skip-test-db",
        "--auth-root-authentication-method=normal",
        "--skip-name-resolve",
    ];
    finish(&create, &home, account).context("creating a MariaDB database")?;
    let program = found(&["/usr/sbin/mariadbd"], "mariadbd");
    let own = [program, format!("--datadir={}", home.display()), format!("--port={port}")];
    let mut command = own.to_vec();
    // --no-defaults must come first.
    command.splice(1..1, MARIADB.iter().map(|word| (*word).to_owned()));
    command.push(format!("--pid-file={}/pid", home.display()));
    start(lab, "mariadb", &command, &home, account, port)
}

fn start_postgres(lab: &Lab) -> Result<(Process, u16)> {
    let port = free_port()?;
    let home = lab.path(&format!("postgres-{port}"));
    let account = own(&home, "postgres")?;
    let programs = newest_postgres().context("PostgreSQL is not installed; `lab/install` takes it")?;
    let data = home.join("data").display().to_string();
    let initdb = programs.join("initdb").display().to_string();
    let create =
        [&initdb, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "-D", &data];
    finish(&create, &home, account).context("creating a PostgreSQL database")?;
    let mut command = vec![programs.join("postgres").display().to_string(), "-D".to_owned(), data];
    let port_setting = format!("port={port}");
    for setting in POSTGRES.iter().copied().chain([port_setting.as_str()]) {
        command.extend(["-c".to_owned(), setting.to_owned()]);
    }
    start(lab, "postgres", &command, &home, account, port)
}

fn start(
    lab: &Lab,
    name: &str,
    command: &[String],
    home: &Path,
    account: Option<(u32, u32)>,
    port: u16,
) -> Result<(Process, u16)> {
    let environment = BTreeMap::new();
    let log = lab.path(&format!("{name}.log"));
    let start = Start { name, command, folder: home, environment: &environment, log, account };
    let mut process = Process::start(&start)?;
    process.wait_until(|| is_listening(port))?;
    Ok((process, port))
}

/// Makes a folder, given to the account if we may: neither server agrees to run as root.
fn own(home: &Path, account: &str) -> Result<Option<(u32, u32)>> {
    fs::create_dir_all(home)?;
    let id = |flag: &str, name: &str| -> Result<u32> {
        let mut command = Command::new("id");
        command.arg(flag);
        if !name.is_empty() {
            command.arg(name);
        }
        Ok(output(&mut command)?.trim().parse()?)
    };
    if id("-u", "")? != 0 {
        return Ok(None);
    }
    let account = (id("-u", account)?, id("-g", account)?);
    std::os::unix::fs::chown(home, Some(account.0), Some(account.1))?;
    Ok(Some(account))
}

fn finish(words: &[&str], home: &Path, account: Option<(u32, u32)>) -> Result<()> {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(home);
    if let Some((user, group)) = account {
        std::os::unix::process::CommandExt::uid(&mut command, user);
        std::os::unix::process::CommandExt::gid(&mut command, group);
    }
    output(&mut command).map(drop)
}

/// The first of these files that is there, or the name, to be looked for on the path.
fn found(paths: &[&str], name: &str) -> String {
    paths
        .iter()
        .find(|path| Path::new(path).exists())
        .map_or_else(|| name.to_owned(), |path| (*path).to_owned())
}

/// Where the programs of the newest PostgreSQL are; Debian has them off the path.
pub fn newest_postgres() -> Option<PathBuf> {
    let folders = fs::read_dir("/usr/lib/postgresql").ok()?.flatten().map(|entry| entry.path());
    let version = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    folders.max_by_key(version).map(|folder| folder.join("bin"))
}

/// The settings that the report lists.
pub fn settings() -> BTreeMap<String, String> {
    let listed = |words: &[&str]| words.join(" ");
    [("settings of MariaDB", listed(MARIADB)), ("settings of PostgreSQL", listed(POSTGRES))]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
}
