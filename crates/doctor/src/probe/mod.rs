//! Brings facts. Each file looks at one thing, changes nothing, and leaves out what it cannot see.

mod along;
mod bouncing;
mod echoes;
mod file;
pub(crate) mod flood;
mod granted;
mod host;
mod interfaces;
mod longest;
mod mounts;
mod moving;
mod null_calls;
mod packets;
mod small_calls;

pub use along::{Asked, along};
pub(crate) use bouncing::Bouncing;
pub use host::host;
pub use interfaces::interfaces;
pub use mounts::mounts;
pub use moving::directory;
