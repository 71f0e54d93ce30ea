//! What is found of an interval, in each direction.

use serde::{Deserialize, Serialize};

use super::Verdict;

/// What a client of NFS moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Replies: reads.
    Reads,
    /// Calls: writes.
    Writes,
}

/// The verdicts on an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// Of replies, READ for the most part.
    pub sending: Verdict,
    /// Of calls, WRITE for the most part.
    pub receiving: Verdict,
    /// Bytes per second that left us.
    pub sent_per_second: f64,
    /// Bytes per second that came to us.
    pub received_per_second: f64,
}

impl Judgement {
    /// How fast the connection moves in a direction, if that is the one in which it moves more: bytes per second.
    pub fn rate(&self, of: Direction) -> Option<f64> {
        let (sent, received) = (self.sent_per_second, self.received_per_second);
        match of {
            Direction::Reads => (sent > received).then_some(sent),
            Direction::Writes => (received > sent).then_some(received),
        }
    }

    /// The direction that moves more.
    pub fn direction(&self) -> Direction {
        if self.received_per_second > self.sent_per_second { Direction::Writes } else { Direction::Reads }
    }

    /// The word for the whole connection: that of the direction that moves more.
    pub fn verdict(&self) -> Verdict {
        match self.direction() {
            Direction::Reads => self.sending,
            Direction::Writes => self.receiving,
        }
    }
}
