//! `kill-pass-through`: SIGKILL of a relay that passes calls through, of the server behind it, and paths that break with an answer on
//! its way, under calls that may not run twice. As long as the server lives it remembers what it answered, whatever else dies: no call
//! that went well is refused, and none has its effect twice. After the server's death S-TWICE-2 of SEMANTICS.md holds.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use howdah_client::connect::own_caller;

use super::campaign::{Context, Progress, Verdict};
use super::crew::{Crew, client};
use super::losing::Losing;
use super::server::{Offer, PORT, Relayed, Server, Site};
use super::worker::{Answers, Worker};
use howdah_random::Random;

/// Kills of the full form and of the short one, in both halves together.
const FULL: u64 = 400;
const QUICK: u64 = 24;
/// Workers, each with a mount of its own.
const WORKERS: usize = 6;
/// One answer in so many is lost on its way from the relay.
const LOSE_ONE_IN: u64 = 25;
/// A kill comes after at most so many steps of all workers.
const MOST_STEPS: u64 = 120;
/// And so much later, so that it comes in the middle of one.
const MOST_LATER: Duration = Duration::from_millis(4);
/// The relay's address: its port is the server's.
const RELAY: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
/// Nobody goes on after this long: something hangs.
const STUCK: Duration = Duration::from_secs(60);

/// What dies in one half of the campaign.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dies {
    /// The relay, and paths between it and clients.
    Relay,
    /// The far server, and the relay in one case of three.
    Server,
}

/// What one half came to.
struct Went {
    line: String,
    bytes: u64,
    wrong: Vec<String>,
}

/// Runs it.
pub fn run(context: &Context) -> Result<Verdict> {
    let (times, mut progress) = (context.times(FULL, QUICK), Progress::begin());
    let went = [
        half(context, Dies::Relay, times.div_ceil(2), &mut progress)?,
        half(context, Dies::Server, times.div_ceil(2), &mut progress)?,
    ];
    let (lines, bytes) = (went.each_ref().map(|half| half.line.as_str()), went[0].bytes + went[1].bytes);
    Ok(Verdict {
        figures: format!(
            "{} in {:.0} s; {} MB compared, 0 wrong",
            lines.join("; "),
            progress.seconds(),
            bytes >> 20
        ),
        broken: went.into_iter().flat_map(|half| half.wrong).collect(),
        ..Verdict::default()
    })
}

fn half(context: &Context, dies: Dies, times: u64, progress: &mut Progress) -> Result<Went> {
    let (name, number) = match dies {
        Dies::Relay => ("of the relay", 1),
        Dies::Server => ("of the server", 2),
    };
    let mut random = Random::apart(context.seed, 100 + number);
    let (mut far, mut relay) = start(&context.binary, &context.directory.join(format!("half-{number}")))?;
    let crew = Crew::settle(far.export(), WORKERS, true)?;
    let ways = employ(&crew, dies, context.seed)?;
    let mut bytes = 0;
    for kill in 1..=times {
        wait(&crew, &mut random)?;
        let of_relay = dies == Dies::Relay || random.one_in(3);
        crew.set_troubled(true);
        if of_relay {
            relay.kill()?;
        }
        if dies == Dies::Server {
            far.kill()?;
        }
        bytes += far.while_stopped(|| crew.verify(&format!("after kill {kill} {name}")))?;
        if dies == Dies::Server {
            far.start_again()?;
            far.wait()?;
        }
        if of_relay {
            relay.start_again()?;
            relay.wait()?;
        }
        crew.set_troubled(false);
        if !crew.broken().is_empty() {
            break;
        }
        progress.tell(|| format!("{kill} of {times} kills {name}, {} calls", crew.steps()));
    }
    relay.wait()?;
    crew.dismiss(STUCK);
    far.kill()?;
    bytes += crew.verify("at the end");
    let lost: u64 = ways.iter().map(Losing::losses).sum();
    let (calls, twice) = (crew.steps(), crew.second_answers());
    let line = format!(
        "{times} kills {name}, {lost} lost paths, {calls} calls ({twice} answered as a second run is)"
    );
    Ok(Went { line, bytes, wrong: crew.broken() })
}

/// The far server, and a relay to it.
fn start(binary: &Path, place: &Path) -> Result<(Server, Server)> {
    let beside = place.join("relay");
    std::fs::create_dir_all(&beside).context("a directory for the relay")?;
    let far = Server::start(binary, place)?;
    let relayed = Some(Relayed::Passed(far.url("", "")));
    let site = Site { address: RELAY, hosts: None };
    let relay = Server::start_with(binary, Offer { relayed, site, ..Offer::below(&beside) })?;
    Ok((far, relay))
}

/// Gives each worker a mount through the relay. Where the server lives, over a path that loses answers.
fn employ(crew: &Arc<Crew>, dies: Dies, seed: u64) -> Result<Vec<Losing>> {
    let (relay, mut ways) = (SocketAddr::from((RELAY, PORT)), Vec::new());
    for (territory, number) in crew.territories.iter().zip(1..) {
        let (random, disturbed) = (Random::apart(seed, number), Arc::clone(territory));
        let (address, lanes, answers) = match dies {
            Dies::Relay => {
                let way =
                    Losing::before(vec![relay], LOSE_ONE_IN, random.clone(), move || disturbed.disturb());
                let address = way.address();
                ways.push(way);
                (address, 1, Answers::Remembered)
            }
            Dies::Server => (relay, 1 + number % 2, Answers::Forgotten),
        };
        let port = address.port();
        let url = format!("nfs://{}/?nfsport={port}&mountport={port}&lanes={lanes}", address.ip());
        let worker = Worker::new(client(&url)?, own_caller(), Arc::clone(territory), random);
        crew.employ(worker.context("looking up a territory")?.answered(answers));
    }
    Ok(ways)
}

/// Waits until the next kill is due.
fn wait(crew: &Crew, random: &mut Random) -> Result<()> {
    let until = crew.steps() + 1 + random.below(MOST_STEPS);
    if !crew.wait_for(until, STUCK) && crew.broken().is_empty() {
        bail!("nobody goes on: no answer for {STUCK:?}");
    }
    thread::sleep(MOST_LATER.mul_f64(random.fraction()));
    Ok(())
}
