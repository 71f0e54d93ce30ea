//! The cache on disk: what it keeps over a restart, whose it is, and that what it gives is what the server has.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use howdah_layers::{CacheDirectory, Cached, CachingOptions, DiskCacheOptions, DiskCacheState};
use howdah_vfs::layer::{Call, Fault, FaultKind, FaultPlan, Faulty, Metered};
use howdah_vfs::{
    Access, Caller, Change, CommitFile, Consistency, Create, CreateFile, FileExtent, FileSystem, FsError,
    Handle, Name, NewAttributes, RangeOperations, ReadFile, SetAttributes, SetTime, Timestamp,
};

use crate::disk;
use crate::disk::*;

const PIECE: usize = 64 << 10;

/// A small file, one of some pieces, and one that ends in the middle of a piece.
const LENGTHS: [usize; 4] = [1, 6_600, 3 * PIECE, 5 * PIECE + 1_000];

fn files(server: &Metered) -> Vec<(Handle, Vec<u8>)> {
    let made = LENGTHS.iter().enumerate().map(|(number, length)| {
        let content = content(number as u64, *length);
        (make(server, &format!("f{number}"), &content), content)
    });
    made.collect()
}

fn read_all(fs: &dyn FileSystem, files: &[(Handle, Vec<u8>)]) {
    for (node, content) in files {
        assert!(open_and_read(fs, node, 0, content.len() + 10) == *content, "{} bytes", content.len());
    }
}

#[test]
fn after_a_restart_no_data_comes_from_the_server() {
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let files = files(&server);
    read_all(&cache(&server, directory.path()), &files);
    let before = calls(&server, Call::Read);
    for _ in 0..2 {
        let cache = cache(&server, directory.path());
        read_all(&cache, &files);
        for (node, content) in &files {
            let middle = content.len() / 2;
            assert!(
                read(&cache, node, middle as u64, 100) == content[middle..content.len().min(middle + 100)]
            );
        }
        let report = cache.report();
        assert_eq!((report.state, report.hits, report.misses), (DiskCacheState::On, 8, 0));
        assert!(report.bytes >= 8 * PIECE as u64, "{report:?}");
    }
    assert_eq!(calls(&server, Call::Read), before);
}

#[test]
fn all_layers_together_read_from_the_disk_after_a_restart() {
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let files = files(&server);
    let start = || {
        // A fetch that was under way may use the cache of the run before for a moment.
        let storage = loop {
            match CacheDirectory::open(directory.path()) {
                Ok(storage) => break storage,
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock, "{error}"),
            }
            std::thread::yield_now();
        };
        let disk = (Arc::new(storage) as _, options(1 << 30));
        Cached::on_disk(Arc::clone(&server) as _, CachingOptions::default(), disk)
    };
    let read_through = |fs: &Cached| {
        for (node, content) in &files {
            fs.opened(&ROOT, node).expect("opened");
            assert!(read(fs, node, 0, content.len() + 10) == *content);
        }
    };
    {
        let fs = start();
        read_through(&fs);
        // Blocks are fetched ahead as well.
        read_through(&fs);
        fs.settle();
    }
    let fs = start();
    while fs.report().disk.expect("a disk").state == DiskCacheState::Loading {
        std::thread::yield_now();
    }
    let before = calls(&server, Call::Read);
    read_through(&fs);
    assert_eq!(calls(&server, Call::Read), before, "{:?}", fs.report());
    let (node, content) = &files[2];
    let direct = fs.read_now(&ROOT, ReadFile::new(node, 0, content.len()), &mut Vec::new());
    assert_eq!(direct.expect("read").content.len(), content.len());
    assert_eq!(calls(&server, Call::Read), before + 1, "O_DIRECT asks the server");
}

#[test]
fn a_strangers_change_is_seen_when_the_file_is_opened() {
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    for (node, mut content) in files(&server) {
        let cache = cache(&server, directory.path());
        assert!(open_and_read(&cache, &node, 0, 1 << 20) == content);
        assert!(cache.settled(LONG));
        // As long as before, and its time of modification set back.
        let modified = server.attributes(&ROOT, &node).expect("attributes").modified;
        let last = content.len() - 1;
        content[last] ^= 1;
        write(&*server, &node, last as u64, &content[last..]);
        set(&*server, &node, &NewAttributes { modified: SetTime::To(modified), ..NewAttributes::default() });
        assert!(open_and_read(&cache, &node, 0, 1 << 20) == content);
        drop(cache);
        content[0] ^= 1;
        write(&*server, &node, 0, &content[..1]);
        assert!(open_and_read(&disk::cache(&server, directory.path()), &node, 0, 1 << 20) == content);
    }
}

fn set(fs: &dyn FileSystem, node: &Handle, new: &NewAttributes) {
    fs.set_attributes(&ROOT, SetAttributes::new(node, new, None), &mut Change::default()).expect("set");
}

#[test]
fn what_was_written_here_is_read_from_the_disk() {
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let contents: Vec<_> = LENGTHS.iter().map(|length| content(9, *length)).collect();
    let nodes: Vec<_> = {
        let cache = cache(&server, directory.path());
        let made = contents.iter().enumerate().map(|(number, content)| {
            let node = make(&cache, &format!("f{number}"), content);
            cache.commit(&ROOT, CommitFile::new(&node, 0, 0), &mut Change::default()).expect("durable");
            // As `cp -p` ends.
            set(
                &cache,
                &node,
                &NewAttributes { modified: SetTime::To(Timestamp::default()), ..Default::default() },
            );
            node
        });
        made.collect()
    };
    let files: Vec<_> = nodes.into_iter().zip(contents).collect();
    read_all(&cache(&server, directory.path()), &files);
    assert_eq!(calls(&server, Call::Read), 0);
}

#[test]
fn changes_of_ours_cut_what_they_change() {
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let cache = cache(&server, directory.path());
    let mut content = content(1, 4 * PIECE);
    let node = make(&*server, "file", &content);
    let check = |content: &[u8], reads: u64| {
        let before = calls(&server, Call::Read);
        assert!(open_and_read(&cache, &node, 0, 1 << 20) == content);
        assert!(cache.settled(LONG));
        assert_eq!(calls(&server, Call::Read) - before, reads);
    };
    check(&content, 1);
    check(&content, 0);
    content[PIECE + 5..PIECE + 10].fill(7);
    write(&cache, &node, PIECE as u64 + 5, &[7; 5]);
    assert!(read(&cache, &node, 0, PIECE) == content[..PIECE]);
    check(&content, 1);
    content.truncate(2 * PIECE + 1);
    set(&cache, &node, &NewAttributes::with_size(content.len() as u64));
    check(&content, 1);
    content.resize(3 * PIECE, 0);
    set(&cache, &node, &NewAttributes::with_size(content.len() as u64));
    check(&content, 1);
    content[10..PIECE + 10].fill(0);
    let hole = FileExtent::new(&node, 10, PIECE as u64);
    RangeOperations::deallocate(&cache, &ROOT, hole, &mut Change::default()).expect("a hole");
    check(&content, 1);
    set(&cache, &node, &NewAttributes::with_mode(0o600));
    check(&content, 0);
    let how = Create::Unchecked(NewAttributes::with_size(0));
    let top = cache.root();
    let create = CreateFile::new(&top, Name::parse(b"file").expect("a name"), &how);
    cache.create(&ROOT, create, &mut Change::default()).expect("emptied");
    check(&[], 1);
}

#[test]
fn data_is_given_to_callers_alone_that_the_server_lets_read() {
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let content = content(1, 2 * PIECE);
    let node = make(&*server, "file", &content);
    set(&*server, &node, &NewAttributes { user: Some(5), ..NewAttributes::with_mode(0o640) });
    let cache = cache(&server, directory.path());
    assert!(open_and_read(&cache, &node, 0, 1 << 20) == content);
    assert!(cache.settled(LONG));
    let stranger = Caller::new(6, 6);
    let try_read = |caller: &Caller| {
        cache.read(caller, ReadFile::new(&node, 0, 10), &mut Vec::new()).map(|read| read.content.len())
    };
    assert_eq!(try_read(&stranger), Err(FsError::AccessDenied));
    set(&*server, &node, &NewAttributes::with_mode(0o644));
    cache.access(&ROOT, &node, Access::READ).expect("opened");
    assert_eq!(try_read(&stranger), Ok(10));
    // What was put there is of another time of change, and is put there again.
    assert!(open_and_read(&cache, &node, 0, 1 << 20) == content);
    assert!(cache.settled(LONG));
    let before = calls(&server, Call::Read);
    assert_eq!(try_read(&stranger), Ok(10));
    assert_eq!(calls(&server, Call::Read), before);
    set(&*server, &node, &NewAttributes::with_mode(0o640));
    cache.access(&ROOT, &node, Access::READ).expect("opened");
    assert_eq!(try_read(&stranger), Err(FsError::AccessDenied));
}

#[test]
fn a_server_that_cannot_be_asked_has_lost_nothing() {
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let files = files(&server);
    read_all(&cache(&server, directory.path()), &files);
    let away = FaultPlan::new(1, [Fault { call: None, one_in: 1, kind: FaultKind::Refuse(FsError::Delay) }]);
    let faulty = Faulty::around(Arc::clone(&server) as _, away);
    let metered = Arc::new(Metered::around(Arc::new(faulty), Arc::new(|| Duration::ZERO)));
    let while_away = cache(&metered, directory.path());
    for (node, _) in &files {
        let read = while_away.read(&ROOT, ReadFile::new(node, 0, 10), &mut Vec::new());
        assert_eq!(read.map(|_| ()), Err(FsError::Delay));
    }
    drop(while_away);
    let before = calls(&server, Call::Read);
    read_all(&cache(&server, directory.path()), &files);
    assert_eq!(calls(&server, Call::Read), before);
}

#[test]
fn a_file_is_believed_as_long_as_its_attributes_are() {
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let node = make(&*server, "file", &content(1, PIECE));
    for (believed, asks) in [(Duration::ZERO, 2), (LONG, 0)] {
        let options = DiskCacheOptions { believed, ..options(1 << 30) };
        let cache = cache_on(&server, storage(directory.path()), options);
        open_and_read(&cache, &node, 0, PIECE);
        assert!(cache.settled(LONG));
        let before = calls(&server, Call::Access);
        (0..2).for_each(|_| drop(read(&cache, &node, 0, PIECE)));
        assert_eq!(calls(&server, Call::Access) - before, asks);
    }
}

/// Bytes that all files of a directory take.
fn allocated(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry"));
    let sizes = entries.map(|entry| {
        let metadata = entry.metadata().expect("metadata");
        if metadata.is_dir() { allocated(&entry.path()) } else { metadata.blocks() * 512 }
    });
    sizes.sum()
}

#[test]
fn it_takes_no_more_than_it_may() {
    const SIZE: u64 = 8 << 20;
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let cache = cache_on(&server, storage(directory.path()), options(SIZE));
    let often = make(&*server, "often", &content(0, PIECE));
    open_and_read(&cache, &often, 0, PIECE);
    for number in 0..200 {
        let length = if number % 2 == 0 { 8_000 } else { 4 * PIECE };
        let node = make(&*server, &format!("f{number}"), &content(number, length));
        open_and_read(&cache, &node, 0, length);
        assert!(cache.settled(LONG));
        open_and_read(&cache, &often, 0, PIECE);
        assert!(cache.report().bytes <= SIZE, "{:?}", cache.report());
    }
    // The index has grown by some pages since it was looked at.
    assert!(allocated(directory.path()) <= SIZE + (1 << 20), "{}", allocated(directory.path()));
    let before = calls(&server, Call::Read);
    open_and_read(&cache, &often, 0, PIECE);
    assert_eq!(calls(&server, Call::Read), before, "what is wanted often stays");
    drop(cache);
    let cache = cache_on(&server, storage(directory.path()), options(SIZE / 4));
    open_and_read(&cache, &make(&*server, "last", &content(7, PIECE)), 0, PIECE);
    assert!(cache.settled(LONG) && cache.report().bytes <= SIZE / 4, "{:?}", cache.report());
}

#[test]
fn a_directory_is_of_one_process_and_of_its_user_alone() {
    let above = tempfile::tempdir().expect("a directory");
    let path = above.path().join("deep/cache");
    let open = CacheDirectory::open(&path).expect("made");
    assert_eq!(path.metadata().expect("it is there").permissions().mode() & 0o777, 0o700);
    let refused = CacheDirectory::open(&path).err().expect("in use");
    assert_eq!(refused.kind(), std::io::ErrorKind::WouldBlock);
    drop(open);
    CacheDirectory::open(&path).expect("free again");
    fs::write(above.path().join("letter"), "dear").expect("written");
    let refused = CacheDirectory::open(above.path()).err().expect("not a cache");
    assert!(refused.to_string().contains("other files"), "{refused}");
}

#[test]
fn a_cache_of_another_host_or_format_begins_empty_and_two_servers_share_nothing() {
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let files = files(&server);
    read_all(&cache(&server, directory.path()), &files);
    let reads = |options| {
        let before = calls(&server, Call::Read);
        read_all(&cache_on(&server, storage(directory.path()), options), &files);
        calls(&server, Call::Read) - before
    };
    assert_eq!(reads(options(1 << 30)), 0);
    assert_eq!(reads(DiskCacheOptions { server: "other:/export".to_owned(), ..options(1 << 30) }), 4);
    assert_eq!(reads(options(1 << 30)), 0);
    let about = directory.path().join("howdah-cache");
    let text = fs::read_to_string(&about).expect("it is there");
    let host = text.lines().nth(1).expect("a host");
    fs::write(&about, text.replace(host, "elsewhere")).expect("written");
    assert_eq!(reads(options(1 << 30)), 4);
}
