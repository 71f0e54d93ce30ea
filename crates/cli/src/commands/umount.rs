//! `howdah umount`.

use std::io;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use howdah_client::url::NfsUrl;
use howdah_daemon::mounts::{AskedMount, FlushAnswer, KIND, find_mount, lost_lines, users_of};
use howdah_mount::{FoundPlace, from_root, look_at, mounted_on, unmount};

use super::Failure;
use crate::arguments::UmountArguments;
use crate::report;

/// How long a flush may take before we print what we wait for.
const PATIENCE: Duration = Duration::from_secs(3);

/// Writes what is left, unmounts, and waits for the end of the mount's process.
pub fn run(arguments: &UmountArguments) -> Result<(), Failure> {
    let directory = &arguments.directory;
    if directory.to_str().is_some_and(NfsUrl::is_meant) {
        let shown = directory.display();
        return Err(Failure::Usage(anyhow!(
            "{shown} is a URL: name the directory on which it is mounted; howdah mounts lists both"
        )));
    }
    let directory = from_root(directory).with_context(|| format!("finding {}", directory.display()))?;
    let noted = find_mount(&directory, arguments.state.as_deref())?;
    // A mount whose process runs is not asked: its server may be away.
    let lives = (noted.is_some() && is_ours(&directory)?) || is_alive(&directory)?;
    // What is noted of a mount that was taken out of sight (--lazy) is not what is here now.
    let mount = noted.filter(|_| lives);
    let mut is_lost = match &mount {
        Some(mount) if arguments.lazy => flush_in_time(mount),
        Some(mount) => flush(mount, arguments.quiet)?,
        None => is_unflushed(&directory, lives),
    };
    take_away(&directory, arguments.lazy)?;
    if !lives && !arguments.quiet {
        report::complain(&format!("howdah: {} is unmounted", directory.display()));
    }
    if let Some(mount) = mount.filter(|_| !arguments.lazy) {
        is_lost |= wait_for_end(&mount, arguments)?;
    }
    if is_lost { Err(Failure::Told) } else { Ok(()) }
}

/// Waits for the end of the mount's process. The process goes on if another mount namespace has the mount, too. Then this writes all
/// data and prints a message. True: data is lost.
fn wait_for_end(mount: &AskedMount, arguments: &UmountArguments) -> anyhow::Result<bool> {
    if mount.has_ended_within(PATIENCE) {
        return Ok(false);
    }
    let is_lost = match flush(mount, arguments.quiet) {
        // It ended meanwhile.
        Err(_) if mount.has_ended_within(Duration::ZERO) => false,
        outcome => outcome?,
    };
    if !mount.has_ended_within(Duration::from_secs(1)) && !arguments.quiet {
        let data = if is_lost { "" } else { ", and all data is written" };
        report::complain(&format!(
            "howdah: unmounted here{data}. Another mount namespace (a container or a service) still has {}: \
             process {} serves it until that ends",
            arguments.directory.display(),
            mount.process(),
        ));
    }
    Ok(is_lost)
}

/// Makes the mount write all data to the server. Names each file that could not be written. True: there was one.
fn flush(mount: &AskedMount, is_quiet: bool) -> anyhow::Result<bool> {
    let answer = if is_quiet { mount.flush() } else { told_if_long(|| mount.flush()) };
    Ok(is_lost(&answer?))
}

/// The same, but waits for no server that is away: the mount's process lives on until all is written.
fn flush_in_time(mount: &AskedMount) -> bool {
    let process = mount.process();
    match mount.flush_within(PATIENCE) {
        Ok(Some(answer)) => is_lost(&answer),
        Ok(None) => {
            report::complain(&format!(
                "howdah: the server has not taken all data yet: process {process} writes the rest when the server answers"
            ));
            false
        }
        // It may end at any time.
        Err(_) if mount.has_ended_within(Duration::ZERO) => false,
        Err(error) => {
            report::complain(&format!(
                "howdah: process {process} writes what is left after this command: {error:#}"
            ));
            false
        }
    }
}

/// Names each file whose data could not be written. True: there was one.
fn is_lost(answer: &FlushAnswer) -> bool {
    let lost = lost_lines(answer);
    lost.iter().for_each(|line| report::complain(&format!("howdah: {line}")));
    !lost.is_empty()
}

/// Runs `flush`. If it takes long, prints that the server has not taken the data yet.
fn told_if_long<T>(flush: impl FnOnce() -> T) -> T {
    let (done, is_done) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if is_done.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                report::complain(
                    &"howdah: waiting for the server to take data that is not written yet; Ctrl-C leaves the mount as it is, \
                     --lazy takes it out of sight at once",
                );
            }
        });
        let outcome = flush();
        drop(done);
        outcome
    })
}

/// Says why the mount cannot be asked to write its data. True: data may be lost.
fn is_unflushed(directory: &Path, lives: bool) -> bool {
    let shown = directory.display();
    if lives {
        report::complain(&format!(
            "howdah: the process of the mount on {shown} was not found (--state names its place): it writes what is left after this \
             command"
        ));
    } else {
        report::complain(&format!(
            "howdah: the process of the mount on {shown} was killed: data of files that were not closed is lost"
        ));
    }
    !lives
}

/// Whether howdah's mounts are of the type of what is mounted here.
fn is_ours(directory: &Path) -> anyhow::Result<bool> {
    let mounted = mounted_on(directory).with_context(|| format!("looking at {}", directory.display()))?;
    Ok(mounted.is_some_and(|(_, kind)| kind == KIND))
}

/// Whether the process of the mount lives. Refuses a directory that is not mounted by howdah.
fn is_alive(directory: &Path) -> anyhow::Result<bool> {
    let shown = directory.display();
    match look_at(directory).with_context(|| format!("looking at {shown}"))? {
        FoundPlace::Dead => Ok(false),
        FoundPlace::Mounted(_, kind) if kind == KIND => Ok(true),
        FoundPlace::Mounted(source, kind) => {
            bail!("{shown} is mounted, but not by howdah ({source}, type {kind}): umount {shown}")
        }
        FoundPlace::Missing => bail!("there is no directory {shown}"),
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
