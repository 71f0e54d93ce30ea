//! All of it at once, and what came of it, in one sentence.

use std::fmt;

use super::capabilities::keep_only;
use super::files::{Reach, reach_only};
use super::filter::allow_only;
use super::system_calls::ALLOWED;

/// What shall be given up.
#[derive(Debug)]
pub struct ConfinementPlan<'a> {
    /// Whether ports below 1024 may be needed once more.
    pub low_ports: bool,
    /// The files that stay within reach; or why none are kept out of it.
    pub files: Result<Reach<'a>, String>,
    /// Whether system calls that a server never makes are refused; or why not.
    pub system_calls: Result<(), String>,
}

/// What was given up.
#[derive(Debug, Clone)]
pub struct Confinement {
    /// The names of the capabilities that are left; or why all are.
    pub capabilities: Result<Vec<&'static str>, String>,
    /// Whether the files within reach are named; or why not.
    pub files: Result<(), String>,
    /// Whether the system calls are; or why not.
    pub system_calls: Result<(), String>,
}

/// Gives up what the plan says, as far as this kernel can, for this thread and those that it starts. Each is tried; one that
/// fails does not hinder the others.
#[must_use]
pub fn confine(plan: &ConfinementPlan<'_>) -> Confinement {
    let capabilities = keep_only(plan.low_ports).map_err(|error| error.to_string());
    let files = plan.files.as_ref().map_err(String::clone).and_then(reach_only);
    // Last: it refuses what the others are made with.
    let system_calls = plan.system_calls.clone().and_then(|()| allow_only());
    Confinement { capabilities, files, system_calls }
}

impl fmt::Display for Confinement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.capabilities {
            Ok(names) if names.is_empty() => write!(formatter, "all capabilities dropped; ")?,
            Ok(names) => write!(formatter, "capabilities dropped except {}; ", names.join(" "))?,
            Err(why) => write!(formatter, "capabilities kept ({why}); ")?,
        }
        match &self.files {
            Ok(()) => write!(
                formatter,
                "files limited to exports and state directory, with system files read-only (Landlock); "
            )?,
            Err(why) => write!(formatter, "files not limited ({why}); ")?,
        }
        match &self.system_calls {
            Ok(()) => write!(formatter, "{} system calls allowed (seccomp)", ALLOWED.len()),
            Err(why) => write!(formatter, "system calls not limited ({why})"),
        }
    }
}
