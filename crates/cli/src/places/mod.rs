//! Where files are: a local path or an `nfs://` URL becomes a file system and the way to a node in it.
//!
//! Every command that works on files comes in here; none of them asks what kind of place it got.

mod connecting;
mod follow;
mod local;
mod location;
mod open;
mod place;
mod remote;

pub use connecting::connect_to;
pub use local::{LOCAL, umask};
pub use location::Location;
pub use open::{Following, Opener, open};
pub use place::Place;
