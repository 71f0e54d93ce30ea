//! External Data Representation (RFC 4506): big-endian, in units of four bytes.

mod decoder;
mod encoder;
mod error;
mod list;

pub use decoder::{Decode, Decoder};
pub use encoder::{Encode, Encoder};
pub use error::{DecodeError, DecodeProblem};

/// The zero bytes that follow `length` bytes of opaque data: 0 to 3 of them (RFC 4506 4.10).
pub const fn padding(length: usize) -> usize {
    length.wrapping_neg() & 3
}
