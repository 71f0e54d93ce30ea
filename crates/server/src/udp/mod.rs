//! UDP sockets: which there are, what each has carried, and how they follow the host's interfaces. What becomes of a
//! datagram is the worker's affair.

mod follower;
mod port;
mod ports;
mod settings;
mod traffic;

pub use follower::Follower;
pub use port::Port;
pub use ports::Ports;
pub use settings::{PerInterface, UdpSettings};
pub use traffic::{Carried, UdpTraffic};
