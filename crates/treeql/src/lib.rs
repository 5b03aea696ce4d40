//! TreeQL without I/O: from a request to a plan, and from rows to bytes.

pub mod value;
