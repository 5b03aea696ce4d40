//! Where rows are kept: three engines through their drivers, and the same engines through Rowcast.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use futures_util::SinkExt;
use mysql_async::prelude::Queryable;
use tokio::runtime::Runtime;
use ureq::Agent;

use crate::lab::Lab;
use crate::process::Process;
use crate::servers::{Servers, split};
use crate::wire::{Call, client, send};

const INSERT: &str = "INSERT INTO visitors (id, response) VALUES";
const POINT: &str = "SELECT response FROM visitors WHERE id =";
/// limit: what is read of the file of rows at a time.
const CHUNK_BYTES: usize = 256 * 1024;
/// limit: how long Rowcast may load; the checking client's seconds are too few.
const LOAD_TIMEOUT: Duration = Duration::from_secs(600);

/// One connection to one store.
pub enum Store {
    Sqlite(rusqlite::Connection),
    MariaDb(Box<mysql_async::Conn>, Runtime),
    Postgres(Box<Postgres>),
    Rowcast { agent: Agent, port: u16, _process: Process, below: Box<Store> },
}

/// A connection with its statements, prepared when they are first needed.
pub struct Postgres {
    client: tokio_postgres::Client,
    runtime: Runtime,
    insert: Option<tokio_postgres::Statement>,
    point: Option<tokio_postgres::Statement>,
}

impl Store {
    /// A SQLite file, in write-ahead logging, as durable as Rowcast keeps it.
    pub fn sqlite(lab: &Lab, name: &str) -> Result<Store> {
        let connection = rusqlite::Connection::open(lab.path(name))?;
        connection
            .execute_batch("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-262144")?;
        connection.busy_timeout(Duration::from_secs(30))?;
        Ok(Store::Sqlite(connection))
    }

    pub fn mariadb(servers: &Servers, file: &Path) -> Result<Store> {
        let runtime = runtime()?;
        let options = mysql_async::Opts::from_url(&servers.mariadb_url())?;
        // The one file that the server may ask for.
        let handler = mysql_async::WhiteListFsHandler::new([file]);
        let local = mysql_async::OptsBuilder::from_opts(options).local_infile_handler(Some(handler));
        let connection = runtime.block_on(mysql_async::Conn::new(local))?;
        Ok(Store::MariaDb(Box::new(connection), runtime))
    }

    pub fn postgres(servers: &Servers) -> Result<Store> {
        let runtime = runtime()?;
        let url = servers.postgres_url();
        let (client, connection) = runtime.block_on(tokio_postgres::connect(&url, tokio_postgres::NoTls))?;
        runtime.spawn(connection);
        Ok(Store::Postgres(Box::new(Postgres { client, runtime, insert: None, point: None })))
    }

    /// Rowcast before a store; its tables are made below it.
    pub fn rowcast(lab: &Lab, url: &str, below: Store) -> Result<Store> {
        let (process, port) = lab.serve(url, &[])?;
        Ok(Store::Rowcast { agent: client(), port, _process: process, below: Box::new(below) })
    }

    /// Runs statements.
    pub fn run(&mut self, statements: &str) -> Result<()> {
        match self {
            Store::Sqlite(connection) => connection.execute_batch(statements)?,
            Store::MariaDb(connection, runtime) => {
                for statement in split(statements) {
                    runtime.block_on(connection.query_drop(statement))?;
                }
            }
            Store::Postgres(postgres) => {
                // They belong to a table that may go.
                (postgres.insert, postgres.point) = (None, None);
                postgres.runtime.block_on(postgres.client.batch_execute(statements))?;
            }
            Store::Rowcast { below, .. } => below.run(statements)?,
        }
        Ok(())
    }

    /// One row, in a transaction of its own.
    pub fn insert(&mut self, id: i64, response: i16) -> Result<()> {
        match self {
            Store::Sqlite(connection) => {
                connection.prepare_cached(&format!("{INSERT} (?, ?)"))?.execute((id, response))?;
            }
            Store::MariaDb(connection, runtime) => {
                runtime.block_on(connection.exec_drop(format!("{INSERT} (?, ?)"), (id, response)))?;
            }
            Store::Postgres(postgres) => {
                let Postgres { client, runtime, insert, .. } = postgres.as_mut();
                if insert.is_none() {
                    *insert = Some(runtime.block_on(client.prepare(&format!("{INSERT} ($1, $2)")))?);
                }
                let statement = insert.as_ref().expect("it was prepared above");
                runtime.block_on(client.execute(statement, &[&id, &response]))?;
            }
            Store::Rowcast { agent, port, .. } => {
                let body = format!("{{\"id\":{id},\"response\":{response}}}");
                let url = format!("http://127.0.0.1:{port}/records/visitors");
                let answer = send(agent, &Call { method: "POST", url, body })?;
                ensure!(answer.status == 200, "POST answers {} {}", answer.status, answer.body);
            }
        }
        Ok(())
    }

    /// All rows of a file of lines `id,response`, with a first line that names them for Rowcast.
    pub fn load(&mut self, file: &Path, rows: &[(i64, i16)]) -> Result<()> {
        match self {
            Store::Sqlite(connection) => {
                let transaction = connection.transaction()?;
                {
                    let mut statement = transaction.prepare(&format!("{INSERT} (?, ?)"))?;
                    for row in rows {
                        statement.execute(*row)?;
                    }
                }
                transaction.commit()?;
            }
            Store::MariaDb(connection, runtime) => {
                let statement = format!(
                    "LOAD DATA LOCAL INFILE '{}' INTO TABLE visitors FIELDS TERMINATED BY ',' IGNORE 1 LINES",
                    file.display()
                );
                runtime.block_on(connection.query_drop(statement))?;
            }
            Store::Postgres(postgres) => postgres.runtime.block_on(copy(&postgres.client, file))?,
            Store::Rowcast { agent, port, .. } => {
                let url = format!("http://127.0.0.1:{port}/records/visitors");
                let request =
                    http::Request::post(url).header("Content-Type", "text/csv").body(File::open(file)?)?;
                let request = agent.configure_request(request).timeout_global(Some(LOAD_TIMEOUT)).build();
                let mut answer = agent.run(request)?;
                if !answer.status().is_success() {
                    bail!(
                        "a POST of text/csv answers {} {}",
                        answer.status(),
                        answer.body_mut().read_to_string()?
                    );
                }
            }
        }
        Ok(())
    }

    /// As [`Store::load`], past Rowcast.
    pub fn load_below(&mut self, file: &Path, rows: &[(i64, i16)]) -> Result<()> {
        match self {
            Store::Rowcast { below, .. } => below.load(file, rows),
            other => other.load(file, rows),
        }
    }

    /// The response of a visitor.
    pub fn point(&mut self, id: i64) -> Result<i16> {
        match self {
            Store::Sqlite(connection) => {
                Ok(connection.prepare_cached(&format!("{POINT} ?"))?.query_row([id], |row| row.get(0))?)
            }
            Store::MariaDb(connection, runtime) => {
                let row = runtime.block_on(connection.exec_first(format!("{POINT} ?"), (id,)))?;
                row.with_context(|| format!("no visitor {id}"))
            }
            Store::Postgres(postgres) => {
                let Postgres { client, runtime, point, .. } = postgres.as_mut();
                if point.is_none() {
                    *point = Some(runtime.block_on(client.prepare(&format!("{POINT} $1")))?);
                }
                let statement = point.as_ref().expect("it was prepared above");
                Ok(runtime.block_on(client.query_one(statement, &[&id]))?.get(0))
            }
            Store::Rowcast { agent, port, .. } => {
                let url = format!("http://127.0.0.1:{port}/records/visitors/{id}");
                let answer = send(agent, &Call::get(url))?;
                let record: serde_json::Value = serde_json::from_str(&answer.body)?;
                let response = record["response"].as_i64().and_then(|response| response.try_into().ok());
                response
                    .with_context(|| format!("GET of visitor {id} answers {} {}", answer.status, answer.body))
            }
        }
    }

    /// The rows of `visitors`.
    pub fn count(&mut self) -> Result<u64> {
        self.number("SELECT COUNT(*) FROM visitors")
    }

    /// The one number that a query answers with.
    pub fn number(&mut self, query: &str) -> Result<u64> {
        match self {
            Store::Sqlite(connection) => {
                Ok(connection.query_row(query, [], |row| row.get::<_, i64>(0))? as u64)
            }
            Store::MariaDb(connection, runtime) => {
                runtime.block_on(connection.query_first(query))?.context("a number has a row")
            }
            Store::Postgres(postgres) => {
                let row = postgres.runtime.block_on(postgres.client.query_one(query, &[]))?;
                Ok(row.get::<_, i64>(0) as u64)
            }
            Store::Rowcast { below, .. } => below.number(query),
        }
    }
}

fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

/// A file in pieces.
struct Chunks {
    file: File,
}

impl Iterator for Chunks {
    type Item = std::io::Result<Bytes>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut chunk = vec![0; CHUNK_BYTES];
        match std::io::Read::read(&mut self.file, &mut chunk) {
            Ok(0) => None,
            Ok(length) => {
                chunk.truncate(length);
                Some(Ok(chunk.into()))
            }
            Err(error) => Some(Err(error)),
        }
    }
}

async fn copy(client: &tokio_postgres::Client, file: &Path) -> Result<()> {
    let sink = client.copy_in("COPY visitors (id, response) FROM STDIN WITH (FORMAT csv, HEADER)").await?;
    let mut sink = std::pin::pin!(sink);
    for chunk in (Chunks { file: File::open(file)? }) {
        sink.send(chunk?).await?;
    }
    sink.finish().await?;
    Ok(())
}
