//! What is looked at while a cell's clients work: the TCP connections at both ends, the elements of the wires, processor
//! time of programs. It knows a network and nothing of plans.

mod connection;
mod link;
mod processes;
mod sampler;

pub use link::counts;
pub use processes::processor_seconds;
pub use sampler::Sampler;
