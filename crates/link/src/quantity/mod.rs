//! Quantities as people write them, with their units: rates, sizes, times, probabilities.

mod bitrate;
mod byte_count;
mod decimal;
mod probability;
mod span;
mod text;

pub use bitrate::Bitrate;
pub use byte_count::ByteCount;
pub use probability::Probability;
pub use span::Span;
pub use text::NotA;
pub(crate) use text::as_text;
