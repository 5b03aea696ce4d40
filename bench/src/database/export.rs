//! Tables as text that LOAD DATA and COPY read: tabs, lines, backslashes, and \N for NULL.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// The tables in the order in which they can be filled.
pub const TABLES: &[&str] = &["users", "categories", "posts", "comments", "guests", "visitors"];

/// Writes each table to `TABLE.tsv` in `folder`.
pub fn tables(connection: &Connection, folder: &Path) -> anyhow::Result<()> {
    for table in TABLES {
        let mut out = BufWriter::new(File::create(folder.join(format!("{table}.tsv")))?);
        let mut select = connection.prepare(&format!("SELECT * FROM {table} ORDER BY id"))?;
        let width = select.column_count();
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            for index in 0..width {
                if index > 0 {
                    out.write_all(b"\t")?;
                }
                match row.get_ref(index)? {
                    ValueRef::Null => out.write_all(b"\\N")?,
                    ValueRef::Integer(int) => write!(out, "{int}")?,
                    ValueRef::Real(float) => write!(out, "{float}")?,
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => write_escaped(&mut out, bytes)?,
                }
            }
            out.write_all(b"\n")?;
        }
        out.flush()?;
    }
    Ok(())
}

fn write_escaped(out: &mut impl Write, bytes: &[u8]) -> std::io::Result<()> {
    for byte in bytes {
        match byte {
            b'\\' => out.write_all(b"\\\\")?,
            b'\t' => out.write_all(b"\\t")?,
            b'\n' => out.write_all(b"\\n")?,
            b'\r' => out.write_all(b"\\r")?,
            other => out.write_all(&[*other])?,
        }
    }
    Ok(())
}
