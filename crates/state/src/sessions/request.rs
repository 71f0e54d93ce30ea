//! What SEQUENCE asks of a slot.

/// Arguments of SEQUENCE (RFC 8881 18.46.1) that decide about the slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceRequest {
    /// `sa_sequenceid`.
    pub sequence: u32,
    /// `sa_slotid`.
    pub slot: u32,
    /// `sa_highest_slotid`.
    pub highest_slot: u32,
    /// Distinguishes requests: of the bytes behind SEQUENCE, or a part of them.
    pub digest: u64,
}
