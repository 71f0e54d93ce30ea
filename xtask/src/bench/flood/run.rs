//! Measures, and prints.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use howdah_server::limits::{RECEIVE_MEMORY_BUDGET, REPLY_MEMORY_BUDGET};

use super::super::arguments::{Flood, Subject};
use super::super::export::Export;
use super::super::figures::Spread;
use super::super::machine;
use super::super::server::Server;
use super::super::session::Session;
use super::super::tuning::{Crowd, allow_descriptors};
use super::crowd::{Tally, attack};
use super::kind::{Kind, Target};
use super::mount::{Mount, Served};

const FILE: &str = "file";
const FILE_SIZE: u64 = 64 << 20;
const DIRECTORY: &str = "directory";
const ENTRIES: u64 = 20_000;
/// What the mount must keep of its throughput.
const LEAST_RATE: f64 = 0.8;
/// How many times as long its questions may take.
const MOST_LATENCY: f64 = 3.0;
/// How long a crowd that has come is left alone before it is measured.
const SETTLES_IN: Duration = Duration::from_millis(500);

/// Does it.
pub fn run(arguments: &Flood) -> anyhow::Result<()> {
    ensure!(arguments.runs > 0 && arguments.seconds > 0.0, "nothing would be measured");
    allow_descriptors(arguments.connections + arguments.attackers)?;
    let export = Export::make(None)?;
    export.lasting_file(FILE, FILE_SIZE)?;
    export.lasting_directory(DIRECTORY, ENTRIES)?;
    let subject = Subject {
        server_bin: arguments.server_bin.clone(),
        server_argument: arguments.server_argument.clone(),
        address: None,
        pid: None,
        directory: None,
        export: "/".to_owned(),
    };
    let server = Server::obtain_anywhere(&subject, export.path())?;
    machine::describe().iter().for_each(|(what, value)| println!("{what}: {value}"));
    let mut session = Session::mount(server.address, &server.export)?;
    let target = Target {
        address: server.address,
        file: session.handle(FILE.as_ref())?,
        directory: session.handle(DIRECTORY.as_ref())?,
    };
    let port = server.address.port();
    let mount = Mount::new(&format!("nfs://127.0.0.1:{port}/"), FILE, FILE_SIZE)?;
    let time = Duration::from_secs_f64(arguments.seconds);
    mount.use_for(time)?;
    let memory = resident(server.process)?;
    let _idle = Crowd::connect(arguments.connections, server.address, &target.file)?;
    println!(
        "{} open connections: {:.1} MB more in the server; budget of calls and replies: {:.0} MB; {} runs of {} s, medians\n",
        arguments.connections,
        (resident(server.process)? - memory) as f64 / 1e6,
        (REPLY_MEMORY_BUDGET + RECEIVE_MEMORY_BUDGET) as f64 / 1e6,
        arguments.runs,
        arguments.seconds
    );
    println!(
        "{:<20} {:>12} {:>12} {:>7} {:>11} {:>11} {:>7} {:>9} {:>9} {:>10}",
        "attackers",
        "before",
        "during",
        "ratio",
        "p99 before",
        "p99 during",
        "ratio",
        "acts/s",
        "sent away",
        "server MB"
    );
    for kind in Kind::ALL {
        one_kind(kind, arguments, &target, &mount, server.process)?;
    }
    Ok(())
}

/// What was seen of one kind in one run.
struct Seen {
    before: Served,
    during: Served,
}

fn one_kind(
    kind: Kind,
    arguments: &Flood,
    target: &Target,
    mount: &Mount,
    process: u32,
) -> anyhow::Result<()> {
    let time = Duration::from_secs_f64(arguments.seconds);
    let (tally, mut most, mut seen) = (Tally::default(), 0, Vec::new());
    for _ in 0..arguments.runs {
        let before = mount.use_for(time)?;
        let (ready, over) = (AtomicBool::new(false), AtomicBool::new(false));
        let during = std::thread::scope(|scope| {
            let crowd = scope.spawn(|| attack(kind, arguments.attackers, target, &tally, (&ready, &over)));
            while !ready.load(Ordering::SeqCst) && !crowd.is_finished() {
                std::thread::sleep(Duration::from_millis(10));
            }
            std::thread::sleep(SETTLES_IN);
            let during = mount.use_for(time);
            let memory = resident(process);
            over.store(true, Ordering::SeqCst);
            crowd.join().map_err(|_| anyhow!("the crowd panicked"))??;
            most = most.max(memory?);
            during
        })?;
        seen.push(Seen { before, during });
    }
    show(kind, arguments, &seen, &tally, most)
}

fn show(kind: Kind, arguments: &Flood, seen: &[Seen], tally: &Tally, most: u64) -> anyhow::Result<()> {
    let median = |figure: &dyn Fn(&Seen) -> f64| {
        Spread::of(&seen.iter().map(figure).collect::<Vec<_>>()).map(|spread| spread.median).context("no run")
    };
    let rate = median(&|seen| seen.during.rate / seen.before.rate)?;
    let latency = median(&|seen| seen.during.p99.as_secs_f64() / seen.before.p99.as_secs_f64())?;
    let is_met = rate >= LEAST_RATE && latency <= MOST_LATENCY;
    // The crowd acts while it settles, too.
    let time = (arguments.seconds + SETTLES_IN.as_secs_f64()) * seen.len() as f64;
    println!(
        "{:<20} {:>7.0} MB/s {:>7.0} MB/s {:>7.2} {:>8.2} ms {:>8.2} ms {:>7.2} {:>9.0} {:>9} {:>10.1}  {}",
        kind.name(),
        median(&|seen| seen.before.rate)? / 1e6,
        median(&|seen| seen.during.rate)? / 1e6,
        rate,
        median(&|seen| seen.before.p99.as_secs_f64())? * 1e3,
        median(&|seen| seen.during.p99.as_secs_f64())? * 1e3,
        latency,
        tally.acts.load(Ordering::Relaxed) as f64 / time,
        tally.sent_away.load(Ordering::Relaxed),
        most as f64 / 1e6,
        if is_met { "met" } else { "NOT MET" }
    );
    Ok(())
}

/// Memory that a process holds, in bytes.
fn resident(process: u32) -> anyhow::Result<u64> {
    let path = format!("/proc/{process}/statm");
    let text = fs::read_to_string(&path).with_context(|| format!("reading {path}; has the server ended?"))?;
    let pages: u64 =
        text.split(' ').nth(1).and_then(|field| field.parse().ok()).context("no number of pages")?;
    Ok(pages * rustix::param::page_size() as u64)
}
