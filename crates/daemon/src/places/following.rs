//! What becomes of links.

/// What becomes of a symbolic link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Following {
    /// What it points to is meant.
    Links,
    /// The link itself is meant.
    Nothing,
}
