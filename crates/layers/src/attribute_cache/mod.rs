//! Remembers what nodes are like for a while, so that not every look asks a far server.

mod known;
mod layer;
mod listing;
mod listings;
mod names;
mod options;

pub use layer::AttributeCache;
pub use options::{AttributeCacheOptions, AttributeCacheReport, LookupCache};
