//! Servers to compare with: the floor, and each driver crate with one statement per request and nothing else.

mod mysql;
mod postgres;
mod server;
mod sqlite;
mod task;

use bytes::Bytes;

/// The floor: the same bytes for every request, from memory.
pub fn floor(body: &[u8]) -> anyhow::Result<()> {
    let body = Bytes::copy_from_slice(body);
    server::serve(move || {
        let body = body.clone();
        move |_target: String, _body: Bytes| {
            let body = body.clone();
            async move { Ok(body) }
        }
    })
}

/// The driver of a database alone.
pub fn serve(database: &str) -> anyhow::Result<()> {
    match database {
        url if url.starts_with("mysql://") => mysql::serve(url),
        url if url.starts_with("postgres://") => postgres::serve(url),
        path => sqlite::serve(path),
    }
}
