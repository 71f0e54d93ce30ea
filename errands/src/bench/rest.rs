//! `cargo xtask bench idle`: what a server takes that has nothing to do: wake-ups, processor time and memory, without connections,
//! with many that do nothing, and with some that ask now and then.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::arguments::{Idle, Subject};
use super::export::Export;
use super::idle::{Crowd, allow_descriptors};
use super::machine;
use super::server::Server;
use super::session::Session;

/// A file of the export, about which connections ask.
const FILE: &str = "file";

/// Does it.
pub fn run(arguments: &Idle) -> anyhow::Result<()> {
    ensure!(arguments.seconds > 0.0, "nothing would be measured");
    allow_descriptors(arguments.connections)?;
    let export = Export::make(None)?;
    export.lasting_file(FILE, 1)?;
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
    println!("{} s each, {} s after the last call\n", arguments.seconds, arguments.settle);
    println!(
        "{:>24} {:>12} {:>10} {:>14}  wake-ups by thread",
        "", "wake-ups/s", "% of core", "KB/connection"
    );
    let time = Duration::from_secs_f64(arguments.seconds);
    let settle = || std::thread::sleep(Duration::from_secs_f64(arguments.settle));
    settle();
    show("no connections", &rest(&server, || std::thread::sleep(time))?, None);
    let node = Session::mount(server.address, &server.export)?.handle(FILE.as_ref())?;
    let memory = server.resident()?;
    let idle = Crowd::connect(arguments.connections, server.address, &node)?;
    settle();
    let seen = rest(&server, || std::thread::sleep(time))?;
    let each = server.resident()?.saturating_sub(memory) as f64 / arguments.connections.max(1) as f64;
    show(&format!("{} idle", arguments.connections), &seen, Some(each));
    drop(idle);
    let mut active = Crowd::connect(arguments.active, server.address, &node)?;
    let (start, mut asked) = (Instant::now(), Ok(()));
    let seen = rest(&server, || {
        while asked.is_ok() && start.elapsed() < time {
            asked = active.ask_all();
            std::thread::sleep(Duration::from_millis(100));
        }
    })?;
    asked?;
    show(&format!("{} active", arguments.active), &seen, None);
    Ok(())
}

/// What the server did meanwhile.
struct Seen {
    seconds: f64,
    processor: Duration,
    /// How often threads went from waiting to running, by name.
    wakes: BTreeMap<String, u64>,
}

fn rest(server: &Server, wait: impl FnOnce()) -> anyhow::Result<Seen> {
    let (start, clock, before) = (Instant::now(), server.clock.now()?, switches(server.process)?);
    wait();
    let (seconds, after) = (start.elapsed().as_secs_f64(), switches(server.process)?);
    let mut wakes = BTreeMap::new();
    for (thread, (name, count)) in after {
        let earlier = before.get(&thread).map_or(0, |(_, count)| *count);
        *wakes.entry(name).or_default() += count - earlier;
    }
    Ok(Seen { seconds, processor: server.clock.now()?.saturating_sub(clock), wakes })
}

/// How often each thread waited so far, with its name.
fn switches(process: u32) -> anyhow::Result<BTreeMap<String, (String, u64)>> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).context("looking at the server's threads")?;
    let mut found = BTreeMap::new();
    for thread in threads {
        let path = thread.context("looking at a thread")?.path();
        let Ok(status) = fs::read_to_string(path.join("status")) else { continue };
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let count = field("voluntary_ctxt_switches:").and_then(|count| count.parse().ok());
        let name =
            field("Name:").unwrap_or_default().trim_end_matches(|letter: char| !letter.is_alphabetic());
        found.insert(path.display().to_string(), (name.to_owned(), count.context("no number of switches")?));
    }
    Ok(found)
}

fn show(what: &str, seen: &Seen, each: Option<f64>) {
    let all: u64 = seen.wakes.values().sum();
    let named = seen.wakes.iter().filter(|(_, count)| **count > 0);
    let named: Vec<String> =
        named.map(|(name, count)| format!("{name} {:.1}", *count as f64 / seen.seconds)).collect();
    let each = each.map_or_else(|| "-".to_owned(), |each| format!("{:.1}", each / 1e3));
    println!(
        "{what:>24} {:>12.1} {:>10.2} {each:>14}  {}",
        all as f64 / seen.seconds,
        100.0 * seen.processor.as_secs_f64() / seen.seconds,
        named.join(", ")
    );
}
