//! `howdah relay --pass-through`: from what was typed to a relay that runs, and its answers to those who ask.

mod answers;
mod screen;
mod session;
mod settings;

pub use session::run;
