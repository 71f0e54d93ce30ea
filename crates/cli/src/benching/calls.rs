//! The counters of the client's channel, in the shape that the laboratory has for them.

use std::sync::Arc;

use howdah_client::channel::{Channel, ProcedureReport};
use howdah_lab::counters::{CallCounters, ProcedureCount};

/// Calls that go through one channel.
pub struct ChannelCalls(pub Arc<Channel>);

impl CallCounters for ChannelCalls {
    fn counts(&self) -> Vec<ProcedureCount> {
        self.0.report().procedures.iter().map(count).collect()
    }
}

fn count(report: &ProcedureReport) -> ProcedureCount {
    let &ProcedureReport { program, version, procedure, calls, retransmissions, errors, .. } = report;
    ProcedureCount { program, version, procedure, calls, retransmissions, errors }
}
