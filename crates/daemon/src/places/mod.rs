//! Where files are: a local path or an `nfs://` URL becomes a file system and the way to a node in it.
//!
//! Every command that works on files comes in here; none of them asks what kind of place it got.

mod connecting;
mod disk_cache;
mod follow;
mod following;
mod host_names;
mod local;
mod location;
mod open;
mod place;
mod remote;
mod special;
mod spelled;
mod tickets;

pub use connecting::{connect_to, expected};
pub use disk_cache::{DiskCacheStatus, DiskCacheUse, cached_at, exported};
pub use following::Following;
pub use local::umask;
pub use location::Location;
pub use open::{Opener, open};
pub use place::{LOCAL, Place};
pub use spelled::spelled;
pub use tickets::SystemTickets;
