//! `cargo xtask bench tuning`: what it costs to look at connections and to size them: processor time of the thread that does
//! it, with a crowd of connections, and what calls and data lose to it over loopback.

mod crowd;
mod run;
mod thread;

pub use crowd::{Crowd, allow_descriptors};
pub use run::run;
pub use thread::ThreadClock;
