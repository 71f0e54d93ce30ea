//! SETATTR, and making changes of metadata durable.

use howdah_vfs::{
    Attributes, Caller, Change, FileKind, FsError, Guard, Handle, NewAttributes, Result, SetTime,
};
use rustix::fs::{
    AtFlags, Gid, Mode, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, Uid, chmodat, chownat, fsync, syncfs,
    utimensat,
};
use rustix::io::Errno;

use super::LocalFileSystem;
use super::data::require_regular;
use super::errno::refusal;
use super::handles::Form;
use super::node::{Node, Right};
use super::syscall;

impl LocalFileSystem {
    /// SETATTR.
    pub(super) fn set_node_attributes(
        &self,
        caller: &Caller,
        handle: &Handle,
        new: &NewAttributes,
        guard: Option<Guard>,
        change: &mut Change,
    ) -> Result<()> {
        let node = self.node(handle)?;
        let attributes = self.changing(&node, change, |attributes| {
            if guard.is_some_and(|guard| !guard.holds(attributes)) {
                return Err(FsError::NotSynchronised);
            }
            self.set_all(caller, &node, attributes, new)?;
            Ok(*attributes)
        })?;
        match attributes.kind {
            FileKind::Regular | FileKind::Directory => self.make_durable(&node, &attributes),
            _ => self.make_all_durable(&node),
        }
    }

    /// Sets everything that is asked for: the size, then the owner, then the mode (which a change of owner strips
    /// of its set-id bits), then the times (which all others touch).
    pub(super) fn set_all(
        &self,
        caller: &Caller,
        node: &Node,
        attributes: &Attributes,
        new: &NewAttributes,
    ) -> Result<()> {
        let is_maker = self.identity.acts_as_caller
            && self.verifiers.is_maker(&node.handle, caller.user, attributes.user);
        self.refuse_halves(caller, attributes, new, is_maker)?;
        if let Some(size) = new.size {
            self.set_size(caller, node, attributes, size)?;
        }
        self.identity.assume(caller)?;
        if new.user.is_some() || new.group.is_some() {
            let (user, group) = (new.user.map(Uid::from_raw), new.group.map(Gid::from_raw));
            chownat(node.descriptor(), "", user, group, AtFlags::EMPTY_PATH).map_err(refusal)?;
        }
        if is_maker {
            self.identity.assume_root()?;
        }
        // A symbolic link has no mode of its own.
        if let Some(mode) = new.mode.filter(|_| attributes.kind != FileKind::SymbolicLink) {
            let _held = node.mode.lock();
            self.change_mode(node, mode & 0o7777).map_err(refusal)?;
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
        if !self.identity.acts_as_caller || caller.user == 0 {
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
        require_regular(attributes)?;
        self.permit_writing(caller, node, attributes)?;
        if i64::try_from(size).is_err() {
            return Err(FsError::TooBig);
        }
        let file = self.writable(node, attributes)?;
        self.identity.assume(caller)?;
        rustix::fs::ftruncate(file, size).map_err(refusal)
    }

    /// For who holds the node's mode.
    pub(super) fn change_mode(&self, node: &Node, mode: u32) -> rustix::io::Result<()> {
        match syscall::change_mode(node.descriptor(), mode) {
            // Linux before 6.6.
            Err(Errno::NOSYS) => {
                let (directory, name) = self.tree.alias(node.descriptor());
                chmodat(directory, name, Mode::from_raw_mode(mode), AtFlags::empty())
            }
            outcome => outcome,
        }
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
                self.permit(caller, node, attributes, Right::Write, true)?;
                self.identity.assume_root()?;
            }
            _ => {}
        }
        self.set_times_of(node, new).map_err(|errno| match errno {
            // Without write permission, both times set to now get EACCES.
            Errno::ACCESS if (new.accessed, new.modified) != (SetTime::Now, SetTime::Now) => {
                FsError::NotPermitted
            }
            errno => refusal(errno),
        })
    }

    /// Sets the times with the identity of this thread.
    pub(super) fn set_times_of(&self, node: &Node, new: &NewAttributes) -> rustix::io::Result<()> {
        let times = Timestamps { last_access: time(new.accessed), last_modification: time(new.modified) };
        utimensat(node.descriptor(), "", &times, AtFlags::EMPTY_PATH)
    }

    /// Opens what making a change of a directory durable takes: out of descriptors, the change is refused before it is made.
    pub(super) fn prepare_to_settle(&self, directory: &Node) -> Result<()> {
        self.prepare(|| self.listable(directory))
    }

    /// The same for a file whose names change.
    pub(super) fn prepare_to_settle_file(&self, node: &Node, attributes: &Attributes) -> Result<()> {
        if attributes.kind != FileKind::Regular {
            return Ok(());
        }
        self.prepare(|| self.readable(node, attributes))
    }

    /// Only want of descriptors or memory is a reason to refuse: all else is judged when it is needed.
    fn prepare<T>(&self, open: impl FnOnce() -> Result<T>) -> Result<()> {
        match self.syncs.then(open) {
            Some(Err(FsError::Delay)) => Err(FsError::Delay),
            _ => Ok(()),
        }
    }

    /// Makes new names, and the nodes they name, durable, if this export promises that.
    pub(super) fn settle(&self, nodes: &[(&Node, &Attributes)], directory: &Node) -> Result<()> {
        if !self.syncs {
            return Ok(());
        }
        for (node, attributes) in nodes {
            self.make_durable(node, attributes)?;
        }
        self.make_directory_durable(directory)
    }

    /// Makes a directory's entries durable, if this export promises that.
    pub(super) fn make_directory_durable(&self, directory: &Node) -> Result<()> {
        if !self.syncs {
            return Ok(());
        }
        // Without a look at it: if others removed it meanwhile, the change that was made in it has to last all the same.
        // Calls that run together share a flush. No data of a client's lies in it that was answered for and not made durable yet,
        // so a failure concerns nobody else.
        let flushed = self
            .listable(directory)
            .and_then(|file| directory.flushes.flush(|| fsync(file).map_err(refusal), || {}));
        self.unless_closed(unless_gone(flushed))
    }

    /// Makes a node's metadata durable, if this export promises that. New links and special files are as durable as the
    /// directory they are in makes them: they cannot be opened.
    pub(super) fn make_durable(&self, node: &Node, attributes: &Attributes) -> Result<()> {
        match attributes.kind {
            FileKind::Regular if self.syncs => {
                let flushed = self.readable(node, attributes).and_then(|file| self.flush(node, file));
                self.unless_closed(flushed)
            }
            FileKind::Directory => self.make_directory_durable(node),
            _ => Ok(()),
        }
    }

    /// Makes metadata of a link or a special file durable, if this export promises that. It cannot be opened, so all of the
    /// file system is synced, which few clients ask for.
    fn make_all_durable(&self, node: &Node) -> Result<()> {
        if !self.syncs {
            return Ok(());
        }
        let way = match (Form::parse(&node.handle)?.0, &self.maker.mounts) {
            (Some(mark), Some(mounts)) => Some(mounts.way_into(mark)?),
            _ => None,
        };
        // Of a root that an ordinary user may not read there is no descriptor to sync by.
        let Some(mount) = way.as_deref().or(self.tree.mount.as_ref()) else { return Ok(()) };
        syncfs(mount).map_err(refusal)
    }

    /// Without privilege there are directories and files that can be written and not opened.
    fn unless_closed(&self, flushed: Result<()>) -> Result<()> {
        match flushed {
            Err(FsError::AccessDenied) if !self.identity.acts_as_caller => Ok(()),
            flushed => flushed,
        }
    }
}

/// Some file systems open nothing that is gone, and what is gone needs no flush.
fn unless_gone(flushed: Result<()>) -> Result<()> {
    match flushed {
        Err(FsError::Stale | FsError::NotFound) => Ok(()),
        flushed => flushed,
    }
}

pub(super) fn time(set: SetTime) -> Timespec {
    match set {
        SetTime::Keep => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        SetTime::Now => Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
        SetTime::To(time) => Timespec { tv_sec: time.seconds, tv_nsec: time.nanoseconds.into() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::Options;

    #[test]
    fn a_change_in_a_directory_that_others_removed_since_was_made() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("directory");
        std::fs::create_dir(&path).expect("a directory in it");
        let mut fs = LocalFileSystem::open(place.path(), Options::default()).expect("it opens");
        fs.syncs = true;
        let name = howdah_vfs::Name::parse(b"directory").expect("a name");
        let (node, _) = fs.open_child(&fs.root, name).expect("it is there");
        std::fs::remove_dir(&path).expect("it is empty");
        assert_eq!(fs.make_directory_durable(&node), Ok(()));
        // What others answer is seen on network file systems only.
        assert_eq!([FsError::Stale, FsError::NotFound].map(|gone| unless_gone(Err(gone))), [Ok(()), Ok(())]);
        assert_eq!(unless_gone(Err(FsError::Io)), Err(FsError::Io));
    }
}
