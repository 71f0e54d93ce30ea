//! The client: whatever a server exports over NFS becomes a [`FileSystem`](howdah_vfs::FileSystem) here.
//!
//! `channel` carries calls over connections; `nfs3` turns each call of the trait into the procedure of that name;
//! layers around it read ahead, write behind and remember attributes; `copy` moves trees from one file system to another.

pub mod batches;
pub mod channel;
mod circle;
pub mod connect;
pub mod copy;
pub mod file;
pub mod layer;
pub mod limits;
pub mod mount;
pub mod nfs3;
mod sync;
pub mod url;
