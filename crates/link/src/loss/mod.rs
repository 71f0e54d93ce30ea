//! Packets that get lost: the element, and the rules of chance that it may follow.

mod bursts;
mod chance;
mod independent;
mod lossy;

pub use bursts::Bursts;
pub use chance::Chance;
pub use independent::Independent;
pub use lossy::Loss;
