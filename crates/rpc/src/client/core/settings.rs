//! How a channel behaves.

use std::time::Duration;

use howdah_tune::flight::Bounds;

/// How long a call waits for a server that does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Patience {
    /// For ever: the server will be back ("hard").
    #[default]
    Hard,
    /// So long, then the call is given up ("soft"). It may still have been run.
    Soft(Duration),
    /// Until nothing at all was heard from the server for so long. Then calls are refused ([`Failure::Away`](super::Failure)) that
    /// were not sent, or that change nothing; a change that was sent is waited for. For a relay, whose clients ask again.
    WhileHeard(Duration),
}

/// What can be chosen of the decisions of a channel.
#[derive(Debug, Clone, Copy)]
pub struct CoreSettings {
    /// How long a call waits.
    pub patience: Patience,
    /// How long a server may say nothing while calls wait before its connection is made again.
    pub silence: Duration,
    /// How many bulk calls may be in flight.
    pub bounds: Bounds,
}
