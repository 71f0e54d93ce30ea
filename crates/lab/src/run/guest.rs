//! A guest of a cell: booted behind one of its hosts, ended with the cell, its logs kept with the cell's.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rustix::process::Pid;

use super::{Place, Scene, Stop};
use crate::guest::{GUEST_KERNEL, GuestRan, GuestSession, Placing, through, why};
use crate::plan::Cell;
use crate::record::CommandRecord;

/// The modules of a guest that is a client or a server.
const MODULES: &str = "ipv6 nfsv3";

/// A guest that has booted. Dropped, it is gone.
pub struct Guest {
    session: Option<GuestSession>,
    group: Pid,
    stop: Stop,
    /// Where its logs are, and where they are to be kept.
    logs: (PathBuf, PathBuf),
    name: String,
}

/// Where a guest is to be: it stands for its host, with the host's settings.
pub fn placing(cell: &Cell, place: &Place, host: &str, name: &str, number: u8, memory: u32) -> Placing {
    let spec = cell.spec.hosts.get(host);
    let sysctls =
        spec.map(|host| host.sysctls.iter().map(|(name, value)| (name.clone(), value.text())).collect());
    Placing {
        host: host.to_owned(),
        number,
        directory: place.temporary.join(format!("guest-{name}")),
        memory,
        disk: None,
        modules: MODULES,
        sysctls: sysctls.unwrap_or_default(),
    }
}

/// The command that boots it, for the record.
pub fn boot_command(placing: &Placing, name: &str) -> CommandRecord {
    let mut command = vec![GUEST_KERNEL.to_owned()];
    command.extend(placing.kernel().arguments());
    CommandRecord { host: placing.host.clone(), name: format!("{name} guest"), command }
}

impl Guest {
    /// Boots it. An error that says what to install where `programs` or User Mode Linux are missing.
    pub fn boot(scene: &Scene<'_>, placing: &Placing, name: &str, programs: &[&str]) -> Result<Self> {
        if let Some(missing) = Placing::missing(programs) {
            bail!("{missing}");
        }
        if scene.stop.is_asked() {
            bail!("interrupted");
        }
        let session = placing.boot(scene.network).with_context(|| format!("the guest of {name}"))?;
        Ok(Self::of(scene, placing, name, session))
    }

    /// The same in the middle of the way to its host.
    pub fn in_the_middle(scene: &Scene<'_>, placing: &Placing, wire: &str, netem: &str) -> Result<Self> {
        if let Some(missing) = Placing::missing(&["tc"]) {
            bail!("{missing}");
        }
        let session = through(scene.network, wire, placing, netem)?;
        Ok(Self::of(scene, placing, "netem", session))
    }

    fn of(scene: &Scene<'_>, placing: &Placing, name: &str, session: GuestSession) -> Self {
        let group = session.group();
        scene.stop.add(group);
        let logs = (placing.directory.join("log"), scene.logs().to_owned());
        Self { session: Some(session), group, stop: scene.stop.clone(), logs, name: name.to_owned() }
    }

    /// Runs a script, which must succeed before the cell's time is over.
    pub fn run(&mut self, scene: &Scene<'_>, script: &str) -> Result<GuestRan> {
        let ran = self.session().run(script, scene.deadline())?;
        if ran.ended.code != 0 {
            bail!("{}", why(&ran));
        }
        Ok(ran)
    }

    /// An error if it ended by itself.
    pub fn check(&mut self) -> Result<()> {
        self.session().check()
    }

    /// The process that is its kernel.
    pub fn process(&self) -> u32 {
        self.group.as_raw_nonzero().get().unsigned_abs()
    }

    fn session(&mut self) -> &mut GuestSession {
        self.session.as_mut().expect("it is taken only when the guest goes")
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.stop.remove(self.group);
        drop(self.session.take());
        let (from, to) = &self.logs;
        // They explain a failure; that they could not be kept is no other one.
        let _ = keep(from, to, &self.name);
    }
}

/// Copies what was said in the guest beside the logs of the cell.
fn keep(from: &Path, to: &Path, name: &str) -> std::io::Result<()> {
    for entry in fs::read_dir(from)?.flatten() {
        let path = entry.path();
        if path.is_file() {
            let kept = format!("{name}-guest-{}", entry.file_name().to_string_lossy());
            fs::copy(&path, to.join(kept))?;
        }
    }
    Ok(())
}
