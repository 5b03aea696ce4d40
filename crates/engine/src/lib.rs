//! Runs plans: drivers, databases, execution.
