//! `iperf3 -c`: TCP and nothing else. Its workload `read` sends from server to client.

use anyhow::{Context, Result};
use serde_json::Value;

use super::contract::{Client, STREAM, run_one, spec, workload_is_one_of};
use crate::plan::Cell;
use crate::record::{CommandRecord, unit};
use crate::run::server::iperf3_port;
use crate::run::{Measured, Place, Scene};

/// iperf3 as the client.
pub struct Iperf3Client {
    /// Its name in the plan.
    pub name: String,
}

impl Client for Iperf3Client {
    fn commands(&self, cell: &Cell, place: &Place) -> Result<Vec<CommandRecord>> {
        let client = spec(cell, &self.name)?;
        let address = place.server_address(cell, &self.name)?.to_string();
        let port = iperf3_port(cell, &self.name).to_string();
        let mut command = ["iperf3", "--json", "-c", &address, "-p", &port].map(str::to_owned).to_vec();
        if client.workload.as_deref() == Some("read") {
            command.push("--reverse".to_owned());
        }
        command.extend(client.options.iter().cloned());
        Ok(vec![CommandRecord { host: client.host.clone(), name: self.name.clone(), command }])
    }

    fn check(&self, cell: &Cell, _: &Place) -> Result<()> {
        workload_is_one_of(cell, &self.name, &STREAM)
    }

    fn work(&mut self, scene: &Scene<'_>) -> Result<Measured> {
        measured(&run_one(self, scene)?)
    }
}

fn measured(text: &str) -> Result<Measured> {
    let parsed: Value = serde_json::from_str(text).context("what iperf3 says is not JSON")?;
    let number = |path: &str| parsed.pointer(path).and_then(Value::as_f64);
    let mut measured = Measured::default();
    let bytes = number("/end/sum_received/bytes").context("iperf3 says nothing of received bytes")?;
    let seconds = number("/end/sum_received/seconds").context("iperf3 says nothing of seconds")?;
    measured.add_bytes(bytes, seconds);
    if let Some(again) = number("/end/sum_sent/retransmits") {
        measured.add("retransmissions", again, unit::COUNT);
    }
    if let Some(percent) = number("/end/cpu_utilization_percent/host_total") {
        measured.add("processor", percent / 100.0 * seconds, unit::SECONDS);
    }
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_received_counts() {
        let text = r#"{"end":{"sum_sent":{"bytes":130000000,"seconds":10.0,"retransmits":3},
            "sum_received":{"bytes":125000000,"seconds":10.0},"cpu_utilization_percent":{"host_total":5.0}}}"#;
        let measured = measured(text).expect("read");
        let figure = |name: &str| measured.figures[name].value;
        assert_eq!(
            (figure("throughput"), figure("retransmissions"), figure("processor")),
            (12.5e6, 3.0, 0.5)
        );
        assert!(super::measured(r#"{"error":"unable to connect"}"#).is_err());
    }
}
