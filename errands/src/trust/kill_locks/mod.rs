//! `kill-locks`: SIGKILL of a server of NFSv4.1, at any moment, under programs that lock registers of files and raise them. Programs
//! crash, fall silent for longer than their lease, and lose connections. No two ever have a lock that excludes the other; who held one
//! when the server was killed gets it back in grace, unless another had it meanwhile; and no register goes back.

mod calls;
mod held;
mod ledger;
mod program;
mod runs;
mod session;
mod shared;

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use howdah_random::Random;

use super::campaign::{Context, Progress, Verdict};
use super::crew::Crew;
use super::server::{Offer, Server};
use ledger::Record;
use program::{Program, Step};
use shared::Shared;

/// Kills of the full form and of the short one.
const FULL: u64 = 1_000;
const QUICK: u64 = 5;
const PROGRAMS: u64 = 6;
const FILES: usize = 2;
/// Registers of each file.
const REGISTERS: usize = 4;
/// The shortest that the server takes: a grace that waits for a program that is gone takes as long.
const LEASE: Duration = Duration::from_secs(1);
/// A kill comes after at most so many steps of all programs, and so much later.
const MOST_STEPS: u64 = 400;
const MOST_LATER: Duration = Duration::from_millis(4);
/// One kill in so many comes in the grace after the one before, or while the server starts.
const IN_GRACE_ONE_IN: u64 = 4;
/// Nobody goes on after this long: something hangs.
const STUCK: Duration = Duration::from_secs(60);

/// Runs it.
pub fn run(context: &Context) -> Result<Verdict> {
    let mut random = Random::new(context.seed);
    let flags = ["--lease".to_owned(), format!("{}s", LEASE.as_secs())];
    let offer = Offer { flags: flags.into(), ..Offer::below(&context.directory) };
    let mut server = Server::start_with(&context.binary, offer)?;
    let crew = Crew::settle(server.export(), 0, false)?;
    let names = (0..FILES).map(|number| format!("registers-{number}")).collect();
    let shared = Arc::new(Shared::new(&crew, server.site().address, LEASE, names, REGISTERS));
    for number in 0..PROGRAMS {
        let random = Random::apart(context.seed, number + 1);
        let name = format!("program-{number}");
        let mut program = Program::new(Arc::clone(&shared), name.clone(), random);
        crew.start(name, move |crew| {
            while !crew.stops() {
                match program.step()? {
                    Step::Done => crew.stepped(),
                    Step::Waited => {}
                    Step::Stopped => break,
                }
            }
            Ok(())
        });
    }
    let (times, mut progress) = (context.times(FULL, QUICK), Progress::begin());
    for kill in 1..=times {
        wait(&crew, &mut random)?;
        server.kill()?;
        shared.runs().ended();
        verify(&shared, &server, kill)?;
        shared.runs().begins();
        server.start_again()?;
        if !crew.broken().is_empty() {
            break;
        }
        progress.tell(|| format!("{kill} of {times} kills, {} grants", shared.ledger().grants()));
    }
    server.wait()?;
    crew.dismiss(STUCK);
    server.kill()?;
    verify(&shared, &server, times)?;
    let figures = format!(
        "{times} kills in {:.0} s; {}; {}",
        progress.seconds(),
        shared.ledger().figures(),
        shared.count.figures(),
    );
    Ok(Verdict { figures, broken: crew.broken(), ..Verdict::default() })
}

/// Waits until the next kill is due.
fn wait(crew: &Crew, random: &mut Random) -> Result<()> {
    if random.one_in(IN_GRACE_ONE_IN) {
        thread::sleep(LEASE.mul_f64(random.fraction()));
        return Ok(());
    }
    let until = crew.steps() + 1 + random.below(MOST_STEPS);
    if !crew.wait_for(until, STUCK) && crew.broken().is_empty() {
        bail!("no program goes on: no answer for {STUCK:?}");
    }
    thread::sleep(MOST_LATER.mul_f64(random.fraction()));
    Ok(())
}

/// Compares the registers with the ledger, while no server runs.
fn verify(shared: &Shared, server: &Server, kill: u64) -> Result<()> {
    let ledger = shared.ledger();
    for (file, name) in shared.names.iter().enumerate() {
        let path = server.export().join(name);
        let mut bytes = match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            read => read.with_context(|| format!("reading {}", path.display()))?,
        };
        bytes.resize(REGISTERS * Record::SIZE, 0);
        for (register, bytes) in bytes.chunks_exact(Record::SIZE).enumerate() {
            if let Err(wrong) = ledger.may_be((file, register), bytes) {
                shared.crew.report(format!("at kill {kill}: {wrong}"));
            }
        }
    }
    Ok(())
}
