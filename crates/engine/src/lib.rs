//! Runs plans: drivers, databases, execution.

pub mod driver;
