//! The program as an operator meets it: how it starts, what it says, how it ends, and what it does when its database
//! is changed, moved or written to by many.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of a test program for no test")]

mod program;

// In a folder of their own, because every file beside this one is a test program.
#[path = "process/configuration.rs"]
mod configuration;
#[path = "process/cost.rs"]
mod cost;
#[path = "process/dangers.rs"]
mod dangers;
#[path = "process/database.rs"]
mod database;
#[path = "process/formats.rs"]
mod formats;
#[path = "process/health.rs"]
mod health;
#[path = "process/jwks.rs"]
mod jwks;
#[path = "process/metrics.rs"]
mod metrics;
#[path = "process/policy.rs"]
mod policy;
#[path = "process/reconnect.rs"]
mod reconnect;
#[path = "process/remodel.rs"]
mod remodel;
#[path = "process/sessions.rs"]
mod sessions;
#[path = "process/signals.rs"]
mod signals;
#[path = "process/start.rs"]
mod start;
#[path = "process/tls.rs"]
mod tls;
#[path = "process/writes.rs"]
mod writes;
