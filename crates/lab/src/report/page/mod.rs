//! The page: what was asked, what came out, and all that is needed to check it. One file that holds everything it shows.

mod cells;
mod claims;
mod details;
mod document;
mod figure;
mod header;
mod origins;
mod repeat;
mod table;

pub use document::page;
