//! A server that is killed and started again: the client makes another session, and its callers do not notice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use howdah_client::Remote;
use howdah_vfs::conformance::Abilities;
use howdah_vfs::{
    Caller, Change, Create, CreateFile, Data, FileSystem, Name, NewAttributes, ReadFile, Stability, WriteFile,
};

use crate::served::{memory, serve_at};

const ME: Caller = Caller::ROOT;
const THREADS: usize = 4;
const RESTARTS: usize = 4;
/// Rounds of work of each thread between two restarts.
const ROUNDS: usize = 6;

/// Makes a file, writes it, reads it, removes it.
pub fn round(client: &dyn Remote, thread: usize, round: usize) {
    let text = format!("file-{thread}-{round}");
    let (name, root) = (Name::parse(text.as_bytes()).expect("a name"), client.root());
    let data: Vec<u8> = (0..100_000_usize).map(|at| (at * 13 + thread * 101 + round * 7) as u8).collect();
    let how = Create::Guarded(NewAttributes::with_mode(0o600));
    let change = &mut Change::default();
    // It may have been made before the server was killed: then the second run finds it.
    let file = client.create(&ME, CreateFile::new(&root, name, &how), change);
    let file =
        file.or_else(|_| client.lookup(&ME, &root, name).map(|found| found.node)).expect("made").handle;
    let write = WriteFile::new(&file, 0, Data::Bytes(&data), Stability::FileSync);
    assert_eq!(client.write(&ME, write, change).expect("written").count, data.len());
    let mut read = Vec::new();
    client.read(&ME, ReadFile::new(&file, 0, data.len()), &mut read).expect("read");
    assert!(read == data, "{text}");
    client.remove(&ME, &root, name, change).expect("removed");
    assert!(client.lookup(&ME, &root, name).is_err());
}

#[test]
fn nothing_is_lost_when_the_server_restarts() {
    for lanes in [1, 3] {
        let files: Arc<dyn FileSystem> = memory();
        let serve = |address| serve_at(address, Arc::clone(&files), Abilities::default(), None);
        let first = serve("127.0.0.1:0".parse().expect("an address"));
        let address = first.address;
        let client = first.client(&format!("version=4&lanes={lanes}"));
        let mut served = Some(first);
        let (over, rounds) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (client, over, rounds) = (&client, &over, &rounds);
                scope.spawn(move || {
                    for number in 0.. {
                        round(&**client, thread, number);
                        rounds.fetch_add(1, Ordering::SeqCst);
                        if over.load(Ordering::SeqCst) {
                            return;
                        }
                    }
                });
            }
            for restart in 1..=RESTARTS {
                while rounds.load(Ordering::SeqCst) < restart * ROUNDS * THREADS {
                    thread::yield_now();
                }
                drop(served.take());
                served = Some(serve(address));
            }
            over.store(true, Ordering::SeqCst);
        });
    }
}
