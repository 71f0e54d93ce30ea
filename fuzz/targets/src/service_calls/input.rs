//! The fuzzer's bytes, one after the other; zeros once they are used up.

/// What is left of them.
pub struct Input<'a> {
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    /// All of them.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Whether they are used up.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next one.
    pub fn byte(&mut self) -> u8 {
        let Some((byte, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *byte
    }

    /// The next few, as far as they are there.
    pub fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.bytes.split_at(count.min(self.bytes.len()));
        self.bytes = rest;
        taken
    }

    /// A number: mostly one at which something changes, sometimes any.
    pub fn number(&mut self) -> u32 {
        const EDGES: [u32; 14] =
            [0, 1, 2, 3, 4, 7, 0o644, 0o777, 4095, 4096, 65_536, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
        match self.byte() {
            edge if edge < 0xe0 => EDGES[usize::from(edge) % EDGES.len()],
            _ => self.take(4).iter().fold(0, |number, &byte| number << 8 | u32::from(byte)),
        }
    }
}
