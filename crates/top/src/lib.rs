//! `howdah top`: what a running server does, on a terminal or in lines. Looks become figures ([`Seen`]), figures tables, and a
//! screen a buffer of letters; only `terminal.rs` and `news.rs` touch the world.

mod calls;
mod clients;
mod connections;
mod draw;
#[cfg(test)]
mod drawn;
mod exports;
mod head;
mod help;
mod kind;
mod layout;
mod lines;
mod look;
mod news;
mod screen;
mod seen;
mod show;
mod since;
mod table;
mod terminal;
#[cfg(test)]
mod testing;

pub use kind::{Kind, only};
pub use lines::lines;
pub use look::TopLook;
pub use news::listen;
pub use screen::Screen;
pub use seen::Seen;
pub use show::{can_show, show, wants_colour};
pub use since::{exports_since, since};
pub use table::Sort;
