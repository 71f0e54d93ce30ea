//! A container image started without an engine, as `docker run --read-only --cap-drop all --security-opt no-new-privileges` does it:
//! processes and mounts of its own, the image's user, a root that nobody can write, and no capability.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Error, Result, ensure};
use howdah_lab::sandbox::Guardian;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Gid, Uid, chroot, setgid, setgroups, setuid};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind, mount_change, mount_remount};
use rustix::thread::{
    CapabilitySet, capability_is_in_bounding_set, remove_capability_from_bounding_set, set_no_new_privs,
};

use super::command::run;
use super::environment::is_root_of_the_machine;
use super::image::Image;
use crate::arguments::Contain;
use crate::job::Job;

/// The directory of a job where the image is unpacked.
const ROOT: &str = "root";

/// Makes the root that the image describes, and gives the volumes to its user.
pub fn prepare(job: &Job) -> Result<()> {
    let archive = job.image.as_ref().context("no image was named")?;
    let image = Image::unpack(archive, &job.work.join("image"))?;
    let root = root(&job.work);
    fs::create_dir(&root).with_context(|| format!("making {}", root.display()))?;
    for layer in image.layers()? {
        let (layer, root) = (layer.to_string_lossy().into_owned(), root.to_string_lossy().into_owned());
        run("tar", &["--extract", "--no-same-owner", "--file", &layer, "--directory", &root])?;
    }
    if is_root_of_the_machine() {
        let (user, group) = image.user()?;
        for volume in [job.export(), job.state()] {
            chown(&volume, Some(user), Some(group))
                .with_context(|| format!("giving {} to user {user}", volume.display()))?;
        }
    }
    Ok(())
}

/// The words for this program that start the container.
pub fn configure(command: &mut Command, job: &Job) {
    command.arg("contain").arg("--work").arg(&job.work);
    command.arg("--export").arg(job.export()).arg("--state").arg(job.state());
}

/// Starts the container and waits for it; its first process is this program once more.
pub fn contain(arguments: &Contain) -> Result<ExitCode> {
    if arguments.first {
        return Err(become_server(arguments));
    }
    let guardian = Guardian::new()?;
    unshare(CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS).context("making namespaces")?;
    let program = std::env::current_exe().context("asking for the path of this program")?;
    let mut command = Command::new(program);
    configure_first(&mut command, arguments);
    guardian.run(&mut command)
}

fn configure_first(command: &mut Command, arguments: &Contain) {
    command.arg("contain").arg("--first").arg("--work").arg(&arguments.work);
    command.arg("--export").arg(&arguments.export).arg("--state").arg(&arguments.state);
}

/// Gives up everything and becomes the image's program; returns only with an error.
fn become_server(arguments: &Contain) -> Error {
    let started = || -> Result<Command> {
        let image = Image::at(&arguments.work.join("image"))?;
        make_mounts(arguments)?;
        let (user, group) = image.user()?;
        let is_root = is_root_of_the_machine();
        if !is_root {
            // The only user there is gets the number that the image names.
            unshare(CloneFlags::CLONE_NEWUSER).context("making a user namespace")?;
            for (file, text) in [
                ("setgroups", "deny".to_owned()),
                ("uid_map", format!("{user} 0 1")),
                ("gid_map", format!("{group} 0 1")),
            ] {
                fs::write(Path::new("/proc/self").join(file), text)
                    .with_context(|| format!("writing {file}"))?;
            }
        }
        chroot(&root(&arguments.work)).context("entering the image")?;
        std::env::set_current_dir("/").context("entering the image")?;
        empty_bounding_set().context("giving up capabilities")?;
        if is_root {
            setgroups(&[]).context("giving up groups")?;
            setgid(Gid::from_raw(group)).context("becoming the image's group")?;
            setuid(Uid::from_raw(user)).context("becoming the image's user")?;
        }
        set_no_new_privs(true).context("giving up new privileges")?;
        image.command()
    };
    match started() {
        Ok(mut command) => Error::new(command.exec()).context("starting the image's program"),
        Err(error) => error,
    }
}

/// The volumes, `/proc`, and then a root that is read-only.
fn make_mounts(arguments: &Contain) -> Result<()> {
    let private = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    mount_change("/", private).context("keeping mounts to ourselves")?;
    let root = root(&arguments.work);
    mount_bind(&root, &root).context("mounting the image")?;
    for (from, to) in [(&arguments.export, "data"), (&arguments.state, "state")] {
        mount_bind(from, root.join(to)).with_context(|| format!("mounting /{to}"))?;
    }
    let plain = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", root.join("proc"), "proc", plain, None).context("mounting /proc")?;
    let closed = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    mount_remount(&root, closed, "").context("making the root read-only")
}

fn empty_bounding_set() -> rustix::io::Result<()> {
    for number in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        // The kernel knows no capability of that number: there are no more.
        let Ok(is_there) = capability_is_in_bounding_set(capability) else { break };
        if is_there {
            remove_capability_from_bounding_set(capability)?;
        }
    }
    Ok(())
}

/// An error unless the server in the container that this process started is what the image says, with no capabilities.
pub fn must_be_confined(process: u32) -> Result<()> {
    let children = format!("/proc/{process}/task/{process}/children");
    let children = fs::read_to_string(&children).with_context(|| format!("reading {children}"))?;
    let server = children.split_whitespace().next().context("there is no server in the container")?;
    let path = format!("/proc/{server}/status");
    let status = fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
    let value = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.unwrap_or_default().split_whitespace().next().unwrap_or_default().to_owned()
    };
    for key in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        let set = value(key);
        ensure!(!set.is_empty() && set.chars().all(|digit| digit == '0'), "{key} of the server is {set}");
    }
    ensure!(value("NoNewPrivs") == "1", "the server may get new privileges");
    ensure!(!is_root_of_the_machine() || value("Uid") == "1000", "the server is user {}", value("Uid"));
    let path = format!("/proc/{server}/mountinfo");
    let mounts = fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
    let root = mounts.lines().find(|line| line.split(' ').nth(4) == Some("/"));
    let root = root.context("the server has no root")?;
    ensure!(root.split(' ').nth(5).is_some_and(|options| options.starts_with("ro,")), "its root is {root}");
    Ok(())
}

fn root(work: &Path) -> PathBuf {
    work.join(ROOT)
}
