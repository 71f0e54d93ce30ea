//! The cache on disk over a disk that lies, is full, fails, or hangs: what is read is right, and nobody waits long.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_layers::{DiskCache, DiskCacheOptions, DiskCacheState};
use howdah_vfs::Handle;
use howdah_vfs::layer::{Call, Metered};

use crate::disk;
use crate::disk::*;

const PIECE: usize = 64 << 10;

fn files(server: &Metered) -> Vec<(Handle, Vec<u8>)> {
    let made = [500, 9_000, 3 * PIECE + 77].into_iter().enumerate().map(|(number, length)| {
        let content = content(number as u64, length);
        (make(server, &format!("f{number}"), &content), content)
    });
    made.collect()
}

fn check(cache: &DiskCache, files: &[(Handle, Vec<u8>)], why: &str) {
    for (node, content) in files {
        assert!(open_and_read(cache, node, 0, 1 << 20) == *content, "{why}: {} bytes", content.len());
        let part = content.len() / 3..content.len() / 2;
        assert!(read(cache, node, part.start as u64, part.len()) == content[part], "{why}: a part");
    }
}

fn data_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { data_files(&path) } else { vec![path] }).collect()
}

fn flip(file: &Path, at: usize) {
    let mut bytes = fs::read(file).expect("readable");
    let at = at % bytes.len();
    bytes[at] ^= 0x10;
    fs::write(file, bytes).expect("written");
}

#[test]
fn flipped_bits_in_data_are_read_from_the_server() {
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let files = files(&server);
    check(&cache(&server, directory.path()), &files, "fresh");
    let data = data_files(&directory.path().join("data"));
    assert_eq!(data.len(), 1, "the others are small");
    for at in [0, PIECE, 2 * PIECE + 5, 3 * PIECE + 76] {
        flip(&data[0], at);
        let cache = cache(&server, directory.path());
        check(&cache, &files, &format!("flipped at {at}"));
        assert_eq!(cache.report().damaged, 1);
    }
    // Shorter than the index says, and gone.
    fs::write(&data[0], b"short").expect("written");
    check(&cache(&server, directory.path()), &files, "cut");
    fs::remove_file(&data[0]).expect("removed");
    check(&cache(&server, directory.path()), &files, "removed");
    let before = calls(&server, Call::Read);
    check(&cache(&server, directory.path()), &files, "whole again");
    assert_eq!(calls(&server, Call::Read), before);
}

#[test]
fn flipped_bits_in_the_index_give_right_bytes_or_an_empty_cache() {
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let files = files(&server);
    check(&cache(&server, directory.path()), &files, "fresh");
    let index = directory.path().join("index.redb");
    let whole = fs::read(&index).expect("readable");
    // Where the pages are that are not empty.
    let used: Vec<usize> = (0..whole.len()).step_by(64).filter(|at| whole[*at..at + 64] != [0; 64]).collect();
    let mut random = howdah_random::Random::new(0xd15c);
    for round in 0..60 {
        fs::write(&index, &whole).expect("restored");
        let at = used[random.index(used.len())] + random.index(64);
        flip(&index, at);
        check(&cache(&server, directory.path()), &files, &format!("round {round}, flipped at {at}"));
    }
}

#[test]
fn a_torn_index_is_set_aside_and_the_cache_begins_empty() {
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let files = files(&server);
    let index = directory.path().join("index.redb");
    for round in 0..3 {
        check(&cache(&server, directory.path()), &files, "fresh");
        let whole = fs::read(&index).expect("readable");
        match round {
            0 => fs::write(&index, &whole[..whole.len() / 3]).expect("torn"),
            1 => fs::write(&index, content(3, whole.len())).expect("garbage"),
            _ => fs::remove_file(&index).expect("removed"),
        }
        let before = calls(&server, Call::Read);
        let cache = cache(&server, directory.path());
        check(&cache, &files, "torn");
        assert!(calls(&server, Call::Read) > before);
        assert!(cache.settled(LONG));
        let data = data_files(&directory.path().join("data"));
        assert_eq!(data.len(), 1, "data that no index knows is removed: {data:?}");
        assert_eq!(directory.path().join("index.damaged").exists(), round < 2);
    }
}

/// What a kill leaves: files as they are at some moment, one after the other.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("a directory").map(|entry| entry.expect("an entry")) {
        let (path, place) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy(&path, &place),
            // One that was removed meanwhile is not there.
            false => drop(fs::copy(&path, &place)),
        }
    }
}

#[test]
fn a_cache_that_is_killed_at_any_moment_gives_right_bytes() {
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let mut files = files(&server);
    let mut random = howdah_random::Random::new(0x6111);
    let cache = cache(&server, directory.path());
    let mut hits = 0;
    for round in 0..30 {
        let (node, content) = &mut files[random.index(3)];
        let start = random.index(content.len());
        content[start..].fill(round);
        // By this client, and by another one.
        let writer: &dyn howdah_vfs::FileSystem = if random.one_in(2) { &cache } else { &*server };
        write(writer, node, start as u64, &content[start..]);
        check(&cache, &files, "alive");
        if random.one_in(2) {
            assert!(cache.settled(LONG));
        }
        let killed = tempfile::tempdir().expect("a directory");
        copy(directory.path(), killed.path());
        let after = disk::cache(&server, killed.path());
        check(&after, &files, &format!("killed in round {round}"));
        hits += after.report().hits;
    }
    assert!(hits > 30, "{hits} reads were answered by what was left");
}

fn unsteady(
    server: &Arc<Metered>,
    directory: &Path,
    options: DiskCacheOptions,
) -> (Arc<Unsteady>, DiskCache) {
    let disk = Unsteady::around(storage(directory));
    (Arc::clone(&disk), cache_on(server, disk, options))
}

#[test]
fn a_full_disk_gets_no_more_and_what_it_has_is_given() {
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let files = files(&server);
    let (disk, cache) = unsteady(&server, directory.path(), options(1 << 30));
    let kept = make(&*server, "kept", &content(50, PIECE));
    open_and_read(&cache, &kept, 0, PIECE);
    assert!(cache.settled(LONG));
    disk.set(Mood::Full);
    (0..3).for_each(|_| check(&cache, &files, "full"));
    while cache.report().state != DiskCacheState::Full {
        open_and_read(&cache, &make(&*server, "more", &content(51, 2 * PIECE)), 0, 1 << 20);
    }
    disk.set(Mood::Well);
    // Room was made meanwhile; what is read from now on is kept again.
    while cache.report().state == DiskCacheState::Full {
        std::thread::yield_now();
    }
    check(&cache, &files, "well again");
    assert!(cache.settled(LONG));
    let before = calls(&server, Call::Read);
    check(&cache, &files, "kept");
    assert_eq!(calls(&server, Call::Read), before, "{:?}", cache.report());
}

#[test]
fn what_others_need_of_the_disk_is_given_back() {
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let files = files(&server);
    let (disk, cache) = unsteady(&server, directory.path(), options(1 << 30));
    check(&cache, &files, "room");
    assert!(cache.settled(LONG) && !data_files(&directory.path().join("data")).is_empty());
    disk.set(Mood::Tight);
    for number in 0.. {
        let node = make(&*server, &format!("more{number}"), &content(number, PIECE));
        assert!(open_and_read(&cache, &node, 0, PIECE) == content(number, PIECE));
        if cache.report().state == DiskCacheState::Full {
            break;
        }
    }
    assert!(cache.settled(LONG));
    assert_eq!((cache.report().bytes, data_files(&directory.path().join("data"))), (0, Vec::new()));
    check(&cache, &files, "no room");
}

#[test]
fn a_disk_that_fails_is_given_up() {
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let files = files(&server);
    let (disk, cache) = unsteady(&server, directory.path(), options(1 << 30));
    check(&cache, &files, "well");
    assert!(cache.settled(LONG));
    disk.set(Mood::Broken);
    check(&cache, &files, "broken");
    for number in 0.. {
        let node = make(&*server, &format!("more{number}"), &content(number, PIECE));
        assert!(open_and_read(&cache, &node, 0, PIECE) == content(number, PIECE));
        if cache.report().state == DiskCacheState::Fails {
            break;
        }
    }
    check(&cache, &files, "given up");
}

#[test]
fn a_disk_that_hangs_is_not_waited_for_and_given_up() {
    const PATIENCE: Duration = Duration::from_millis(5);
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let files = files(&server);
    check(&cache(&server, directory.path()), &files, "fresh");
    // Long enough for the disk of a busy machine while it is well.
    let hangs_after = 200 * PATIENCE;
    let options = DiskCacheOptions { patience: PATIENCE, hangs_after, ..options(1 << 30) };
    let (disk, cache) = unsteady(&server, directory.path(), options);
    disk.set(Mood::Hangs);
    let (began, mut rounds) = (Instant::now(), 0);
    while cache.report().state == DiskCacheState::On {
        check(&cache, &files, "hangs");
        rounds += 1;
    }
    let report = cache.report();
    assert_eq!(report.state, DiskCacheState::Hangs);
    assert!(report.late > 0 && began.elapsed() >= hangs_after, "{rounds} rounds, {report:?}");
    let before = calls(&server, Call::Access);
    check(&cache, &files, "given up");
    assert_eq!(calls(&server, Call::Access), before + 3, "nothing more is asked than callers ask");
    // The end of the cache does not wait for its disk, either.
    drop(cache);
    disk.set(Mood::Well);
}
