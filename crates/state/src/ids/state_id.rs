//! The name of an open or of the locks of an owner.

/// The name of an open or of an owner's locks on a file, with the number of changes that it has seen (RFC 8881 8.2, `stateid4`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StateId {
    /// Counts changes from 1; 0 stands for "the current one" (RFC 8881 8.2.2).
    pub seqid: u32,
    /// Boot epoch, client's number, and the state's index at that client: four bytes each.
    pub other: [u8; 12],
}

impl StateId {
    /// All zeros: I/O without an open (RFC 8881 8.2.3).
    pub const ANONYMOUS: Self = Self { seqid: 0, other: [0; 12] };
    /// All ones: READ that deny modes do not stop (RFC 8881 8.2.3).
    pub const READ_BYPASS: Self = Self { seqid: u32::MAX, other: [0xff; 12] };
    /// The current stateid of a COMPOUND (RFC 8881 16.2.3.1.2). The server replaces it before it calls this crate.
    pub const CURRENT: Self = Self { seqid: 1, other: [0; 12] };
    /// What no operation accepts: CLOSE answers with it (RFC 8881 8.2.3, 18.2.4).
    pub const INVALID: Self = Self { seqid: u32::MAX, other: [0; 12] };

    /// The name of a state at its `seqid`-th change.
    pub fn new(epoch: u32, client: u32, index: u32, seqid: u32) -> Self {
        let mut other = [0; 12];
        other[..4].copy_from_slice(&epoch.to_be_bytes());
        other[4..8].copy_from_slice(&client.to_be_bytes());
        other[8..].copy_from_slice(&index.to_be_bytes());
        Self { seqid, other }
    }

    /// Boot epoch, client's number and index.
    pub fn parts(&self) -> (u32, u32, u32) {
        let word = |at: usize| {
            let [a, b, c, d] = [at, at + 1, at + 2, at + 3].map(|index| self.other[index]);
            u32::from_be_bytes([a, b, c, d])
        };
        (word(0), word(4), word(8))
    }

    /// Whether it is one of the values that name no state of any client: `other` all zeros or all ones.
    pub fn is_special(&self) -> bool {
        self.other == [0; 12] || self.other == [0xff; 12]
    }
}
