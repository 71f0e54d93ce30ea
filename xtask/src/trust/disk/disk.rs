//! A block device of our own: a platter behind the loop driver, with a file system on it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use fuser::{BackgroundSession, Config};

use super::platter::Platter;
use super::served::{NAME, Served};

/// A file system on a disk in memory, mounted. All of it ends with the sandbox.
pub struct Disk {
    /// The disk itself.
    pub platter: Arc<Platter>,
    mounted: PathBuf,
    device: String,
    // Last: whatever still is written when it is unmounted needs somebody to take it.
    _session: BackgroundSession,
}

/// A file system that can be made on a disk.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// As `mount -t` has it.
    pub name: &'static str,
    /// The command that makes one, and the package that has it.
    pub make: (&'static [&'static str], &'static str),
    /// The smallest disk that it likes.
    pub size: usize,
    /// Options of a mount.
    pub options: &'static str,
}

/// ext4 as it is made by default.
pub const EXT4: Kind =
    Kind { name: "ext4", make: (&["mkfs.ext4", "-q", "-F"], "e2fsprogs"), size: 48 << 20, options: "rw" };
/// XFS; copies of a disk have its number.
pub const XFS: Kind =
    Kind { name: "xfs", make: (&["mkfs.xfs", "-q", "-f"], "xfsprogs"), size: 304 << 20, options: "nouuid" };

impl Disk {
    /// Makes a disk below `place`, a file system on it, and mounts that.
    pub fn make(place: &Path, kind: Kind) -> Result<Self> {
        let (fuse, mounted) = (place.join("fuse"), place.join("disk"));
        for directory in [&fuse, &mounted] {
            std::fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
        }
        let platter = Arc::new(Platter::new(kind.size));
        let session = fuser::spawn_mount(Served(Arc::clone(&platter)), &fuse, &Config::default());
        let session = session.context("mounting a disk's file by FUSE")?;
        let device = attach(&fuse.join(NAME))?;
        let disk = Self { platter, mounted, device, _session: session };
        let (make, _) = kind.make;
        run(Command::new(make[0]).args(&make[1..]).arg(&disk.device))?;
        run(Command::new("mount")
            .args(["-t", kind.name, "-o", kind.options, &disk.device])
            .arg(&disk.mounted))?;
        Ok(disk)
    }

    /// Where it is mounted.
    pub fn mounted(&self) -> &Path {
        &self.mounted
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.platter.set(super::Condition::Well);
        // What fails here ends with the sandbox.
        let _ = run(Command::new("umount").arg("-l").arg(&self.mounted));
        let _ = run(Command::new("losetup").args(["-d", &self.device]));
    }
}

/// Makes a block device of a file.
pub fn attach(file: &Path) -> Result<String> {
    let output =
        Command::new("losetup").args(["--find", "--show"]).arg(file).output().context("starting losetup")?;
    ensure!(output.status.success(), "losetup: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs a command that must succeed.
pub fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("starting {name}"))?;
    ensure!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(())
}
