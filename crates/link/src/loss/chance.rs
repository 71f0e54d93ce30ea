//! A rule of chance: what the losing elements ask.

/// A rule by which packets, or fragments, are lost.
pub trait Chance: std::fmt::Debug + Send {
    /// Is the next one lost?
    fn loses_next(&mut self) -> bool;
}
