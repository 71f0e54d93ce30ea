//! Any [`FileSystem`](howdah_vfs::FileSystem) as a directory of this machine, by FUSE.
//!
//! The kernel's requests come in by `skin`, which hands each to a thread of the crew; `calls` holds what each does, one file
//! for those that belong together; `nodes` and `opens` hold what the kernel knows by number. This crate knows no protocol and
//! no cache: the caller chooses the file system, which defines by [`Consistency`](howdah_vfs::Consistency) what opening and closing a
//! file mean.

mod attributes;
mod belief;
mod calls;
mod consistency;
mod error;
mod fetched;
mod flight;
mod held_locks;
mod lately_told;
pub mod limits;
mod listing;
mod lock_order;
mod locks;
mod losses;
mod nodes;
mod opens;
mod options;
mod owned;
mod place;
mod refused;
mod session;
mod shared;
mod silly;
mod silly_names;
mod skin;
mod traffic;
mod unset;
mod who;

pub use consistency::Plain;
pub use error::FuseError;
pub use options::MountOptions;
pub use place::{
    Enforced, FoundPlace, dead_above, dead_mounts, from_root, look_at, mounted_on, read_ahead, remount,
    unmount,
};
pub use session::{FuseMount, Unflushed, mount};
pub use traffic::Traffic;
