//! A relay that passes calls through: what clients nearby send goes to a far server as it is, and what that answers comes back as it
//! is. Any version of NFS, any program, Kerberos and TLS of the two ends included, since nothing is read but the first words of a
//! connection.
//!
//! One far connection belongs to each near one: xids stay unique, sessions and callbacks of NFSv4.1 travel as they would directly.
//! Both are sized to their paths by `howdah-tune`, and the far one may be protected by TLS.
//!
//! `door` accepts and waits for the first words, `opening` makes the far connection, `worker` carries, `sizing` looks at the
//! connections. It does not know what a call means.

mod door;
mod driven;
mod far;
mod first_words;
mod flow;
pub mod limits;
mod metrics;
mod opening;
mod pair;
mod places;
mod registry;
mod relay;
mod report;
mod sizing;
mod tools;
mod worker;

pub use far::{Far, FarError};
pub use metrics::metrics;
pub use relay::{Relay, RelaySettings};
pub use report::{RelayReport, RelayedConnection, WayReport};
