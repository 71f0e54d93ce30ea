//! `cargo xtask bench page`: what the live page costs the server, with many clients that move something: it asks what
//! the page asks, as often, each question on a connection of its own.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, ensure};
use howdah_wire::nfs3::{FileHandle, getattr};

use super::arguments::{Page, Subject};
use super::cores::{self, Cores};
use super::export::Export;
use super::figures::Spread;
use super::load::nfs;
use super::machine;
use super::metrics::{ask, client};
use super::server::Server;
use super::session::Session;
use super::tuning::{Crowd, ThreadClock, allow_descriptors};

/// The thread that answers.
const THREAD: &str = "admin";
/// What it may cost, in percent of a core.
const MOST: f64 = 5.0;
/// How often a page asks (`crates/server/src/admin/page/main.js`).
const STEP: Duration = Duration::from_millis(500);
/// What it asks every so many steps.
const QUESTIONS: [(&str, u32); 4] =
    [("/v1/clients", 2), ("/v1/memory", 2), ("/v1/workers", 2), ("/v1/procedures", 4)];
/// Until there are samples.
const SETTLES_IN: Duration = Duration::from_secs(3);

/// Does it.
pub fn run(arguments: &Page) -> anyhow::Result<()> {
    ensure!(arguments.runs > 0 && arguments.seconds > 0.0, "nothing would be measured");
    allow_descriptors(arguments.clients.into())?;
    let cores = Cores::choose()?;
    let export = Export::make(None)?;
    let home = tempfile::tempdir().context("making a directory for the admin socket")?;
    let socket = home.path().join("admin");
    let subject = Subject {
        server_bin: arguments.server_bin.clone(),
        server_argument: ["--admin".to_owned(), socket.display().to_string()].to_vec(),
        address: None,
        pid: None,
        directory: None,
        export: "/".to_owned(),
    };
    let server = Server::obtain(&subject, export.path(), cores.server)?;
    cores::stay_on(cores.load)?;
    machine::describe().iter().for_each(|(what, value)| println!("{what}: {value}"));
    println!("runs: {} of {} s each; median (min..max)\n", arguments.runs, arguments.seconds);
    let root = Session::mount(server.address, &server.export)?.handle("".as_ref())?;
    let call = nfs(getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(&root) });
    let clients = (0..arguments.clients).map(|number| client(number, server.address, &call));
    let clients: Vec<TcpStream> = clients.collect::<anyhow::Result<_>>()?;
    let mut crowd = Crowd::of(clients, &root)?;
    crowd.keep_busy(SETTLES_IN)?;
    let clock = ThreadClock::of(server.process, THREAD)?;
    for pages in [0, arguments.pages] {
        let mut shares = Vec::new();
        let mut bytes = 0;
        for _ in 0..arguments.runs {
            let before = clock.now()?;
            bytes =
                with_pages(pages, &socket, || crowd.keep_busy(Duration::from_secs_f64(arguments.seconds)))?;
            shares.push((clock.now()? - before).as_secs_f64() / arguments.seconds * 100.0);
        }
        let spread = Spread::of(&shares).context("no run")?;
        println!(
            "{} clients that move something, {pages} pages open: the admin thread takes {:.2} ({:.2}..{:.2}) % of a core, at most \
             {MOST}: {}; {:.0} kB/s of answers",
            arguments.clients,
            spread.median,
            spread.least,
            spread.most,
            if spread.median <= MOST { "met" } else { "NOT MET" },
            bytes as f64 / arguments.seconds / 1e3
        );
    }
    Ok(())
}

/// Does that while so many pages ask; the bytes that they are answered.
fn with_pages(
    pages: usize,
    socket: &Path,
    work: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<usize> {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let askers: Vec<_> = (0..pages).map(|_| scope.spawn(|| page(socket, &is_over))).collect();
        let worked = work();
        is_over.store(true, Ordering::Relaxed);
        let mut bytes = 0;
        for asker in askers {
            bytes += asker.join().map_err(|_| anyhow!("a thread panicked"))??;
        }
        worked.map(|()| bytes)
    })
}

/// Asks what a page asks until it is over.
fn page(socket: &Path, is_over: &AtomicBool) -> anyhow::Result<usize> {
    let (mut since, mut bytes) = (0.0, 0);
    for step in 0.. {
        let began = Instant::now();
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let samples = ask(socket, &format!("/v1/samples?since={since}"))?;
        since = now_of(&samples).with_context(|| format!("no moment in {samples:.80}"))?;
        bytes += samples.len();
        for (path, _) in QUESTIONS.iter().filter(|(_, every)| step % every == 0) {
            bytes += ask(socket, path)?.len();
        }
        std::thread::sleep(STEP.saturating_sub(began.elapsed()));
    }
    Ok(bytes)
}

/// `{"now":12.5,…`
fn now_of(samples: &str) -> Option<f64> {
    samples.split_once("\"now\":")?.1.split(',').next()?.parse().ok()
}
