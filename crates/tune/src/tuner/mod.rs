//! All connections of a process together: who gets how much of the memory.

mod connection;
mod knobs;
mod pool;
mod settings;

pub use connection::Connection;
pub use pool::Tuner;
pub use settings::Settings;
