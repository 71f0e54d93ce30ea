//! `cargo xtask bench udp`: RPC over UDP beside TCP on an emulated line: packets of the kernel's own, real fragments, and the
//! kernel's reassembly, with a path of `howdah-link` between two network namespaces.

mod floor;
mod host;
mod lines;
mod loopback;
mod reader;
mod run;
mod slow;
mod tun;
mod wire;

pub use run::run;
