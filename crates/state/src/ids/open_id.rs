//! One open of one owner, for who keeps something beside it.

use super::ClientId;

/// One open state: what one open owner of one client has open of one file. The server keeps its open file under this name until
/// [`Effect::Closed`](crate::Effect::Closed).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpenId {
    /// Whose.
    pub client: ClientId,
    /// The index in its stateid.
    pub index: u32,
}
