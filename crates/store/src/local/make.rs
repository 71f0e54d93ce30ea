//! MKDIR, SYMLINK and MKNOD.

use howdah_vfs::{
    Caller, Change, DeviceNumber, FileKind, FsError, Handle, Name, NewAttributes, Node as Named, Result,
    SpecialKind,
};
use rustix::fs::{FileType, Mode, makedev, mkdirat, mknodat, symlinkat};

use super::LocalFileSystem;
use super::create::Unfinished;
use super::errno::refusal;
use super::identify::identify;
use super::node::Node;

/// The mode of a new directory whose maker names none.
const DIRECTORY_UNTIL_TOLD: u32 = 0o700;
/// The mode of a new device, socket or pipe whose maker names none.
const SPECIAL_UNTIL_TOLD: u32 = 0o600;
/// Descriptors that a new node may take: the one that names it, and one to make it durable.
const TO_OPEN: usize = 2;
/// The bits that `mkdir` does not set.
const SET_IDS: u32 = 0o6000;

impl LocalFileSystem {
    /// MKDIR.
    pub(super) fn create_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        new: &NewAttributes,
        change: &mut Change,
    ) -> Result<Named> {
        let mode = new.mode.unwrap_or(DIRECTORY_UNTIL_TOLD) & 0o7777;
        // The kernel hands a set-group-id bit down by itself; only what the client asks for is set again.
        let rest = NewAttributes { mode: Some(mode).filter(|mode| mode & SET_IDS != 0), size: None, ..*new };
        self.make(caller, directory, name, FileKind::Directory, &rest, change, |directory| {
            mkdirat(directory.descriptor(), name.as_bytes(), Mode::from_raw_mode(mode)).map_err(refusal)
        })
    }

    /// SYMLINK.
    pub(super) fn create_link(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        target: &[u8],
        new: &NewAttributes,
        change: &mut Change,
    ) -> Result<Named> {
        if target.is_empty() || target.contains(&0) {
            return Err(FsError::Invalid);
        }
        let rest = NewAttributes { mode: None, size: None, ..*new };
        self.make(caller, directory, name, FileKind::SymbolicLink, &rest, change, |directory| {
            symlinkat(target, directory.descriptor(), name.as_bytes()).map_err(refusal)
        })
    }

    /// MKNOD.
    pub(super) fn create_special(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        special: SpecialKind,
        new: &NewAttributes,
        change: &mut Change,
    ) -> Result<Named> {
        let (kind, file_type, device) = match special {
            SpecialKind::BlockDevice(device) => (FileKind::BlockDevice, FileType::BlockDevice, device),
            SpecialKind::CharacterDevice(device) => {
                (FileKind::CharacterDevice, FileType::CharacterDevice, device)
            }
            SpecialKind::Socket => (FileKind::Socket, FileType::Socket, DeviceNumber::default()),
            SpecialKind::Fifo => (FileKind::Fifo, FileType::Fifo, DeviceNumber::default()),
        };
        let mode = Mode::from_raw_mode(new.mode.unwrap_or(SPECIAL_UNTIL_TOLD) & 0o7777);
        let device = makedev(device.major, device.minor);
        let rest = NewAttributes { mode: None, size: None, ..*new };
        self.make(caller, directory, name, kind, &rest, change, |directory| {
            mknodat(directory.descriptor(), name.as_bytes(), file_type, mode, device).map_err(refusal)
        })
    }

    /// Makes a node by name and opens it. Between the two another process may have put another node there: if it is
    /// of another kind, what was made is gone; else it is what the name holds now, and as good an answer as any.
    #[allow(clippy::too_many_arguments)]
    fn make(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        kind: FileKind,
        rest: &NewAttributes,
        change: &mut Change,
        make: impl FnOnce(&Node) -> Result<()>,
    ) -> Result<Named> {
        let directory = self.node(directory)?;
        let mut spare = self.reserve.take(TO_OPEN, directory.descriptor())?;
        let (node, named) = self.changing_directory(&directory, change, || {
            self.identity.assume(caller)?;
            make(&directory)?;
            let (node, named) = spare.with(|| self.open_child(&directory, name))?;
            if named.attributes.kind != kind {
                return Err(FsError::NotFound);
            }
            let finished = self.finish_new(caller, &node, (named.attributes, None), rest);
            let finished =
                finished.map_err(|error| Unfinished { error, made: identify(node.descriptor()).ok() });
            let attributes = self.unless_unfinished(&directory, name, finished)?;
            Ok((node, Named { attributes, ..named }))
        })?;
        spare.with(|| self.settle(&[(&node, &named.attributes)], &directory))?;
        Ok(named)
    }
}
