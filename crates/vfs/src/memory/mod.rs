//! A file system in memory: the model that every other one is compared with, so correct before fast.
//!
//! [`MemoryFileSystem`] holds one lock around its tables. The tables are in `tables`, `node`, `entries` and
//! `pages`; the operations on them are in the file that bears their name; `permissions` holds the rules of
//! POSIX as pure functions.

mod attributes;
mod capacity;
mod clock;
mod create;
mod entries;
mod file;
mod file_system;
mod groups;
mod link;
mod listing;
mod local_changes;
mod lookup;
mod node;
mod number;
mod options;
mod pages;
mod permissions;
mod ranges;
mod remove;
mod rename;
mod setting;
mod tables;
mod xattr_map;
mod xattrs;

pub use clock::{Clock, counting_clock};
pub use file_system::MemoryFileSystem;
pub use options::MemoryOptions;
