//! The client: whatever a server exports over NFS becomes a [`FileSystem`](howdah_vfs::FileSystem) here.
//!
//! `channel` carries calls over connections; `nfs3` turns each call of the trait into the procedure of that name.
//! `mount` and `url` lead from `nfs://` to a root handle.

pub mod channel;
mod common;
pub mod connect;
pub mod gss;
pub mod mount;
pub mod nfs3;
pub mod nfs4;
mod remote;
mod sync;
pub mod url;
mod waiting;

pub use common::{Identity, Wanted};
pub use remote::{Remote, SessionGrant, Sizes};
