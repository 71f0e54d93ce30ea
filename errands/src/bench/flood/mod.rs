//! A crowd that means harm beside one mount that does not: what the mount keeps of its throughput and latency, and what the
//! server needs in memory. `kind` is what an attacker does, `attacker` his connection, `crowd` lets many do it, `mount` is who suffers.

mod attacker;
mod calls;
mod crowd;
mod kind;
mod mount;
mod run;
mod table;

pub use run::run;
