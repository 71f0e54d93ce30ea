//! External Data Representation (RFC 4506): big-endian, in units of four bytes.

mod array;
mod decoder;
mod encoder;
mod error;
mod list;
mod padding;

pub use array::Array;
pub use decoder::{Decode, Decoder};
pub use encoder::{Encode, Encoder};
pub use error::{DecodeError, DecodeProblem};
pub use list::Entries;
pub use padding::padding;
