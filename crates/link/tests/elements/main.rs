//! What every element promises, and what each promises beside, in virtual time.

#![allow(clippy::disallowed_methods)] // Some instant is needed to start from.

mod chance;
mod codel;
mod delay;
mod fragments;
mod load;
mod mtu;
mod outages;
mod promises;
mod queue;
mod rate;
mod run;
mod specs;
