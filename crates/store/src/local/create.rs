//! CREATE, MKDIR, SYMLINK and MKNOD.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use howdah_vfs::{
    Attributes, Caller, Change, Create, CreateFile, DeviceNumber, FileKind, FsError, Handle, MakeDirectory,
    MakeLink, MakeSpecial, Name, NewAttributes, Node as Named, Result, SetTime, Shown, SpecialKind,
};
use rustix::fs::{FileType, Mode, OFlags, makedev, mkdirat, mknodat, openat, symlinkat};
use rustix::io::Errno;

use super::errno::refusal;
use super::exclusive::{Verifiers, holds_verifier, with_verifier};
use super::identify::identify;
use super::known::{Identification, now};
use super::lookup::NamedNodes;
use super::node::Node;
use super::node_changes::NodeChanges;
use super::open_nodes::OpenNodes;
use super::reserve::Reserve;
use super::set_attributes::{AttributeSetter, set_times_of, times_of};
use super::stable_storage::StableStorage;
use super::unnamed::Unnamed;

/// How a new file is opened: for reading and writing, because its maker most often writes next.
const NEW: OFlags =
    OFlags::CREATE.union(OFlags::EXCL).union(OFlags::RDWR).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The mode of a new file whose maker names none: it is for its owner alone until its mode is set.
const MODE_UNTIL_TOLD: u32 = 0o600;

/// The mode of a new directory whose maker names none.
const DIRECTORY_UNTIL_TOLD: u32 = 0o700;
/// The mode of a new device, socket or pipe whose maker names none.
const SPECIAL_UNTIL_TOLD: u32 = 0o600;
/// Descriptors that a new node may take: the one that names it, and one to make it durable.
const TO_OPEN: usize = 2;
/// The bits that `mkdir` does not set.
const SET_IDS: u32 = 0o6000;

/// How often a file may be there when it is made, and gone when it is looked at, before the call is refused.
const MOST_TRIES: u32 = 16;

/// Makes nodes.
pub(super) struct NodeMaker {
    nodes: Arc<OpenNodes>,
    names: Arc<NamedNodes>,
    changes: Arc<NodeChanges>,
    storage: Arc<StableStorage>,
    setter: Arc<AttributeSetter>,
    verifiers: Arc<Verifiers>,
    unnamed: Unnamed,
    reserve: Reserve,
}

impl NodeMaker {
    pub(super) fn new(
        (nodes, names): (Arc<OpenNodes>, Arc<NamedNodes>),
        (changes, storage): (Arc<NodeChanges>, Arc<StableStorage>),
        (setter, verifiers): (Arc<AttributeSetter>, Arc<Verifiers>),
    ) -> Self {
        let (unnamed, reserve) = Default::default();
        Self { nodes, names, changes, storage, setter, verifiers, unnamed, reserve }
    }

    /// CREATE: `fstat` of the directory before and after, `openat`, the new file's handle and attributes.
    pub(super) fn create_file(
        &self,
        caller: &Caller,
        CreateFile { directory, name, how: asked }: CreateFile<'_>,
        change: &mut Change,
    ) -> Result<Named> {
        let directory = self.nodes.node(directory)?;
        let (node, named) = self.changes.changing_directory(&directory, change, || {
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
            made.map_err(|unfinished| self.take_away(&directory, name, unfinished))
        })?;
        // Also what was there: its maker may not have come to that, such as a process of ours that was killed, for the same
        // call.
        self.storage.settle(&node, &named.attributes, &directory)?;
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
        self.nodes.identity().assume(caller)?;
        // A client that sends the call again, also after a crash of this server, knows its file by these times.
        let telling = match asked {
            Create::Guarded(new) if matches!(new.modified, SetTime::To(_)) => Some(*new),
            Create::Exclusive(verifier) | Create::ExclusiveWith(verifier, _) => {
                Some(with_verifier(*verifier))
            }
            Create::Guarded(_) | Create::Unchecked(_) => None,
        };
        if let Some(new) = telling {
            let made = self.unnamed.make(directory.descriptor(), (name, mode), &times_of(&new))?;
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
        let (node, mut named) = self.names.child(directory, name)?;
        if named.attributes.kind != FileKind::Regular {
            return Err(FsError::Exists);
        }
        match how {
            Create::Exclusive(verifier) | Create::ExclusiveWith(verifier, _)
                if self.is_repeated(caller, &named, *verifier) => {}
            Create::Unchecked(NewAttributes { size: None, .. }) => {}
            Create::Unchecked(NewAttributes { size: Some(size), .. }) => {
                self.setter.set_size(caller, &node, &named.attributes, *size)?;
                named.attributes = self.nodes.stat_changed(&node)?;
            }
            _ => return Err(FsError::Exists),
        }
        Ok((node, named))
    }

    /// Whether an exclusive CREATE of this caller made the file. Times alone do not show it: anybody can choose a verifier that
    /// is what another user's file has for times.
    fn is_repeated(&self, caller: &Caller, file: &Named, verifier: [u8; 8]) -> bool {
        let Attributes { user, size, .. } = file.attributes;
        let may_be_maker = !self.nodes.identity().acts_as_caller() || caller.user == 0 || caller.user == user;
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
        let seen = self.nodes.attributes().look(file.as_fd(), b"");
        let seen = seen.map_err(|errno| (refusal(errno), None))?;
        let handles = self.nodes.handles();
        let unfinished = |error| (error, Some(seen.identification));
        let handle = handles.of_open(file.as_fd(), &seen.identification).map_err(unfinished)?;
        let node = self.nodes.cache().insert_created(handle, file);
        node.found(&seen.identification);
        handles.on_seen(directory, name, &seen.identification, now(), &handle);
        let new = &how.new;
        let rest = NewAttributes { mode: None, size: new.size.filter(|&size| size > 0), ..*new };
        let attributes = self
            .setter
            .finish_new(caller, &node, (seen.attributes, Some(seen.stamp)), &rest)
            .map_err(unfinished)?;
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
        if set_times_of(node, &times).is_err() {
            self.nodes.identity().assume_root()?;
            // What does not keep it is remembered.
            let _ = set_times_of(node, &times);
        }
        let attributes = self.nodes.stat_changed(node)?;
        if !holds_verifier(&attributes, verifier) || attributes.user != caller.user {
            self.verifiers.keep(&node.handle, verifier, (caller.user, attributes.user));
        }
        Ok(attributes)
    }

    /// Takes a node away again that could not be finished: its maker gets the answer that there is none.
    fn take_away(&self, directory: &Node, name: Name<'_>, (error, made): Unfinished) -> FsError {
        if let Some(made) = made
            && let Err(cause) = self.names.remove_made(directory, name, made)
        {
            tracing::warn!(name = %Shown(name.as_bytes()), %error, %cause, "a new file was refused, and could not be removed again");
        }
        error
    }

    /// MKDIR.
    pub(super) fn create_directory(
        &self,
        caller: &Caller,
        MakeDirectory { directory, name, new }: MakeDirectory<'_>,
        change: &mut Change,
    ) -> Result<Named> {
        let mode = new.mode.unwrap_or(DIRECTORY_UNTIL_TOLD) & 0o7777;
        // The kernel hands a set-group-id bit down by itself; only what the client asks for is set again.
        let rest = NewAttributes { mode: Some(mode).filter(|mode| mode & SET_IDS != 0), size: None, ..*new };
        self.make(caller, (directory, name), FileKind::Directory, &rest, change, |directory| {
            mkdirat(directory.descriptor(), name.as_bytes(), Mode::from_raw_mode(mode)).map_err(refusal)
        })
    }

    /// SYMLINK.
    pub(super) fn create_link(
        &self,
        caller: &Caller,
        MakeLink { directory, name, target, new }: MakeLink<'_>,
        change: &mut Change,
    ) -> Result<Named> {
        if target.is_empty() || target.contains(&0) {
            return Err(FsError::Invalid);
        }
        let rest = NewAttributes { mode: None, size: None, ..*new };
        self.make(caller, (directory, name), FileKind::SymbolicLink, &rest, change, |directory| {
            symlinkat(target, directory.descriptor(), name.as_bytes()).map_err(refusal)
        })
    }

    /// MKNOD.
    pub(super) fn create_special(
        &self,
        caller: &Caller,
        MakeSpecial { directory, name, kind: special, new }: MakeSpecial<'_>,
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
        self.make(caller, (directory, name), kind, &rest, change, |directory| {
            mknodat(directory.descriptor(), name.as_bytes(), file_type, mode, device).map_err(refusal)
        })
    }

    /// Makes a node by name and opens it. Between the two another process may have put another node there: if it is
    /// of another kind, what was made is gone; else it is what the name holds now, and as good an answer as any.
    fn make(
        &self,
        caller: &Caller,
        (directory, name): (&Handle, Name<'_>),
        kind: FileKind,
        rest: &NewAttributes,
        change: &mut Change,
        make: impl FnOnce(&Node) -> Result<()>,
    ) -> Result<Named> {
        let directory = self.nodes.node(directory)?;
        let mut spare = self.reserve.take(TO_OPEN, directory.descriptor())?;
        let (node, named) = self.changes.changing_directory(&directory, change, || {
            self.nodes.identity().assume(caller)?;
            make(&directory)?;
            let (node, named) = spare.with(|| self.names.child(&directory, name))?;
            if named.attributes.kind != kind {
                return Err(FsError::NotFound);
            }
            let finished = self.setter.finish_new(caller, &node, (named.attributes, None), rest);
            let attributes = finished.map_err(|error| {
                let made = identify(node.descriptor()).ok();
                self.take_away(&directory, name, (error, made))
            })?;
            Ok((node, Named { attributes, ..named }))
        })?;
        spare.with(|| self.storage.settle(&node, &named.attributes, &directory))?;
        Ok(named)
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

/// Why a node that was made is refused all the same, and the node, if that much is known.
type Unfinished = (FsError, Option<Identification>);

#[cfg(test)]
mod tests {
    use std::fs::{File, FileTimes};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::local::{LocalFileSystem, Options};
    use howdah_vfs::{FileSystem, SetAttributes, Timestamp};

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
        let root = fs.nodes().node(&fs.root()).expect("it is open");
        let unfinished =
            |made| -> Result<()> { Err(fs.maker().take_away(&root, name("n"), (FsError::NoSpace, made))) };
        let look = |name: &[u8]| {
            let seen = fs.nodes().attributes().look(root.descriptor(), name);
            seen.expect("it is there").identification
        };
        std::fs::create_dir(place.path().join("n")).expect("made");
        let directory = look(b"n");
        assert_eq!(unfinished(None), Err(FsError::NoSpace));
        assert!(place.path().join("n").exists());
        assert_eq!(unfinished(Some(directory)), Err(FsError::NoSpace));
        assert!(!place.path().join("n").exists());
        // Another has the name by now.
        std::fs::write(place.path().join("other"), b"").expect("written");
        let other = look(b"other");
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
        fs.maker().verifiers.keep(&made.handle, VERIFIER, (maker.user, 0));
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
        fs.maker().verifiers.keep(&made.handle, VERIFIER, (me().user, me().user));
        assert_eq!(create(VERIFIER).map(|again| again.handle), Ok(made.handle));
        assert_eq!(create([9; 8]), Err(FsError::Exists));
        assert_eq!(std::fs::metadata(&path).expect("it is there").mode() & 0o777, 0o640);
    }
}
