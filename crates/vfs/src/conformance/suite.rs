//! The cases of all topics in a row.

use super::Case;
use super::topics::TOPICS;

/// Every case, in a fixed order.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    TOPICS.iter().copied().flatten()
}
