//! What the clients of all versions of NFS have in common: who calls, when a call is made again, how data and listings that are larger
//! than one call are taken in several.

mod at_once;
mod calls;
mod failure;
mod identity;
mod jukebox;
mod listing;
mod new_keys;
mod set;
mod transfers;
mod verifiers;
mod wanted;

pub(crate) use at_once::{are_at_once, may_be_named_within};
pub(crate) use calls::common_calls;
pub(crate) use failure::failure;
pub use identity::Identity;
pub(crate) use identity::machine_name;
pub(crate) use jukebox::Jukebox;
pub(crate) use listing::{DirectoryPages, Listed, Page, Position, Sink};
pub(crate) use new_keys::NewKeys;
pub(crate) use set::has_been_set;
pub(crate) use transfers::{ReadPart, ReadRange, Transfers, WritePart, transfers};
pub(crate) use verifiers::Verifiers;
pub use wanted::Wanted;
pub(crate) use wanted::{LISTING_MAX, LISTING_MIN};
