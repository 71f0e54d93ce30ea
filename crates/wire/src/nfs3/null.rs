//! NULL (RFC 1813 3.3.0): does nothing, and says that somebody is there.

/// Number of the procedure.
pub const PROCEDURE: u32 = 0;

/// Arguments of NULL: none.
pub type Arguments = ();

/// Answer of NULL: empty.
pub type Reply = ();
