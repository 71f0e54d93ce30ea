//! A lease of a local process on a file keeps no call waiting: the client is asked to try again later.
#![allow(unsafe_code)] // `fcntl(F_SETLEASE)`, which no crate here offers.

mod common;

use std::fs::File;
use std::os::fd::AsRawFd;
use std::thread;
use std::time::{Duration, Instant};

use common::{Place, in_a_namespace, myself, places};
use howdah_store::local::{LocalFileSystem, Options};
use howdah_vfs::{
    Change, Data, FileSystem, FsError, Name, NewAttributes, SetAttributes, Stability, WriteFile,
};

/// `fcntl(2)`: which signal the holder of a lease gets.
const F_SETSIG: i32 = 10;
/// The kernel waits longer for the holder of a lease (`/proc/sys/fs/lease-break-time` is 45 s).
const SHORT: Duration = Duration::from_secs(10);

/// A lease that keeps others from opening the file.
fn lease(file: &File) {
    // The signal that announces an open: one that nobody minds.
    for (command, value) in [(F_SETSIG, libc::SIGURG), (libc::F_SETLEASE, libc::F_WRLCK)] {
        // SAFETY: the descriptor is open, and these commands take a number.
        let done = unsafe { libc::fcntl(file.as_raw_fd(), command, value) };
        assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
    }
}

/// Makes a call again until no lease delays it.
///
/// A lease ends when the last copy of its descriptor is closed. The other test of this file starts
/// a process, and that has a copy from `fork` until `exec`.
fn once_free<T>(mut call: impl FnMut() -> Result<T, FsError>) -> Result<T, FsError> {
    let until = Instant::now() + SHORT;
    loop {
        match call() {
            Err(FsError::Delay) if Instant::now() < until => thread::yield_now(),
            answer => return answer,
        }
    }
}

#[test]
fn a_lease_delays_calls_on_its_file_and_holds_no_thread() {
    for under in places() {
        let place = Place::under(&under);
        let path = place.export().join("file");
        std::fs::write(&path, b"data").expect("written");
        let fs = place.open();
        let caller = myself();
        let node =
            fs.lookup(&caller, &fs.root(), Name::parse(b"file").expect("a name")).expect("it is there");
        let held = File::open(&path).expect("it opens");
        lease(&held);
        let (fs, node, caller) = (&fs, &node.node.handle, &caller);
        let began = Instant::now();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let data = Data::Bytes(b"x");
                    let written = fs.write(
                        caller,
                        WriteFile::new(node, 0, data, Stability::Unstable),
                        &mut Change::default(),
                    );
                    assert_eq!(written.map(|written| written.count), Err(FsError::Delay));
                });
                scope.spawn(|| {
                    let size = NewAttributes { size: Some(1), ..NewAttributes::default() };
                    let set = fs.set_attributes(
                        caller,
                        SetAttributes::new(node, &size, None),
                        &mut Change::default(),
                    );
                    assert_eq!(set, Err(FsError::Delay));
                });
            }
        });
        assert!(began.elapsed() < SHORT, "{:?} on {}", began.elapsed(), under.display());
        drop(held);
        let written = once_free(|| {
            fs.write(
                caller,
                WriteFile::new(node, 0, Data::Bytes(b"x"), Stability::FileSync),
                &mut Change::default(),
            )
        });
        assert!(written.is_ok(), "{:?} on {}", written.err(), under.display());
    }
}

#[test]
fn a_lease_on_the_way_into_a_mount_holds_no_thread() {
    in_a_namespace("a_lease_on_the_way_into_a_mount_holds_no_thread", |place| {
        // A file of another file system is all of it that is seen.
        let (inside, alone) = (place.export().join("mnt/inside"), place.export().join("alone"));
        std::fs::write(&alone, b"").expect("written");
        rustix::mount::mount_bind(&inside, &alone).expect("mounts");
        rustix::mount::unmount(place.export().join("mnt"), rustix::mount::UnmountFlags::DETACH)
            .expect("gone");
        let options = Options { cross_mounts: true, ..place.options() };
        let fs = LocalFileSystem::open(&place.export(), options).expect("opens");
        let held = File::open(&alone).expect("it opens");
        lease(&held);
        let began = Instant::now();
        let found = fs.lookup(&myself(), &fs.root(), Name::parse(b"alone").expect("a name"));
        assert!(began.elapsed() < SHORT, "{:?}", began.elapsed());
        assert_eq!(found.err(), Some(FsError::Delay));
        drop(held);
        let found = once_free(|| fs.lookup(&myself(), &fs.root(), Name::parse(b"alone").expect("a name")));
        assert!(found.is_ok(), "{:?}", found.err());
    });
}
