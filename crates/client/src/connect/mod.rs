//! From a URL to a file system: the one call that everybody uses who speaks to a server.

mod error;
mod open;
mod options;
mod own_caller;
mod ping;
mod resolve;

pub use crate::nfs4::HandleFileUse;
pub use error::ConnectError;
pub use open::{connect, tls_of};
pub use options::ConnectOptions;
pub use own_caller::own_caller;
pub use resolve::resolve;
