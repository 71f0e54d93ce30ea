//! What is known of a reply that comes.

use super::envelope::ResultsCover;
use super::receive::ReceiveInto;

/// What a caller knows of an xid.
#[derive(Debug)]
pub enum Claim {
    /// Nobody waits for it: the reply is skipped.
    Unknown,
    /// A call waits, with a buffer for its data if it wants some.
    Call(Option<ReceiveInto>),
    /// The same of a call whose reply is covered.
    Covered(Option<ReceiveInto>, ResultsCover),
}
