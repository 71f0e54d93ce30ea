//! What was written to a file and is not yet known to be durable, with the verifier of each write.

use std::collections::BTreeMap;

use howdah_vfs::{Stability, Written};

/// A range of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) offset: u64,
    pub(super) length: u64,
}

/// Uncommitted writes by their offset. A place that is written again replaces its earlier entry: one entry per piece
/// of the file bounds it.
#[derive(Default)]
pub(super) struct Ledger(BTreeMap<u64, (u64, [u8; 8])>);

impl Ledger {
    /// A write was answered.
    pub(super) fn wrote(&mut self, range: Range, answer: &Written) {
        if answer.stability == Stability::Unstable {
            self.0.insert(range.offset, (range.length, answer.verifier));
        }
    }

    /// Takes what a COMMIT that is sent after this covers; what is written meanwhile is not part of it.
    pub(super) fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Whether there is nothing to commit.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What a COMMIT that was answered with this verifier did not cover: it must be written again (RFC 1813 3.3.21).
    pub(super) fn lost(self, verifier: [u8; 8]) -> Vec<Range> {
        let lost = self.0.into_iter().filter(|(_, (_, with))| *with != verifier);
        lost.map(|(offset, (length, _))| Range { offset, length }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_writes_under_another_verifier_are_lost() {
        let mut ledger = Ledger::default();
        let mut wrote = |offset, stability, verifier: u8| {
            let answer = Written { count: 10, stability, verifier: [verifier; 8] };
            ledger.wrote(Range { offset, length: 10 }, &answer);
        };
        wrote(0, Stability::Unstable, 1);
        wrote(10, Stability::FileSync, 1);
        wrote(20, Stability::Unstable, 2);
        wrote(30, Stability::Unstable, 1);
        wrote(30, Stability::Unstable, 2);
        assert_eq!(ledger.take().lost([2; 8]), [Range { offset: 0, length: 10 }]);
        assert!(ledger.is_empty());
    }
}
