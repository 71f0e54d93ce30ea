//! Clients of NFSv4 and how they come and go (RFC 8881 2.4, 18.35, 18.36). Knows nothing of files.

mod creation;
mod exchange;
mod identity;
mod record;
mod registry;

pub use creation::CreationAnswer;
pub use exchange::{Exchange, decide};
pub use identity::{ClientCaller, ClientIdentity};
pub use record::ClientRecord;
pub use registry::ClientRegistry;
