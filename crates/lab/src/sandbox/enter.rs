//! Which of the three processes this is, and what it does then.

use std::process::{self, ExitCode};

use anyhow::Result;

use super::{LabSandbox, init, outermost};

/// What became of [`enter`].
#[derive(Debug)]
pub enum Entered {
    /// This process is inside, and is to do what the program was started for.
    Inside(LabSandbox),
    /// It was done inside by another process, which ended with this code.
    Done(ExitCode),
}

/// Enters a sandbox: to be called at the start of a command that works inside of one, while the process has one thread.
/// The command's process inside is started with the same arguments.
pub fn enter() -> Result<Entered> {
    if let Some(sandbox) = LabSandbox::of_this_process()? {
        return Ok(Entered::Inside(sandbox));
    }
    match outermost::started_by() {
        // A program that is process 1 for another reason, in a container, was not started by us.
        Some(parent) if process::id() == 1 => init::run(&parent).map(Entered::Done),
        _ => outermost::run().map(Entered::Done),
    }
}
