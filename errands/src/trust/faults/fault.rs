//! A fault: how it begins and ends, and what is documented of it.

use anyhow::Result;

use super::pulse::Pulse;
use super::scene::Scene;

/// Something that goes wrong.
pub struct Fault {
    /// What it is called.
    pub name: &'static str,
    /// What is documented of it.
    pub expected: &'static str,
    /// A command that it takes, and the package that has it.
    pub needs: Option<(&'static str, &'static str)>,
    /// What it does to calls.
    pub effect: Effect,
    /// Begins it; the client is at work.
    pub begin: fn(&Scene, &Pulse) -> Result<()>,
    /// Ends it.
    pub end: fn(&Scene) -> Result<()>,
}

/// What a fault does to calls. One that did nothing was none.
#[derive(Clone, Copy)]
pub enum Effect {
    /// They wait for its end.
    Wait,
    /// They are refused, with one of these.
    Refused(&'static [&'static str]),
    /// Those on files and connections that are open go on; who comes meanwhile, by this URL, waits for its end.
    NewcomersWait(fn(&Scene) -> String),
    /// They go on; before its end this says what there was of it, or that it was not there.
    GoesOn(fn(&Scene) -> Result<()>),
    /// They go on or wait, as chance has it; the same.
    Stutters(fn(&Scene) -> Result<()>),
}
