//! Experiments in virtual time: an RPC client over UDP, a path of `howdah-link` and a model of a server, no network. The same
//! arguments give the same figures, on any machine.

mod client_2003;
mod options;
mod parameters;
mod records;
mod result;
mod run;
#[cfg(test)]
mod tests;

pub use parameters::{Parameters, TimerRule};
pub use result::SimulationResult;
pub use run::{run, simulate};
