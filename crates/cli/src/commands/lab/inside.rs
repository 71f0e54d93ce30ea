//! Work that needs a sandbox.

use std::process::ExitCode;

use howdah_lab::sandbox::{self, Entered, LabSandbox};

use crate::commands::Failure;

/// Does something in a sandbox. It is called by three processes in turn, so that nothing may come before it that is not to be
/// done by each of them.
pub fn inside(work: impl FnOnce(&LabSandbox) -> Result<(), Failure>) -> Result<(), Failure> {
    match sandbox::enter()? {
        Entered::Inside(sandbox) => work(&sandbox),
        Entered::Done(code) if code == ExitCode::SUCCESS => Ok(()),
        // The command inside has printed its error.
        Entered::Done(code) => Err(Failure::Ended(code)),
    }
}
