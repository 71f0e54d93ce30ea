//! Recording the calls of a running server: asks for them again and again, and writes them down. Prints nothing but how far it is.

mod session;
mod writing;

pub use session::{Captured, capture};
pub use writing::Output;
