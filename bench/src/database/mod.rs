//! Databases: the sample blog and a large table, the same rows in SQLite, MariaDB and PostgreSQL.

mod export;
mod servers;
mod sqlite;

use std::path::Path;

/// A database that is ready.
pub struct Engine {
    /// `sqlite`, `mysql` or `postgres`.
    pub name: String,
    /// A path or a URL, as Rowcast takes it.
    pub url: String,
    /// The process of its server.
    pub pid: Option<u32>,
}

impl Engine {
    /// Whether it is the embedded one.
    pub fn is_embedded(&self) -> bool {
        self.pid.is_none()
    }
}

/// Fills the databases of `engines` with the rows of the sample blog, and `rows` visitors. The SQLite file is kept in
/// `home` and is the source of the others.
pub fn prepare(home: &Path, engines: &str, program: &Path, rows: u64) -> anyhow::Result<Vec<Engine>> {
    let folder = sqlite::prepare(home, program, rows)?;
    let file = folder.join("blog.db");
    sqlite::empty_entries(&file)?;
    let mut ready = Vec::new();
    for name in engines.split(',') {
        let (url, pid) = match name {
            "sqlite" => (file.display().to_string(), None),
            "mysql" => servers::mysql(&folder)?,
            "postgres" => servers::postgres(&folder)?,
            other => anyhow::bail!("no engine {other}; there are sqlite, mysql and postgres"),
        };
        ready.push(Engine { name: name.to_owned(), url, pid });
    }
    Ok(ready)
}
