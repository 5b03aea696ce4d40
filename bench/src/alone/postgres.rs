//! tokio-postgres alone: prepared statements, pipelined on one connection of each worker.

use std::collections::HashMap;
use std::pin::pin;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::TryStreamExt;
use tokio::sync::Mutex;
use tokio_postgres::types::{FromSql, ToSql, Type};
use tokio_postgres::{Client, NoTls, Row, Statement};

use crate::alone::server;
use crate::alone::task::{Cell, LIST, Records, Task};

/// A connection and what is prepared on it.
type Opened = (Rc<Client>, HashMap<String, Statement>);

/// What a worker has.
struct Worker {
    url: String,
    opened: Mutex<Option<Opened>>,
}

/// Serves a database.
pub fn serve(url: &str) -> anyhow::Result<()> {
    let url = url.to_owned();
    server::serve(move || {
        let worker = Rc::new(Worker { url: url.clone(), opened: Mutex::default() });
        move |target: String, body: Bytes| {
            let worker = Rc::clone(&worker);
            async move { answer(&worker, &target, &body).await.map(Bytes::from) }
        }
    })
}

/// The columns of a table whose binary form is not read here are asked for as text.
fn columns(table: &str) -> &'static str {
    match table {
        "posts" => {
            "id, user_id, category_id, title, slug, content, published, view_count, \
             published_at::text, rating::text"
        }
        "entries" => "id, name, score",
        _ => "id, response, closes, created_at::text",
    }
}

async fn answer(worker: &Worker, target: &str, body: &[u8]) -> anyhow::Result<Vec<u8>> {
    let task = Task::parse(target, body)?;
    let (text, params): (String, Vec<&(dyn ToSql + Sync)>) = match &task {
        Task::Read(table, id) => {
            (format!("SELECT {} FROM {table} WHERE id = $1::bigint", columns(table)), vec![id])
        }
        Task::List => (format!("SELECT {} {LIST}", columns("posts")), Vec::new()),
        Task::Insert(name, score) => {
            let insert = "INSERT INTO entries (name, score) VALUES ($1, $2::bigint) RETURNING id";
            (insert.to_owned(), vec![name, score])
        }
    };
    let (client, prepared) = worker.prepared(text).await?;
    let mut rows = pin!(client.query_raw(&prepared, params).await?);
    if matches!(task, Task::Insert(..)) {
        let row = rows.try_next().await?;
        return Ok(row.map_or(0i64, |row| row.get(0)).to_string().into());
    }
    let mut records = Records::new(matches!(task, Task::List));
    while let Some(row) = rows.try_next().await? {
        records.row(row.columns().iter().enumerate().map(|(at, column)| (column.name(), cell(&row, at))))?;
    }
    Ok(records.finish())
}

fn cell(row: &Row, at: usize) -> Cell<'_> {
    match row.get::<_, Option<Wire<'_>>>(at) {
        Some(wire) => wire.0,
        None => Cell::Null,
    }
}

struct Wire<'a>(Cell<'a>);

impl<'a> FromSql<'a> for Wire<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Wire(match *kind {
            Type::BOOL => Cell::Int(i64::from(raw != [0])),
            Type::INT4 => Cell::Int(i32::from_be_bytes(raw.try_into()?).into()),
            Type::INT8 => Cell::Int(i64::from_be_bytes(raw.try_into()?)),
            _ => Cell::Text(std::str::from_utf8(raw)?),
        }))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl Worker {
    async fn prepared(&self, text: String) -> anyhow::Result<(Rc<Client>, Statement)> {
        let mut opened = self.opened.lock().await;
        let (client, statements) = match &mut *opened {
            Some(opened) => opened,
            none => {
                let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await?;
                tokio::spawn(connection);
                none.insert((Rc::new(client), HashMap::new()))
            }
        };
        if let Some(known) = statements.get(&text) {
            return Ok((Rc::clone(client), known.clone()));
        }
        let prepared = client.prepare(&text).await?;
        statements.insert(text, prepared.clone());
        Ok((Rc::clone(client), prepared))
    }
}
