//! What a call and its reply carry along so that they are counted where they belong.

use std::time::Instant;

/// Goes with a reply to the socket.
#[derive(Debug, Clone, Copy)]
pub struct Ticket {
    /// The export's place.
    pub export: u16,
    /// The procedure's place.
    pub procedure: u16,
    /// When the call was complete.
    pub arrived: Instant,
}

/// What is known of a call before it runs.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// When it was complete.
    pub arrived: Instant,
    /// Its length in bytes.
    pub received: usize,
    /// Whether it is the first since the clock was last read for something that takes longer, such as a receive: then it is worth
    /// reading it again.
    pub is_first: bool,
}
