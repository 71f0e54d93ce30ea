//! When another transport would serve better.

use std::fmt;

/// Why TCP should be used instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Datagrams in several fragments do not get through, so that transfers are as small as a packet.
    FragmentsLost,
    /// More than one call in a hundred had to be sent again.
    Lossy {
        /// Calls sent again for each thousand.
        per_thousand: u32,
    },
}

impl fmt::Display for Advice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FragmentsLost => {
                formatter.write_str("fragments of datagrams get lost on this path: use TCP")
            }
            Self::Lossy { per_thousand } => {
                write!(formatter, "{per_thousand} of 1000 calls had to be sent again: use TCP")
            }
        }
    }
}

/// Calls per verdict: fewer say little.
const CALLS: u32 = 1000;
/// Losses among them that TCP would make less of.
const LOSSY: u32 = 10;

/// Counts calls and losses, a thousand calls at a time.
#[derive(Debug, Default)]
pub(super) struct LossCount {
    calls: u32,
    lost: u32,
    last: u32,
}

impl LossCount {
    pub(super) fn answered(&mut self) {
        self.calls += 1;
        if self.calls == CALLS {
            *self = Self { calls: 0, lost: 0, last: self.lost };
        }
    }

    pub(super) fn lost(&mut self) {
        self.lost += 1;
    }

    pub(super) fn refuted(&mut self) {
        self.lost = self.lost.saturating_sub(1);
    }

    pub(super) fn advice(&self) -> Option<Advice> {
        let per_thousand = self.last.max(self.lost);
        (per_thousand >= LOSSY).then_some(Advice::Lossy { per_thousand })
    }
}
