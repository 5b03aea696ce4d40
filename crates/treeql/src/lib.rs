//! TreeQL without I/O: from a request to a plan, and from rows to bytes.
//!
//! A request is planned against a [`schema`] under a [`policy`], written in a [`sql`] dialect, and encoded as
//! its rows arrive. Nothing in this crate opens a socket or a file, looks at a clock or waits.
//! `docs/architecture.md` is the map of the whole house; the folders here are its lower floors.

pub mod encode;
pub mod error;
pub mod mode;
pub mod nearest;
pub mod openapi;
pub mod plan;
pub mod policy;
pub mod record;
pub mod remodel;
pub mod request;
pub mod row;
pub mod schema;
pub mod sql;
pub mod value;
