//! All connections of a process together: who gets how much of the memory.

mod clients;
mod connection;
mod knobs;
mod memory;
mod own;
mod pool;
mod settings;
mod totals;

pub use clients::{Client, REMEMBERED, UNKNOWN};
pub use connection::Connection;
pub use own::Own;
pub use pool::Tuner;
pub use settings::Settings;
pub use totals::Totals;
