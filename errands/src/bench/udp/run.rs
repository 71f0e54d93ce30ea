//! Two hosts, a line between them, a server on one, and what a client on the other one sees.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::fs::File;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::Scope;
use std::time::Duration;

use anyhow::{Context, anyhow};
use howdah_server::exports::{ClientRule, Export, Exports, Squash};
use howdah_server::{Server, Settings, Sockets};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use howdah_vfs::{Caller, Change, Create, Data, FileSystem, Name, NewAttributes, Stability};

use super::super::arguments::Udp;
use super::reader::{self, Seen};
use super::wire::Line;
use super::{host, lines, loopback, slow};

const SERVER: &str = "127.77.0.1";
const CLIENT: &str = "127.77.0.2";
pub(super) const FILE: &str = "file";
/// Calls that may wait: the slow ones among them wait for long.
const WORKERS: usize = 16;

/// A way to read the file: its name, and what its URL says.
pub(super) type Way = (&'static str, &'static str);
/// The same transfer sizes over both, since a larger one costs less per byte on any transport.
pub(super) const WAYS: [Way; 6] = [
    ("TCP, 8 KiB", "rsize=8192"),
    ("UDP, 8 KiB", "rsize=8192&proto=udp"),
    ("TCP, 32 KiB", "rsize=32768"),
    ("UDP, 32 KiB", "rsize=32768&proto=udp"),
    ("TCP, as it finds", ""),
    ("UDP, as it finds", "proto=udp"),
];

/// Does it.
pub fn run(what: &Udp) -> anyhow::Result<()> {
    if what.lines {
        return lines::run(what.runs);
    }
    let size = what.size << 20;
    let delay = Duration::from_micros(what.round_trip) / 2;
    let clean = Line { bits_per_second: what.rate * 1_000_000, delay, loss: 0.0, seed: what.seed };
    let losing = Line { loss: what.loss / 100.0, ..clean };
    println!(
        "Reading {} MiB; line: {} Mb/s, {} us both ways; losing: {} % of packets",
        what.size, what.rate, what.round_trip, what.loss
    );
    header();
    here(size, |address| loopback::run(address, what.runs, size))?;
    if what.loopback {
        return Ok(());
    }
    table("line", &on(&clean, size, |address| rows(address, size))?, size);
    table("losing", &on(&losing, size, |address| rows(address, size))?, size);
    let time = Duration::from_secs(what.slow_for);
    let seen = here(0, |address| slow::call(&format!("nfs://{address}/slow?proto=udp"), time))?;
    for (when, [calls, again, vain]) in [("at first", seen.before), ("then", seen.after)] {
        println!(
            "one call in 100 slow, {when:<8}: {again} of {calls} sent again ({:.3} %), {vain} in vain",
            again as f64 * 100.0 / calls.max(1) as f64
        );
    }
    Ok(())
}

/// Every way to read the file.
fn rows(address: SocketAddr, size: u64) -> anyhow::Result<Vec<(&'static str, Seen)>> {
    let row = |(name, query)| {
        let url = format!("nfs://{address}/memory?{query}");
        reader::read(&url, FILE, size).map(|seen| (name, seen)).context(name)
    };
    WAYS.into_iter().map(row).collect()
}

fn header() {
    println!(
        "{:<28} {:>8} {:>8} {:>8} {:>8} {:>6} {:>6} {:>8}  transfer",
        "", "seconds", "MB/s", "of TCP's", "calls", "again", "vain", "gap ms"
    );
}

/// Rows in pairs, TCP's first.
fn table(line: &str, rows: &[(&str, Seen)], size: u64) {
    for pair in rows.chunks(2) {
        for (name, seen) in pair {
            let times = seen.took.as_secs_f64() / pair[0].1.took.as_secs_f64();
            show(&format!("{line}: {name}"), times, seen, size);
        }
    }
}

pub(super) fn show(row: &str, times: f64, seen: &Seen, size: u64) {
    let seconds = seen.took.as_secs_f64();
    let transfer = seen.transfer.map(|size| size.to_string()).unwrap_or_default();
    println!(
        "{row:<28} {seconds:>8.3} {:>8.2} {times:>8.3} {:>8} {:>6} {:>6} {:>8.0}  {transfer} {}",
        size as f64 / 1e6 / seconds,
        seen.calls,
        seen.retransmissions,
        seen.for_nothing,
        seen.longest_gap.as_secs_f64() * 1e3,
        seen.advice.as_deref().unwrap_or_default(),
    );
}

/// Runs something with a server on this host.
fn here<T>(size: u64, what: impl FnOnce(SocketAddr) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let sockets = Sockets::bind(&[SocketAddr::new([127, 0, 0, 1].into(), 0)], true)?;
    let server =
        Server::start(&Settings { workers: WORKERS, ..Settings::default() }, sockets, exports(size)?)?;
    what(server.addresses()[0].1)
}

/// Runs something on a client's host, with a server at the other end of a line.
fn on<T: Send>(
    line: &Line,
    size: u64,
    what: impl FnOnce(SocketAddr) -> anyhow::Result<T> + Send,
) -> anyhow::Result<T> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (lines, ends) = mpsc::channel();
        let (address, serving) = serve(scope, size, lines.clone(), &over)?;
        let server_end = ends.recv().context("the server's host")?;
        let (ready, is_ready) = mpsc::channel();
        let client = scope.spawn(move || {
            lines.send(host::enter(CLIENT)?)?;
            is_ready.recv()?;
            what(address)
        });
        let outcome = ends.recv().context("the client's host").and_then(|client_end| {
            let carry = |direction, from: File, to: File| {
                let over = &over;
                scope.spawn(move || line.carry(direction, &from, &to, over))
            };
            let wires = [
                carry(0, client_end.try_clone()?, server_end.try_clone()?),
                carry(1, server_end, client_end),
            ];
            ready.send(())?;
            let outcome = client.join().map_err(|_| anyhow!("the client panicked"))?;
            over.store(true, Ordering::Relaxed);
            for wire in wires {
                wire.join().map_err(|_| anyhow!("the line panicked"))??;
            }
            outcome
        });
        over.store(true, Ordering::Relaxed);
        serving.thread().unpark();
        outcome
    })
}

/// A server on a host of its own, until all is over.
fn serve<'s>(
    scope: &'s Scope<'s, '_>,
    size: u64,
    lines: Sender<File>,
    over: &'s AtomicBool,
) -> anyhow::Result<(SocketAddr, std::thread::ScopedJoinHandle<'s, anyhow::Result<()>>)> {
    let (told, address) = mpsc::channel();
    let thread = scope.spawn(move || {
        lines.send(host::enter(SERVER)?)?;
        let sockets = Sockets::bind(&[SocketAddr::new(SERVER.parse()?, 0)], true)?;
        let server =
            Server::start(&Settings { workers: WORKERS, ..Settings::default() }, sockets, exports(size)?)?;
        told.send(server.addresses()[0].1)?;
        while !over.load(Ordering::Relaxed) {
            std::thread::park();
        }
        drop(server);
        Ok(())
    });
    match address.recv() {
        Ok(address) => Ok((address, thread)),
        Err(_) => Err(thread.join().map_err(|_| anyhow!("the server panicked"))?.err().context("serving")?),
    }
}

/// A file in memory, and the same files from a server that is slow once in a hundred calls.
fn exports(size: u64) -> anyhow::Result<Exports> {
    let options = MemoryOptions { root_mode: 0o777, ..MemoryOptions::default() };
    let memory = Arc::new(MemoryFileSystem::with_options(options));
    fill(&memory, size)?;
    let rule = || vec![ClientRule { squash: Squash::None, ..ClientRule::default() }];
    let exports = vec![
        Export::new("/slow", 2, slow::around(memory.clone()), rule()),
        Export::new("/memory", 1, memory, rule()),
    ];
    Exports::new(exports, [7; 16]).map_err(|error| anyhow!("{error}"))
}

/// A file in which every eight bytes tell where they are.
fn fill(fs: &MemoryFileSystem, size: u64) -> anyhow::Result<()> {
    let name = Name::parse(FILE.as_bytes()).map_err(|error| anyhow!("{error:?}"))?;
    let how = Create::Guarded(NewAttributes::with_mode(0o644));
    let node = fs.create(&Caller::ROOT, &fs.root(), name, &how, &mut Change::default())?.handle;
    for start in (0..size).step_by(1 << 20) {
        let data: Vec<u8> = (start..start + (1 << 20)).step_by(8).flat_map(u64::to_be_bytes).collect();
        let mut change = Change::default();
        fs.write(&Caller::ROOT, &node, start, Data::Bytes(&data), Stability::Unstable, &mut change)?;
    }
    Ok(())
}
