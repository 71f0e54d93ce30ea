//! `soak`: two hours of mixed load through a nasty path, in the first half with restarts of the server, in the second without. Names and
//! bytes are compared with the model at each restart and at the end; memory, descriptors, threads and latencies of server and client
//! are looked at all the time, and must not grow.

mod figure;
mod load;
mod look;
mod record;
mod results;
mod schedule;
mod stream;
mod trend;
mod verdict;

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use howdah_lab::network::{LabNetwork, Topology, WireSpec};
use howdah_workload::measure::Machine;

use super::campaign::{Context, Progress, Verdict};
use super::server::{Offer, Server, Site};
use load::Load;
use look::Looker;
use record::{Did, Packets, Run, Sample};
use results::Results;
use schedule::{End, Schedule};

pub use results::report;

/// A path that does to packets all that a path may do, both ways, and is down for two seconds of each minute and a half.
const PATH: &str = r#"
rate = "100Mbit"
delay = "5ms"
jitter = { most = "2ms", overtaking = true }
loss = "0.3%"
corrupt = "0.01%"
duplicate = "0.5%"
reorder = { packets = "0.5%", hold = "4ms" }
schedule = "down 2s every 90s"
"#;

/// Nobody goes on after this long: something hangs.
const STUCK: Duration = Duration::from_secs(90);

/// Runs it.
pub fn run(context: &Context) -> Result<Verdict> {
    let schedule = Schedule::of(context.minutes, context.quick);
    let path = toml::from_str(PATH).context("the path of soak")?;
    let network = context.sandbox.network(&Topology::pair(WireSpec::new(path, context.seed)))?;
    let mut server = serve(context, &network)?;
    let load = Load::begin(context, &network, &server)?;
    let run = Run {
        machine: Machine::this(),
        seed: context.seed,
        minutes: schedule.total.as_secs_f64() / 60.0,
        binary: context.binary.display().to_string(),
        path: PATH.trim().to_owned(),
        began: 0,
        restarts: 0,
        did: Did::default(),
        packets: Packets::default(),
        broken: Vec::new(),
    };
    let directory = context.results.clone().unwrap_or_else(|| context.directory.join("results"));
    let mut results = Results::begin(&directory, run)?;
    let went = watch(&schedule, &mut server, &load, &mut results);
    load.end(&mut server);
    results.run.did = load.did();
    results.run.packets = packets(&network);
    results.run.broken = load.broken();
    results.run.broken.extend(went.err().map(|error| format!("{error:#}")));
    results.conclude()
}

/// A server at the far end of the path.
fn serve(context: &Context, network: &LabNetwork) -> Result<Server> {
    let site = Site {
        address: network.address("server", "path0"),
        hosts: Some(["client", "server"].map(|name| network.host(name).namespace().clone())),
    };
    let admin = Some(context.directory.join("admin"));
    Server::start_with(&context.binary, Offer { site, admin, ..Offer::below(&context.directory) })
}

/// Looks, and ends the server and starts it again, when it is time, until all is over.
fn watch(schedule: &Schedule, server: &mut Server, load: &Load, results: &mut Results) -> Result<()> {
    let (began, mut progress) = (Instant::now(), Progress::begin());
    let mut looker = Looker::begin(server, began)?;
    let (mut looks, mut lives) = (1, 1);
    while began.elapsed() < schedule.total {
        let (look, restart) = (schedule.look * looks, schedule.restart(lives));
        sleep_until(began + restart.map_or(look, |(at, _)| at.min(look)).min(schedule.total));
        if began.elapsed() >= look {
            looks += 1;
            server.must_run()?;
            match looker.look(server, load) {
                Ok(sample) => {
                    progress.tell(|| line(&sample, load));
                    results.add(sample, load)?;
                }
                Err(error) => load.report(format!("life {lives}: {error:#}")),
            }
        }
        if let Some((_, end)) = restart.filter(|(at, _)| began.elapsed() >= *at) {
            load.set_troubled(true);
            stop(server, end)?;
            load.verify(&format!("after restart {lives}"));
            server.start_again()?;
            server.wait()?;
            load.set_troubled(false);
            lives += 1;
            results.run.restarts += 1;
            looker.restarted();
        }
    }
    Ok(())
}

fn stop(server: &mut Server, end: End) -> Result<()> {
    match end {
        End::Killed => server.kill(),
        End::Asked => server.end(),
    }
}

fn sleep_until(then: Instant) {
    thread::sleep(then.saturating_duration_since(Instant::now()));
}

fn line(sample: &Sample, load: &Load) -> String {
    let server = &sample.server;
    format!(
        "{} calls, server {:.1} MB, {} descriptors, {} wrong",
        load.did().calls,
        server.anonymous as f64 / 1e6,
        server.descriptors,
        load.broken().len()
    )
}

/// What became of packets, both ways together.
fn packets(network: &LabNetwork) -> Packets {
    let mut packets = Packets::default();
    for (_, direction) in network.wire("path0").counters().directions() {
        packets.arrived += direction.elements.first().map_or(0, |first| first.counters.arrived.packets);
        for counted in direction.elements.iter().map(|element| element.counters) {
            packets.lost += counted.dropped.packets;
            packets.repeated += counted.copied.packets;
            packets.corrupted += counted.corrupted.packets;
            packets.overtaken += counted.held_back.packets;
        }
    }
    packets
}
