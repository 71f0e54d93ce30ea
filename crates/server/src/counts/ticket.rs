//! What a call and its reply carry along so that they are counted where they belong.

use super::moment::Moment;

/// Goes with a reply to the socket: two words, since each reply is moved some times on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    /// Where it is counted.
    pub place: Place,
    /// When the call was complete.
    pub arrived: Moment,
}

/// Where a call is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The export's place.
    pub export: u16,
    /// The procedure's place.
    pub procedure: u16,
}

/// What is known of a call before it runs.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// When it was complete.
    pub arrived: Moment,
    /// Its length in bytes.
    pub received: usize,
    /// Whether it is the first since the clock was last read for something that takes longer, such as a receive: then it is worth
    /// reading it again.
    pub is_first: bool,
}
