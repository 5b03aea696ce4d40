//! Writes: one record for each request, durable before it is answered.

use crate::load::Asked;
use crate::measure::interleaved;
use crate::report::{Report, Target};
use crate::scenario::stage::{Stage, of};

/// `POST /records/entries` by 32 clients.
pub fn insert(stage: &Stage<'_>, report: &mut Report) -> anyhow::Result<()> {
    let body = |index: u32| format!("{{\"name\":\"visitor {index}\",\"score\":{}}}", index % 100);
    let asked: Vec<Asked> =
        (0..1000).map(|index| ("POST", "/records/entries".to_owned(), body(index))).collect();
    let load = stage.load("insert", &asked)?;
    let subjects = stage.of_kind(&["rowcast", "base", "alone"]);
    let all: Vec<_> = subjects.iter().map(|subject| (*subject, &load)).collect();
    let rows = interleaved("insert", &all, stage.run.rounds, stage.run.seconds)?;
    report.rows(&rows, None);
    for engine in stage.engines {
        let ratio = of(&rows, &format!("rowcast {}", engine.name))?.rate
            / of(&rows, &format!("alone {}", engine.name))?.rate;
        let least = if engine.is_embedded() { 6.0 } else { 0.9 };
        report.verdict(
            "durable inserts ÷ one transaction each",
            &engine.name,
            ratio,
            "",
            Target::AtLeast(least),
        );
    }
    Ok(())
}
