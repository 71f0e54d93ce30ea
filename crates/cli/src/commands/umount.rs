//! `howdah umount`.

use std::io;
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use howdah_mount::{Found, look_at, unmount};

use super::Failure;
use crate::arguments::UmountArguments;
use crate::mounting::{AskedMount, find_mount, users_of};
use crate::report;

/// Writes what is left, unmounts, and waits for the end of the mount's process.
pub fn run(arguments: &UmountArguments) -> Result<(), Failure> {
    let directory = from_root(&arguments.directory)?;
    let mount = find_mount(&directory, arguments.state.as_deref())?;
    let is_lost = match &mount {
        Some(mount) => flush(mount)?,
        None => is_lost_with_its_process(&directory)?,
    };
    take_away(&directory, arguments.lazy)?;
    if let Some(mount) = mount.filter(|_| !arguments.lazy) {
        mount.wait_for_end();
    }
    if is_lost { Err(Failure::Told) } else { Ok(()) }
}

/// Makes the mount write all data to the server. Names each file that could not be written. True: there was one.
fn flush(mount: &AskedMount) -> anyhow::Result<bool> {
    let failed = mount.flush()?.failed;
    for (file, why) in &failed {
        report::complain(&format!(
            "howdah: data of the file with number {file} (ls -i) could not be written to the server: {why}"
        ));
    }
    Ok(!failed.is_empty())
}

/// Refuses a directory that is not mounted by howdah.
fn is_lost_with_its_process(directory: &Path) -> anyhow::Result<bool> {
    let shown = directory.display();
    match look_at(directory).with_context(|| format!("looking at {shown}"))? {
        Found::Dead => Ok(false),
        Found::Mounted(_, kind) if kind == "fuse.howdah" => Ok(false),
        Found::Mounted(source, kind) => {
            bail!("{shown} is mounted, but not by howdah ({source}, type {kind}): umount {shown}")
        }
        Found::Missing => bail!("there is no directory {shown}"),
        _ => bail!("nothing is mounted on {shown}; howdah mounts lists what is"),
    }
}

fn take_away(directory: &Path, lazy: bool) -> anyhow::Result<()> {
    let shown = directory.display();
    let Err(error) = unmount(directory, lazy) else { return Ok(()) };
    if error.kind() == io::ErrorKind::ResourceBusy {
        let users = users_of(directory);
        let users = if users.is_empty() { "another process".to_owned() } else { users };
        bail!("{shown} is in use by {users}: end that first, or use --lazy");
    }
    Err(anyhow!(error).context(format!("unmounting {shown}")))
}

/// The path from the root on, without asking the mount.
fn from_root(directory: &Path) -> anyhow::Result<std::path::PathBuf> {
    let whole = std::path::absolute(directory).context("finding the directory")?;
    match (whole.parent(), whole.file_name()) {
        (Some(parent), Some(name)) => {
            let parent = parent.canonicalize();
            Ok(parent.with_context(|| format!("finding {}", directory.display()))?.join(name))
        }
        _ => Ok(whole),
    }
}
