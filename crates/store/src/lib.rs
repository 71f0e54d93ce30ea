//! The outside world as file systems: the local directory, later object stores. Knows no protocol and no socket.

#[cfg(test)]
extern crate self as howdah_store;

mod handle_book;
pub mod journal;
pub mod limits;
pub mod local;

pub use handle_book::DurableHandleBook;
