//! iperf3, between two hosts or on one.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use anyhow::{Context, ensure};
use howdah_lab::network::Network;
use serde_json::Value;

/// What it measured.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Payload bits per second that arrived.
    pub bits_per_second: f64,
    /// Segments that TCP sent again.
    pub retransmits: u64,
}

/// A server that has begun to listen; it ends after one client, or when this is dropped.
struct Server {
    child: Child,
}

impl Server {
    fn start(network: &Network, host: &str) -> anyhow::Result<Self> {
        let mut command = network.host(host).command("iperf3");
        command.args(["--server", "--one-off", "--forceflush"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command.spawn().context("starting iperf3, of the package iperf3")?;
        let mut server = Self { child };
        let output = server.child.stdout.take().context("a pipe")?;
        let mut lines = BufReader::new(output).lines();
        let listens = lines.any(|line| line.is_ok_and(|line| line.contains("listening")));
        ensure!(listens, "iperf3's server ended before it listened");
        // It says more, to nobody.
        std::thread::spawn(move || lines.count());
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A transfer from `from` to `to`, with these arguments besides.
pub fn run(network: &Network, from: &str, to: &str, arguments: &[&str]) -> anyhow::Result<Measured> {
    let _server = Server::start(network, to)?;
    let address = match from == to {
        true => "127.0.0.1".to_owned(),
        false => network.address(to, "path0").to_string(),
    };
    let mut command = network.host(from).command("iperf3");
    command.args(["--client", &address, "--json"]).args(arguments);
    let output = command.output().context("starting iperf3")?;
    let result: Value = serde_json::from_slice(&output.stdout).context("iperf3 prints JSON")?;
    if let Some(error) = result["error"].as_str() {
        anyhow::bail!("iperf3: {error}");
    }
    let end = &result["end"];
    let received = [&end["sum_received"]["bits_per_second"], &end["sum"]["bits_per_second"]];
    let bits_per_second = received.iter().find_map(|value| value.as_f64()).context("iperf3 tells no rate")?;
    Ok(Measured { bits_per_second, retransmits: end["sum_sent"]["retransmits"].as_u64().unwrap_or(0) })
}
