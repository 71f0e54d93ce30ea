//! The directory to mount on, made free: a mount whose process was killed is taken away, and starts take turns.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, anyhow, bail};
use howdah_mount::{FoundPlace, dead_above, from_root, look_at, unmount};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::noted::{KIND, own_place};
use crate::host::prepare_state;
use crate::screen;

/// How often to try the lock, and when to print that another mount holds it.
const LOOK: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(2);

/// Held by a start that looks at a directory and mounts there. Without it two starts could find the same killed mount, and the second
/// would take away what the first has mounted.
pub struct Turn(#[expect(dead_code, reason = "the lock ends with it")] File);

impl Turn {
    /// Waits for the starts that note their mounts in the same place.
    pub fn wait(place: Option<&Path>) -> Result<Self> {
        let place = place.map_or_else(own_place, Path::to_owned);
        prepare_state(&place)?;
        let lock = File::open(&place).with_context(|| format!("opening {}", place.display()))?;
        let mut began = Some(Instant::now());
        while flock(&lock, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
            if began.take_if(|began| began.elapsed() > PATIENCE).is_some() {
                screen::complain(
                    &"howdah: waiting for another howdah mount, which is looking at its directory",
                );
            }
            thread::sleep(LOOK);
        }
        Ok(Self(lock))
    }
}

/// The directory from the root on, if it can be mounted on. Mounts whose process is gone are taken away.
pub fn prepared(directory: &Path, nonempty: bool) -> Result<PathBuf> {
    let shown = directory.display();
    let place = match from_root(directory) {
        Ok(place) => place,
        Err(error) if error.kind() == io::ErrorKind::NotFound => bail!(missing(directory)),
        Err(error) => return Err(why(directory, error).context(format!("looking at {shown}"))),
    };
    loop {
        match look_at(&place).with_context(|| format!("looking at {shown}"))? {
            // There may be another below.
            FoundPlace::Dead => take_away(directory, &place)?,
            FoundPlace::Free => return Ok(place),
            FoundPlace::NotEmpty if nonempty => return Ok(place),
            FoundPlace::NotEmpty => {
                bail!(
                    "{shown} is not empty, and a mount would hide what is in it: choose another directory, or use --nonempty"
                )
            }
            FoundPlace::Mounted(source, kind) => {
                let program = if kind == KIND { "howdah " } else { "" };
                bail!("{shown} is mounted already ({source}): {program}umount {shown} takes it away")
            }
            FoundPlace::NotDirectory => bail!("{shown} is not a directory: mkdir one, and mount on that"),
            FoundPlace::Missing => bail!(missing(directory)),
        }
    }
}

fn missing(directory: &Path) -> String {
    let shown = directory.display();
    format!("there is no directory {shown}: mkdir -p {shown}")
}

fn take_away(directory: &Path, place: &Path) -> Result<()> {
    let shown = directory.display();
    unmount(place, true).map_err(|error| why(place, error)).with_context(|| {
        format!("taking away the mount on {shown}, whose process is gone (as root: umount -l {shown})")
    })
}

/// What is wrong with a directory: the error, or a mount whose process is gone and which it lies below.
fn why(directory: &Path, error: io::Error) -> Error {
    let whole = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    let Some(above) = dead_above(&whole) else { return error.into() };
    let above = above.display();
    anyhow!("{above} is a mount whose process is gone: howdah umount {above} takes it away")
}
