//! How durable data is when a call is answered.

/// How durable a write must be when it is answered (RFC 1813 3.3.7, `stable_how`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stability {
    /// May be lost until COMMIT.
    Unstable,
    /// The data, and what is needed to find it again.
    DataSync,
    /// The data and all attributes.
    FileSync,
}

/// Answer of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Bytes written.
    pub count: usize,
    /// How durable they are: at least what was asked for.
    pub stability: Stability,
    /// See [`Committed::verifier`].
    pub verifier: [u8; 8],
}

/// Answer of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    /// Changes when, and only when, uncommitted data may have been lost since: a client that sees another value
    /// than its writes were answered with sends them again.
    pub verifier: [u8; 8],
}
