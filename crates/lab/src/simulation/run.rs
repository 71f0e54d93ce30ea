//! Runs a simulation to its end.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use howdah_link::loss::Independent;
use howdah_link::{FragmentLoss, Path, Reassembly};
use howdah_rpc::client::datagram::{Peer, Settings};
use howdah_rpc::simulation::{Client, Repeats, Server, SimulatedMessage, Simulation};

use super::client_2003::Client2003;
use super::records::Records;
use super::{Parameters, SimulationResult, TimerRule};
use crate::record::unit;

/// After so long in virtual time a reader has failed.
const MOST: Duration = Duration::from_secs(3600);
/// Room for replies in the client's socket.
const RECEIVE_ROOM: usize = 8 << 20;

/// What a plan's options say.
pub fn run(options: &[String]) -> Result<SimulationResult> {
    simulate(&Parameters::parse(options)?)
}

/// Reads the file, and measures.
pub fn simulate(parameters: &Parameters) -> Result<SimulationResult> {
    let now = Instant::now();
    match parameters.timer {
        TimerRule::Today => read(parameters, Peer::new(&settings(parameters), now), now),
        rule => read(parameters, Client2003::new(rule, parameters.transfer, now), now),
    }
}

fn settings(parameters: &Parameters) -> Settings {
    Settings {
        largest_transfer: parameters.transfer,
        first_transfer: Some(parameters.transfer),
        receive_room: RECEIVE_ROOM,
        ..Settings::default()
    }
}

fn server(parameters: &Parameters) -> Server {
    let mut server = Server::quick(parameters.cached).seeded(parameters.seed);
    (server.rare, server.rare_spread) = (parameters.disk, parameters.disk_spread);
    server.rarely = parameters.disk_share;
    // A READ that is repeated waits for the same block as the one before.
    server.repeats = Repeats::Waiting;
    server.fetch = parameters.fetch_time;
    server.together = (parameters.fetch / parameters.transfer).max(1) as u32;
    server
}

/// There and back, with what happens to fragments.
fn paths(parameters: &Parameters) -> (Path<SimulatedMessage>, Path<SimulatedMessage>) {
    let (there, back) = parameters.path.build(parameters.seed);
    let losing = |path: Path<SimulatedMessage>, seed: u64| {
        if parameters.fragment_loss == 0.0 {
            return path;
        }
        path.then(FragmentLoss::new(Independent::new(parameters.fragment_loss, seed)))
            .then(Reassembly::linux())
    };
    (losing(there, parameters.seed ^ 1), losing(back, parameters.seed ^ 2))
}

fn read<C: Client>(parameters: &Parameters, client: C, now: Instant) -> Result<SimulationResult> {
    let (there, back) = paths(parameters);
    let mut simulation = Simulation::new(client, there, back, server(parameters), now);
    let mut records = {
        let Parameters { size, record, ahead, .. } = *parameters;
        Records::new(size, record, ahead)
    };
    let took = simulation.run(&mut records, MOST);
    ensure!(took < MOST, "the file was not read within an hour of virtual time");
    let mut result = SimulationResult::default();
    result.add_seconds("seconds", took);
    result.add("bytes", parameters.size as f64, unit::BYTES);
    result.add("throughput", parameters.size as f64 / took.as_secs_f64(), unit::BYTES_PER_SECOND);
    result.add("calls", simulation.calls() as f64, unit::COUNT);
    result.add("retransmissions", simulation.retransmissions() as f64, unit::COUNT);
    result.add_seconds("gap.worst", records.longest_gap());
    result.add_latencies("", &records.calls);
    result.add_latencies("record", &records.records);
    Ok(result)
}
