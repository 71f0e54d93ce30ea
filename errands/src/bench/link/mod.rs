//! `cargo xtask bench link`: how fast and how exact the laboratory's forwarder is, beside what this machine can do without it.

mod datagrams;
mod delay;
mod elsewhere;
mod iperf;
mod loss;
mod probe;
mod rate;
mod run;
mod scene;
mod sleep;
mod throughput;

pub use run::run;
pub use scene::Scene;
