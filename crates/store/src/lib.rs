//! The outside world as file systems: the local directory, later object stores. Knows no protocol and no socket.

pub mod limits;
pub mod local;
