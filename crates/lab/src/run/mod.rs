//! Runs plans: for every cell the network, the server, the clients at the same time, what is looked at meanwhile, and
//! everything ended and checked. A cell that fails is a row that says so, and the next one begins.
//!
//! `runner` is the order of cells, `cell` one of them, `scene` what happens in it has at hand, `server` and `client` a file
//! for each kind. It draws nothing and prints nothing: the caller gets its events through a [`RunObserver`].

mod bench_json;
mod cell;
mod check;
mod client;
mod commit;
mod confined;
mod derived;
mod failover;
mod guest;
mod job;
mod measured;
mod netem;
mod outcome;
mod planned;
mod processes;
mod relay;
mod routes;
mod runner;
mod scene;
mod server;
mod stop;
mod topology;
mod verdicts;
mod word;

pub use check::check;
pub use client::{Client, client};
pub use job::{Job, Selection, jobs};
pub use measured::Measured;
pub use outcome::{Ended, conclude};
pub use planned::planned_commands;
pub use processes::{ProcessRan, Running};
pub use runner::{RunObserver, Runner, Upcoming};
pub use scene::{Place, Scene};
pub use server::{ServedExport, Server, server};
pub use stop::Stop;
pub use topology::{addresses, line_rate, round_trip, topology};
