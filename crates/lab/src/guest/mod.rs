//! Guests: a Linux kernel as a process (User Mode Linux), with the host's files as its root, as a host of a network.
//!
//! `kernel` is its command line, `share` the directory that host and guest have in common, `line` what they say to each
//! other, `session` a guest that boots, runs scripts and halts. `placing` puts it into a network; `mount`
//! is what its NFS client does there. It knows neither plans nor howdah; a test tool that only wants to boot takes
//! `kernel` and `share`.

mod ganesha;
mod kernel;
mod line;
mod middle;
mod mount;
mod mount_option;
mod placing;
mod programs;
mod session;
mod share;
mod tap;

pub use ganesha::Ganesha;
pub use kernel::{GUEST_KERNEL, GuestInterface, Kernel};
pub use line::Ended;
pub use middle::through;
pub use mount::{MOUNTED, Mount, is_kerberos, is_version_4, kerberos};
pub use placing::Placing;
pub use programs::{find_command, missing, package_of, search_path};
pub use session::{GuestRan, GuestSession, MAIN, why};
pub use share::{GuestShare, NFSD, quoted};
pub use tap::Tap;
