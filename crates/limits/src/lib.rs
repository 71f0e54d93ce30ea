//! Limits that outsiders can push against: constants where they are used, and a table of them for the manual and for tests.

mod amount;
mod define;
mod limit;

pub use amount::Amount;
pub use limit::Limit;
