//! Measuring: from what was typed to a place, plans and a report. Knows the laboratory and the client, and prints nothing
//! but how far it is.

mod calls;
mod channel;
mod place;
mod plans;
mod session;
mod watch;

pub use calls::ClientCalls;
pub use place::{Opened, is_at_server, open_place};
pub use plans::{Planned, no_plans, plans};
pub use session::{BenchSession, STOPPING, measure, stop_on_signal};
pub use watch::Watch;
