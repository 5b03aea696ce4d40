//! mysql_async alone: prepared statements on eight connections, four for each of two workers.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, Params, Row, Value};
use tokio::sync::Semaphore;

use crate::alone::server;
use crate::alone::task::{Cell, LIST, Records, Task};

/// Connections of a worker: more than four were slower.
const CONNECTIONS: usize = 4;

/// The connections of a worker.
struct Pool {
    opts: Opts,
    idle: RefCell<Vec<Conn>>,
    permits: Arc<Semaphore>,
}

/// Serves a database.
pub fn serve(url: &str) -> anyhow::Result<()> {
    let opts = Opts::from_url(url)?;
    server::serve(move || {
        let permits = Arc::new(Semaphore::new(CONNECTIONS));
        let pool = Rc::new(Pool { opts: opts.clone(), idle: RefCell::default(), permits });
        move |target: String, body: Bytes| {
            let pool = Rc::clone(&pool);
            async move {
                let _permit = pool.permits.acquire().await?;
                let idle = pool.idle.borrow_mut().pop();
                let mut conn = match idle {
                    Some(conn) => conn,
                    None => Conn::new(pool.opts.clone()).await?,
                };
                let answer = answer(&mut conn, &target, &body).await;
                pool.idle.borrow_mut().push(conn);
                answer.map(Bytes::from)
            }
        }
    })
}

async fn answer(conn: &mut Conn, target: &str, body: &[u8]) -> anyhow::Result<Vec<u8>> {
    let task = Task::parse(target, body)?;
    let (text, params) = match task {
        Task::Read(table, id) => {
            (format!("SELECT * FROM {table} WHERE id = ?"), Params::Positional(vec![id.into()]))
        }
        Task::List => (format!("SELECT * {LIST}"), Params::Empty),
        Task::Insert(name, score) => {
            let insert = "INSERT INTO entries (name, score) VALUES (?, ?)";
            let result = conn.exec_iter(insert, (name, score)).await?;
            let key = result.last_insert_id().unwrap_or_default();
            result.drop_result().await?;
            return Ok(key.to_string().into());
        }
    };
    let mut records = Records::new(matches!(params, Params::Empty));
    let mut rows = conn.exec_iter(text, params).await?;
    while let Some(row) = rows.next().await? {
        write(&mut records, row)?;
    }
    Ok(records.finish())
}

fn write(records: &mut Records, row: Row) -> anyhow::Result<()> {
    let columns = row.columns();
    let values: Vec<Value> = row.unwrap();
    let texts: Vec<String> = values.iter().map(text).collect();
    records.row(columns.iter().zip(&values).zip(&texts).map(|((column, value), text)| {
        let cell = match value {
            Value::NULL => Cell::Null,
            Value::Int(int) => Cell::Int(*int),
            Value::UInt(int) => Cell::Int(int.cast_signed()),
            Value::Float(float) => Cell::Float((*float).into()),
            Value::Double(float) => Cell::Float(*float),
            Value::Bytes(bytes) => Cell::Text(std::str::from_utf8(bytes).unwrap_or_default()),
            Value::Date(..) | Value::Time(..) => Cell::Text(text),
        };
        // Names of columns are text of ours.
        (std::str::from_utf8(column.name_ref()).unwrap_or_default(), cell)
    }))
}

/// Dates as text; nothing for what needs none.
fn text(value: &Value) -> String {
    match value {
        Value::Date(year, month, day, hour, minute, second, _) => {
            format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
        }
        _ => String::new(),
    }
}
