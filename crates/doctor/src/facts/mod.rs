//! What was seen, as figures, ready to be written down and judged elsewhere. What could not be seen is missing.

mod all;
mod host;
mod interface;
mod mount;
mod nfs;
mod path;
mod session;
mod storage;

pub use all::Facts;
pub use host::{DatagramCounts, HostFacts, Table};
pub use interface::{InterfaceFacts, RingFacts};
pub use mount::MountFacts;
pub use nfs::{MovingFacts, NfsFacts, OwnCertificateFacts, ServerTlsFacts};
pub use path::{MtuFacts, PathFacts, RateFacts, TooLargePacket, TrainFacts};
pub use session::ServerSessionFacts;
pub use storage::StorageFacts;
