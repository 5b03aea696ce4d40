//! `rowcast export`: a table into a file, by the same code as a request.

use std::fs::{self, File};
use std::io::{BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Context, bail};
use engine::database::Snapshot;
use engine::driver::Chunks;
use engine::exec::{self, Answer, Progress};
use treeql::encode::Format;
use treeql::policy::Policy;
use treeql::request::{Operation, Request, Values, Window, parse_query};

use crate::config::Config;
use crate::transfer::progress::Line;
use crate::transfer::session::{format_of, told, with_database};

/// What is to be exported, and where to.
#[derive(Debug, Default)]
pub struct ExportOptions {
    /// The exposed name of the table.
    pub table: String,
    /// The file; `None` is standard output.
    pub file: Option<PathBuf>,
    /// The format; `None`: what the ending of the file says, else CSV.
    pub format: Option<Format>,
    /// Filters, order, columns and size, as in the query string of a list.
    pub query: String,
}

/// Exports a table. The file appears when it is whole.
pub fn export(config: &Config, options: &ExportOptions) -> anyhow::Result<()> {
    let name = options.file.as_ref().and_then(|file| file.to_str());
    let format = options.format.or_else(|| name.and_then(format_of)).unwrap_or(Format::Csv);
    with_database(config, async |database| {
        let answer = list(&database.snapshot(), options, format).await?;
        let progress = Arc::new(Progress::default());
        let line = std::io::stderr().is_terminal() && options.file.is_some();
        let line = line.then(|| Line::watch(&progress, None)).transpose()?;
        let result = match &options.file {
            None => write(answer, &mut std::io::stdout().lock(), &progress).await,
            Some(file) => {
                let mut partial = file.clone().into_os_string();
                partial.push(".partial");
                let partial = PathBuf::from(partial);
                let cannot = || format!("{} cannot be written", file.display());
                let mut out = BufWriter::new(File::create(&partial).with_context(cannot)?);
                let written = write(answer, &mut out, &progress).await.and_then(|()| {
                    out.into_inner()?.sync_all()?;
                    fs::rename(&partial, file).with_context(cannot)
                });
                if written.is_err() {
                    // Half a file must not be taken for a whole one.
                    fs::remove_file(&partial).ok();
                }
                written
            }
        };
        drop(line);
        result
    })
}

async fn list(snapshot: &Arc<Snapshot>, options: &ExportOptions, format: Format) -> anyhow::Result<Answer> {
    let mut values = Values::default();
    let mode = snapshot.setting.mode;
    let parsed =
        parse_query(&options.query, &options.table, mode, &mut values).map_err(|error| told(&error))?;
    let mut request = Request::new(Operation::List, &*options.table);
    request.query = parsed.query;
    request.window = Window::of(values.limit, values.offset);
    if format == Format::Csv && !request.query.joins.is_empty() {
        bail!("what is joined has no place in CSV, which is flat; use --format ndjson");
    }
    let plan = snapshot.plan(&request, &Policy::default()).map_err(|error| told(&error))?;
    exec::list(snapshot, &plan, values, format).await.map_err(|error| told(&error))
}

async fn write(answer: Answer, out: &mut impl Write, progress: &Progress) -> anyhow::Result<()> {
    let (first, mut rest): (_, Option<Chunks>) = match answer {
        Answer::Whole(document) => (document, None),
        Answer::Stream(first, rest) => (first, Some(rest)),
    };
    let mut next = Some(first);
    while let Some(bytes) = next {
        out.write_all(&bytes).context("the rows cannot be written")?;
        progress.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        progress.records.fetch_add(lines as u64, Ordering::Relaxed);
        next = match &mut rest {
            None => None,
            Some(rest) => rest.next().await.transpose().map_err(|error| told(&error))?,
        };
    }
    out.flush().context("the rows cannot be written")
}
