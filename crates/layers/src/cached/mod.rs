//! All layers around one file system, in the order that makes them right together: the one place that composes them.

mod layer;
mod options;
mod report;

pub use layer::Cached;
pub use options::CachingOptions;
pub use report::CachedReport;
