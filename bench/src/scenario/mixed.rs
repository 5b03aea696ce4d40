//! Point reads beside somebody's long queries.

use crate::load::{Asked, Load};
use crate::measure::{Subject, median, once};
use crate::report::{Report, Target};
use crate::scenario::reads::drawn;
use crate::scenario::stage::Stage;

/// Connections that read points.
const POINTS: u32 = 16;

fn points(stage: &Stage<'_>) -> anyhow::Result<Load> {
    let asked: Vec<Asked> = (0..5000)
        .map(|index| ("GET", format!("/records/posts/{}", 1 + drawn(index, 10_000)), String::new()))
        .collect();
    Load::new(stage.home, "points", POINTS, "", &asked)
}

/// Beside two connections that loop over a list of 10,000 rows.
pub fn lists(stage: &Stage<'_>, report: &mut Report) -> anyhow::Result<()> {
    let points = points(stage)?;
    let looping = [("GET", "/records/posts".to_owned(), String::new())];
    let lists = Load::new(stage.home, "lists", 2, "", &looping)?;
    for engine in stage.engines {
        let subject = stage.subject(&format!("rowcast {}", engine.name))?;
        let (alone, beside) = both(stage, "points, two lists", subject, &points, &lists)?;
        report.rows(&beside, None);
        let ratio =
            median(beside.iter().zip(&alone).map(|(beside, alone)| beside.rate / alone.rate).collect());
        report.verdict("points beside two lists ÷ alone", &engine.name, ratio, "", Target::AtLeast(0.3));
    }
    Ok(())
}

/// Beside a list that goes through all rows of the large table and finds none.
pub fn scan(stage: &Stage<'_>, report: &mut Report) -> anyhow::Result<()> {
    let points = points(stage)?;
    let looping = [("GET", "/records/visitors?filter=response,eq,-1".to_owned(), String::new())];
    let scan = Load::new(stage.home, "scan", 1, "", &looping)?;
    for engine in stage.engines.iter().filter(|engine| engine.is_embedded()) {
        let subject = stage.subject(&format!("rowcast {}", engine.name))?;
        let (_, beside) = both(stage, "points, scan", subject, &points, &scan)?;
        report.rows(&beside, None);
        let p99 = median(beside.iter().map(|round| round.p99).collect());
        report.verdict("p99 beside a scan of 6 M rows", &engine.name, p99, " ms", Target::AtMost(5.0));
    }
    Ok(())
}

type Rounds = Vec<crate::measure::Measured>;

/// Rounds without and with the other load, in turn.
fn both(
    stage: &Stage<'_>,
    name: &str,
    subject: &Subject,
    points: &Load,
    other: &Load,
) -> anyhow::Result<(Rounds, Rounds)> {
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..stage.run.rounds.min(3) {
        alone.push(once(name, subject, points, stage.run.seconds)?);
        let running = other.start(&subject.address, stage.run.seconds + 1.0)?;
        beside.push(once(name, subject, points, stage.run.seconds)?);
        running.finish()?;
    }
    Ok((alone, beside))
}
