//! Handles made by the kernel, and opened by it where that is allowed.

use std::ffi::CStr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use howdah_vfs::{FsError, Handle, Result};
use rustix::io::Errno;

use super::super::errno::refusal;
use super::super::identify::identify;
use super::super::known::Identification;
use super::super::syscall;
use super::form::{Form, around_birth, around_kernel, file_number};
use super::layout::Layout;
use super::mounts::Mounts;

/// Makes handles.
#[derive(Debug, Clone)]
pub(in super::super) struct Maker {
    /// Whether the file system has kernel handles that fit.
    pub(in super::super) from_kernel: bool,
    pub(in super::super) layout: Layout,
    /// Kind and length of the handles of this file system, as far as its root shows.
    pub(in super::super) shape: (u8, usize),
    /// The device of the root.
    pub(in super::super) device: u64,
    /// The other file systems inside, if the export crosses mounts.
    pub(in super::super) mounts: Option<Arc<Mounts>>,
}

impl Maker {
    /// The handle of an open node that was seen like this.
    pub(in super::super) fn of_open(&self, node: BorrowedFd<'_>, seen: &Identification) -> Result<Handle> {
        let mark = match &self.mounts {
            Some(mounts) if seen.device != self.device => Some(mounts.mark_of(node, seen.device)?),
            _ => None,
        };
        if !self.from_kernel {
            return around_birth(seen, mark).ok_or(FsError::ServerFault);
        }
        match syscall::name_to_handle(node, None) {
            Ok(raw) => around_kernel(seen.file, mark, raw.kind(), raw.as_bytes()).ok_or(FsError::ServerFault),
            // Another file system, mounted inside of this one, that has no handles: there is no way to name its nodes.
            Err(Errno::OPNOTSUPP | Errno::OVERFLOW) => Err(FsError::AccessDenied),
            Err(errno) => Err(refusal(errno)),
        }
    }

    /// The handle of an open node.
    pub(in super::super) fn of(&self, node: BorrowedFd<'_>) -> Result<Handle> {
        self.of_open(node, &identify(node).map_err(refusal)?)
    }

    /// Whether the bytes of a handle show by themselves that they were made by [`Self::of_open`] or
    /// [`Self::of_name`], whatever node they name: the kernel ignores bytes too many, and we must not.
    pub(in super::super) fn is_own(&self, handle: &Handle, mark: Option<u32>, form: Form<'_>) -> bool {
        let Form::Kernel { kind, bytes } = form else { return false };
        mark.is_none()
            && (kind, bytes.len()) == self.shape
            && self.layout.file_number(i32::from(kind), bytes) == Some(file_number(handle))
    }

    /// The handle of the node that has a name, if it surely still is the one that was seen. Saves opening it.
    pub(in super::super) fn of_name(
        &self,
        directory: BorrowedFd<'_>,
        name: &CStr,
        seen: &Identification,
    ) -> Option<Handle> {
        if self.mounts.is_some() && seen.device != self.device {
            return None;
        }
        if !self.from_kernel {
            return around_birth(seen, None);
        }
        if self.layout == Layout::Unknown {
            return None;
        }
        let raw = syscall::name_to_handle(directory, Some(name)).ok()?;
        if self.layout.file_number(raw.kind(), raw.as_bytes())? != seen.file {
            return None;
        }
        around_kernel(seen.file, None, raw.kind(), raw.as_bytes())
    }
}

/// How often a handle is tried again. The kernel says that memory is short also while it is about to give the handle's
/// file number to a new node (`iget_locked` meets `I_CREATING`), which takes microseconds.
const TRIES: usize = 20;

/// Opens a kernel handle to look at its node. Needs the superuser's rights on this thread.
pub(in super::super) fn open(mount: BorrowedFd<'_>, form: Form<'_>) -> Result<OwnedFd> {
    let Form::Kernel { kind, bytes } = form else { return Err(FsError::BadHandle) };
    let open = || syscall::open_by_handle(mount, i32::from(kind), bytes, libc::O_PATH | libc::O_NOFOLLOW);
    let mut outcome = open();
    for _ in 0..TRIES {
        if outcome.as_ref().err() != Some(&Errno::NOMEM) {
            break;
        }
        std::thread::yield_now();
        outcome = open();
    }
    match outcome {
        // ESTALE: gone. EINVAL: bytes that this file system never made.
        Err(Errno::INVAL) => Err(FsError::BadHandle),
        outcome => outcome.map_err(refusal),
    }
}
