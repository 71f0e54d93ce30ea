//! Caps: how many bytes and calls a second some clients may have of some exports. A reply beyond its cap is held; nothing is refused.

mod cap_table;
mod rates;
mod rule;
mod token_bucket;

pub(crate) use cap_table::{CapReport, Caps, Cost, MatchedRules};
pub use rates::{parse_byte_cap, parse_call_cap, show_bytes, show_calls};
pub use rule::CapRule;
