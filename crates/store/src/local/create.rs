//! CREATE.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use howdah_vfs::{
    Attributes, Caller, Change, Create, FileKind, FsError, Handle, Name, NewAttributes, Node as Named,
    Result, SetTime, Shown, Timestamp,
};
use rustix::fs::{AtFlags, Mode, OFlags, Timestamps, openat, unlinkat};
use rustix::io::Errno;

use super::LocalFileSystem;
use super::attributes::Seen;
use super::errno::refusal;
use super::exclusive::{holds_verifier, with_verifier};
use super::known::{Identification, now};
use super::node::Node;
use super::set_attributes::time;

/// How a new file is opened: for reading and writing, because its maker most often writes next.
const NEW: OFlags =
    OFlags::CREATE.union(OFlags::EXCL).union(OFlags::RDWR).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The mode of a new file whose maker names none: it is for its owner alone until its mode is set.
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
        asked: &Create,
        change: &mut Change,
    ) -> Result<Named> {
        let directory = self.node(directory)?;
        let (node, named) = self.changing_directory(&directory, change, || {
            let how = Made::of(asked);
            let mode = Mode::from_raw_mode(how.new.mode.unwrap_or(MODE_UNTIL_TOLD) & 0o7777);
            let mut tries = 0;
            let file = loop {
                match self.open_new(caller, &directory, (name, mode), asked)? {
                    Ok(file) => break file,
                    Err(Errno::EXIST) => {}
                    Err(errno) => return Err(refusal(errno)),
                }
                match self.take_existing(caller, &directory, name, asked) {
                    // Somebody removed it meanwhile.
                    Err(FsError::NotFound | FsError::Stale) if tries < MOST_TRIES => tries += 1,
                    outcome => return outcome,
                }
            };
            let made = self.finish_file(caller, &directory, name, file, &how);
            self.unless_unfinished(&directory, name, made)
        })?;
        // Also what was there: its maker may not have come to that, such as a process of ours that was killed, for the same
        // call.
        self.settle(&[(&node, &named.attributes)], &directory)?;
        Ok(named)
    }

    /// Opens a file that was not there.
    fn open_new(
        &self,
        caller: &Caller,
        directory: &Node,
        (name, mode): (Name<'_>, Mode),
        asked: &Create,
    ) -> Result<rustix::io::Result<OwnedFd>> {
        self.identity.assume(caller)?;
        // A client that sends the call again, also after a crash of this server, knows its file by these times.
        let telling = match asked {
            Create::Guarded(new) if matches!(new.modified, SetTime::To(_)) => Some(*new),
            Create::Exclusive(verifier) | Create::ExclusiveWith(verifier, _) => {
                Some(with_verifier(*verifier))
            }
            Create::Guarded(_) | Create::Unchecked(_) => None,
        };
        if let Some(new) = telling {
            let (last_access, last_modification) = (time(new.accessed), time(new.modified));
            let times = Timestamps { last_access, last_modification };
            let made = self.unnamed.make(directory.descriptor(), (name, mode), &times)?;
            if let Some(opened) = made {
                return Ok(opened);
            }
        }
        Ok(openat(directory.descriptor(), name.as_bytes(), NEW, mode))
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
            Create::Exclusive(verifier) | Create::ExclusiveWith(verifier, _)
                if self.is_repeated(caller, &named, *verifier) => {}
            Create::Unchecked(NewAttributes { size: None, .. }) => {}
            Create::Unchecked(NewAttributes { size: Some(size), .. }) => {
                self.set_size(caller, &node, &named.attributes, *size)?;
                named.attributes = self.stat_changed(&node)?;
            }
            _ => return Err(FsError::Exists),
        }
        Ok((node, named))
    }

    /// Whether an exclusive CREATE of this caller made the file. Times alone do not show it: anybody can choose a verifier that
    /// is what another user's file has for times.
    fn is_repeated(&self, caller: &Caller, file: &Named, verifier: [u8; 8]) -> bool {
        let Attributes { user, size, .. } = file.attributes;
        let may_be_maker = !self.identity.acts_as_caller || caller.user == 0 || caller.user == user;
        let is_held = may_be_maker && holds_verifier(&file.attributes, verifier);
        size == 0 && (is_held || self.verifiers.has(&file.handle, verifier))
    }

    /// Gives a file that was made just now a handle, and what it could not be made with.
    fn finish_file(
        &self,
        caller: &Caller,
        directory: &Node,
        name: Name<'_>,
        file: OwnedFd,
        how: &Made,
    ) -> std::result::Result<(Arc<Node>, Named), Unfinished> {
        let seen = self.look(file.as_fd(), b"").map_err(|errno| Unfinished::unknown(refusal(errno)))?;
        let unfinished = |error| Unfinished { error, made: Some(seen.identification) };
        let handle = self.maker.of_open(file.as_fd(), &seen.identification).map_err(unfinished)?;
        let node = self.nodes.insert_created(handle, file);
        node.found(&seen.identification);
        self.on_seen(directory, name, &seen, now(), &handle);
        let new = &how.new;
        let rest = NewAttributes { mode: None, size: new.size.filter(|&size| size > 0), ..*new };
        let attributes =
            self.finish_new(caller, &node, (seen.attributes, Some(seen.stamp)), &rest).map_err(unfinished)?;
        let Some(verifier) = how.verifier else { return Ok((node, Named { handle, attributes })) };
        if holds_verifier(&attributes, verifier) && attributes.user == caller.user {
            return Ok((node, Named { handle, attributes }));
        }
        let attributes = self.keep_verifier(caller, &node, verifier).map_err(unfinished)?;
        Ok((node, Named { handle, attributes }))
    }

    /// Keeps the verifier of a new file. The file may be another user's (FAT has one owner for all), and may have no such times: that is
    /// no business of its maker.
    fn keep_verifier(&self, caller: &Caller, node: &Node, verifier: [u8; 8]) -> Result<Attributes> {
        let times = with_verifier(verifier);
        if self.set_times_of(node, &times).is_err() {
            self.identity.assume_root()?;
            // What does not keep it is remembered.
            let _ = self.set_times_of(node, &times);
        }
        let attributes = self.stat_changed(node)?;
        if !holds_verifier(&attributes, verifier) || attributes.user != caller.user {
            self.verifiers.keep(&node.handle, verifier, (caller.user, attributes.user));
        }
        Ok(attributes)
    }

    /// Takes a new node away again that could not be finished: its maker gets the answer that there is none.
    pub(super) fn unless_unfinished<T>(
        &self,
        directory: &Node,
        name: Name<'_>,
        made: std::result::Result<T, Unfinished>,
    ) -> Result<T> {
        made.map_err(|Unfinished { error, made }| {
            let is_it = |seen: &Seen| made.is_some_and(|made| seen.identification == made);
            let found = self.identity.assume_root().and_then(|()| {
                self.look(directory.descriptor(), name.as_bytes()).map_err(refusal)
            });
            // Somebody else's has the name by now, or the directory says nothing: it stays.
            if let Some(seen) = found.ok().as_ref().filter(|seen| is_it(seen)) {
                let how = match seen.attributes.kind {
                    FileKind::Directory => AtFlags::REMOVEDIR,
                    _ => AtFlags::empty(),
                };
                let handle = self.before_name_goes(directory, name, seen);
                match unlinkat(directory.descriptor(), name.as_bytes(), how) {
                    Ok(()) => self.on_name_gone(seen, handle),
                    Err(cause) => {
                        tracing::warn!(name = %Shown(name.as_bytes()), %error, %cause, "a new file was refused, and could not be removed again");
                    }
                }
            }
            error
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
        let is_superuser = caller.user == 0 && self.identity.acts_as_caller;
        let rest = if is_superuser { *rest } else { NewAttributes { user: None, group: None, ..*rest } };
        if rest == NewAttributes::default() {
            // Its first state is one that its maker writes to next.
            return match stamp {
                _ if self.times.is_fine(&attributes) => Ok(attributes),
                Some(changed) => Ok(self.times.changed(None, &attributes.with_changed(changed), true)),
                None => self.stat_changed(node),
            };
        }
        self.set_all(caller, node, &attributes, &rest)?;
        self.stat_changed(node)
    }
}

/// How a new file is made.
struct Made {
    new: NewAttributes,
    verifier: Option<[u8; 8]>,
}

impl Made {
    fn of(how: &Create) -> Self {
        let (new, verifier) = match how {
            Create::Unchecked(new) | Create::Guarded(new) => (*new, None),
            Create::Exclusive(verifier) => (NewAttributes::default(), Some(*verifier)),
            // The verifier takes the place of the times.
            Create::ExclusiveWith(verifier, new) => {
                let new = NewAttributes { accessed: SetTime::Keep, modified: SetTime::Keep, ..*new };
                (new, Some(*verifier))
            }
        };
        Self { new, verifier }
    }
}

/// Why a node that was made is refused all the same.
pub(super) struct Unfinished {
    pub(super) error: FsError,
    /// The node, if that much is known.
    pub(super) made: Option<Identification>,
}

impl Unfinished {
    fn unknown(error: FsError) -> Self {
        Self { error, made: None }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, FileTimes};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::local::Options;
    use howdah_vfs::{CreateFile, FileSystem, SetAttributes};

    const VERIFIER: [u8; 8] = [0, 0, 0, 1, 0, 0, 0, 2];

    fn name(text: &str) -> Name<'_> {
        Name::parse(text.as_bytes()).expect("a name")
    }

    fn opened() -> (tempfile::TempDir, LocalFileSystem) {
        let place = tempfile::tempdir().expect("a directory");
        std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o777)).expect("chmod");
        let fs = LocalFileSystem::open(place.path(), Options::default()).expect("it opens");
        (place, fs)
    }

    fn me() -> Caller {
        Caller::new(rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())
    }

    #[test]
    fn what_cannot_be_finished_is_not_left_behind() {
        let (place, fs) = opened();
        let (mut change, too_big) = (Change::default(), NewAttributes::with_size(u64::MAX));
        for how in
            [Create::Unchecked(too_big), Create::Guarded(too_big), Create::ExclusiveWith(VERIFIER, too_big)]
        {
            let refused =
                fs.create(&me(), CreateFile::new(&fs.root(), name("f"), &how), &mut change).map(drop);
            assert_eq!(refused, Err(FsError::TooBig), "{how:?}");
            assert_eq!(std::fs::read_dir(place.path()).expect("it lists").count(), 0, "{how:?}");
        }
        // What was there before stays.
        std::fs::write(place.path().join("f"), b"data").expect("written");
        let how = Create::Unchecked(too_big);
        assert!(fs.create(&me(), CreateFile::new(&fs.root(), name("f"), &how), &mut change).is_err());
        assert_eq!(std::fs::read(place.path().join("f")).expect("it is there"), b"data");
    }

    #[test]
    fn an_unfinished_node_goes_by_its_name_only_if_it_has_it_still() {
        let (place, fs) = opened();
        let root = fs.node(&fs.root()).expect("it is open");
        let unfinished = |made| -> Result<()> {
            fs.unless_unfinished(&root, name("n"), Err(Unfinished { error: FsError::NoSpace, made }))
        };
        let look = || fs.look(root.descriptor(), b"n").expect("it is there").identification;
        std::fs::create_dir(place.path().join("n")).expect("made");
        let directory = look();
        assert_eq!(unfinished(None), Err(FsError::NoSpace));
        assert!(place.path().join("n").exists());
        assert_eq!(unfinished(Some(directory)), Err(FsError::NoSpace));
        assert!(!place.path().join("n").exists());
        // Another has the name by now.
        std::fs::write(place.path().join("other"), b"").expect("written");
        let other = fs.look(root.descriptor(), b"other").expect("it is there").identification;
        std::fs::write(place.path().join("n"), b"").expect("written");
        assert_eq!(unfinished(Some(other)), Err(FsError::NoSpace));
        assert!(place.path().join("n").exists());
    }

    #[test]
    fn a_file_that_is_made_with_its_times_never_has_others() {
        let (place, fs) = opened();
        let modified = Timestamp { seconds: 5, nanoseconds: 7 };
        // As a mount with `behind` makes files.
        let new = NewAttributes { modified: SetTime::To(modified), ..NewAttributes::with_mode(0o640) };
        let how = Create::Guarded(new);
        let create = |name: &str| {
            fs.create(&me(), CreateFile::new(&fs.root(), self::name(name), &how), &mut Change::default())
        };
        let made = create("f").expect("made");
        assert_eq!((made.attributes.modified, made.attributes.mode), (modified, 0o640));
        assert_eq!(made.attributes.links, 1);
        assert_eq!(std::fs::metadata(place.path().join("f")).expect("it is there").mtime_nsec(), 7);
        assert_eq!(create("f").map(drop), Err(FsError::Exists));
        let written = std::fs::read_dir(place.path()).expect("it lists").count();
        assert_eq!(written, 1);
        // Not where the caller may make no names.
        if fs.mode().acts_as_caller {
            std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).expect("chmod");
            let (stranger, root) = (Caller::new(1_001, 1_001), fs.root());
            let create = CreateFile::new(&root, name("g"), &how);
            let refused = fs.create(&stranger, create, &mut Change::default()).map(drop);
            assert_eq!(refused, Err(FsError::AccessDenied));
        }
    }

    #[test]
    fn a_verifier_that_fits_the_times_of_another_users_file_takes_nothing() {
        let (place, fs) = opened();
        if !fs.mode().acts_as_caller {
            return;
        }
        let path = place.path().join("f");
        let file = File::create(&path).expect("made");
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let times = FileTimes::new().set_accessed(at(1)).set_modified(at(2));
        file.set_times(times).expect("set");
        chown(&path, Some(1_001), Some(1_001)).expect("chown");
        let (maker, other) = (Caller::new(1_001, 1_001), Caller::new(1_002, 1_002));
        let open = |caller: &Caller, how| {
            fs.create(caller, CreateFile::new(&fs.root(), name("f"), &how), &mut Change::default()).map(drop)
        };
        for how in [Create::Exclusive(VERIFIER), Create::ExclusiveWith(VERIFIER, NewAttributes::default())] {
            assert_eq!(open(&other, how), Err(FsError::Exists));
            assert_eq!(open(&maker, how), Ok(()), "sent again");
        }
        std::fs::write(&path, b"data").expect("written");
        file.set_times(times).expect("set");
        assert_eq!(open(&maker, Create::Exclusive(VERIFIER)), Err(FsError::Exists), "it has data by now");
    }

    #[test]
    fn a_file_that_is_made_exclusively_never_has_a_name_without_its_verifier() {
        let (place, fs) = opened();
        let unnamed = OFlags::TMPFILE | OFlags::RDWR;
        if openat(rustix::fs::CWD, place.path(), unnamed, Mode::RUSR).is_err() {
            return;
        }
        let path = |number| place.path().join(format!("f{number}"));
        let seen = &AtomicU32::new(0);
        let times = std::thread::scope(|scope| {
            let watcher = scope.spawn(move || {
                let mut times = Vec::new();
                for number in 0..200 {
                    let at_first = loop {
                        if let Ok(found) = std::fs::metadata(path(number)) {
                            break found;
                        }
                    };
                    times.push((at_first.atime(), at_first.mtime()));
                    seen.store(number + 1, Ordering::SeqCst);
                }
                times
            });
            for number in 0..200 {
                let (name, how) = (format!("f{number}"), Create::Exclusive([1, 2, 3, 4, 5, 6, 7, 8]));
                let root = fs.root();
                let create = CreateFile::new(&root, self::name(&name), &how);
                fs.create(&me(), create, &mut Change::default()).expect("made");
                while seen.load(Ordering::SeqCst) <= number {
                    std::thread::yield_now();
                }
            }
            watcher.join().expect("it watched")
        });
        assert_eq!(times, [(0x0102_0304, 0x0506_0708); 200]);
    }

    /// On FAT, which gives all files to one owner, NFSv3 clients set the mode of what they made exclusively.
    #[test]
    fn who_made_a_file_exclusively_sets_its_mode_although_it_is_anothers() {
        let (place, fs) = opened();
        if !fs.mode().acts_as_caller {
            return;
        }
        let (maker, other) = (Caller::new(1_001, 1_001), Caller::new(1_002, 1_002));
        let how = Create::Exclusive(VERIFIER);
        let made = fs
            .create(&maker, CreateFile::new(&fs.root(), name("f"), &how), &mut Change::default())
            .expect("made");
        let away = || chown(place.path().join("f"), Some(0), Some(0));
        crate::local::identity::Identity::as_root(away).expect("its own rights").expect("chown");
        let set = |caller: &Caller, new| {
            fs.set_attributes(caller, SetAttributes::new(&made.handle, &new, None), &mut Change::default())
        };
        let new = NewAttributes {
            modified: SetTime::To(Timestamp { seconds: 5, nanoseconds: 0 }),
            ..NewAttributes::with_mode(0o640)
        };
        assert_eq!(set(&maker, new), Err(FsError::NotPermitted), "not where files have owners");
        fs.verifiers.keep(&made.handle, VERIFIER, (maker.user, 0));
        assert_eq!(set(&other, new), Err(FsError::NotPermitted));
        assert_eq!(set(&maker, NewAttributes { user: Some(1_001), ..new }), Err(FsError::NotPermitted));
        assert_eq!(set(&maker, new), Ok(()));
        assert_eq!(std::fs::metadata(place.path().join("f")).expect("it is there").mode() & 0o7777, 0o640);
    }

    #[test]
    fn a_verifier_that_the_file_system_does_not_keep_is_remembered() {
        let (place, fs) = opened();
        let create = |verifier| {
            let new = NewAttributes::with_mode(0o640);
            let how = Create::ExclusiveWith(verifier, new);
            fs.create(&me(), CreateFile::new(&fs.root(), name("f"), &how), &mut Change::default())
        };
        let made = create(VERIFIER).expect("made");
        assert_eq!(made.attributes.mode, 0o640);
        // As on FAT, whose times are even seconds from 1980 on.
        let path = place.path().join("f");
        File::open(&path).and_then(|file| file.set_modified(SystemTime::now())).expect("set");
        assert_eq!(create(VERIFIER), Err(FsError::Exists));
        fs.verifiers.keep(&made.handle, VERIFIER, (me().user, me().user));
        assert_eq!(create(VERIFIER).map(|again| again.handle), Ok(made.handle));
        assert_eq!(create([9; 8]), Err(FsError::Exists));
        assert_eq!(std::fs::metadata(&path).expect("it is there").mode() & 0o777, 0o640);
    }
}
