//! What is mounted inside the export is hidden, or entered if the export crosses mounts. Runs in a mount namespace of
//! its own, which takes the superuser; the test says so where it cannot.

mod common;

use std::ffi::CString;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use common::in_a_namespace;
use howdah_needs::{Lack, skipped};
use howdah_store::local::{HandleReuse, LocalFileSystem, Options, handle_reuse};
use howdah_vfs::{
    Caller, Change, Create, CreateFile, Data, Detail, FileSystem, FsError, Handle, ListDirectory,
    MakeDirectory, Name, NewAttributes, ReadFile, SetAttributes, Stability, WriteFile,
};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_remount, unmount};

/// It is noticed within a second, on a machine that is not too busy.
const PATIENCE: Duration = Duration::from_secs(60);

const ME: Caller = Caller::ROOT;

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

fn names(fs: &LocalFileSystem, directory: &Handle) -> Vec<String> {
    let mut names = Vec::new();
    fs.read_directory(&ME, ListDirectory::new(directory, 0, Detail::Nodes), &mut |entry| {
        let node = if entry.node.is_some() { "" } else { " (no node)" };
        names.push(format!("{}{node}", entry.name.escape_ascii()));
        ControlFlow::Continue(())
    })
    .expect("READDIRPLUS");
    names.retain(|name| name != "." && !name.starts_with(".."));
    names.sort();
    names
}

#[test]
fn a_mount_point_shows_what_is_underneath() {
    in_a_namespace("a_mount_point_shows_what_is_underneath", |place| {
        let fs = place.open();
        let point = fs.lookup(&ME, &fs.root(), name("mnt")).expect("LOOKUP").node.handle;
        assert_eq!(names(&fs, &point), ["underneath"]);
        assert_eq!(names(&fs, &fs.root()), ["mnt"]);
    });
}

#[test]
fn the_mount_of_an_export_is_busy_until_the_export_goes() {
    in_a_namespace("the_mount_of_an_export_is_busy_until_the_export_goes", |place| {
        let mounted = place.export().join("mnt");
        let open = || LocalFileSystem::open(&mounted, place.options()).expect("opens");
        let fs = open();
        fs.lookup(&ME, &fs.root(), name("inside")).expect("LOOKUP");
        assert_eq!(unmount(&mounted, UnmountFlags::empty()).err(), Some(Errno::BUSY));
        drop(fs);
        unmount(&mounted, UnmountFlags::empty()).expect("nobody uses it any more");
    });
}

#[test]
fn a_mount_that_becomes_read_only_is_not_changed_any_more() {
    in_a_namespace("a_mount_that_becomes_read_only_is_not_changed_any_more", |place| {
        let mounted = place.export().join("mnt");
        let fs = LocalFileSystem::open(&mounted, place.options()).expect("opens");
        let file = fs.lookup(&ME, &fs.root(), name("inside")).expect("LOOKUP").node.handle;
        let write = || {
            let data = Data::Bytes(b"more");
            fs.write(&ME, WriteFile::new(&file, 0, data, Stability::Unstable), &mut Change::default())
                .map(drop)
        };
        let make = || {
            let new = NewAttributes::with_mode(0o755);
            fs.make_directory(&ME, MakeDirectory::new(&fs.root(), name("new"), &new), &mut Change::default())
                .map(drop)
        };
        let set = || {
            let new = NewAttributes::with_mode(0o600);
            fs.set_attributes(&ME, SetAttributes::new(&file, &new, None), &mut Change::default())
        };
        write().expect("WRITE");
        let remount = |flags| mount_remount(&mounted, MountFlags::BIND | flags, "").expect("remounts");
        let until = |wanted| {
            let start = Instant::now();
            while write() != wanted {
                assert!(start.elapsed() < PATIENCE, "never {wanted:?}");
                std::thread::yield_now();
            }
        };
        remount(MountFlags::RDONLY);
        until(Err(FsError::ReadOnly));
        assert_eq!((make(), set()), (Err(FsError::ReadOnly), Err(FsError::ReadOnly)));
        remount(MountFlags::empty());
        until(Ok(()));
        make().expect("MKDIR");
    });
}

#[test]
fn without_privilege_a_mount_point_is_refused() {
    const MOUNTED: &str = "HOWDAH_TEST_MOUNTED";
    const TEST: &str = "without_privilege_a_mount_point_is_refused";
    if let Some(export) = std::env::var_os(MOUNTED) {
        let fs = LocalFileSystem::open(Path::new(&export), Options::default()).expect("opens");
        assert_eq!(fs.lookup(&ME, &fs.root(), name("mnt")).err(), Some(FsError::AccessDenied));
        assert_eq!(names(&fs, &fs.root()), ["mnt (no node)"]);
        return;
    }
    in_a_namespace(TEST, |place| {
        let directory = place.export();
        std::fs::set_permissions(directory.parent().expect("a parent"), PermissionsExt::from_mode(0o755))
            .expect("chmod");
        common::run_as_nobody(TEST, (MOUNTED, directory));
    });
}

#[test]
fn an_export_that_crosses_mounts_enters_them() {
    in_a_namespace("an_export_that_crosses_mounts_enters_them", |place| {
        let open = || {
            let options = Options { cross_mounts: true, ..place.options() };
            LocalFileSystem::open(&place.export(), options).expect("opens")
        };
        let fs = open();
        let root = fs.root();
        let point = fs.lookup(&ME, &root, name("mnt")).expect("LOOKUP").node;
        let at_home = fs.attributes(&ME, &root).expect("GETATTR").file_system;
        assert_ne!(point.attributes.file_system, at_home);
        assert_eq!(names(&fs, &point.handle), ["inside"]);
        assert_eq!(names(&fs, &root), ["mnt"]);
        let how = Create::Guarded(NewAttributes::with_mode(0o644));
        let made = fs
            .create(&ME, CreateFile::new(&point.handle, name("made"), &how), &mut Change::default())
            .expect("CREATE");
        let (data, stability) = (Data::Bytes(b"data"), Stability::FileSync);
        fs.write(&ME, WriteFile::new(&made.handle, 0, data, stability), &mut Change::default())
            .expect("WRITE");
        assert_eq!(fs.parent(&ME, &point.handle).expect("LOOKUP ..").node.handle, root);
        let changes = (&mut Change::default(), &mut Change::default());
        let moved = fs.rename(&ME, (&point.handle, name("made")), (&root, name("made")), changes);
        assert_eq!(moved, Err(FsError::CrossDevice));
        drop(fs);
        // A restart, and nothing was looked up since.
        let fs = open();
        let mut buffer = Vec::new();
        fs.read(&ME, ReadFile::new(&made.handle, 0, 10), &mut buffer).expect("READ");
        assert_eq!(buffer, b"data");
        assert_eq!(names(&fs, &point.handle).len(), 2);
    });
}

#[test]
fn a_directory_of_the_same_file_system_that_is_mounted_inside_is_entered() {
    in_a_namespace("a_directory_of_the_same_file_system_that_is_mounted_inside_is_entered", |place| {
        std::fs::create_dir_all(place.outside().join("bound/sub")).expect("directories");
        std::fs::write(place.outside().join("bound/sub/file"), b"data").expect("writes");
        std::fs::create_dir(place.outside().join("hidden")).expect("a directory");
        std::fs::create_dir(place.export().join("home")).expect("a directory");
        mount_bind(place.outside().join("bound"), place.export().join("home")).expect("mounts");
        let open = || {
            let options = Options { cross_mounts: true, ..place.options() };
            LocalFileSystem::open(&place.export(), options).expect("opens")
        };
        let fs = open();
        let home = fs.lookup(&ME, &fs.root(), name("home")).expect("LOOKUP").node.handle;
        assert_eq!(names(&fs, &home), ["sub"]);
        let sub = fs.lookup(&ME, &home, name("sub")).expect("LOOKUP").node.handle;
        drop(fs);
        // A restart, and nothing was looked up since.
        let fs = open();
        assert_eq!(names(&fs, &sub), ["file"]);
        assert_eq!(fs.parent(&ME, &sub).expect("LOOKUP ..").node.handle, home);
        assert_eq!(names(&fs, &home), ["sub"]);
        // What leaves it has left the export.
        std::fs::rename(place.outside().join("bound/sub"), place.outside().join("hidden/sub"))
            .expect("moved");
        let fs = open();
        assert_eq!(fs.attributes(&ME, &sub).err(), Some(FsError::Stale));
    });
}

#[test]
fn a_device_that_is_mounted_alone_is_refused() {
    in_a_namespace("a_device_that_is_mounted_alone_is_refused", |place| {
        std::fs::write(place.export().join("null"), b"").expect("writes");
        mount_bind("/dev/null", place.export().join("null")).expect("mounts");
        let options = Options { cross_mounts: true, ..place.options() };
        let fs = LocalFileSystem::open(&place.export(), options).expect("opens");
        let found = fs.lookup(&ME, &fs.root(), name("null"));
        assert_eq!(found.err(), Some(FsError::AccessDenied));
        assert_eq!(names(&fs, &fs.root()), ["mnt", "null (no node)"]);
    });
}

#[test]
fn who_may_only_pass_through_a_mount_enters_it() {
    in_a_namespace("who_may_only_pass_through_a_mount_enters_it", |place| {
        let inside = place.export().join("mnt");
        std::fs::set_permissions(&inside, PermissionsExt::from_mode(0o711)).expect("chmod");
        let options = Options { cross_mounts: true, ..place.options() };
        let fs = LocalFileSystem::open(&place.export(), options).expect("opens");
        let nobody = Caller::new(common::NOBODY, common::NOBODY);
        let point = fs.lookup(&nobody, &fs.root(), name("mnt")).expect("LOOKUP").node.handle;
        assert!(fs.lookup(&nobody, &point, name("inside")).is_ok());
        let listing = fs.read_directory(&nobody, ListDirectory::new(&point, 0, Detail::Names), &mut |_| {
            ControlFlow::Continue(())
        });
        assert_eq!(listing.err(), Some(FsError::AccessDenied), "the way in is the server's alone");
    });
}

#[test]
fn of_a_file_system_and_its_copy_the_first_is_served_after_a_restart_too() {
    in_a_namespace("of_a_file_system_and_its_copy_the_first_is_served_after_a_restart_too", |place| {
        let run = |program: &str, arguments: &[&std::ffi::OsStr]| {
            let mut command = Command::new(program);
            command.args(arguments).status().is_ok_and(|status| status.success())
        };
        let image = |name: &str| place.outside().join(name);
        std::fs::write(image("one"), vec![0; 1 << 20]).expect("writes");
        let made = run("mkfs.ext4", &["-q".as_ref(), "-F".as_ref(), image("one").as_ref()]);
        if made {
            std::fs::copy(image("one"), image("two")).expect("copies");
        }
        let mounted = |name: &str| {
            let point = place.export().join(name);
            std::fs::create_dir(&point).expect("a directory");
            run("mount", &["-o".as_ref(), "loop".as_ref(), image(name).as_ref(), point.as_ref()])
        };
        if !made || !mounted("one") || !mounted("two") {
            skipped(Lack::Kernel, "this takes mkfs.ext4 and two loop devices");
            return;
        }
        for _ in 0..2 {
            let options = Options { cross_mounts: true, ..place.options() };
            let fs = LocalFileSystem::open(&place.export(), options).expect("opens");
            assert_eq!(fs.lookup(&ME, &fs.root(), name("two")).err(), Some(FsError::AccessDenied));
            assert!(fs.lookup(&ME, &fs.root(), name("one")).is_ok());
        }
        for name in ["one", "two"] {
            unmount(place.export().join(name), UnmountFlags::DETACH).expect("unmounts");
        }
    });
}

#[test]
fn the_root_of_a_file_system_mounted_inside_is_a_junction() {
    in_a_namespace("the_root_of_a_file_system_mounted_inside_is_a_junction", |place| {
        let mounted = place.export().join("mnt");
        for directory in ["directory", "bound"] {
            std::fs::create_dir(mounted.join(directory)).expect("made");
        }
        std::fs::create_dir(place.export().join("plain")).expect("made");
        // A directory of a third one, beneath the second.
        std::fs::create_dir(place.outside().join("third")).expect("made");
        mount("none", place.outside().join("third"), "tmpfs", MountFlags::empty(), None).expect("mounted");
        std::fs::create_dir(place.outside().join("third/inside")).expect("made");
        mount_bind(place.outside().join("third/inside"), mounted.join("bound")).expect("bound");
        let options = Options { cross_mounts: true, ..place.options() };
        let fs = LocalFileSystem::open(&place.export(), options).expect("opens");
        let is_junction = |path: &[&str]| {
            let find =
                |directory, text: &&str| fs.lookup(&ME, &directory, name(text)).expect("LOOKUP").node.handle;
            fs.is_junction(&path.iter().fold(fs.root(), find))
        };
        assert!(is_junction(&["mnt"]) && is_junction(&["mnt", "bound"]));
        assert!(!is_junction(&[]) && !is_junction(&["plain"]) && !is_junction(&["mnt", "directory"]));
        drop(fs);
        unmount(mounted.join("bound"), UnmountFlags::DETACH).expect("unmounted");
        unmount(place.outside().join("third"), UnmountFlags::DETACH).expect("unmounted");
        let fs = place.open();
        let point = fs.lookup(&ME, &fs.root(), name("mnt")).expect("LOOKUP").node.handle;
        assert!(!fs.is_junction(&point), "it shows what is underneath");
    });
}

#[test]
fn an_overlay_whose_files_change_their_identity_is_told() {
    in_a_namespace("an_overlay_whose_files_change_their_identity_is_told", |place| {
        const EXT4: u64 = 0xef53;
        let merged = place.export().join("overlay");
        std::fs::create_dir(&merged).expect("made");
        let mut overlays = 0;
        // Why, of an overlay of new layers; none if this kernel makes no overlay there.
        let mut reuse = |layers: &Path, more: &str| {
            overlays += 1;
            let layers = layers.join(format!("layers-{overlays}"));
            for name in ["lower", "upper", "work"] {
                std::fs::create_dir_all(layers.join(name)).expect("made");
            }
            let at = layers.display();
            let options = format!("lowerdir={at}/lower,upperdir={at}/upper,workdir={at}/work{more}");
            let options = CString::new(options).expect("no NUL");
            if let Err(errno) = mount("overlay", &merged, "overlay", MountFlags::empty(), options.as_c_str())
            {
                skipped(Lack::Kernel, format_args!("an overlay of {at} with options {options:?}: {errno}"));
                return None;
            }
            let found = handle_reuse(&merged).expect("it is there");
            unmount(&merged, UnmountFlags::empty()).expect("nobody uses it");
            Some(found)
        };
        let (memory, disk) = (place.export().join("mnt"), place.outside());
        let expected = Some(("overlay".to_owned(), HandleReuse::CopyUp));
        for layers in [&memory, &disk] {
            assert!(reuse(layers, "").is_none_or(|found| found == expected), "without handles");
        }
        let exported = ",index=on,nfs_export=on";
        assert!(
            reuse(&memory, exported).is_none_or(|found| found == expected),
            "with handles that are too long"
        );
        #[allow(clippy::unnecessary_cast)] // the type of the field differs between architectures
        if rustix::fs::statfs(&disk).expect("statfs").f_type as u64 == EXT4 {
            assert!(reuse(&disk, exported).is_none_or(|found| found.is_none()), "with handles that fit");
        }
    });
}
