//! A database for one test, filled with SQL of its own, on a server that all tests share.

use anyhow::Result;

use crate::support::database::{Engine, ask, fresh_name};

/// A database that is gone when it is dropped.
pub struct Scratch {
    engine: Engine,
    admin_url: String,
    pub name: String,
    pub url: String,
}

impl Scratch {
    pub fn create(engine: Engine, admin_url: &str, sql: &str) -> Result<Self> {
        let name = fresh_name();
        let scratch =
            Self { engine, admin_url: admin_url.to_owned(), url: format!("{admin_url}{name}"), name };
        scratch.administer(&format!("CREATE DATABASE {}", scratch.name))?;
        scratch.ask(sql)?;
        Ok(scratch)
    }

    /// Runs SQL in it; answers the rows, cells between tabs.
    pub fn ask(&self, sql: &str) -> Result<String> {
        ask(&self.admin_url, &self.name, sql)
    }

    fn administer(&self, sql: &str) -> Result<()> {
        let database = if self.engine == Engine::Postgres { "postgres" } else { "" };
        ask(&self.admin_url, database, sql).map(drop)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let force = if self.engine == Engine::Postgres { " WITH (FORCE)" } else { "" };
        // What is left over costs disk only, and goes away with the tests' servers.
        let _ = self.administer(&format!("DROP DATABASE IF EXISTS {}{force}", self.name));
    }
}
