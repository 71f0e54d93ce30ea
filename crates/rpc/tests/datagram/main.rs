//! RPC over UDP in virtual time: the client's state machine, a model of a path each way, and a model of a server.

#![allow(clippy::disallowed_methods)] // Some instant is needed to start from.
#![allow(clippy::print_stdout)] // Figures, for runs with --nocapture.

mod clean;
mod loaded;
mod lossy;
mod properties;
mod setup;
mod slow;
mod small;
