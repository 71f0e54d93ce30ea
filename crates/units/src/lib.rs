//! Sizes, rates and times as people read them: the one place that chooses units and digits for a screen, a log or an error.
//! What people type is parsed elsewhere.

mod narrow;
mod plain;
mod text;

pub use narrow::{narrow_bytes, narrow_count, narrow_time};
pub use plain::plain;
pub use text::{bits_rate, bytes, clock, counted, grouped, percent, power_of_two, rate, seconds, size, time};
