//! `exactly-once`: calls that may not run twice, over connections that break with the answer on its way, over a path that loses,
//! corrupts, repeats and reorders, and over restarts, after which a server remembers no answers.
//!
//! On the first two no call that went well may be refused, and none may have its effect twice. After a restart some are refused
//! whose first run went well (SEMANTICS.md, S-TWICE-2); what is there must be right all the same.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use howdah_client::connect::own_caller;
use howdah_lab::network::{Topology, WireSpec};
use howdah_store::local::{LocalFileSystem, Options, SyncMode};
use howdah_vfs::FileSystem;
use howdah_vfs::conformance::Abilities;

use super::campaign::{Context, Progress, Verdict};
use super::crew::{Crew, client};
use super::losing::Losing;
use super::served::{EXPORT, serve, serve_at};
use super::worker::{Answers, Worker};
use howdah_random::Random;

/// Calls of the full form and of the short one, on all ways together.
const FULL: u64 = 1_000_000;
const QUICK: u64 = 8_000;
/// Workers at once: what is lost is waited for, and others go on.
const WORKERS: usize = 16;
const WORKERS_ON_A_PATH: usize = 40;
/// One answer in so many is lost, and its connection breaks.
const LOSE_ONE_IN: u64 = 25;
/// Nobody goes on after this long: something hangs.
const STUCK: Duration = Duration::from_secs(60);

/// A path that does to packets all that a path may do, both ways.
const PATH: &str = r#"
delay = "100us"
loss = "0.3%"
corrupt = "0.1%"
duplicate = "2%"
reorder = { packets = "2%", hold = "1ms" }
"#;

/// What one way came to.
struct Went {
    line: String,
    calls: u64,
    wrong: Vec<String>,
}

/// Runs it.
pub fn run(context: &Context) -> Result<Verdict> {
    let (steps, mut progress) = (context.times(FULL, QUICK), Progress::begin());
    let ways = [
        over_connections(context, 1, steps * 6 / 10, &mut progress)?,
        over_connections(context, 2, steps * 3 / 10, &mut progress)?,
        over_a_path(context, steps / 10, &mut progress)?,
    ];
    let calls: u64 = ways.iter().map(|went| went.calls).sum();
    let lines: Vec<&str> = ways.iter().map(|went| went.line.as_str()).collect();
    Ok(Verdict {
        figures: format!(
            "{calls} calls in {:.0} s: {}; 0 differ from the model",
            progress.seconds(),
            lines.join("; ")
        ),
        broken: ways.into_iter().flat_map(|went| went.wrong).collect(),
        ..Verdict::default()
    })
}

/// A local directory, and a place for its state.
fn open(place: &Path) -> Result<(PathBuf, Arc<dyn FileSystem>)> {
    let [export, state] = ["export", "state"].map(|name| place.join(name));
    for directory in [&export, &state] {
        std::fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    }
    let options = Options { state: Some(state), sync: SyncMode::Async, ..Options::default() };
    let fs = LocalFileSystem::open(&export, options).context("opening the export")?;
    Ok((export, Arc::new(fs)))
}

/// Answers are lost with their connections. With one server, it remembers; with two, the call is sent again to the one that
/// did not run it: it has the same files and handles, and remembers nothing, as after a restart.
fn over_connections(context: &Context, servers: usize, steps: u64, progress: &mut Progress) -> Result<Went> {
    let (export, fs) = open(&context.directory.join(format!("servers-{servers}")))?;
    let servers: Vec<_> = (0..servers).map(|_| serve(Arc::clone(&fs))).collect();
    let addresses: Vec<SocketAddr> = servers.iter().map(|server| server.address).collect();
    let (answers, name) = match addresses.len() {
        1 => (Answers::Remembered, "broken connections"),
        _ => (Answers::Forgotten, "restarts"),
    };
    let (crew, mut ways) = (Crew::settle(&export, WORKERS, true)?, Vec::new());
    for (territory, number) in crew.territories.iter().zip(1..) {
        let (random, disturbed) = (Random::apart(context.seed, number), Arc::clone(territory));
        let way = Losing::before(addresses.clone(), LOSE_ONE_IN, random.clone(), move || disturbed.disturb());
        let mounted = client(&format!("nfs://{}{EXPORT}?lanes=1", way.address()))?;
        let worker = Worker::new(mounted, own_caller(), Arc::clone(territory), random);
        crew.employ(worker.context("looking up a territory")?.answered(answers));
        ways.push(way);
    }
    finish(&crew, steps, name, progress);
    let (losses, twice) = (ways.iter().map(Losing::losses).sum::<u64>(), crew.second_answers());
    let line = format!("{} over {losses} {name} ({twice} answered as a second run is)", crew.steps());
    Ok(Went { line, calls: crew.steps(), wrong: crew.broken() })
}

/// Datagrams over a path.
fn over_a_path(context: &Context, steps: u64, progress: &mut Progress) -> Result<Went> {
    let path = toml::from_str(PATH).context("the path of exactly-once")?;
    let network = context.sandbox.network(&Topology::pair(WireSpec::new(path, context.seed)))?;
    let (here, there) = (network.host("client"), network.host("server"));
    let (export, fs) = open(&context.directory.join("path"))?;
    let any = "0.0.0.0:0".parse().context("an address")?;
    let served = there.run_in(|| serve_at(any, fs, Abilities::default(), None))?;
    let url =
        format!("nfs://{}:{}{EXPORT}?proto=udp", network.address("server", "path0"), served.address.port());
    let crew = Crew::settle(&export, WORKERS_ON_A_PATH, true)?;
    for (territory, number) in crew.territories.iter().zip(1..) {
        // Its threads are that host's too.
        here.run_in(|| -> Result<()> {
            let random = Random::apart(context.seed, number);
            let worker = Worker::new(client(&url)?, own_caller(), Arc::clone(territory), random);
            crew.employ(worker.context("looking up a territory")?.answered(Answers::AnyRepeated));
            Ok(())
        })??;
    }
    finish(&crew, steps, "a bad path", progress);
    let (steps, twice) = (crew.steps(), crew.second_answers());
    let line = format!(
        "{steps} in datagrams over a path that loses, corrupts, repeats and reorders ({twice} answered as a second run is)"
    );
    Ok(Went { line, calls: crew.steps(), wrong: crew.broken() })
}

/// Lets all work until so many steps are made, and compares what is there.
fn finish(crew: &Arc<Crew>, steps: u64, name: &str, progress: &mut Progress) {
    while crew.steps() < steps && crew.broken().is_empty() {
        if !crew.wait_for((crew.steps() + 100).min(steps), STUCK) && crew.broken().is_empty() {
            crew.report(format!("nobody goes on: no answer for {STUCK:?}"));
        }
        progress.tell(|| format!("{name}: {} of {steps} calls", crew.steps()));
    }
    crew.dismiss(STUCK);
    crew.verify(name);
}
