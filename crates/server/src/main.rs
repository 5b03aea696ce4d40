//! The `rowcast` program.

fn main() {}
