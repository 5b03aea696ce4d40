//! rusqlite alone: prepared, on the worker, every statement a transaction of its own.

use bytes::Bytes;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::alone::server;
use crate::alone::task::{Cell, LIST, Records, Task};

/// Serves a file.
pub fn serve(path: &str) -> anyhow::Result<()> {
    let path = path.to_owned();
    server::serve(move || {
        let opened = open(&path);
        move |target: String, body: Bytes| {
            let answer = match &opened {
                Ok(connection) => answer(connection, &target, &body),
                Err(error) => Err(anyhow::anyhow!("{error}")),
            };
            async move { answer.map(Bytes::from) }
        }
    })
}

fn open(path: &str) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "mmap_size", 1i64 << 40)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    Ok(connection)
}

fn answer(connection: &Connection, target: &str, body: &[u8]) -> anyhow::Result<Vec<u8>> {
    let task = Task::parse(target, body)?;
    let (text, id) = match &task {
        Task::Read(table, id) => (format!("SELECT * FROM {table} WHERE id = ?"), Some(*id)),
        Task::List => (format!("SELECT * {LIST}"), None),
        Task::Insert(name, score) => {
            let mut insert = connection.prepare_cached("INSERT INTO entries (name, score) VALUES (?, ?)")?;
            insert.execute((name, score))?;
            return Ok(connection.last_insert_rowid().to_string().into());
        }
    };
    let mut prepared = connection.prepare_cached(&text)?;
    let names: Vec<String> = prepared.column_names().map(str::to_owned).collect();
    if let Some(id) = id {
        prepared.raw_bind_parameter(1, id)?;
    }
    let mut rows = prepared.raw_query();
    let mut records = Records::new(id.is_none());
    while let Some(row) = rows.next()? {
        records.row(names.iter().enumerate().map(|(index, name)| {
            let cell = match row.get_ref(index) {
                Ok(ValueRef::Integer(int)) => Cell::Int(int),
                Ok(ValueRef::Real(float)) => Cell::Float(float),
                Ok(ValueRef::Text(text)) => Cell::Text(std::str::from_utf8(text).unwrap_or_default()),
                Ok(ValueRef::Null | ValueRef::Blob(_)) | Err(_) => Cell::Null,
            };
            (&**name, cell)
        }))?;
    }
    Ok(records.finish())
}
