//! What tests of the process need: the program with any arguments, databases made by hand, and bytes over sockets.

#![allow(dead_code, reason = "each test program uses a part of it")]

pub mod files;
pub mod running;
pub mod wire;
