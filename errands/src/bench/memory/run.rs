//! Measures, and prints.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, ensure};
use howdah_net::SocketList;
use howdah_server::exports::{ClientRule, Export, Exports, Squash};
use howdah_server::{Server, Settings, Sockets, Tuning};
use howdah_tune::Setting;
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use howdah_vfs::{Caller, Change, Create, Data, FileSystem, Name, NewAttributes, Stability};

use super::super::arguments::Memory;
use super::super::figures::Spread;
use super::super::link::Scene;
use super::super::machine;
use super::super::session::Session;
use super::super::tuning::{Crowd, allow_descriptors};
use super::reader::{LENGTH, read_on};

const FILE: &str = "file";
/// What is read, in calls: each reader goes round in it.
const CALLS: u64 = 64;
/// How often the kernel is asked what it holds.
const LOOK: Duration = Duration::from_millis(20);
/// The path: long, so that much must be in flight, and as fast as a good wide-area line.
const PATH: &str = "rate = '1Gbit'\nrtt = '100ms'\nqueue = '1bdp'";

/// What a run saw.
struct Seen {
    /// Bytes per second of all readers.
    rate: f64,
    /// The most that the kernel held for the server's sockets.
    most: u64,
    budget: u64,
    /// Connections that were turned away.
    refused: u64,
    /// How long it took until all idle ones were answered once, beside the readers.
    answered: Duration,
}

/// Does it.
pub fn run(what: &Memory) -> anyhow::Result<()> {
    ensure!(what.runs > 0 && what.busy > 0, "nothing would be measured");
    allow_descriptors(2 * (what.idle + what.busy))?;
    machine::describe().iter().for_each(|(what, value)| println!("{what}: {value}"));
    println!(
        "{} idle connections, and {} that read for {} s over 1 Gb/s and 100 ms; medians of {} and their range\n",
        what.idle, what.busy, what.seconds, what.runs
    );
    println!(
        "{:>12} {:>22} {:>28} {:>8} {:>24} {:>9}",
        "budget, MB", "read, MB/s", "most held by kernel, MB", "", "idle ones answered, ms", "refused"
    );
    for budget in [Setting::Auto, Setting::Fixed(64 << 20), Setting::Fixed(16 << 20)] {
        let seen = (0..what.runs).map(|_| once(what, budget)).collect::<anyhow::Result<Vec<_>>>()?;
        show(&seen)?;
    }
    Ok(())
}

fn show(seen: &[Seen]) -> anyhow::Result<()> {
    let of = |figure: fn(&Seen) -> f64| {
        let spread = Spread::of(&seen.iter().map(figure).collect::<Vec<_>>()).context("no run")?;
        anyhow::Ok(format!("{:.1} ({:.1}..{:.1})", spread.median, spread.least, spread.most))
    };
    let is_kept = seen.iter().all(|seen| seen.most <= seen.budget);
    println!(
        "{:>12.1} {:>22} {:>28} {:>8} {:>24} {:>9}",
        seen[0].budget as f64 / 1e6,
        of(|seen| seen.rate / 1e6)?,
        of(|seen| seen.most as f64 / 1e6)?,
        if is_kept { "kept" } else { "NOT KEPT" },
        of(|seen| seen.answered.as_secs_f64() * 1e3)?,
        seen.iter().map(|seen| seen.refused).sum::<u64>()
    );
    Ok(())
}

fn once(what: &Memory, budget: Setting) -> anyhow::Result<Seen> {
    let scene = Scene::new(PATH, None, 1)?;
    let server = scene.network.host("server").run_in(|| serve(&scene, budget))??;
    let address = server.addresses()[0].1;
    let client = scene.network.host("client");
    let mount = || -> anyhow::Result<_> {
        let mut session = Session::mount(address, "/")?;
        Ok((session.handle("".as_ref())?, session.handle(FILE.as_ref())?))
    };
    let (root, file) = client.run_in(mount)??;
    let mut idle = client.run_in(|| Crowd::connect(what.idle, address, &root))??;
    let (over, sum) = (AtomicBool::new(false), AtomicU64::new(0));
    let time = Duration::from_secs_f64(what.seconds);
    std::thread::scope(|scope| {
        let read = || client.run_in(|| read_on(address, &file, CALLS, &sum, &over))?;
        let readers: Vec<_> = (0..what.busy).map(|_| scope.spawn(read)).collect();
        let watch = || scene.network.host("server").run_in(|| most_held(address, &over))?;
        let watcher = scope.spawn(watch);
        let start = Instant::now();
        std::thread::sleep(time);
        let rate = sum.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64();
        let start = Instant::now();
        let asked = idle.ask_all();
        let answered = start.elapsed();
        over.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().map_err(|_| anyhow!("a reader panicked"))??;
        }
        let most = watcher.join().map_err(|_| anyhow!("the watcher panicked"))??;
        asked.context("asking the idle ones")?;
        let report = server.tuning_report();
        Ok(Seen { rate, most, budget: report.budget_bytes, refused: report.refused_connections, answered })
    })
}

/// What the kernel holds for sockets of that address at most, until it is over.
fn most_held(address: SocketAddr, over: &AtomicBool) -> anyhow::Result<u64> {
    let mut list = SocketList::open().context("asking for sockets")?;
    let mut most = 0;
    while !over.load(Ordering::Relaxed) {
        let sockets = list.tcp().context("listing sockets")?;
        let ours = sockets.iter().filter(|socket| socket.local == address);
        let held = ours.filter_map(|socket| socket.memory);
        let held =
            held.map(|memory| u64::from(memory.send_queue_bytes) + u64::from(memory.receive_queue_bytes));
        most = most.max(held.sum());
        std::thread::sleep(LOOK);
    }
    Ok(most)
}

/// A server on the host of the calling thread; its threads are there, too.
fn serve(scene: &Scene, budget: Setting) -> anyhow::Result<Server> {
    let address = SocketAddr::new(scene.address("server"), 0);
    let tuning = Tuning { memory_budget: budget, ..Tuning::default() };
    let settings = Settings { tuning, ..Settings::default() };
    Server::start(&settings, Sockets::bind(&[address], false)?, exports()?).context("starting a server")
}

fn exports() -> anyhow::Result<Exports> {
    let options = MemoryOptions { root_mode: 0o777, ..MemoryOptions::default() };
    let memory = MemoryFileSystem::with_options(options);
    let name = Name::parse(FILE.as_bytes()).map_err(|error| anyhow!("{error:?}"))?;
    let how = Create::Guarded(NewAttributes::with_mode(0o644));
    let node = memory.create(&Caller::ROOT, &memory.root(), name, &how, &mut Change::default())?.handle;
    let data = vec![0x5a; LENGTH as usize];
    for call in 0..CALLS {
        let mut change = Change::default();
        let offset = call * u64::from(LENGTH);
        memory.write(&Caller::ROOT, &node, offset, Data::Bytes(&data), Stability::Unstable, &mut change)?;
    }
    let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
    Exports::new(vec![Export::new("/", 1, Arc::new(memory), vec![rule])], [7; 16])
        .map_err(|error| anyhow!("{error}"))
}
