//! Open files while their server is killed and comes back without what was not committed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use howdah_layers::file::{OpenFile, OpenFileOptions};
use howdah_vfs::conformance::Abilities;
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Caller, FileSystem, FsError, Name, NewAttributes};

use crate::served::{Served, memory, serve, serve_at};

const ME: Caller = Caller::ROOT;

/// How much is written, in how large pieces, by how many threads.
const SIZE: usize = 8 << 20;
const BLOCK: usize = 64 << 10;
const WRITERS: usize = 4;
/// How often the server is killed.
const KILLS: usize = 4;

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

fn create(fs: Arc<dyn FileSystem>, text: &str, options: OpenFileOptions) -> OpenFile {
    let root = fs.root();
    let new = NewAttributes::with_mode(0o640);
    OpenFile::create_new(fs, ME, (&root, name(text)), &new, [9; 8], options).expect("a file")
}

/// The bytes that belong at an offset: no two blocks are alike.
fn block(index: usize) -> Bytes {
    let word =
        |at: usize| ((index * BLOCK + at * 8) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    (0..BLOCK / 8).flat_map(word).collect::<Vec<u8>>().into()
}

/// The server dies without a word, and comes back at the same place without what was not committed.
fn kill(served: Served, fs: &Arc<MemoryFileSystem>) -> Served {
    let address = served.address;
    drop(served);
    fs.restart();
    serve_at(address, Arc::clone(fs) as Arc<dyn FileSystem>, Abilities::default(), None)
}

fn read_all(file: &OpenFile) -> Vec<u8> {
    let mut data = Vec::new();
    while let Ok((1.., false)) = file.read_at(data.len() as u64, BLOCK * 3, &mut data) {}
    data
}

#[test]
fn a_server_that_is_killed_in_the_middle_of_writing_loses_nothing() {
    let fs = memory();
    let served = serve(Arc::clone(&fs) as Arc<dyn FileSystem>);
    let client = served.client("lanes=2&wsize=16384");
    let mut served = Some(served);
    // So little memory that some of it is committed on the way.
    let options = OpenFileOptions { memory_budget: SIZE / 3 };
    let file = create(client, "f", options);
    let (next, blocks) = (AtomicUsize::new(0), SIZE / BLOCK);
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= blocks {
                        return;
                    }
                    file.write_at((index * BLOCK) as u64, block(index)).expect("a hard mount waits");
                }
            });
        }
        for kill_number in 1..=KILLS {
            while next.load(Ordering::Relaxed) < blocks * kill_number / (KILLS + 1) {
                std::thread::yield_now();
            }
            served = served.take().map(|served| kill(served, &fs));
        }
    });
    let closed = file.close().expect("all of it is safe");
    assert_eq!(closed.size, SIZE as u64);
    // Whatever is not durable now would go here.
    fs.restart();
    let found = fs.lookup(&ME, &fs.root(), name("f")).expect("it is there");
    let file = OpenFile::open(fs, ME, found.node.handle, options).expect("opens");
    let data = read_all(&file);
    for index in 0..blocks {
        assert!(data[index * BLOCK..][..BLOCK] == block(index), "block {index} of {blocks} is another");
    }
}

#[test]
fn what_was_written_last_stays_last() {
    let fs = memory();
    let file = create(Arc::clone(&fs) as Arc<dyn FileSystem>, "f", OpenFileOptions::default());
    file.write_at(0, Bytes::from_static(b"old old old")).expect("written");
    fs.restart();
    file.write_at(4, Bytes::from_static(b"new")).expect("written");
    // A piece also costs its place in the table.
    assert!(file.held() >= 11, "{} bytes are held", file.held());
    file.sync().expect("safe");
    assert_eq!(file.held(), 0);
    fs.restart();
    assert_eq!(read_all(&file), b"old new old");
}

#[test]
fn what_was_cut_off_does_not_come_back() {
    let fs = memory();
    let file = create(Arc::clone(&fs) as Arc<dyn FileSystem>, "f", OpenFileOptions::default());
    file.write_at(0, Bytes::from_static(b"howdy, partner")).expect("written");
    file.set_size(5).expect("cut");
    fs.restart();
    file.write_at(0, Bytes::from_static(b"H")).expect("written");
    assert_eq!(file.close().map(|attributes| attributes.size), Ok(5));
}

#[test]
fn whoever_opens_sees_what_was_closed_before() {
    let served = serve(memory());
    let [one, other] = [(); 2].map(|()| served.client(""));
    let file = create(Arc::clone(&one) as Arc<dyn FileSystem>, "f", OpenFileOptions::default());
    let handle = *file.handle();
    for round in 1..=3_u64 {
        let file =
            OpenFile::open(Arc::clone(&one) as Arc<dyn FileSystem>, ME, handle, OpenFileOptions::default());
        let file = file.expect("opens");
        file.write_at((round - 1) * 5, Bytes::from_static(b"howdy")).expect("written");
        file.close().expect("closed");
        let seen =
            OpenFile::open(Arc::clone(&other) as Arc<dyn FileSystem>, ME, handle, OpenFileOptions::default());
        assert_eq!(seen.expect("opens").opened().size, round * 5);
    }
}

#[test]
fn held_data_keeps_to_its_budget() {
    let fs = memory();
    let options = OpenFileOptions { memory_budget: 3 * BLOCK };
    let file = create(Arc::clone(&fs) as Arc<dyn FileSystem>, "f", options);
    for index in 0..16 {
        file.write_at((index * BLOCK) as u64, block(index)).expect("written");
        assert!(file.held() <= options.memory_budget, "{} bytes are held", file.held());
    }
}

#[test]
fn a_new_file_is_made_once_with_its_attributes() {
    let served = serve(memory());
    let client: Arc<dyn FileSystem> = served.client("");
    let file = create(Arc::clone(&client), "f", OpenFileOptions::default());
    assert_eq!((file.opened().mode, file.opened().size), (0o640, 0));
    let (root, new) = (client.root(), NewAttributes::with_mode(0o600));
    let again =
        OpenFile::create_new(client, ME, (&root, name("f")), &new, [8; 8], OpenFileOptions::default());
    assert_eq!(again.err(), Some(FsError::Exists));
}
