//! What fills a unit of four bytes.

/// The zero bytes that follow `length` bytes of opaque data: 0 to 3 of them (RFC 4506 4.10).
pub const fn padding(length: usize) -> usize {
    length.wrapping_neg() & 3
}
