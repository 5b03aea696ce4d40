//! Streams: a million rows, beside the client of the engine that writes the same rows to a pipe.

use std::process::{Command, Stdio};

use anyhow::Context;

use crate::database::Engine;
use crate::measure::{median, seconds};
use crate::report::{Report, Target};
use crate::scenario::stage::{Stage, tell};
use crate::wire;

/// Rows of the stream.
const ROWS: u64 = 1_000_000;

/// A million visitors.
pub fn stream(stage: &Stage<'_>, report: &mut Report) -> anyhow::Result<()> {
    for engine in stage.engines {
        let subject = stage.subject(&format!("rowcast {}", engine.name))?;
        let target = format!("/records/visitors?order=id&size={ROWS}");
        let (mut ours, mut theirs, mut bytes) = (Vec::new(), Vec::new(), (0, 0));
        for _ in 0..stage.run.rounds.min(3) {
            ours.push(seconds(1, || wire::drain(&subject.address, &target).map(|count| bytes.0 = count))?);
            theirs.push(seconds(1, || client(engine).map(|count| bytes.1 = count))?);
        }
        let (ours, theirs) = (median(ours), median(theirs));
        let rate = |bytes: u64, seconds: f64| bytes as f64 / seconds / 1e6;
        let (ours_rate, theirs_rate) = (rate(bytes.0, ours), rate(bytes.1, theirs));
        tell(&format!(
            "{}: {ROWS} rows in {ours:.2} s, {ours_rate:.0} MB/s; its client in {theirs:.2} s, {theirs_rate:.0} MB/s",
            engine.name
        ));
        report.verdict(
            "stream MB/s ÷ client",
            &engine.name,
            ours_rate / theirs_rate,
            "",
            Target::AtLeast(1.0),
        );
        report.verdict("stream rows/s ÷ client", &engine.name, theirs / ours, "", Target::AtLeast(1.0));
    }
    Ok(())
}

/// How many bytes the client of an engine writes.
fn client(engine: &Engine) -> anyhow::Result<u64> {
    let select = format!("SELECT * FROM visitors ORDER BY id LIMIT {ROWS}");
    let mut command = match &*engine.name {
        "mysql" => {
            let server = engine.url.rsplit('@').next().unwrap_or_default();
            let (host, port) = server.trim_end_matches("/bench").rsplit_once(':').context("a port")?;
            let mut command = Command::new("mariadb");
            command.args(["--no-defaults", "--batch", "--quick", "--skip-column-names", "--user=root"]);
            command.args([&format!("--host={host}"), &format!("--port={port}"), "--database=bench"]);
            command.arg(format!("--execute={select}"));
            command
        }
        "postgres" => {
            let mut command = Command::new("psql");
            command.args(["--no-psqlrc", "--no-align", "--tuples-only", &format!("--dbname={}", engine.url)]);
            command.arg(format!("--command={select}"));
            command
        }
        _ => {
            let mut command = Command::new("sqlite3");
            command.args(["-json", &engine.url, &select]);
            command
        }
    };
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let count = std::io::copy(&mut child.stdout.take().context("its output")?, &mut std::io::sink())?;
    child.wait()?;
    Ok(count)
}
