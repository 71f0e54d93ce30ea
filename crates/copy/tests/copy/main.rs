//! Copies of trees, through servers in memory and on disk.

mod copy;
mod copy_again;
mod copy_by_server;
mod copy_interrupted;
mod copy_kinds;
mod copy_living;
mod copy_one_writer;
mod copy_select;
mod copy_verify;
mod copy_whole;
#[path = "../copying/mod.rs"]
mod copying;
