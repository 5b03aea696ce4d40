//! Authentication: who asks. Each way is a file; what it finds out becomes a principal.

pub mod api_key;
pub mod basic;
pub mod db_auth;
pub mod identify;
pub mod jwt;
pub mod mode;
pub mod password;
mod password_file;
pub mod revoked;
pub mod session;
mod users;

pub use identify::{Auth, Identity};
