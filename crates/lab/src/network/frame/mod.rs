//! What travels on a wire: a packet as the kernel gives it, which may stand for dozens of segments that it would cut itself
//! if we did not take it whole.

mod bytes;
mod checksum;
mod corruption;
mod cut;
#[allow(clippy::module_inception, reason = "the file holds the frame itself")]
mod frame;
mod layout;
mod memory;
mod offload;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod truth;

pub use frame::Frame;
pub use memory::FrameMemory;
