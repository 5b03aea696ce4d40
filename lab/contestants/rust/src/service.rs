//! The contestant in Rust: hello, the core over MariaDB, and the file round trip.

use std::convert::Infallible;
use std::env::var;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, OptsBuilder, Params, Pool, Row};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

const LETTERS: usize = 108_000;

static POOL: LazyLock<Pool> = LazyLock::new(|| {
    let variable = |name: &str| var(name).unwrap_or_else(|_| panic!("{name} is not set"));
    let options = OptsBuilder::default()
        .ip_or_hostname(variable("DB_HOST"))
        .tcp_port(variable("DB_PORT").parse().expect("DB_PORT is a number"))
        .user(Some(variable("DB_USER")))
        .db_name(Some(variable("DB_NAME")))
        .client_found_rows(true);
    let pool = mysql_async::PoolOpts::default()
        .with_constraints(mysql_async::PoolConstraints::new(8, 32).expect("8 is less than 32"))
        .with_reset_connection(false);
    Pool::new(options.pool_opts(pool))
});

#[tokio::main]
async fn main() -> Result<()> {
    let listener = TcpListener::bind(format!("127.0.0.1:{}", var("PORT")?)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            let mut connection = http1::Builder::new();
            connection.timer(TokioTimer::new());
            // A client that leaves is no failure of ours.
            let _ = connection.serve_connection(TokioIo::new(stream), service_fn(answer)).await;
        });
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, body) = route(request).await.unwrap_or_else(|error| (500, error.to_string().into()));
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = hyper::StatusCode::from_u16(status).expect("a status of ours");
    Ok(response)
}

async fn route(request: Request<Incoming>) -> Result<(u16, Bytes)> {
    let (head, body) = request.into_parts();
    let mut path = head.uri.path().trim_matches('/').split('/');
    let table = path.next().unwrap_or_default();
    let id = path.next();
    match table {
        "hello" => return Ok((200, Bytes::from_static(b"Hello, world!"))),
        "file" => return Ok((200, file().await?)),
        _ => {}
    }
    let table = name(table);
    let mut connection = POOL.get_conn().await?;
    let value = match (head.method, id) {
        (Method::GET, None) => list(&mut connection, &table).await?,
        (Method::GET, Some(id)) => match read(&mut connection, &table, id).await? {
            Some(record) => record,
            None => return Ok((404, Bytes::new())),
        },
        (Method::POST, None) => {
            let (columns, values) = members(body).await?;
            let holes = vec!["?"; columns.len()].join(",");
            let statement = format!("INSERT INTO {table} ({}) VALUES ({holes})", columns.join(","));
            connection.exec_drop(statement, values).await?;
            json!(connection.last_insert_id())
        }
        (Method::PUT, Some(id)) => {
            let (columns, mut values) = members(body).await?;
            values.push(id.into());
            let statement = format!("UPDATE {table} SET {} = ? WHERE id = ?", columns.join(" = ?, "));
            connection.exec_drop(statement, values).await?;
            json!(connection.affected_rows())
        }
        (Method::DELETE, Some(id)) => {
            connection.exec_drop(format!("DELETE FROM {table} WHERE id = ?"), (id,)).await?;
            json!(connection.affected_rows())
        }
        _ => return Ok((405, Bytes::new())),
    };
    Ok((200, value.to_string().into()))
}

async fn list(connection: &mut Conn, table: &str) -> Result<Value> {
    let rows: Vec<Row> = connection.exec(format!("SELECT * FROM {table}"), Params::Empty).await?;
    Ok(rows.into_iter().map(record).collect())
}

async fn read(connection: &mut Conn, table: &str, id: &str) -> Result<Option<Value>> {
    let row: Option<Row> = connection.exec_first(format!("SELECT * FROM {table} WHERE id = ?"), (id,)).await?;
    Ok(row.map(record))
}

fn record(row: Row) -> Value {
    let columns = row.columns();
    let cells = columns.iter().map(|column| column.name_str().into_owned()).zip(row.unwrap().into_iter().map(cell));
    Value::Object(cells.collect::<Map<_, _>>())
}

fn cell(value: mysql_async::Value) -> Value {
    match value {
        mysql_async::Value::NULL => Value::Null,
        mysql_async::Value::Int(number) => number.into(),
        mysql_async::Value::UInt(number) => number.into(),
        mysql_async::Value::Bytes(bytes) => String::from_utf8_lossy(&bytes).into(),
        other => other.as_sql(true).into(),
    }
}

async fn members(body: Incoming) -> Result<(Vec<String>, Vec<mysql_async::Value>)> {
    let bytes = body.collect().await?.to_bytes();
    let record: Map<String, Value> = serde_json::from_slice(&bytes)?;
    let value = |value: Value| match value {
        Value::Null => mysql_async::Value::NULL,
        Value::String(text) => text.into(),
        other => other.to_string().into(),
    };
    Ok(record.into_iter().map(|(key, member)| (name(&key), value(member))).unzip())
}

fn name(text: &str) -> String {
    let kept: String = text.chars().filter(|next| next.is_ascii_alphanumeric() || *next == '_').collect();
    format!("`{kept}`")
}

async fn file() -> Result<Bytes> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let letters: Vec<u8> = (0..LETTERS).map(|_| fastrand::u8(b'A'..=b'z')).collect();
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = format!("{}/rust-{number}", var("WORK").context("WORK is not set")?);
    tokio::fs::write(&path, letters).await?;
    let read = tokio::fs::read(&path).await;
    tokio::fs::remove_file(&path).await?;
    Ok(read?.into())
}
