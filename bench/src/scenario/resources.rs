//! Resources: how soon a server answers, and how much memory it takes.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::measure::seconds;
use crate::program::{self, Program};
use crate::report::{Report, Target};
use crate::scenario::stage::{Stage, serve};
use crate::wire;

/// From the start of the process to its first answer.
pub fn start(stage: &Stage<'_>, report: &mut Report) -> anyhow::Result<()> {
    for engine in stage.engines {
        let taken = seconds(stage.run.rounds.max(9), || {
            let program = Program::start(&stage.run.program, &serve(&engine.url))?;
            wire::get(&program.address, "/records/posts/1", "").map(|_| ())
        })?;
        let most = if engine.is_embedded() { 30.0 } else { 80.0 };
        report.verdict("start to first answer", &engine.name, taken * 1e3, " ms", Target::AtMost(most));
    }
    Ok(())
}

/// A server that was just started, with 32 connections, and with 1,000, each of which has been answered.
fn memory_of(stage: &Stage<'_>, connections: usize) -> anyhow::Result<f64> {
    let url = &stage.engines[0].url;
    let program = Program::start(&stage.run.program, &serve(url))?;
    let host = program.address.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let mut open = Vec::with_capacity(connections);
    for index in 0..connections {
        let mut stream = TcpStream::connect(&host)?;
        write!(stream, "GET /records/posts/{} HTTP/1.1\r\nHost: {host}\r\n\r\n", index + 1)?;
        let mut buffer = [0; 4096];
        // One read is enough: the answer is short and leaves in one piece.
        let _ = stream.read(&mut buffer)?;
        open.push(stream);
    }
    Ok(program::memory(program.pid(), "VmRSS"))
}

/// The memory of the embedded engine.
pub fn memory(stage: &Stage<'_>, report: &mut Report) -> anyhow::Result<()> {
    let Some(engine) = stage.engines.first().filter(|engine| engine.is_embedded()) else { return Ok(()) };
    for (what, connections, most) in [
        ("memory idle", 0, 15.0),
        ("memory, 32 connections", 32, 40.0),
        ("memory, 1,000 connections", 1000, 80.0),
    ] {
        report.verdict(what, &engine.name, memory_of(stage, connections)?, " MB", Target::AtMost(most));
    }
    Ok(())
}
