//! A path of a network as a model: elements, chained, one chain per direction. Pure and seeded: time and packets come in
//! as arguments, and the same seed gives the same path.
//!
//! The caller that drives a [`Path`] pushes packets into it, polls what leaves it, and sleeps until the next event. It does not
//! matter how late it polls: each packet leaves with the time at which it should have left.
//!
//! # Packets
//!
//! A [`Packet`] is a body and what elements must know of it: its bytes on the wire and its segments. A super-packet (what
//! kernels pass around instead of many packets of TCP) has many: the line takes exactly as long for it as for its segments
//! one by one, and what happens by chance (loss, damage, duplication, overtaking) happens to single segments, as it would
//! had they travelled singly. It is cut only where something happens to a part of it, and where it takes longer than
//! 100 us on the line. Bodies are cut by the [`Segments`] trait; bodies of one segment never pay for that.
//!
//! # Elements
//!
//! [`Delay`], [`Jitter`], [`Rate`] with a [`Queue`] ([`DropTail`], [`CoDel`]) and a [`rate::Pace`] (constant, steps, the
//! opportunities of a trace), [`loss::Loss`] by a rule of chance (independent, bursts), [`Corruption`], [`Duplication`],
//! [`Reordering`], [`Mtu`], [`Outages`]; for datagrams with all their fragments [`FragmentLoss`] and [`Reassembly`].
//! Each counts what it did in the same [`Counters`]. Those that delay nothing are one element, [`AtOnce`], by different
//! rules.
//!
//! # Paths as people write them
//!
//! A [`PathSpec`] is read from text such as this, and builds both directions
//! ([`DirectionSpec::build_for`] says in which order elements come, and why):
//!
//! ```
//! use howdah_link::{Element, Packet, PathSpec};
//!
//! let path: PathSpec = toml::from_str(r#"
//!     profile = "wan-30ms"       # where to start from; the rest overrides. Without: a perfect wire.
//!     rtt = "60ms"               # half of it each way; or delay = "30ms", each way
//!     rate = "1Gbit"             # or "unlimited", { steps = [{ rate = "10Mbit", last = "5s" }] }, { trace = "FILE" }
//!     queue = "1bdp"             # or "256KiB", "100 packets", "codel"; left out: a bandwidth-delay product, 10 ms at least
//!     loss = "0.01%"             # of each frame
//!     bursts = { loss = "1%", length = 4 }                   # besides
//!     jitter = "1ms"             # or { most = "1ms", overtaking = true }
//!     reorder = "0.1%"           # or { packets = "0.1%", hold = "5ms" }
//!     duplicate = "0.1%"
//!     corrupt = "0.01%"
//!     mtu = 1500                 # or { size = 1500, too_large = "dropped" }, a black hole
//!     schedule = "down 2s every 30s"
//!     [back]                     # what is different from server to client; [there] is the other way
//!     rate = "100Mbit"
//! "#)?;
//!
//! let (mut there, mut back) = path.build(7); // the seed
//! # #[allow(clippy::disallowed_methods)]
//! let now = std::time::Instant::now();
//! there.push(now, Packet::whole(1538, vec![0u8; 1500]));
//! back.push(now, Packet::whole(84, vec![0u8; 46]));
//! assert!(there.next_event() >= Some(now));
//! # Ok::<_, toml::de::Error>(())
//! ```
//!
//! [`profiles`] are paths with a name and the source of their figures.

mod at_once;
mod corruption;
mod counters;
mod delay;
mod due;
mod duplication;
mod element;
mod ethernet;
mod fragment_loss;
mod hits;
mod jitter;
pub mod loss;
mod mtu;
mod outages;
mod overtaking;
mod packet;
mod path;
mod profile;
pub mod quantity;
pub mod queue;
pub mod rate;
mod reassembly;
mod reordering;
mod segments;
mod spec;

pub use at_once::AtOnce;
pub use corruption::Corruption;
pub use counters::{Counters, Tally};
pub use delay::Delay;
pub use duplication::Duplication;
pub use element::{Element, Refused};
pub use ethernet::{Ethernet, FRAME_OVERHEAD};
pub use fragment_loss::FragmentLoss;
pub use howdah_random::Random;
pub use jitter::Jitter;
pub use mtu::Mtu;
pub use outages::Outages;
pub use packet::Packet;
pub use path::Path;
pub use profile::{Profile, profile, profiles};
pub use queue::{CoDel, DropTail, Queue};
pub use rate::Rate;
pub use reassembly::Reassembly;
pub use reordering::Reordering;
pub use segments::Segments;
pub use spec::{
    BurstsSpec, DirectionSpec, JitterSpec, MtuSpec, OutagesSpec, PathSpec, QueueSpec, RateSpec, ReorderSpec,
    Step, TooLarge,
};
