//! Rounds: every contestant's every measure, in an order that is drawn anew for each round.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::contestant::Racer;
use crate::lab::{Lab, say};
use crate::load::{Load, Loaded};
use crate::process::{Process, Usage};
use crate::run::{Absent, Beside, Cell, Measure};
use crate::sampler::{Sample, beside};
use crate::statistics::median;

/// One value of one round, with the figures beside it.
#[derive(Debug, Clone, Default)]
pub struct Figure {
    pub value: f64,
    pub beside: Vec<Beside>,
}

impl Figure {
    pub fn new(value: f64) -> Figure {
        Figure { value, beside: Vec::new() }
    }

    pub fn with(mut self, name: &str, value: f64) -> Figure {
        self.beside.push(Beside { name: name.to_owned(), value });
        self
    }
}

/// What came of all rounds.
#[derive(Debug, Default)]
pub struct Raced {
    pub measures: Vec<Measure>,
    pub absent: Vec<Absent>,
    /// Why there are fewer rounds than wanted, if so.
    pub reduced: Vec<String>,
}

/// Every measure and every contestant of it, by their numbers.
pub fn everyone(names: &[String], measures: &[Measure]) -> Vec<(usize, usize)> {
    (0..measures.len()).flat_map(|measure| (0..names.len()).map(move |name| (measure, name))).collect()
}

/// Runs the rounds, between so many that are run in any case and so many that are wanted if there is time. Who fails once is taken out of that measure: there is no figure for wrong
/// answers.
pub fn rounds(
    lab: &Lab,
    names: &[String],
    count: RangeInclusive<usize>,
    mut measures: Vec<Measure>,
    mut turns: Vec<(usize, usize)>,
    mut run: impl FnMut(usize, usize) -> Result<Figure>,
) -> Raced {
    let mut random = fastrand::Rng::with_seed(lab.options.seed);
    let mut figures: BTreeMap<(usize, usize), Vec<Figure>> = BTreeMap::new();
    let mut raced = Raced::default();
    turns.retain(|(measure, _)| lab.is_measured(&measures[*measure].name));
    let (least, count) = count.into_inner();
    let mut longest = 0.0_f64;
    for round in 1..=count {
        if round > least && !turns.is_empty() && !lab.plan.has(longest) {
            let done = round - 1;
            raced.reduced.push(format!("{done} rounds instead of {count}: the planned time was used up."));
            lab.tell(&format!("no time for round {round} of {count}"));
            break;
        }
        let began = Instant::now();
        random.shuffle(&mut turns);
        for (measure, name) in turns.clone() {
            let (title, unit) = (&measures[measure].name, &measures[measure].unit);
            let place = format!("round {round} of {count}: {title}: {}", names[name]);
            match run(measure, name) {
                Ok(figure) => {
                    lab.tell(&format!("{place}: {:.4} {unit}", figure.value));
                    figures.entry((measure, name)).or_default().push(figure);
                }
                Err(error) => {
                    say(&format!("{place} is out: {error:#}"));
                    raced.absent.push(Absent::new(&names[name], format!("{title}: {error:#}")));
                    figures.remove(&(measure, name));
                    turns.retain(|turn| *turn != (measure, name));
                }
            }
        }
        longest = longest.max(began.elapsed().as_secs_f64());
    }
    for ((measure, name), figures) in figures {
        measures[measure].cells.push(cell(&names[name], &figures, lab.options.seed));
    }
    measures.retain(|measure| !measure.cells.is_empty());
    measures.iter_mut().for_each(|measure| measure.judge(lab.options.seed));
    Raced { measures, ..raced }
}

/// The medians of what stands beside, under the names of the first round.
fn cell(name: &str, figures: &[Figure], seed: u64) -> Cell {
    let mut cell = Cell::new(name, figures.iter().map(|figure| figure.value).collect(), seed);
    for first in &figures[0].beside {
        let same = |figure: &Figure| figure.beside.iter().find(|it| it.name == first.name).map(|it| it.value);
        let values: Vec<f64> = figures.iter().filter_map(same).collect();
        cell = cell.beside(&first.name, median(&values));
    }
    cell
}

/// Load on one service, with its answers sampled, and the processor time of it and of its database read.
///
/// # Errors
///
/// If an answer is wrong or a request fails.
pub fn loaded(
    lab: &Lab,
    racer: &Racer,
    database: Option<&Process>,
    load: &Load,
    sample: &Sample<'_>,
) -> Result<(Loaded, u64, Figure)> {
    let used = || (racer.process.usage(), database.map(Process::usage).unwrap_or_default());
    let before = used();
    let (loaded, sampled) = beside(sample, || load.run(lab));
    let after = used();
    let loaded = loaded?;
    if let Some(wrong) = sampled.wrong {
        bail!("answered wrongly while timed: {wrong}");
    }
    if loaded.failed > 0 {
        bail!("{} of {} requests failed", loaded.failed, loaded.failed + loaded.good);
    }
    let requests = loaded.good + sampled.count;
    let spent = |from: Usage, to: Usage| (to.cpu_seconds - from.cpu_seconds) * 1e6 / requests as f64;
    let mut figure = Figure::new(loaded.good as f64 / loaded.seconds)
        .with("p50 ms", loaded.p50_ms)
        .with("p99 ms", loaded.p99_ms)
        .with("CPU µs/request", spent(before.0, after.0));
    if database.is_some() {
        figure = figure.with("database CPU µs/request", spent(before.1, after.1));
    }
    figure = figure.with("memory MiB", after.0.memory_mib);
    if database.is_some() {
        figure = figure.with("database memory MiB", after.1.memory_mib);
    }
    Ok((loaded, requests, figure.with("answers checked", sampled.count as f64)))
}
