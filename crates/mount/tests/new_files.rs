//! What programs wait for when they make small files, over caches and a server that is far away.

mod support;

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use howdah_vfs::FileSystem;
use howdah_vfs::layer::{Call, Delayed, Metered};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use support::Mount;

/// The way to the server and back.
const TRIP: Duration = Duration::from_millis(50);
const FILES: u32 = 10;

/// A mount of a far server, and the server.
fn far() -> Option<(Mount, Arc<Metered>)> {
    let (way, server) = way();
    Some((Mount::of_cached(way)?, server))
}

/// A far server, as it is over there and from here.
fn way() -> (Arc<dyn FileSystem>, Arc<Metered>) {
    let start = Instant::now();
    let clock = Arc::new(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
        howdah_vfs::Timestamp { seconds: now.as_secs() as i64, nanoseconds: now.subsec_nanos() }
    });
    let memory = MemoryFileSystem::with_options(MemoryOptions { clock, ..MemoryOptions::default() });
    let server = Arc::new(Metered::around(Arc::new(memory), Arc::new(move || start.elapsed())));
    let way = Delayed::around(Arc::clone(&server) as _, TRIP, Arc::new(std::thread::sleep));
    (Arc::new(way), server)
}

/// Calls of these kinds.
fn calls(server: &Metered, kinds: &[Call]) -> u64 {
    kinds.iter().map(|call| server.snapshot().of(*call).count).sum()
}

fn number(file: u32) -> String {
    format!("new/{file}")
}

/// As cp(1) does it, and with times and rights as `cp -p` and tar(1) do.
fn make(mount: &Mount, name: &str, preserves: bool) -> File {
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(mount.at(name)).expect("made");
    file.write_all(b"small").expect("written");
    if preserves {
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000)).expect("set");
        file.set_permissions(fs::Permissions::from_mode(0o644)).expect("set");
    }
    file
}

#[test]
fn a_new_file_takes_two_round_trips_however_it_is_made() {
    for preserves in [false, true] {
        let Some((mount, server)) = far() else { return };
        fs::create_dir(mount.at("new")).expect("made");
        let asked = [Call::Lookup, Call::Attributes, Call::Access, Call::Commit, Call::ReadDirectory];
        let before = calls(&server, &asked);
        let least = (0..FILES).map(|file| {
            let start = Instant::now();
            drop(make(&mount, &number(file), preserves));
            start.elapsed()
        });
        let least = least.min().expect("files");
        assert_eq!(calls(&server, &asked), before, "nothing has to be asked");
        assert_eq!(calls(&server, &[Call::Create]), u64::from(FILES));
        assert_eq!(calls(&server, &[Call::Write]), u64::from(FILES));
        // Where the server had attributes before the data, on a busy machine, the time is set once more.
        let sets = calls(&server, &[Call::SetAttributes]);
        let most = if preserves { 2 * FILES } else { FILES };
        assert!((u64::from(FILES)..=u64::from(most)).contains(&sets), "{sets}");
        // One file that nothing else of a busy machine delayed by half a round trip shows how many round trips each takes.
        assert!(least < TRIP * 2 + TRIP / 2, "{least:?} for two round trips");
        for file in 0..FILES {
            let is = fs::metadata(mount.at(&number(file))).expect("there");
            let (mode, seconds) = if preserves { (0o644, 1_000_000) } else { (0o600, is.mtime()) };
            assert_eq!((is.mode() & 0o7777, is.mtime(), is.len()), (mode, seconds, 5));
        }
    }
}

#[test]
fn what_waits_for_the_close_is_seen_at_once_here_and_then_by_others() {
    let Some((mount, server)) = far() else { return };
    fs::create_dir(mount.at("new")).expect("made");
    let mut file = make(&mount, "new/file", true);
    let seen = file.metadata().expect("there");
    assert_eq!((seen.mode() & 0o7777, seen.mtime(), seen.len()), (0o644, 1_000_000, 5));
    // Taking rights away does not wait.
    let sets = calls(&server, &[Call::SetAttributes]);
    file.set_permissions(fs::Permissions::from_mode(0o600)).expect("set");
    assert!(calls(&server, &[Call::SetAttributes]) > sets);
    // Writing is later than the time that was set.
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000)).expect("set");
    file.write_all(b" and more").expect("written");
    drop(file);
    let seen = fs::metadata(mount.at("new/file")).expect("there");
    assert!(seen.mtime() > 1_000_000_000, "{}", seen.mtime());
    assert_eq!((seen.mode() & 0o7777, seen.len()), (0o600, 14));
    let after = fs::File::open(mount.at("new/file")).and_then(|file| file.metadata()).expect("opened");
    assert_eq!(
        (after.mtime(), after.mtime_nsec()),
        (seen.mtime(), seen.mtime_nsec()),
        "as the server has it"
    );
}

#[test]
fn a_file_that_stays_open_gets_its_attributes_all_the_same() {
    let Some((mount, server)) = far() else { return };
    fs::create_dir(mount.at("new")).expect("made");
    let file = make(&mount, "new/file", false);
    let late = Instant::now() + Duration::from_secs(30);
    while calls(&server, &[Call::SetAttributes]) == 0 {
        assert!(Instant::now() < late, "its attributes wait for a close that may never come");
        std::thread::yield_now();
    }
    drop(file);
    assert_eq!(calls(&server, &[Call::SetAttributes]), 1);
}

#[test]
fn a_directory_is_not_given_to_the_owner_that_it_was_just_said_to_have() {
    let Some((mount, server)) = far() else { return };
    let directory = mount.at("new");
    fs::create_dir(&directory).expect("made");
    let it = File::open(&directory).expect("opened");
    it.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000)).expect("set");
    let sets = calls(&server, &[Call::SetAttributes]);
    // On a busy machine too much time may pass.
    let asks_nobody = (0..100).any(|_| {
        let before = calls(&server, &[Call::SetAttributes]);
        it.set_permissions(fs::Permissions::from_mode(0o755)).expect("set");
        std::os::unix::fs::chown(&directory, Some(0), Some(0)).expect("its owner already");
        calls(&server, &[Call::SetAttributes]) == before + 1
    });
    assert!(sets == 1 && asks_nobody);
    std::os::unix::fs::chown(&directory, Some(5), Some(0)).expect("given away");
    assert_eq!(fs::metadata(&directory).expect("there").uid(), 5);
}

#[test]
fn a_replacement_waits_for_the_server_only_where_the_old_file_is_open() {
    let (way, server) = way();
    let Some((mount, files)) = Mount::behind(way) else { return };
    drop(make(&mount, "learnt", false));
    let open = make(&mount, "open", false);
    // Whether the server has the new file when its rename is over.
    let is_there = |old: &str, new: &str| {
        files.settle_all();
        let before = calls(&server, &[Call::Create]);
        drop(make(&mount, new, false));
        fs::rename(mount.at(new), mount.at(old)).expect("renamed");
        calls(&server, &[Call::Create]) > before
    };
    drop(make(&mount, "closed", false));
    // On a busy machine it may be sent by then, all the same.
    let waits = (0..20).all(|at| is_there("closed", &format!("new-{at}")));
    assert!(!waits, "it waits since another file is open");
    assert!(is_there("open", "newer"), "what is open lives on, so that the new file must be safe");
    drop(open);
}
