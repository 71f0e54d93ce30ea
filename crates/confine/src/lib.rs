//! What a server gives up of its rights before it serves: capabilities, files (Landlock), system calls (seccomp). For a
//! process of one thread, whose threads to come inherit what is left. Knows no protocol, no configuration and no log.

mod capabilities;
mod confinement;
mod files;
mod filter;
mod system_calls;

pub use capabilities::{KEPT, Kept, LOW_PORTS, give_up_capabilities};
pub use confinement::{Confinement, ConfinementPlan, confine};
pub use files::Reach;
pub use system_calls::{ALLOWED, FATAL};
