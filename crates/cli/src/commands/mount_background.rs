//! Mounting in the background: another process of this program, which says when the mount is there.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, anyhow};

use howdah_daemon::mounts::READY;

use super::Failure;
use crate::arguments::MountArguments;
use crate::report;

/// Starts it, and returns when the mount is there. What goes wrong until then, it says itself on our standard error.
pub fn start_in_background(arguments: &MountArguments) -> Result<(), Failure> {
    let program = std::env::current_exe().context("finding this program")?;
    let mut command = Command::new(program);
    command.args(["mount", "--in-background"]);
    arguments.options.iter().for_each(|options| _ = command.args(["-o", options]));
    command.args(arguments.nonempty.then_some("--nonempty"));
    command.args(arguments.verbose.then_some("--verbose"));
    command.args(arguments.quiet.then_some("--quiet"));
    arguments.state.iter().for_each(|state| _ = command.arg("--state").arg(state));
    command.arg("--").arg(&arguments.source).arg(&arguments.directory);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("starting the process that keeps the mount")?;
    let output = child.stdout.take().ok_or_else(|| anyhow!("the process has no output"))?;
    // What comes before the last line is for the user.
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        if line == READY {
            return Ok(());
        }
        report::print(&format!("{line}\n"));
    }
    let status = child.wait().context("waiting for the process that keeps the mount")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).filter(|&code| code != 0);
    Err(Failure::Ended(ExitCode::from(code.unwrap_or(1))))
}
