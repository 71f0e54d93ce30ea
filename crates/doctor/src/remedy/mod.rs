//! Settings worth changing: what they are, and making them on this host.

mod apply;
#[allow(clippy::module_inception, reason = "the file holds the remedy itself")]
mod remedy;

pub use apply::apply;
pub use remedy::Remedy;
