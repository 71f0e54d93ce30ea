//! Tests: every call that changes something is shown as a change, where the clock of the file system stands still.

use howdah_vfs::{
    AddLink, Attributes, Before, Caller, Change, CopyRange, Create, CreateFile, Data, FileExtent, FileSystem,
    FsError, Handle, MakeDirectory, MakeLink, MakeSpecial, Name, NewAttributes, SetAttributes, SetXattr,
    SetXattrMode, SpecialKind, Stability, Timestamp, WriteFile, XattrName,
};

use super::change_times::FROZEN;
use super::{LocalFileSystem, Options};

/// The time of all changes.
const STAMP: Timestamp = Timestamp { seconds: 1_000, nanoseconds: 4_000_000 };

/// A file system in which all that ever happens happens at one time, with a file `f`.
fn at_one_time() -> (tempfile::TempDir, LocalFileSystem, Handle) {
    let place = tempfile::tempdir().expect("a directory");
    FROZEN.set(Some(STAMP));
    let fs = LocalFileSystem::open(place.path(), Options::default()).expect("it opens");
    FROZEN.set(None);
    let how = Create::Guarded(NewAttributes::with_mode(0o644));
    let made = fs
        .create(&me(), CreateFile::new(&fs.root(), name("f"), &how), &mut Change::default())
        .expect("CREATE");
    let data = Data::Bytes(&[1; 100]);
    fs.write(&me(), WriteFile::new(&made.handle, 0, data, Stability::Unstable), &mut Change::default())
        .expect("WRITE");
    (place, fs, made.handle)
}

fn me() -> Caller {
    Caller::new(rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())
}

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

#[test]
fn each_change_of_a_file_is_told_where_time_stands_still() {
    let (_place, fs, file) = at_one_time();
    let ranges = fs.ranges().expect("a local file system has them");
    let xattrs = || fs.xattrs().ok_or(FsError::NotSupported);
    let looked = || fs.attributes(&me(), &file).expect("GETATTR").changed;
    let xattr = XattrName::parse(b"x").expect("a name");
    type Call<'c> = (&'c str, &'c dyn Fn(&mut Change) -> howdah_vfs::Result<()>);
    let write = |data: &[u8], change: &mut Change| {
        fs.write(&me(), WriteFile::new(&file, 0, Data::Bytes(data), Stability::Unstable), change).map(drop)
    };
    let set = |new: NewAttributes, change: &mut Change| {
        fs.set_attributes(&me(), SetAttributes::new(&file, &new, None), change)
    };
    let calls: [Call<'_>; 9] = [
        ("WRITE of the same size", &|change| write(b"a", change)),
        ("again", &|change| write(b"b", change)),
        ("SETATTR of the mode", &|change| set(NewAttributes::with_mode(0o600), change)),
        ("SETATTR of the size", &|change| set(NewAttributes::with_size(50), change)),
        ("ALLOCATE", &|change| ranges.allocate(&me(), FileExtent::new(&file, 0, 4_096), change)),
        ("DEALLOCATE", &|change| ranges.deallocate(&me(), FileExtent::new(&file, 0, 10), change)),
        ("COPY", &|change| {
            ranges.copy_range(&me(), CopyRange::new((&file, 0), (&file, 200), 10), change).map(drop)
        }),
        ("SETXATTR", &|change| {
            xattrs()?.set_xattr(&me(), SetXattr::new(&file, xattr, b"v", SetXattrMode::Either), change)
        }),
        ("REMOVEXATTR", &|change| xattrs()?.remove_xattr(&me(), &file, xattr, change)),
    ];
    for (call, make) in calls {
        let (before, mut change) = (looked(), Change::default());
        match make(&mut change) {
            Err(FsError::NotSupported) => continue,
            outcome => outcome.expect(call),
        }
        assert_ne!(looked(), before, "{call}");
        assert_eq!(change.after.map(|after| after.changed), Some(looked()), "{call}");
        let found = fs.lookup(&me(), &fs.root(), name("f")).expect("LOOKUP");
        assert_eq!(found.node.attributes.changed, looked(), "{call}");
    }
    let (before, mut change) = (looked(), Change::default());
    let others = Caller::new(12_345, 12_345);
    if fs.mode().acts_as_caller {
        let new = NewAttributes::with_mode(0o777);
        assert!(fs.set_attributes(&others, SetAttributes::new(&file, &new, None), &mut change).is_err());
        assert_eq!(looked(), before, "a refusal changes nothing");
    }
    let guard = Some(looked().into());
    let new = NewAttributes::with_mode(0o640);
    fs.set_attributes(&me(), SetAttributes::new(&file, &new, guard), &mut change)
        .expect("it has the time that it showed");
    let again = fs.set_attributes(&me(), SetAttributes::new(&file, &new, guard), &mut change);
    assert_eq!(again, Err(FsError::NotSynchronised));
}

#[test]
fn each_change_of_a_directory_is_told_where_time_stands_still() {
    let (_place, fs, file) = at_one_time();
    let root = fs.root();
    let new = NewAttributes::with_mode(0o755);
    let how = Create::Exclusive([7; 8]);
    type Call<'c> = (&'c str, &'c dyn Fn(&mut Change) -> howdah_vfs::Result<()>);
    let calls: [Call<'_>; 9] = [
        ("CREATE", &|change| fs.create(&me(), CreateFile::new(&root, name("g"), &how), change).map(drop)),
        ("MKDIR", &|change| {
            fs.make_directory(&me(), MakeDirectory::new(&root, name("d"), &new), change).map(drop)
        }),
        ("SYMLINK", &|change| {
            fs.make_link(&me(), MakeLink::new(&root, name("l"), b"f", &new), change).map(drop)
        }),
        ("MKNOD", &|change| {
            fs.make_special(&me(), MakeSpecial::new(&root, name("p"), SpecialKind::Fifo, &new), change)
                .map(drop)
        }),
        ("LINK", &|change| fs.link(&me(), AddLink::new(&file, &root, name("h")), change).map(drop)),
        ("RENAME", &|change| {
            let mut entered = Change::default();
            fs.rename(&me(), (&root, name("g")), (&root, name("f")), (change, &mut entered))?;
            assert_eq!(*change, entered, "one directory");
            Ok(())
        }),
        ("RMDIR", &|change| fs.remove_directory(&me(), &root, name("d"), change)),
        ("REMOVE", &|change| fs.remove(&me(), &root, name("l"), change)),
        ("REMOVE of another name", &|change| fs.remove(&me(), &root, name("p"), change)),
    ];
    for (call, make) in calls {
        let before = fs.attributes(&me(), &root).expect("GETATTR");
        let mut change = Change::default();
        make(&mut change).expect(call);
        assert_eq!(change.before, Some(Before::from(&before)), "{call}");
        let after = fs.attributes(&me(), &root).expect("GETATTR");
        assert_ne!(after.changed, before.changed, "{call}");
        assert_eq!(change.after, Some(after), "{call}");
    }
    let listed = |attributes: &Attributes| attributes.changed;
    let linked = fs.lookup(&me(), &root, name("h")).expect("LOOKUP");
    assert_eq!(listed(&linked.node.attributes), fs.attributes(&me(), &file).expect("GETATTR").changed);
}
