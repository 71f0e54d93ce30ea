//! A rule of chance: what the losing elements ask.

/// A rule by which packets, or fragments, are lost.
pub trait Chance: std::fmt::Debug + Send {
    /// Is the next one lost?
    fn loses_next(&mut self) -> bool;

    /// How many of the next so many pass before one is lost. If it is less than `of`, the one after them is the lost one,
    /// and has been asked for.
    fn spares(&mut self, of: u32) -> u32 {
        (0..of).find(|_| self.loses_next()).unwrap_or(of)
    }
}
