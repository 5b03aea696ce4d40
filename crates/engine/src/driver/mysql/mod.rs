//! MySQL and MariaDB: prepared statements on connections leased per request.

mod connect;
mod error;
mod opened;
mod reflect;
mod rows;
mod session;
mod stream;
mod types;
mod wire;

pub use opened::Driver;
pub use session::Session;
