//! Outages of the path below one connection, longer than TCP takes lightly: calls go on within seconds after it is back, and each
//! that changes names was run once. Each test that takes root says so where there is none.
#![allow(clippy::print_stdout, reason = "how long the outage lasted, for a person")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use howdah_client::connect::{ConnectOptions, connect};
use howdah_client::url::NfsUrl;
use howdah_lab::network::{LabNetwork, Topology, WireSpec};
use howdah_needs::{Lack, skipped};
use howdah_server::exports::{ClientRule, Export, Exports, Squash};
use howdah_server::{Server, Settings, Sockets};
use howdah_vfs::layer::{Call, Metered};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, Create, CreateFile, Data, FileSystem, Name, NewAttributes, Stability, WriteFile,
};

/// The wire, and its ends.
const WIRE: &str = "path0";
const CLIENT: &str = "client";
const SERVER: &str = "server";
/// TCP sends again 12.6 and 25.4 s after the first time, if nothing is said to it.
const OUTAGE: Duration = Duration::from_secs(14);
/// Service is back by then, also on a busy machine; TCP alone would send again 11.4 s after the outage.
const BACK: Duration = Duration::from_secs(10);
/// One at a time: each of them fills a wire.
static ALONE: Mutex<()> = Mutex::new(());
/// Longer than anything here takes, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);
/// Calls under way that change names, and that write more than a socket holds.
const NAMERS: usize = 4;
const WRITERS: usize = 6;
const BLOCK: usize = 1 << 20;

/// A server, which counts what it runs, and how to mount it.
fn serve(network: &LabNetwork, lanes: &str) -> (Server, Arc<Metered>, NfsUrl) {
    let address = network.address(SERVER, WIRE);
    let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
    let runs = Arc::new(Metered::around(Arc::new(MemoryFileSystem::new()), Arc::new(Default::default)));
    let export = Export::new("/", 1, Arc::clone(&runs) as _, vec![rule]);
    let exports = Exports::new(vec![export], [7; 16]).expect("one export");
    let start = || {
        let sockets = Sockets::bind(&[(address, 0).into()], true).expect("a free port");
        Server::start(&Settings { workers: 4, ..Settings::default() }, sockets, exports).expect("a server")
    };
    let server = network.host(SERVER).run_in(start).expect("a thread");
    let url = format!("nfs://{}/?lanes={lanes}", server.addresses()[0].1).parse().expect("a URL");
    (server, runs, url)
}

/// Makes a name and takes it away again. The client takes the refusal of a second run for a success, so a test that wants to
/// know counts.
fn change_names(fs: &dyn FileSystem, number: usize) -> impl FnMut() {
    let (text, caller, root) = (format!("name-{number}"), Caller::ROOT, fs.root());
    move || {
        let (name, change) = (Name::parse(text.as_bytes()).expect("a name"), &mut Change::default());
        let how = Create::Guarded(NewAttributes::with_mode(0o600));
        fs.create(&caller, CreateFile::new(&root, name, &how), change).expect("made once");
        fs.remove(&caller, &root, name, change).expect("removed once");
    }
}

/// Writes one block after the other.
fn write_blocks(fs: &dyn FileSystem, number: usize) -> impl FnMut() {
    let (text, caller) = (format!("blocks-{number}"), Caller::ROOT);
    let name = Name::parse(text.as_bytes()).expect("a name");
    let how = Create::Guarded(NewAttributes::with_mode(0o600));
    let file = fs
        .create(&caller, CreateFile::new(&fs.root(), name, &how), &mut Change::default())
        .expect("made once")
        .handle;
    let block = vec![number as u8; BLOCK];
    move || {
        let change = &mut Change::default();
        fs.write(&caller, WriteFile::new(&file, 0, Data::Bytes(&block), Stability::FileSync), change)
            .expect("written");
    }
}

/// Waits until each of these has gone on, and returns how long that took.
fn all_go_on(counts: &[AtomicUsize]) -> Duration {
    let (began, before) = (Instant::now(), counts.iter().map(count).collect::<Vec<_>>());
    while counts.iter().zip(&before).any(|(now, before)| count(now) == *before) {
        assert!(began.elapsed() < LIMIT, "{before:?}, and now {counts:?}");
        thread::sleep(Duration::from_millis(5));
    }
    began.elapsed()
}

fn count(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::Relaxed)
}

/// Calls that never stop, and an outage of their path.
fn try_outage(lanes: &str, begin: impl FnOnce(&LabNetwork), end: impl FnOnce(&LabNetwork)) {
    if !rustix::process::geteuid().is_root() {
        skipped(Lack::Root, "making network namespaces takes root");
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let network = LabNetwork::build(&Topology::pair(WireSpec::default())).expect("a network");
    let (_server, runs, url) = serve(&network, lanes);
    let client = network.host(CLIENT).run_in(|| connect(&url, &ConnectOptions::default()));
    let fs = client.expect("a thread").expect("a mount");
    let (counts, stop) = ([const { AtomicUsize::new(0) }; NAMERS + WRITERS], AtomicBool::new(false));
    thread::scope(|scope| {
        for (number, count) in counts.iter().enumerate() {
            let (fs, stop, host) = (&*fs, &stop, network.host(CLIENT).namespace());
            scope.spawn(move || {
                host.enter().expect("a host");
                let mut act: Box<dyn FnMut()> = match number {
                    ..NAMERS => Box::new(change_names(fs, number)),
                    _ => Box::new(write_blocks(fs, number)),
                };
                while !stop.load(Ordering::Relaxed) {
                    act();
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        all_go_on(&counts);
        begin(&network);
        thread::sleep(OUTAGE);
        end(&network);
        let back = all_go_on(&counts);
        stop.store(true, Ordering::Relaxed);
        println!("{lanes}: back after {back:?}");
        assert!(back <= BACK, "{back:?}");
    });
    let (rounds, runs) = (counts[..NAMERS].iter().map(count).sum::<usize>() as u64, runs.snapshot());
    let (made, removed) = (runs.of(Call::Create).count, runs.of(Call::Remove).count);
    assert_eq!((made, removed), (rounds + WRITERS as u64, rounds), "each was run once");
}

fn set_interface(network: &LabNetwork, how: &str) {
    let mut command = network.host(CLIENT).command("ip");
    let status = command.args(["link", "set", WIRE, how]).status().expect("ip runs");
    assert!(status.success(), "{status}");
}

fn set_path(network: &LabNetwork, path: &str) {
    network.wire(WIRE).change(&toml::from_str(path).expect("a path"), 1);
}

#[test]
fn calls_go_on_soon_after_a_path_that_lost_everything() {
    try_outage("1", |network| set_path(network, "loss = '100%'"), |network| set_path(network, ""));
}

#[test]
fn calls_over_several_lanes_go_on_too() {
    try_outage("4", |network| set_path(network, "loss = '100%'"), |network| set_path(network, ""));
}

#[test]
fn calls_go_on_soon_after_an_interface_was_down() {
    try_outage("1", |network| set_interface(network, "down"), |network| set_interface(network, "up"));
}
