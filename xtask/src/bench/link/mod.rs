//! `cargo xtask bench link`: how fast and how exact the laboratory's forwarder is, beside what this machine can do without it.

mod delay;
mod iperf;
mod loss;
mod rate;
mod run;
mod scene;
mod throughput;

pub use run::run;
