//! SETATTR, and the attributes that a new node could not be made with.

use std::sync::Arc;

use howdah_vfs::{
    Attributes, Caller, Change, FileKind, FsError, NewAttributes, Result, SetAttributes, SetTime, Timestamp,
};
use rustix::fs::{AtFlags, Gid, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, Uid, chownat, utimensat};
use rustix::io::Errno;

use super::data_files::DataFiles;
use super::errno::refusal;
use super::exclusive::Verifiers;
use super::node::{Node, Right};
use super::node_changes::NodeChanges;
use super::open_nodes::OpenNodes;
use super::stable_storage::StableStorage;

/// Sets attributes.
pub(super) struct AttributeSetter {
    nodes: Arc<OpenNodes>,
    files: Arc<DataFiles>,
    changes: Arc<NodeChanges>,
    storage: Arc<StableStorage>,
    /// Of exclusive CREATE.
    verifiers: Arc<Verifiers>,
}

impl AttributeSetter {
    pub(super) fn new(
        (nodes, files): (Arc<OpenNodes>, Arc<DataFiles>),
        (changes, storage): (Arc<NodeChanges>, Arc<StableStorage>),
        verifiers: Arc<Verifiers>,
    ) -> Self {
        Self { nodes, files, changes, storage, verifiers }
    }

    /// SETATTR.
    pub(super) fn set_attributes(
        &self,
        caller: &Caller,
        SetAttributes { node, new, guard }: SetAttributes<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let node = self.nodes.node(node)?;
        let attributes = self.changes.changing(&node, change, |attributes| {
            if guard.is_some_and(|guard| !guard.holds(attributes)) {
                return Err(FsError::NotSynchronised);
            }
            self.set_all(caller, &node, attributes, new)?;
            Ok(*attributes)
        })?;
        match attributes.kind {
            FileKind::Regular | FileKind::Directory => self.storage.settle_node(&node, &attributes),
            _ => self.storage.settle_unopenable(&node),
        }
    }

    /// Sets everything that is asked for: the size, then the owner, then the mode (which a change of owner strips
    /// of its set-id bits), then the times (which all others touch).
    fn set_all(
        &self,
        caller: &Caller,
        node: &Node,
        attributes: &Attributes,
        new: &NewAttributes,
    ) -> Result<()> {
        let is_maker = self.nodes.identity().acts_as_caller()
            && self.verifiers.is_maker(&node.handle, caller.user, attributes.user);
        self.refuse_halves(caller, attributes, new, is_maker)?;
        if let Some(size) = new.size {
            self.set_size(caller, node, attributes, size)?;
        }
        self.nodes.identity().assume(caller)?;
        if new.user.is_some() || new.group.is_some() {
            let (user, group) = (new.user.map(Uid::from_raw), new.group.map(Gid::from_raw));
            chownat(node.descriptor(), "", user, group, AtFlags::EMPTY_PATH).map_err(refusal)?;
        }
        if is_maker {
            self.nodes.identity().assume_root()?;
        }
        // A symbolic link has no mode of its own.
        if let Some(mode) = new.mode.filter(|_| attributes.kind != FileKind::SymbolicLink) {
            let _held = node.hold_mode();
            self.nodes.tree().change_mode(node.descriptor(), mode & 0o7777).map_err(refusal)?;
        }
        self.set_times(caller, node, attributes, new)
    }

    /// What only the owner may set is refused before anything is set, so that no half of a request is done.
    fn refuse_halves(
        &self,
        caller: &Caller,
        attributes: &Attributes,
        new: &NewAttributes,
        is_maker: bool,
    ) -> Result<()> {
        if !self.nodes.identity().acts_as_caller() || caller.user == 0 {
            return Ok(());
        }
        let owns = caller.user == attributes.user;
        let user_fits = new.user.is_none_or(|user| owns && user == attributes.user);
        let group_fits =
            new.group.is_none_or(|group| owns && (group == attributes.group || caller.is_member(group)));
        let sets_time = |time| matches!(time, SetTime::To(_));
        // Times alone have no halves, and some file systems let others than the owner set them (FAT).
        let sets_more = new.mode.is_some() || new.user.is_some() || new.group.is_some() || new.size.is_some();
        let owner_only =
            new.mode.is_some() || sets_more && (sets_time(new.accessed) || sets_time(new.modified));
        let fits = user_fits && group_fits && (owns || is_maker || !owner_only);
        if !fits { Err(FsError::NotPermitted) } else { Ok(()) }
    }

    /// Sets the size as the caller, who must own the file or have the right to write it.
    pub(super) fn set_size(
        &self,
        caller: &Caller,
        node: &Node,
        attributes: &Attributes,
        size: u64,
    ) -> Result<()> {
        self.files.permit_writing(caller, node, attributes)?;
        if i64::try_from(size).is_err() {
            return Err(FsError::TooBig);
        }
        let file = self.files.writable(caller, node, attributes)?;
        rustix::fs::ftruncate(file, size).map_err(refusal)
    }

    /// Who may write may set both times to now; all else is the owner's, says the kernel. It takes one time that is set to now
    /// for all else, and clients send just that for `O_TRUNC` by somebody who may write: that is judged here (as the
    /// kernel's own server does) and done as the superuser.
    fn set_times(
        &self,
        caller: &Caller,
        node: &Node,
        attributes: &Attributes,
        new: &NewAttributes,
    ) -> Result<()> {
        match (new.accessed, new.modified) {
            (SetTime::Keep, SetTime::Keep) => return Ok(()),
            // A new size brought it.
            (SetTime::Keep, SetTime::Now) if new.size.is_some() => return Ok(()),
            (SetTime::Keep, SetTime::Now) | (SetTime::Now, SetTime::Keep) => {
                self.files.permit(caller, node, attributes, Right::Write, true)?;
                self.nodes.identity().assume_root()?;
            }
            _ => {}
        }
        set_times_of(node, new).map_err(|errno| match errno {
            // Without write permission, both times set to now get EACCES.
            Errno::ACCESS if (new.accessed, new.modified) != (SetTime::Now, SetTime::Now) => {
                FsError::NotPermitted
            }
            errno => refusal(errno),
        })
    }

    /// Sets what a new node could not be made with, and gives its attributes then. An owner or group is given only
    /// by the superuser, else it is left out rather than refused (some clients send what they would get anyway).
    pub(super) fn finish_new(
        &self,
        caller: &Caller,
        node: &Node,
        (attributes, stamp): (Attributes, Option<Timestamp>),
        rest: &NewAttributes,
    ) -> Result<Attributes> {
        let is_superuser = caller.user == 0 && self.nodes.identity().acts_as_caller();
        let rest = if is_superuser { *rest } else { NewAttributes { user: None, group: None, ..*rest } };
        if rest == NewAttributes::default() {
            // Its first state is one that its maker writes to next.
            return match stamp {
                _ if self.nodes.attributes().times().is_fine(&attributes) => Ok(attributes),
                Some(changed) => {
                    Ok(self.nodes.attributes().times().changed(None, &attributes.with_changed(changed), true))
                }
                None => self.nodes.stat_changed(node),
            };
        }
        self.set_all(caller, node, &attributes, &rest)?;
        self.nodes.stat_changed(node)
    }
}

/// Sets the times with the identity of this thread.
pub(super) fn set_times_of(node: &Node, new: &NewAttributes) -> rustix::io::Result<()> {
    utimensat(node.descriptor(), "", &times_of(new), AtFlags::EMPTY_PATH)
}

/// The times, as the kernel takes them.
pub(super) fn times_of(new: &NewAttributes) -> Timestamps {
    let time = |set| match set {
        SetTime::Keep => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        SetTime::Now => Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
        SetTime::To(time) => Timespec { tv_sec: time.seconds, tv_nsec: time.nanoseconds.into() },
    };
    Timestamps { last_access: time(new.accessed), last_modification: time(new.modified) }
}
