//! What a path does to packets, seen by sockets of this very program at its two ends: how long they take (`delay`), how
//! many do not come (`loss`), how many come in a second (`rate`). No server: it brings its own other end.

mod delay;
mod loss;
mod options;
mod rate;
mod train;

use std::net::{SocketAddr, UdpSocket};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use super::contract::{Client, spec};
use crate::plan::Cell;
use crate::record::CommandRecord;
use crate::run::word::one_of;
use crate::run::{Measured, Place, Scene};
use options::ProbeOptions;

/// Datagrams that a socket may hold: none is to be lost but on the path.
const BUFFER: usize = 8 << 20;

/// What a probe can look at.
const WORKLOADS: [&str; 3] = ["delay", "loss", "rate"];

/// A probe.
pub struct Probe {
    /// Its name in the plan.
    pub name: String,
}

impl Client for Probe {
    fn commands(&self, cell: &Cell, place: &Place) -> Result<Vec<CommandRecord>> {
        let client = spec(cell, &self.name)?;
        ProbeOptions::parse(&client.options)?;
        // Not a program: it is recorded as what the plan says, and repeated by running the cell.
        let mut command = vec!["probe".to_owned(), client.workload.clone().unwrap_or_default()];
        command.extend(client.options.iter().cloned());
        command.push(place.server_address(cell, &self.name)?.to_string());
        Ok(vec![CommandRecord { host: client.host.clone(), name: self.name.clone(), command }])
    }

    fn check(&self, cell: &Cell, _: &Place) -> Result<()> {
        let client = spec(cell, &self.name)?;
        one_of("workload", client.workload.as_deref().unwrap_or_default(), &WORKLOADS)?;
        ProbeOptions::parse(&client.options).context("options").map(drop)
    }

    fn work(&mut self, scene: &Scene<'_>) -> Result<Measured> {
        for command in self.commands(scene.cell, scene.place)? {
            scene.record(&command.host, &command.name, &command.command);
        }
        let client = spec(scene.cell, &self.name)?;
        let options = ProbeOptions::parse(&client.options)?;
        let to = scene.place.server_address(scene.cell, &self.name)?;
        let there = socket(scene, &scene.cell.spec.server.host, SocketAddr::new(to, 0))?;
        let here = socket(scene, &client.host, SocketAddr::new([0, 0, 0, 0].into(), 0))?;
        here.connect(there.local_addr().context("asking for an address")?).context("connecting a socket")?;
        let check = || {
            ensure!(!scene.stop.is_asked(), "interrupted");
            ensure!(Instant::now() < scene.deadline(), "it took longer than the cell may");
            Ok(())
        };
        match client.workload.as_deref() {
            Some("delay") => delay::measure(&here, &there, &options, &check),
            Some("loss") => loss::measure(&here, &there, &options, &check),
            Some("rate") => rate::measure(&here, &there, &options, &check),
            other => bail!("workload {other:?}: a probe knows {}", WORKLOADS.join(", ")),
        }
    }
}

/// A socket on a host, with room for whatever comes.
fn socket(scene: &Scene<'_>, host: &str, at: SocketAddr) -> Result<UdpSocket> {
    let open = || -> Result<UdpSocket> {
        let socket = UdpSocket::bind(at).with_context(|| format!("binding {at}"))?;
        use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_recv_buffer_size_force};
        // Past the system's maximum takes a right that a sandbox of an ordinary user may lack.
        if set_socket_recv_buffer_size_force(&socket, BUFFER).is_err() {
            set_socket_recv_buffer_size(&socket, BUFFER).context("sizing a socket's buffer")?;
        }
        Ok(socket)
    };
    scene.network.host(host).run_in(open)?
}
