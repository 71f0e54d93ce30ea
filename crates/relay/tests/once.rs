//! Calls that may not run twice, through relays and paths that die under them: each runs exactly once.

#![allow(clippy::print_stdout, reason = "the seed is printed")]

mod far;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use far::relay_to;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_random::Random;
use howdah_relay::{Relay, RelaySettings};
use howdah_server::exports::{ClientRule, Export, Exports, Squash};
use howdah_server::{Server, Settings, Sockets};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use howdah_vfs::{Caller, Change, Create, CreateFile, FileSystem, Name, NewAttributes};
use parking_lot::Mutex;

const THREADS: usize = 4;
const NAMES: usize = 60;

/// The path between clients and a relay, which ends connections after some bytes: in the middle of whatever passes.
struct Path {
    address: SocketAddr,
    relay: Arc<Mutex<Relay>>,
    cuts: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
}

impl Path {
    /// After each so many cuts the relay ends as well, and another one is there.
    fn new(url: String, seed: u64, cuts_of_one: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let relay = Arc::new(Mutex::new(relay_to(&url, &RelaySettings::default())));
        let (cuts, is_over) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let (front, cut, over) = (Arc::clone(&relay), Arc::clone(&cuts), Arc::clone(&is_over));
        thread::spawn(move || {
            let mut random = Random::new(seed);
            while let Ok((near, _)) = listener.accept() {
                let to = front.lock().addresses()[0];
                let Ok(far) = TcpStream::connect(to) else { continue };
                // Longer each time, so that everything comes to its end.
                let most = 2_000 + (random.number() % 20_000) as usize + 200 * cut.load(Ordering::SeqCst);
                let left = Arc::new(AtomicUsize::new(most));
                for (mut from, mut to) in [
                    (near.try_clone().expect("a descriptor"), far.try_clone().expect("a descriptor")),
                    (far, near),
                ] {
                    let (left, cut, over) = (Arc::clone(&left), Arc::clone(&cut), Arc::clone(&over));
                    let (front, url) = (Arc::clone(&front), url.clone());
                    thread::spawn(move || {
                        let mut piece = [0; 4096];
                        while let Ok(count @ 1..) = from.read(&mut piece) {
                            let room = left.load(Ordering::SeqCst).min(count);
                            let _ = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                                Some(left.saturating_sub(count))
                            });
                            if to.write_all(&piece[..room]).is_err() || room < count {
                                if !over.load(Ordering::SeqCst) && room < count {
                                    let number = cut.fetch_add(1, Ordering::SeqCst) + 1;
                                    if number % cuts_of_one == 0 {
                                        let new = relay_to(&url, &RelaySettings::default());
                                        drop(std::mem::replace(&mut *front.lock(), new));
                                    }
                                }
                                break;
                            }
                        }
                        // A reset, as from a host that no longer knows the connection.
                        let _ = (rustix::net::connect_unspec(&from), rustix::net::connect_unspec(&to));
                        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
                    });
                }
            }
        });
        Self { address, relay, cuts, is_over }
    }
}

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

/// Makes, renames and removes names of its own. Each call fails where it runs a second time.
fn work(client: &dyn FileSystem, thread: usize) {
    let (caller, root) = (Caller::ROOT, client.root());
    for number in 0..NAMES {
        let [made, other] = ["a", "b"].map(|letter| format!("{letter}-{thread}-{number}"));
        let change = || Change::default();
        let guarded = Create::Guarded(NewAttributes::with_mode(0o644));
        let what = |step: &str| format!("{step} of {made}");
        client
            .create(&caller, CreateFile::new(&root, name(&made), &guarded), &mut change())
            .unwrap_or_else(|error| panic!("{}: {error:?}", what("CREATE")));
        client
            .rename(&caller, (&root, name(&made)), (&root, name(&other)), (&mut change(), &mut change()))
            .unwrap_or_else(|error| panic!("{}: {error:?}", what("RENAME")));
        client
            .remove(&caller, &root, name(&other), &mut change())
            .unwrap_or_else(|error| panic!("{}: {error:?}", what("REMOVE")));
    }
}

fn each_runs_once(seed: u64, cuts_of_one: usize) {
    println!("seed {seed:#x}");
    let options = MemoryOptions { root_mode: 0o777, ..MemoryOptions::default() };
    let memory = Arc::new(MemoryFileSystem::with_options(options));
    let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
    let exports = Exports::new(vec![Export::new("/", 1, memory, vec![rule])], [7; 16]).expect("one");
    let sockets = Sockets::bind(&["127.0.0.1:0".parse().expect("an address")], false).expect("a free port");
    let server = Server::start(&Settings { workers: 4, ..Settings::default() }, sockets, exports);
    let server = server.expect("a server");
    let path = Path::new(format!("nfs://{}", server.addresses()[0].1), seed, cuts_of_one);
    let url = format!("nfs://{}/?lanes=2", path.address).parse().expect("a URL");
    let client = connect(&url, &ConnectOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let client = &client;
            scope.spawn(move || work(client.as_ref(), thread));
        }
    });
    path.is_over.store(true, Ordering::SeqCst);
    let cuts = path.cuts.load(Ordering::SeqCst);
    assert!(cuts > 5, "{cuts} cuts: the path was too good");
    println!("{cuts} cuts");
    drop(path.relay);
}

#[test]
fn calls_run_once_over_a_path_that_is_cut() {
    each_runs_once(0x0dd5, usize::MAX);
}

#[test]
fn calls_run_once_through_relays_that_end_one_after_the_other() {
    each_runs_once(0x0dd6, 3);
}
