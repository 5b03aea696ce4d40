//! Drivers: one folder per database engine.

pub mod sqlite;
