//! PostgreSQL: short reads pipelined on one connection of a worker, everything else on leased ones.

mod connect;
mod copy;
mod error;
mod opened;
mod params;
mod reflect;
mod rows;
mod session;
mod shared;
mod tap;
mod types;

pub use opened::Driver;
pub use session::Session;
