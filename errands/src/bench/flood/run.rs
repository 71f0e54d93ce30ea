//! Measures, and prints.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, ensure};
use howdah_server::limits::{RECEIVE_MEMORY_BUDGET, REPLY_MEMORY_BUDGET};

use super::super::arguments::{Flood, Subject};
use super::super::export::Export;
use super::super::idle::{Crowd, allow_descriptors};
use super::super::machine;
use super::super::server::Server;
use super::super::session::Session;
use super::crowd::{Tally, attack};
use super::kind::{Kind, Target};
use super::mount::{Mount, Served};
use super::table::{Seen, head, show};

const FILE: &str = "file";
const FILE_SIZE: u64 = 64 << 20;
const DIRECTORY: &str = "directory";
const ENTRIES: u64 = 20_000;
/// Directories below each other: as many as a path to be mounted has room for (1,024 bytes, RFC 1813 5.1.1).
const DEPTH: usize = 500;
/// How long a crowd that has come is left alone before it is measured.
const SETTLES_IN: Duration = Duration::from_millis(500);

/// Does it.
pub fn run(arguments: &Flood) -> anyhow::Result<()> {
    ensure!(arguments.runs > 0 && arguments.seconds > 0.0, "nothing would be measured");
    let kinds = Kind::named(&arguments.kinds)?;
    allow_descriptors(arguments.connections + arguments.attackers)?;
    let export = Export::make(None)?;
    export.lasting_file(FILE, FILE_SIZE)?;
    export.lasting_directory(DIRECTORY, ENTRIES)?;
    let deep = "/d".repeat(DEPTH);
    fs::create_dir_all(export.path().join(&deep[1..])).context("making directories below each other")?;
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
        deep,
        gone: handle_of_one_gone(&export, &mut session)?,
    };
    let port = server.address.port();
    let mount = Mount::new(&format!("nfs://127.0.0.1:{port}/"), FILE, FILE_SIZE)?;
    let time = Duration::from_secs_f64(arguments.seconds);
    mount.use_for(time)?;
    let memory = server.resident()?;
    let _idle = Crowd::connect(arguments.connections, server.address, &target.file)?;
    println!(
        "{} open connections: {:.1} MB more in the server; budget of calls and replies: {:.0} MB; {} runs of {} s, medians\n",
        arguments.connections,
        (server.resident()? - memory) as f64 / 1e6,
        (REPLY_MEMORY_BUDGET + RECEIVE_MEMORY_BUDGET) as f64 / 1e6,
        arguments.runs,
        arguments.seconds
    );
    head();
    for kind in kinds {
        one_kind(kind, arguments, &target, &mount, &server)?;
    }
    Ok(())
}

fn one_kind(
    kind: Kind,
    arguments: &Flood,
    target: &Target,
    mount: &Mount,
    server: &Server,
) -> anyhow::Result<()> {
    let time = Duration::from_secs_f64(arguments.seconds);
    let (tally, mut seen) = (Tally::default(), Vec::new());
    for _ in 0..arguments.runs {
        let (before, _) = served(mount, time, server)?;
        let (ready, over) = (AtomicBool::new(false), AtomicBool::new(false));
        let one = std::thread::scope(|scope| {
            let crowd = scope.spawn(|| attack(kind, arguments.attackers, target, &tally, (&ready, &over)));
            while !ready.load(Ordering::SeqCst) && !crowd.is_finished() {
                std::thread::sleep(Duration::from_millis(10));
            }
            std::thread::sleep(SETTLES_IN);
            let during = served(mount, time, server);
            let (memory, kernel) = (server.resident(), howdah_net::memory_of_tcp());
            over.store(true, Ordering::SeqCst);
            let crowd = crowd.join().map_err(|_| anyhow!("the crowd panicked"))??;
            let (during, server) = during?;
            anyhow::Ok(Seen { before, during, server, crowd, memory: memory?, kernel })
        })?;
        seen.push(one);
    }
    show(kind, &seen, &tally)
}

/// Uses the mount for so long; how it was served, and how many processors the server used for all its clients.
fn served(mount: &Mount, time: Duration, server: &Server) -> anyhow::Result<(Served, f64)> {
    let (start, before) = (Instant::now(), server.clock.now()?);
    let served = mount.use_for(time)?;
    let used = server.clock.now()?.saturating_sub(before);
    Ok((served, used.as_secs_f64() / start.elapsed().as_secs_f64()))
}

/// The handle of a file that was there for it to be asked for.
fn handle_of_one_gone(export: &Export, session: &mut Session) -> anyhow::Result<Vec<u8>> {
    const GONE: &str = "gone";
    let path = export.path().join(GONE);
    fs::write(&path, b"").context("making a file")?;
    let handle = session.handle(GONE.as_ref())?;
    fs::remove_file(&path).context("removing a file")?;
    Ok(handle)
}
