//! A network on this machine: hosts that are network namespaces, and wires between them that are paths of `howdah-link`.
//!
//! [`Topology`] says what it is to be like, [`LabNetwork::build`] makes it. Nothing outside of it is changed, and nothing is
//! left of it when it is dropped or its process ends, however it ends. It knows nothing of what runs on it.

mod addresses;
mod build;
mod frame;
mod host;
mod interfaces;
mod local_routes;
#[allow(clippy::module_inception, reason = "the file holds the network itself")]
mod network;
mod sysctls;
mod topology;
mod validation;
mod wire;

pub use addresses::Addresses;
pub use frame::Frame;
pub use host::LabHost;
pub use network::LabNetwork;
pub use topology::{HostSpec, Topology, WireSpec, are_punctual};
pub use wire::{DirectionCounters, ElementCounters, Lateness, Wire, WireCounters};
