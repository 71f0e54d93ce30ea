//! Handles: how a node's is made, and how the node is found again from it.
//!
//! A handle is `form, file number (8 bytes, little endian), mark of a mount (4 bytes, only behind one), rest`. The rest is the kernel's own handle, or the
//! node's time of birth where the file system has none. Both say which of the nodes that had this number, one
//! after the other, is meant. The bytes are the same whether the kernel opens them or the index, so a server may
//! change between the two.

mod finder;
mod form;
mod index;
mod kernel;
mod lasting;
mod layout;
mod mountinfo;
mod mounts;
mod reuse;
mod scan;

pub(super) use finder::{Finder, digest};
pub(super) use form::{Form, LONGEST_KERNEL_HANDLE, file_number};
pub(super) use kernel::{Maker, open as kernel_open};
pub(super) use lasting::judge as judge_fuse;
pub(super) use layout::Layout;
pub(super) use mounts::Mounts;
pub use reuse::{HandleReuse, handle_reuse};
