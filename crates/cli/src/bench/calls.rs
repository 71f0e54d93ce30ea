//! The counters of the client, in the shape that the laboratory has for them.

use std::sync::Arc;

use howdah_client::Remote;
use howdah_client::channel::ProcedureReport;
use howdah_workload::counters::{CallCounters, ProcedureCount};

/// The calls of one client: those of its mounting, and those of its channel.
pub struct ClientCalls(pub Arc<dyn Remote>);

impl CallCounters for ClientCalls {
    fn counts(&self) -> Vec<ProcedureCount> {
        let report = self.0.channel().report();
        self.0.connect_calls().iter().chain(&report.procedures).map(count).collect()
    }
}

fn count(report: &ProcedureReport) -> ProcedureCount {
    let &ProcedureReport { program, version, procedure, calls, retransmissions, errors, .. } = report;
    ProcedureCount { program, version, procedure, calls, retransmissions, errors }
}
