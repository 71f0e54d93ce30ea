//! A far server for tests of names written behind, and the files of a client of it.

#![allow(dead_code, reason = "each test program uses some of it")]

pub mod client;
pub mod server;
