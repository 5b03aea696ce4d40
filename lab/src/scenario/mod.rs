//! The experiments, one file each.

mod core;
mod file;
mod hello;
mod https;
mod ids;
mod page;
mod storage;
mod store;
mod transport;

use anyhow::Result;

use crate::lab::Lab;
use crate::run::Scenario;

/// An experiment by its name.
pub struct Experiment {
    pub name: &'static str,
    pub run: fn(&Lab) -> Result<Scenario>,
}

/// In the order of the report.
pub const ALL: &[Experiment] = &[
    Experiment { name: "hello", run: hello::run },
    Experiment { name: "core", run: core::run },
    Experiment { name: "file", run: file::run },
    Experiment { name: "https", run: https::run },
    Experiment { name: "storage", run: storage::run },
    Experiment { name: "transport", run: transport::run },
    Experiment { name: "ids", run: ids::run },
];
