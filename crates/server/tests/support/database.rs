//! Fresh databases: the fixtures of `tests/fixtures/`, one copy for each transcript.

use std::collections::HashMap;
use std::fs;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use crate::support::suite::tests_folder;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    MySql,
    Postgres,
}

/// Makes databases on one engine.
pub struct Databases {
    engine: Engine,
    /// Where the server listens, with an account that may create databases. SQLite has none.
    admin_url: String,
    folder: TempDir,
    /// The fixtures loaded so far: a file or a database to copy, or for MySQL, which cannot copy, the SQL.
    fixtures: Mutex<HashMap<String, String>>,
}

/// How many databases this process has made.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A database of its own, gone when it is dropped.
pub struct Database<'a> {
    owner: &'a Databases,
    name: String,
    pub url: String,
}

impl Engine {
    pub const ALL: [Engine; 3] = [Engine::Sqlite, Engine::MySql, Engine::Postgres];

    pub fn name(self) -> &'static str {
        match self {
            Engine::Sqlite => "sqlite",
            Engine::MySql => "mysql",
            Engine::Postgres => "postgres",
        }
    }

    pub fn parse(name: &str) -> Result<Self> {
        let engine = Self::ALL.into_iter().find(|engine| engine.name() == name.trim());
        engine.with_context(|| format!("{name:?} is none of sqlite, mysql, postgres"))
    }

    /// Names between commas; no text is no engine.
    pub fn parse_list(names: &str) -> Result<Vec<Self>> {
        names.split(',').filter(|name| !name.trim().is_empty()).map(Self::parse).collect()
    }

    /// The variable with the address of a server to test on, as `tests/servers` sets it.
    pub fn address_variable(self) -> Option<&'static str> {
        match self {
            Engine::Sqlite => None,
            Engine::MySql => Some("ROWCAST_TEST_MYSQL"),
            Engine::Postgres => Some("ROWCAST_TEST_POSTGRES"),
        }
    }
}

impl Databases {
    pub fn new(engine: Engine, admin_url: String) -> Result<Self> {
        let folder = tempfile::tempdir().context("a folder for databases")?;
        Ok(Self { engine, admin_url, folder, fixtures: Mutex::default() })
    }

    pub fn create(&self, fixture: &str) -> Result<Database<'_>> {
        let source = self.load(fixture)?;
        let name = fresh_name();
        let url = match self.engine {
            Engine::Sqlite => {
                let path = self.path(&name);
                fs::copy(&source, &path).context("copying the fixture")?;
                path.display().to_string()
            }
            Engine::MySql | Engine::Postgres => format!("{}{name}", self.admin_url),
        };
        // Made first: what fails below is cleaned up as well.
        let database = Database { owner: self, name, url };
        let name = &database.name;
        match self.engine {
            Engine::Sqlite => {}
            Engine::MySql => {
                let create = format!("CREATE DATABASE {name}; USE {name};\n{source}");
                self.execute("", &create)?;
            }
            Engine::Postgres => {
                self.execute("postgres", &format!("CREATE DATABASE {name} TEMPLATE {source}"))?
            }
        }
        Ok(database)
    }

    fn load(&self, fixture: &str) -> Result<String> {
        let mut fixtures = self.fixtures.lock().expect("nobody panics while loading");
        if let Some(source) = fixtures.get(fixture) {
            return Ok(source.clone());
        }
        let path = tests_folder().join(format!("fixtures/{fixture}.{}.sql", self.engine.name()));
        let sql = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let name = fresh_name();
        let source = match self.engine {
            Engine::Sqlite => {
                let path = self.path(&name);
                seed_sqlite(&path, &sql).with_context(|| format!("running {fixture}.sqlite.sql"))?;
                path.display().to_string()
            }
            Engine::MySql => sql,
            Engine::Postgres => {
                self.execute("postgres", &format!("CREATE DATABASE {name}"))?;
                self.execute(&name, &sql)?;
                name
            }
        };
        fixtures.insert(fixture.to_owned(), source.clone());
        Ok(source)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.db"))
    }

    fn execute(&self, database: &str, sql: &str) -> Result<()> {
        ask(&self.admin_url, database, sql).map(drop)
    }
}

/// Runs SQL with the engine's own command line client, in a database; answers the rows, cells between tabs.
pub fn ask(admin_url: &str, database: &str, sql: &str) -> Result<String> {
    let mut client = client_for(admin_url, database)?;
    let input = tempfile::tempfile()?;
    (&input).write_all(sql.as_bytes())?;
    (&input).rewind()?;
    let output =
        client.stdin(input).output().context("starting the client; `tests/install servers` brings it")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

impl Drop for Database<'_> {
    fn drop(&mut self) {
        let drop_database = format!("DROP DATABASE IF EXISTS {}", self.name);
        // What is left over costs disk only, and goes away with the test's servers.
        let _ = match self.owner.engine {
            Engine::Sqlite => Ok(()),
            Engine::MySql => self.owner.execute("", &drop_database),
            Engine::Postgres => self.owner.execute("postgres", &format!("{drop_database} WITH (FORCE)")),
        };
    }
}

impl Drop for Databases {
    fn drop(&mut self) {
        if self.engine == Engine::Postgres {
            let templates = self.fixtures.lock().map(|fixtures| fixtures.values().cloned().collect());
            for template in templates.unwrap_or_else(|_| Vec::new()) {
                let _ = self.execute("postgres", &format!("DROP DATABASE {template}"));
            }
        }
    }
}

/// The name of a database that nobody has.
pub fn fresh_name() -> String {
    format!("rowcast_test_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn seed_sqlite(path: &Path, sql: &str) -> Result<()> {
    let connection = rusqlite::Connection::open(path)?;
    connection.execute_batch(&format!("BEGIN;\n{sql}\nCOMMIT;"))?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(())
}

fn client_for(admin_url: &str, database: &str) -> Result<Command> {
    if admin_url.starts_with("postgres://") {
        let mut client = Command::new("psql");
        client.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"]);
        client.args(["--tuples-only", "--no-align", "--field-separator=\t"]);
        client.arg(format!("--dbname={admin_url}{database}"));
        return Ok(client);
    }
    let Some(Address { account, password, host, port }) = Address::parse(admin_url) else {
        bail!("expected mysql://ACCOUNT:PASSWORD@HOST:PORT/, found {admin_url:?}");
    };
    let mut client = Command::new("mariadb");
    client.args(["--no-defaults", "--protocol=tcp", "--default-character-set=utf8mb4"]);
    client.args(["--batch", "--skip-column-names"]);
    client.env("MYSQL_PWD", password);
    client.args([format!("--user={account}"), format!("--host={host}"), format!("--port={port}")]);
    if !database.is_empty() {
        client.arg(database);
    }
    Ok(client)
}

/// `mysql://ACCOUNT:PASSWORD@HOST:PORT/`; the password may be absent.
#[derive(Debug, PartialEq)]
struct Address<'a> {
    account: &'a str,
    password: &'a str,
    host: &'a str,
    port: &'a str,
}

impl<'a> Address<'a> {
    fn parse(url: &'a str) -> Option<Self> {
        let authority = url.strip_prefix("mysql://")?.strip_suffix('/')?;
        let (login, server) = authority.rsplit_once('@')?;
        let (account, password) = login.split_once(':').unwrap_or((login, ""));
        let (host, port) = server.rsplit_once(':')?;
        Some(Self { account, password, host, port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_of_sqlite_keeps_its_foreign_keys() {
        let databases = Databases::new(Engine::Sqlite, String::new()).unwrap();
        let folder = fs::read_dir(tests_folder().join("fixtures")).unwrap();
        let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        for name in names.filter_map(|name| name.strip_suffix(".sqlite.sql").map(str::to_owned)) {
            let database = databases.create(&name).unwrap();
            let connection = rusqlite::Connection::open(&database.url).unwrap();
            let mut check = connection.prepare("PRAGMA foreign_key_check").unwrap();
            assert!(!check.exists([]).unwrap(), "{name}.sqlite.sql breaks a foreign key");
        }
    }

    #[test]
    fn an_address_names_account_host_and_port() {
        let address = Address { account: "a", password: "b", host: "127.0.0.1", port: "33" };
        assert_eq!(Address::parse("mysql://a:b@127.0.0.1:33/"), Some(address));
        assert_eq!(Address::parse("mysql://root@127.0.0.1:1/").map(|address| address.password), Some(""));
        assert_eq!(Address::parse("mysql://root@127.0.0.1/"), None);
    }
}
