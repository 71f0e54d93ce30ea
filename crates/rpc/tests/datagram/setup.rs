//! A simulation of the client of today.

use std::time::Instant;

use howdah_link::{Ethernet, Path};
use howdah_rpc::client::datagram::{Peer, Settings};
use howdah_rpc::simulation::{Server, SimulatedMessage, Simulation};

/// With those settings.
pub fn simulation(
    settings: Settings,
    out: Path<SimulatedMessage>,
    back: Path<SimulatedMessage>,
    server: Server,
) -> Simulation {
    let start = Instant::now();
    let mut simulation = Simulation::new(Peer::new(&settings, start), out, back, server, start);
    simulation.ethernet = Ethernet { mtu: settings.path_mtu };
    simulation.most_calls = settings.most_calls;
    simulation
}
