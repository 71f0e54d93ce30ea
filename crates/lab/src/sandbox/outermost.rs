//! The process that somebody started: it makes the process namespace, starts init in it, and waits outside, where it removes
//! the run's directory at the end, also when a step failed.

use std::env;
use std::fs;
use std::process::{self, Command, ExitCode};

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use rustix::process::{getegid, geteuid};

use super::directory::RunDirectory;
use super::guardian::Guardian;
use super::refusal;
use super::terminal::Terminal;

/// Where init reads who started it and where the run's directory is.
const PARENT: &str = "HOWDAH_LAB_PARENT";
/// See [`PARENT`].
const DIRECTORY: &str = "HOWDAH_LAB_DIRECTORY";

/// What init gets, in its environment.
#[derive(Debug)]
pub struct Parent {
    /// The outermost process, as the outside numbers it.
    pub process: u32,
    /// The run's directory.
    pub directory: String,
}

/// What this process got, if it is init.
pub fn started_by() -> Option<Parent> {
    let process = env::var(PARENT).ok()?.parse().ok()?;
    Some(Parent { process, directory: env::var(DIRECTORY).ok()? })
}

/// The command for this program, once more, without what only init gets.
pub fn again() -> Result<Command> {
    let program = env::current_exe().context("asking for the path of this program")?;
    let mut command = Command::new(program);
    command.args(env::args_os().skip(1)).env_remove(PARENT).env_remove(DIRECTORY);
    Ok(command)
}

/// Runs everything inside, and gives the code with which it ended.
pub fn run() -> Result<ExitCode> {
    refusal::check_interfaces()?;
    let directory = RunDirectory::new()?;
    let terminal = Terminal::look();
    let guardian = Guardian::new()?;
    make_namespaces()?;
    let mut command = again()?;
    command.env(PARENT, process::id().to_string()).env(DIRECTORY, directory.path());
    let init = command.spawn().context("starting the first process of a process namespace")?;
    directory.set_init(init.id())?;
    let code = guardian.wait_for(init.id())?;
    // The process that had the terminal inside is gone.
    terminal.take_back();
    Ok(code)
}

/// A process namespace for children from now on, and a user namespace around it where that takes one.
fn make_namespaces() -> Result<()> {
    let processes = CloneFlags::CLONE_NEWPID;
    let first = if geteuid().is_root() { unshare(processes) } else { Err(Errno::EPERM) };
    match first {
        Ok(()) => return Ok(()),
        // An ordinary user, or a superuser who may not do everything, as in a container.
        Err(Errno::EPERM) => {}
        Err(error) => return Err(refusal::namespaces(error)),
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(CloneFlags::CLONE_NEWUSER | processes).map_err(refusal::namespaces)?;
    // Inside we are the superuser; outside that is who we were. Only then do children start as somebody.
    fs::write("/proc/self/setgroups", "deny").map_err(refusal::identities)?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1")).map_err(refusal::identities)?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1")).map_err(refusal::identities)
}
