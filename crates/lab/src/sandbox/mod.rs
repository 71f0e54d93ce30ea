//! A sandbox for the laboratory: user, process, mount and network namespaces of its own, so that whatever happens, a kill
//! included, no process, interface or mount is left, and nothing outside changes.
//!
//! The program starts itself again, twice: the *outermost* process stays outside and waits; *init* is the first process
//! inside, makes the mounts and reaps; the one that does the work is its child. [`enter`] is called by each of them.

mod directory;
mod enter;
mod guardian;
mod init;
mod join;
mod mounts;
mod names;
mod outermost;
mod refusal;
#[allow(clippy::module_inception, reason = "the file holds the sandbox itself")]
mod sandbox;
mod terminal;

pub use enter::{Entered, enter};
pub use guardian::Guardian;
pub use join::{Joined, join};
pub use names::SandboxNames;
pub use sandbox::LabSandbox;
