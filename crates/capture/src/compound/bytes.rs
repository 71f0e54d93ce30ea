//! What a capture keeps of a compound.

/// What is kept of a COMPOUND.
#[derive(Debug, Clone, Copy)]
pub struct CompoundBytes<'k> {
    /// The beginning of its arguments.
    pub arguments: &'k [u8],
    /// Their last bytes, if the beginning is not all.
    pub end: &'k [u8],
    /// How long they are.
    pub length: usize,
    /// The beginning of its result.
    pub result: &'k [u8],
}
