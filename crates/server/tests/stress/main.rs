//! Clients with bad manners, all at once, each of which knows what every byte of its file must be.
//!
//! The pattern follows from a seed, which is printed: `HOWDAH_SEED=1234 cargo test -p howdah-server --test stress`
//! repeats the calls (not the order in which threads run).

mod batch;
mod client;
#[path = "../common/mod.rs"]
mod common;

use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use client::{Client, Target};
use common::{root, serve, serve_memory};
use howdah_random::Random;
use howdah_server::Server;
use howdah_store::local::{LocalFileSystem, Options};
use howdah_vfs::layer::{Call, Fault, FaultKind, FaultPlan, Faulty, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{FileSystem, FsError, Result};
use parking_lot::Mutex;

/// One test at a time: they count the descriptors and threads of this process.
static ALONE: Mutex<()> = Mutex::new(());
const STREAM_CLIENTS: usize = 5;
const DATAGRAM_CLIENTS: usize = 2;
/// Batches of each client. One over UDP is a single call, or a burst of GETATTRs.
const STREAM_BATCHES: usize = 25;
const DATAGRAM_BATCHES: usize = 200;
/// Far above what the end of a connection or thread takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Storage that takes its time once in a while: long enough for the watch to notice.
struct Hiccups {
    inner: Arc<dyn FileSystem>,
    one_in: u64,
    random: Mutex<Random>,
}

impl Layer for Hiccups {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        let hiccup = self.random.lock().one_in(self.one_in);
        if hiccup {
            sleep(Duration::from_millis(20));
        }
        run(&*self.inner)
    }
}

fn seed() -> u64 {
    let given = std::env::var("HOWDAH_SEED").ok().and_then(|text| text.parse().ok());
    let seed = given.unwrap_or_else(|| u64::from(std::process::id()));
    #[allow(clippy::print_stdout, reason = "a failing run is repeated by its seed")]
    {
        println!("HOWDAH_SEED={seed}");
    }
    seed
}

fn with_hiccups(inner: Arc<dyn FileSystem>, seed: u64) -> Arc<dyn FileSystem> {
    Arc::new(Hiccups { inner, one_in: 50, random: Mutex::new(Random::new(seed)) })
}

/// Threads of servers in this process.
fn server_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("procfs");
    tasks
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("comm")).ok())
        .filter(|name| name.starts_with("worker-") || name.starts_with("watch"))
        .count()
}

/// Open descriptors of this process that stand for something of this kind ("" for all).
fn descriptors(kind: &str) -> Vec<String> {
    let links = std::fs::read_dir("/proc/self/fd").expect("procfs");
    links
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .map(|link| link.to_string_lossy().into_owned())
        .filter(|link| link.starts_with(kind))
        .collect()
}

/// Waits until something that must happen by itself has happened.
fn wait_until<T: Debug>(what: &str, look: impl Fn() -> T, happened: impl Fn(&T) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let seen = look();
        if happened(&seen) {
            return;
        }
        assert!(Instant::now() < deadline, "{what}: still {seen:?}");
        std::thread::yield_now();
    }
}

/// All clients at once against a server; then nothing of them is left, and nothing of the server when it stops.
fn stress(faulty: bool, start: impl FnOnce(u64) -> (Server, SocketAddr)) {
    let seed = seed();
    assert_eq!(server_threads(), 0);
    let before = descriptors("").len();
    let (server, address) = start(seed);
    let listening = descriptors("socket:").len();
    let target = Target { server: address, root: root(&server), faulty };
    std::thread::scope(|scope| {
        for index in 0..STREAM_CLIENTS + DATAGRAM_CLIENTS {
            let target = target.clone();
            scope.spawn(move || {
                let client = Client::new(target, index, seed);
                if index < STREAM_CLIENTS {
                    client.run_stream(STREAM_BATCHES)
                } else {
                    client.run_datagrams(DATAGRAM_BATCHES)
                }
            });
        }
    });
    wait_until("all connections close", || descriptors("socket:"), |open| open.len() == listening);
    assert!(server.stop(PATIENCE), "all calls are finished");
    wait_until("all threads end", server_threads, |&threads| threads == 0);
    wait_until("all descriptors are closed", || descriptors(""), |open| open.len() == before);
}

#[test]
fn memory_that_hesitates() {
    let _alone = ALONE.lock();
    stress(false, |seed| serve(with_hiccups(Arc::new(MemoryFileSystem::new()), seed)));
}

#[test]
fn memory_at_full_speed() {
    let _alone = ALONE.lock();
    stress(false, |_| serve_memory());
}

#[test]
fn a_directory() {
    let _alone = ALONE.lock();
    let directory = tempfile::tempdir().expect("a directory");
    let open = || LocalFileSystem::open(directory.path(), Options::default()).expect("opening it");
    stress(false, |_| serve(Arc::new(open())));
}

#[test]
fn a_directory_that_hesitates_and_fails() {
    let _alone = ALONE.lock();
    let directory = tempfile::tempdir().expect("a directory");
    let open = || LocalFileSystem::open(directory.path(), Options::default()).expect("opening it");
    let fault = |call, one_in, kind| Fault { call: Some(call), one_in, kind };
    stress(true, |seed| {
        let plan = FaultPlan::new(
            seed,
            [
                fault(Call::Write, 8, FaultKind::ShortWrite),
                fault(Call::Write, 8, FaultKind::Refuse(FsError::NoSpace)),
                fault(Call::Read, 16, FaultKind::Refuse(FsError::Io)),
            ],
        );
        serve(with_hiccups(Arc::new(Faulty::around(Arc::new(open()), plan)), seed))
    });
}
