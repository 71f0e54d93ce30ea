//! What people get to read: pure functions from facts to text, and the one place that prints.

mod hosts;
mod mount_commands;
mod output;
mod settings;
mod welcome;

pub use hosts::{reachable, worth_showing};
pub use output::{complain, print, print_raw};
pub use settings::{exports, server};
pub use welcome::{Opened, Welcome};
