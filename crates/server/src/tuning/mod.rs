//! Sizes connections to the paths that they take, and knows what limits each. Runs beside the hot path, on a thread of its
//! own: workers do nothing for it.

mod gauge;
mod processors;
mod settings;
mod sizing;

pub use settings::Tuning;
pub use sizing::Sizing;
