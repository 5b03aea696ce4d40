//! Instructions: what a request costs, counted by callgrind, the same on every machine.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::program::Program;
use crate::report::Report;
use crate::scenario::reads::LIST;
use crate::scenario::stage::{Stage, serve, tell};
use crate::wire::Connection;

/// Requests of the short and of the long run; what they differ by is free of the start and the end.
const RUNS: [u64; 2] = [200, 1000];

/// Instructions of the server for a record by id and for a list, one request in flight.
pub fn instructions(stage: &Stage<'_>, report: &mut Report) -> anyhow::Result<()> {
    for engine in stage.engines {
        for (what, target) in [("by-id", "/records/posts/1"), ("list", LIST)] {
            let mut counted = Vec::new();
            for requests in RUNS {
                counted.push(run(stage.home, &stage.run.program, &engine.url, target, requests)?);
            }
            let each = (counted[1] - counted[0]) as f64 / (RUNS[1] - RUNS[0]) as f64;
            tell(&format!("{what}, {}: {each:.0} instructions", engine.name));
            report.instructions(what, &engine.name, each);
        }
    }
    Ok(())
}

/// Instructions of a whole life with so many requests.
fn run(home: &Path, program: &Path, url: &str, target: &str, requests: u64) -> anyhow::Result<u64> {
    let file = home.join("callgrind.out");
    let out = format!("--callgrind-out-file={}", file.display());
    let shown = program.display().to_string();
    let mut arguments = vec!["--tool=callgrind", "--quiet", &out, &shown];
    arguments.extend(serve(url));
    // One worker, so that all is counted in one place.
    arguments.extend(["--workers", "1"]);
    let started = Program::start(Path::new("valgrind"), &arguments)?;
    let mut connection = Connection::open(&started.address)?;
    for _ in 0..requests {
        connection.get(target)?;
    }
    drop(connection);
    let ended = Command::new("kill").args(["-TERM", &started.pid().to_string()]).status()?;
    ensure!(ended.success(), "the server had ended before");
    started.wait()?;
    let text = std::fs::read_to_string(&file)?;
    let line = text.lines().find_map(|line| line.strip_prefix("summary: ").or(line.strip_prefix("totals: ")));
    line.and_then(|number| number.split(' ').next()?.parse().ok()).context("callgrind counted nothing")
}
