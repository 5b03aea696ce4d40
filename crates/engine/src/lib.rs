//! Runs plans: drivers, databases, execution.
//!
//! This crate is where the waiting happens. Above it nobody knows which database answers, below it nobody knows
//! that there is a socket or a file. `docs/architecture.md` is the map.

pub mod database;
pub mod databases;
pub mod driver;
pub mod exec;
