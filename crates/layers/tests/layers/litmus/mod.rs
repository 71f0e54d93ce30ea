//! Plays the litmus list of names written behind: `names_behind.txt` says how to read it. What runs operations of programs is a
//! [`Programs`](play::Programs): the layer, or a mount.

#![allow(dead_code, reason = "each test program uses some of it")]

pub mod case;
pub mod play;
pub mod server;
pub mod tree;
