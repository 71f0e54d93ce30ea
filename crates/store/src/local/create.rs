//! CREATE.

use std::os::fd::AsFd;
use std::sync::Arc;

use howdah_vfs::{
    Attributes, Caller, Change, Create, FileKind, FsError, Handle, Name, NewAttributes, Node as Named,
    Result, SetTime, Timestamp,
};
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

use super::LocalFileSystem;
use super::errno::refusal;
use super::known::now;
use super::node::Node;

/// How a new file is opened: for reading and writing, because its maker most often writes next.
const NEW: OFlags =
    OFlags::CREATE.union(OFlags::EXCL).union(OFlags::RDWR).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The mode of a new file whose maker names none: it is for its owner alone until told otherwise.
const MODE_UNTIL_TOLD: u32 = 0o600;

/// How often a file may be there when it is made, and gone when it is looked at, before the call is refused.
const MOST_TRIES: u32 = 16;

impl LocalFileSystem {
    /// CREATE: `fstat` of the directory before and after, `openat`, the new file's handle and attributes.
    pub(super) fn create_file(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        how: &Create,
        change: &mut Change,
    ) -> Result<Named> {
        let directory = self.node(directory)?;
        let (node, named) = self.changing_directory(&directory, change, || {
            let (new, verifier) = match how {
                Create::Unchecked(new) | Create::Guarded(new) => (*new, None),
                Create::Exclusive(verifier) => (NewAttributes::default(), Some(*verifier)),
            };
            let mode = Mode::from_raw_mode(new.mode.unwrap_or(MODE_UNTIL_TOLD) & 0o7777);
            let mut tries = 0;
            let file = loop {
                self.identity.assume(caller)?;
                match openat(directory.descriptor(), name.as_bytes(), NEW, mode) {
                    Ok(file) => break file,
                    Err(Errno::EXIST) => {}
                    Err(errno) => return Err(refusal(errno)),
                }
                match self.take_existing(caller, &directory, name, how) {
                    // Somebody removed it meanwhile.
                    Err(FsError::NotFound | FsError::Stale) if tries < MOST_TRIES => tries += 1,
                    outcome => return outcome,
                }
            };
            let seen = self.look(file.as_fd(), b"").map_err(refusal)?;
            let handle = self.maker.of_open(file.as_fd(), &seen.identification)?;
            let node = self.nodes.insert_created(handle, file);
            self.on_seen(&directory, name, &seen, now(), &handle);
            let rest = match verifier {
                Some(verifier) => with_verifier(verifier),
                None => NewAttributes { mode: None, size: new.size.filter(|&size| size > 0), ..new },
            };
            let attributes = self.finish_new(caller, &node, seen.attributes, &rest)?;
            Ok((node, Named { handle, attributes }))
        })?;
        // Also what was there: whoever made it may not have come to that, such as a process of ours that was killed, for the
        // same call.
        self.settle(&[(&node, &named.attributes)], &directory)?;
        Ok(named)
    }

    /// Whether CREATE is content with the node that has the name already.
    fn take_existing(
        &self,
        caller: &Caller,
        directory: &Node,
        name: Name<'_>,
        how: &Create,
    ) -> Result<(Arc<Node>, Named)> {
        if matches!(how, Create::Guarded(_)) {
            return Err(FsError::Exists);
        }
        let (node, mut named) = self.open_child(directory, name)?;
        if named.attributes.kind != FileKind::Regular {
            return Err(FsError::Exists);
        }
        match how {
            Create::Exclusive(verifier) if holds_verifier(&named.attributes, *verifier) => {}
            Create::Unchecked(NewAttributes { size: None, .. }) => {}
            Create::Unchecked(NewAttributes { size: Some(size), .. }) => {
                self.set_size(caller, &node, &named.attributes, *size)?;
                named.attributes = self.stat(&node)?;
            }
            _ => return Err(FsError::Exists),
        }
        Ok((node, named))
    }

    /// Sets what a new node could not be made with, and gives its attributes then. An owner or group is given only
    /// by the superuser, else it is left out rather than refused (some clients send what they would get anyway).
    pub(super) fn finish_new(
        &self,
        caller: &Caller,
        node: &Node,
        attributes: Attributes,
        rest: &NewAttributes,
    ) -> Result<Attributes> {
        let is_superuser = caller.user == 0 && self.identity.acts_as_caller;
        let rest = if is_superuser { *rest } else { NewAttributes { user: None, group: None, ..*rest } };
        if rest == NewAttributes::default() {
            return Ok(attributes);
        }
        self.set_all(caller, node, &attributes, &rest)?;
        self.stat(node)
    }
}

/// The verifier of an exclusive CREATE is kept in the file's times, as the kernel's server keeps it, until the
/// client sets them: 31 bits in each, for file systems that keep no more.
fn with_verifier(verifier: [u8; 8]) -> NewAttributes {
    let (accessed, modified) = verifier_times(verifier);
    NewAttributes {
        accessed: SetTime::To(accessed),
        modified: SetTime::To(modified),
        ..NewAttributes::default()
    }
}

fn holds_verifier(attributes: &Attributes, verifier: [u8; 8]) -> bool {
    attributes.size == 0 && (attributes.accessed, attributes.modified) == verifier_times(verifier)
}

fn verifier_times(verifier: [u8; 8]) -> (Timestamp, Timestamp) {
    let [a, b, c, d, e, f, g, h] = verifier;
    let time =
        |bytes| Timestamp { seconds: i64::from(u32::from_be_bytes(bytes) & 0x7fff_ffff), nanoseconds: 0 };
    (time([a, b, c, d]), time([e, f, g, h]))
}
