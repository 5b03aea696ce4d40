//! Drivers: how each database is spoken to, behind one enum and one match per method.

mod address;
mod chunks;
mod connection;
mod dispatch;
mod hosts;
mod kept;
pub mod measure;
mod mysql;
mod options;
mod pool;
mod postgres;
pub mod retry;
mod sink;
pub mod sqlite;
mod tls;
mod transaction;

pub use address::Address;
pub use chunks::{Chunks, Out, check_bytes, pipe};
pub use connection::{Change, Connection, Job, Outcome};
pub use dispatch::{Driver, Session};
pub use options::{Options, Secret};
pub use sink::{Done, Flow, Sink, Stopped};
