//! Names and numbers of what is in the export, which the loads make and the floors must know too.

/// A few files.
pub const FEW: &str = "few";
/// Many files.
pub const MANY: &str = "many";
/// Where files are made.
pub const CREATE: &str = "create";
/// Where files are removed.
pub const REMOVE: &str = "remove";
/// Read anywhere.
pub const READ_RANDOM: &str = "read-random";
/// Written anywhere.
pub const WRITE_RANDOM: &str = "write-random";
/// Read from start to end.
pub const READ_STREAM: &str = "read-stream";
/// Written from start to end.
pub const WRITE_STREAM: &str = "write-stream";
/// Files of which attributes and rights are asked: few enough for any cache of open files.
pub const FEW_COUNT: u64 = 64;
/// Files in the directory that is searched and listed.
pub const MANY_COUNT: u64 = 10_000;
