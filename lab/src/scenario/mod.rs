//! The experiments, one file each.

mod core;
mod file;
mod hello;
mod https;
mod ids;
mod page;
mod storage;
mod store;
mod survey;
mod transport;

use anyhow::Result;

use crate::lab::Lab;
use crate::plan::Cost;
use crate::run::Scenario;

/// An experiment by its name.
pub struct Experiment {
    pub name: &'static str,
    pub run: fn(&Lab) -> Result<Scenario>,
    pub cost: Cost,
    /// Contestants that no manifest has.
    pub own: &'static [&'static str],
}

const fn cost(fixed: f64, round: f64, quick: f64) -> Cost {
    Cost { fixed, round, quick }
}

/// In the order of the report.
pub const ALL: &[Experiment] = &[
    Experiment { name: "hello", run: hello::run, cost: cost(3.0, 16.0, 30.0), own: &[] },
    Experiment { name: "core", run: core::run, cost: cost(8.0, 57.0, 100.0), own: &[] },
    Experiment { name: "file", run: file::run, cost: cost(8.0, 20.0, 30.0), own: &[] },
    Experiment { name: "https", run: https::run, cost: cost(10.0, 35.0, 30.0), own: &[] },
    Experiment { name: "storage", run: storage::run, cost: cost(200.0, 0.0, 30.0), own: storage::STORES_OWN },
    Experiment { name: "transport", run: transport::run, cost: cost(8.0, 7.0, 10.0), own: &[] },
    Experiment { name: "ids", run: ids::run, cost: cost(0.0, 1.6, 1.0), own: &[] },
    Experiment { name: "survey", run: survey::run, cost: cost(65.0, 10.0, 20.0), own: &[] },
];
