//! Numbers of two and four bytes in the network's order, at a place in a packet that its reader has found to be there.

/// The two bytes at `at`.
pub fn get16(packet: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([packet[at], packet[at + 1]])
}

/// Sets them.
pub fn put16(packet: &mut [u8], at: usize, value: u16) {
    packet[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// The four bytes at `at`.
pub fn get32(packet: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([packet[at], packet[at + 1], packet[at + 2], packet[at + 3]])
}

/// Sets them.
pub fn put32(packet: &mut [u8], at: usize, value: u32) {
    packet[at..at + 4].copy_from_slice(&value.to_be_bytes());
}
