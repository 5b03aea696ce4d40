//! Bulk: all visitors in and out, beside the loader and the client of the engine.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow, bail, ensure};

use crate::database::Engine;
use crate::measure::{median, seconds};
use crate::program::{Program, memory};
use crate::report::{Report, Target};
use crate::scenario::stage::{Stage, serve, tell};
use crate::wire;

/// Records of one request of the batches.
const BATCH: u64 = 1000;
/// limit: records of all batches together; as many again would tell the same.
const BATCHED_MAX: u64 = 1_000_000;
/// Clients that send batches at the same time.
const CLIENTS: usize = 4;

/// Import, batches and export.
pub fn bulk(stage: &Stage<'_>, report: &mut Report) -> anyhow::Result<()> {
    let rows = stage.run.rows;
    let file = csv(stage.home, rows)?;
    let batched = rows.min(BATCHED_MAX);
    let batches = batches(batched);
    for engine in stage.engines {
        // One that has done nothing else: what others have read of a file that is mapped would count as its memory.
        let program = Program::start(&stage.run.program, &serve(&engine.url))?;
        let address = &program.address;
        let (mut ours, mut theirs, mut single, mut several) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for _ in 0..stage.run.rounds.min(3) {
            empty(engine)?;
            theirs.push(seconds(1, || load(engine, &file))?);
            empty(engine)?;
            ours.push(seconds(1, || post(address, &file, rows))?);
            empty(engine)?;
            single.push(seconds(1, || post_batches(address, &batches))?);
            empty(engine)?;
            several.push(seconds(1, || post_at_once(address, &batches))?);
        }
        let rate = |rows: u64, seconds: Vec<f64>| rows as f64 / median(seconds);
        let (ours, theirs) = (rate(rows, ours), rate(rows, theirs));
        let (single, several) = (rate(batched, single), rate(batched, several));
        let peak = memory(program.pid(), "VmHWM");
        let name = &engine.name;
        tell(&format!(
            "{name}: rows/s of an import {ours:.0}, of its loader {theirs:.0}, in batches of one client {single:.0}, of \
             {CLIENTS} {several:.0}; peak {peak:.0} MB"
        ));
        report.verdict("import ÷ loader of the engine", name, ours / theirs, "", Target::AtLeast(0.6));
        report.verdict(
            "batches of 1,000, one client ÷ loader",
            name,
            single / theirs,
            "",
            Target::AtLeast(0.4),
        );
        report.verdict(
            "batches of 1,000, four clients ÷ loader",
            name,
            several / theirs,
            "",
            Target::AtLeast(0.4),
        );
        report.verdict("memory of an import", name, peak, " MB", Target::AtMost(100.0));
        let target = "/records/visitors?format=csv&order=id&include=id,response";
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..stage.run.rounds.min(3) {
            ours.push(seconds(1, || wire::drain(address, target).map(drop))?);
            theirs.push(seconds(1, || export(engine))?);
        }
        let (ours, theirs) = (rate(rows, ours), rate(rows, theirs));
        tell(&format!("{}: rows/s of an export {ours:.0}, of its client {theirs:.0}", engine.name));
        report.verdict("export ÷ client of the engine", name, ours / theirs, "", Target::AtLeast(1.0));
    }
    Ok(())
}

/// The rows as CSV, with their header.
fn csv(home: &Path, rows: u64) -> anyhow::Result<PathBuf> {
    let file = home.join(format!("bulk-{rows}.csv"));
    let mut out = BufWriter::new(File::create(&file)?);
    writeln!(out, "id,response")?;
    for id in 1..=rows {
        writeln!(out, "{id},{}", id % 101)?;
    }
    out.flush()?;
    Ok(file)
}

/// Sends the file as one request.
fn post(address: &str, file: &Path, rows: u64) -> anyhow::Result<()> {
    let mut body = File::open(file)?;
    let length = body.metadata()?.len();
    let mut stream = connect(address)?;
    let head = format!(
        "POST /records/imported HTTP/1.1\r\nHost: bench\r\nContent-Type: text/csv\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    std::io::copy(&mut body, &mut stream)?;
    let answer = answer(&mut BufReader::new(stream))?;
    ensure!(answer.contains(&format!("\"written\":{rows},")), "{answer}");
    Ok(())
}

/// Requests of a thousand records each, ready as the file of the loader is.
fn batches(rows: u64) -> Vec<Vec<u8>> {
    let batch = |first: u64| {
        let records: Vec<String> = (first + 1..=first + BATCH)
            .map(|id| format!("{{\"id\":{id},\"response\":{}}}", id % 101))
            .collect();
        let body = format!("[{}]", records.join(","));
        let length = body.len();
        let head =
            format!("POST /records/imported HTTP/1.1\r\nHost: bench\r\nContent-Length: {length}\r\n\r\n");
        (head + &body).into_bytes()
    };
    (0..rows).step_by(BATCH as usize).map(batch).collect()
}

/// Sends requests one after the other.
fn post_batches(address: &str, batches: &[Vec<u8>]) -> anyhow::Result<()> {
    let mut stream = BufReader::new(connect(address)?);
    for batch in batches {
        stream.get_mut().write_all(batch)?;
        answer(&mut stream)?;
    }
    Ok(())
}

/// The same by several clients.
fn post_at_once(address: &str, batches: &[Vec<u8>]) -> anyhow::Result<()> {
    std::thread::scope(|scope| {
        let parts = batches.chunks(batches.len().div_ceil(CLIENTS));
        let clients: Vec<_> = parts.map(|part| scope.spawn(|| post_batches(address, part))).collect();
        clients
            .into_iter()
            .try_for_each(|client| client.join().map_err(|_panic| anyhow!("a client broke"))?)
    })
}

fn connect(address: &str) -> anyhow::Result<TcpStream> {
    let stream = TcpStream::connect(address.trim_start_matches("http://").trim_end_matches('/'))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// The body of an answer with a length, which must be a success.
fn answer(stream: &mut BufReader<TcpStream>) -> anyhow::Result<String> {
    let mut status = String::new();
    stream.read_line(&mut status)?;
    let (mut length, mut line) = (0, String::from("-"));
    while !line.trim().is_empty() {
        line.clear();
        stream.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    let body = String::from_utf8(body)?;
    ensure!(status.contains(" 200 "), "{status}{body}");
    Ok(body)
}

/// Leaves the table without rows.
fn empty(engine: &Engine) -> anyhow::Result<()> {
    let text = if engine.is_embedded() { "DELETE FROM imported" } else { "TRUNCATE imported" };
    run(client(engine, text)?)
}

/// Fills the table with the loader of the engine.
fn load(engine: &Engine, file: &Path) -> anyhow::Result<()> {
    let file = file.display();
    let text = match &*engine.name {
        "mysql" => format!(
            "LOAD DATA LOCAL INFILE '{file}' INTO TABLE imported FIELDS TERMINATED BY ',' IGNORE 1 LINES"
        ),
        "postgres" => format!("\\copy imported FROM '{file}' WITH (FORMAT csv, HEADER)"),
        _ => format!(".import --csv --skip 1 {file} imported"),
    };
    run(client(engine, &text)?)
}

/// Writes all visitors to a pipe with the client of the engine.
fn export(engine: &Engine) -> anyhow::Result<()> {
    let text = match &*engine.name {
        "postgres" => "\\copy (SELECT id, response FROM visitors ORDER BY id) TO STDOUT WITH (FORMAT csv)",
        _ => "SELECT id, response FROM visitors ORDER BY id",
    };
    let mut child = client(engine, text)?.stdout(Stdio::piped()).spawn()?;
    std::io::copy(&mut child.stdout.take().context("its output")?, &mut std::io::sink())?;
    ensure!(child.wait()?.success(), "the client of {} failed", engine.name);
    Ok(())
}

fn run(mut command: Command) -> anyhow::Result<()> {
    let output = command.output()?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// The client of an engine with a text to run.
fn client(engine: &Engine, text: &str) -> anyhow::Result<Command> {
    let mut command = match &*engine.name {
        "mysql" => {
            let server = engine.url.rsplit('@').next().unwrap_or_default();
            let (host, port) = server.trim_end_matches("/bench").rsplit_once(':').context("a port")?;
            let mut command = Command::new("mariadb");
            command.args(["--no-defaults", "--local-infile=1", "--batch", "--quick", "--skip-column-names"]);
            command.args(["--user=root", &format!("--host={host}"), &format!("--port={port}")]);
            command.args(["--database=bench", &format!("--execute={text}")]);
            command
        }
        "postgres" => {
            let mut command = Command::new("psql");
            command.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"]);
            command.args([&format!("--dbname={}", engine.url), &format!("--command={text}")]);
            command
        }
        _ => {
            let mut command = Command::new("sqlite3");
            command.args(["-csv", "-bail", &engine.url, text]);
            command
        }
    };
    command.stdin(Stdio::null());
    Ok(command)
}
