//! What the server did: calls, errors, bytes and time per export and procedure. Each worker counts by itself in plain counters
//! that nobody else changes ([`Clerk`]); a reader adds all of them up ([`Ledger`]).

mod buckets;
mod cell;
mod clerk;
mod counter;
mod desk;
mod figures;
mod ledger;
mod moment;
mod outcome;
mod shard;
mod ticket;
mod timed;

pub use buckets::{bucket, upper_bound};
pub use clerk::Clerk;
pub use desk::at_export;
#[cfg(test)]
pub use figures::Figures;
pub use figures::Latency;
pub use ledger::{Ledger, OfExport, Row, UnheardSums, Workers};
pub use moment::Moment;
pub use outcome::{Outcome, Unheard, error_name};
pub use shard::{NO_EXPORT, PLACES, Shard, Stay};
pub use ticket::{Ticket, Timing};
pub use timed::Timed;
