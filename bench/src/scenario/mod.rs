//! Scenarios: what is asked, of whom, and what the figures should be.

mod bulk;
mod instructions;
mod mixed;
mod reads;
mod resources;
mod stage;
mod streams;
mod writes;

use std::time::Instant;

use anyhow::bail;

use crate::Run;
use crate::database;
use crate::report::Report;
use crate::scenario::stage::Stage;

/// A scenario: it measures on a stage and adds to a report.
type Scenario = fn(&Stage<'_>, &mut Report) -> anyhow::Result<()>;

/// Takes minutes, and is run where it is named.
const LONG: &str = "bulk";

const SCENARIOS: &[(&str, Scenario)] = &[
    ("by-id", reads::by_id),
    ("large", reads::large),
    ("list", reads::list),
    ("join", reads::join),
    ("policy", reads::policy),
    ("mixed", mixed::lists),
    ("scan", mixed::scan),
    ("stream", streams::stream),
    ("insert", writes::insert),
    ("bulk", bulk::bulk),
    ("start", resources::start),
    ("memory", resources::memory),
    ("instructions", instructions::instructions),
];

/// Runs the scenarios that are named, or all but the one of minutes.
pub fn run(run: &Run) -> anyhow::Result<()> {
    let names: Vec<&str> = SCENARIOS.iter().map(|(name, _)| *name).collect();
    if let Some(unknown) = run.scenarios.iter().find(|name| !names.contains(&&***name)) {
        bail!("no scenario {unknown}; there are {}", names.join(", "));
    }
    let home = std::path::absolute(&run.home)?;
    std::fs::create_dir_all(&home)?;
    let started = Instant::now();
    let engines = database::prepare(&home, &run.engines, &run.program, run.rows)?;
    stage::tell(&format!(
        "databases are filled after {:.0} s, which does not count",
        started.elapsed().as_secs_f64()
    ));
    let started = Instant::now();
    let stage = Stage::set(run, &home, &engines)?;
    let mut report = Report::default();
    for (name, scenario) in SCENARIOS {
        let is_named = run.scenarios.iter().any(|wanted| wanted == name);
        if is_named || run.scenarios.is_empty() && *name != LONG {
            let started = Instant::now();
            scenario(&stage, &mut report)?;
            stage::tell(&format!("{name} took {:.0} s", started.elapsed().as_secs_f64()));
        }
    }
    report.finish(&home)?;
    stage::tell(&format!("measured in {:.0} s", started.elapsed().as_secs_f64()));
    Ok(())
}
