//! How a repeated exclusive CREATE finds the file that its first try made: by a verifier that the client chose.
//!
//! It is kept in the file's times, as the kernel's server keeps it, until the client sets them: 31 bits in each, for file systems that
//! keep no more. Where a file system does not keep these times as they are (FAT), it is remembered here for a while.

use std::collections::VecDeque;

use howdah_vfs::{Attributes, Handle, NewAttributes, SetTime, Timestamp};
use parking_lot::Mutex;

use crate::limits::REMEMBERED_VERIFIERS;

/// Verifiers of files that were made last, where the files themselves do not hold them.
#[derive(Debug, Default)]
pub(super) struct Verifiers {
    last: Mutex<VecDeque<Made>>,
}

#[derive(Debug)]
struct Made {
    file: Handle,
    verifier: [u8; 8],
    /// Who made it, and its owner then.
    user: u32,
    owner: u32,
}

impl Verifiers {
    /// Remembers the verifier of a file, who made it, and its owner. The oldest one gives way.
    pub(super) fn keep(&self, file: &Handle, verifier: [u8; 8], (user, owner): (u32, u32)) {
        let mut last = self.last.lock();
        if last.len() >= REMEMBERED_VERIFIERS {
            last.pop_front();
        }
        last.push_back(Made { file: *file, verifier, user, owner });
    }

    /// Whether a file was made with this verifier.
    pub(super) fn has(&self, file: &Handle, verifier: [u8; 8]) -> bool {
        self.last.lock().iter().any(|made| made.file == *file && made.verifier == verifier)
    }

    /// Whether a user made this file, which never belonged to that user, as far as that is remembered. `owner`: its owner now.
    pub(super) fn is_maker(&self, file: &Handle, user: u32, owner: u32) -> bool {
        let is_its = |made: &Made| made.file == *file && (made.user, made.owner) == (user, owner);
        user != owner && self.last.lock().iter().any(is_its)
    }
}

/// What makes a file hold a verifier.
pub(super) fn with_verifier(verifier: [u8; 8]) -> NewAttributes {
    let (accessed, modified) = times(verifier);
    NewAttributes {
        accessed: SetTime::To(accessed),
        modified: SetTime::To(modified),
        ..NewAttributes::default()
    }
}

/// Whether the times of a file hold a verifier.
pub(super) fn holds_verifier(attributes: &Attributes, verifier: [u8; 8]) -> bool {
    (attributes.accessed, attributes.modified) == times(verifier)
}

fn times(verifier: [u8; 8]) -> (Timestamp, Timestamp) {
    let [a, b, c, d, e, f, g, h] = verifier;
    let time =
        |bytes| Timestamp { seconds: i64::from(u32::from_be_bytes(bytes) & 0x7fff_ffff), nanoseconds: 0 };
    (time([a, b, c, d]), time([e, f, g, h]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_verifier_gives_way() {
        let verifiers = Verifiers::default();
        let file = |number: u64| Handle::new(&number.to_be_bytes()).expect("short enough");
        for number in 0..=REMEMBERED_VERIFIERS as u64 {
            verifiers.keep(&file(number), number.to_be_bytes(), (7, 0));
        }
        assert!(verifiers.is_maker(&file(1), 7, 0) && !verifiers.is_maker(&file(1), 8, 0));
        assert!(!verifiers.is_maker(&file(1), 7, 9), "it was given to another user since");
        verifiers.keep(&file(1), [1; 8], (7, 7));
        assert!(!verifiers.is_maker(&file(1), 7, 7), "an owner needs no such right");
        assert!(!verifiers.has(&file(0), [0; 8]));
        assert!(verifiers.has(&file(2), 2_u64.to_be_bytes()) && !verifiers.has(&file(2), [0; 8]));
        assert_eq!(verifiers.last.lock().len(), REMEMBERED_VERIFIERS);
    }
}
