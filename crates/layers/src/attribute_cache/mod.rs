//! Remembers what nodes are like for a while, so that not every look asks a far server.

mod alone;
mod auditor;
mod audits;
mod chain;
mod covers;
mod delegations;
mod known;
#[cfg(test)]
mod known_tests;
mod layer;
mod listing;
mod listings;
mod names;
mod options;

pub use alone::AloneWatch;
pub use auditor::Auditor;
pub use layer::AttributeCache;
pub use options::{AttributeCacheOptions, AttributeCacheReport, LookupCache};
