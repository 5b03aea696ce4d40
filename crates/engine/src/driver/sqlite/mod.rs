//! The embedded SQLite driver.

pub mod loader;
