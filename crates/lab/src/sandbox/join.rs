//! Joining a sandbox from outside: another shell on one of its hosts.

use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};
use howdah_net::own_sysfs;
use nix::sched::{CloneFlags, setns};

use super::directory::init_of;
use super::guardian::Guardian;
use super::terminal::Terminal;

/// A sandbox that this process has joined. Commands that it starts are inside; it is not wholly.
#[derive(Debug)]
pub struct Joined {
    id: String,
}

/// Joins the sandbox with that number. Takes a process with one thread.
pub fn join(id: &str) -> Result<Joined> {
    let init = init_of(id)?;
    let open = |kind: &str| {
        let path = format!("/proc/{init}/ns/{kind}");
        File::open(&path).with_context(|| format!("opening {path}; sandbox {id} may just have ended"))
    };
    let (user, processes, mounts) = (open("user")?, open("pid")?, open("mnt")?);
    if !is_ours(&user)? {
        setns(&user, CloneFlags::CLONE_NEWUSER).context("joining its user namespace")?;
    }
    setns(&processes, CloneFlags::CLONE_NEWPID).context("joining its process namespace")?;
    setns(&mounts, CloneFlags::CLONE_NEWNS).context("joining its mount namespace")?;
    Ok(Joined { id: id.to_owned() })
}

impl Joined {
    /// Runs a command on one of its hosts, and gives its code.
    pub fn run(&self, host: &str, command: &mut Command) -> Result<ExitCode> {
        ensure!(!host.contains('/'), "{host:?} is no name of a host");
        let place = Path::new("/run/netns").join(host);
        let namespace = match File::open(&place) {
            Ok(namespace) => namespace,
            Err(_) => bail!("sandbox {} has no host {host}", self.id),
        };
        setns(&namespace, CloneFlags::CLONE_NEWNET).with_context(|| format!("entering host {host}"))?;
        own_sysfs().context("giving it a /sys of its own")?;
        let terminal = Terminal::look();
        let code = Guardian::new()?.run(command)?;
        terminal.take_back();
        Ok(code)
    }
}

/// Whether we are in that user namespace: the superuser's sandboxes have none of their own.
fn is_ours(user: &File) -> Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let theirs = user.metadata().context("looking at its user namespace")?;
    let ours = std::fs::metadata("/proc/self/ns/user").context("looking at our user namespace")?;
    Ok((theirs.dev(), theirs.ino()) == (ours.dev(), ours.ino()))
}
