//! The server's side of a stream: bytes in, whole records out.

mod assembly;
mod buffer;

pub use assembly::{Assembly, Partial, Poll, StreamError};
pub use buffer::{Buffer, BufferPool, BufferStore, Record};
