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
    file: PathBuf,
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

/// btrfs, which has quotas without help of the kernel's configuration.
pub const BTRFS: Kind = Kind {
    name: "btrfs",
    make: (&["mkfs.btrfs", "-q", "-f"], "btrfs-progs"),
    size: 128 << 20,
    options: "rw",
};

impl Disk {
    /// Makes a disk below `place`, a file system on it, and mounts that.
    pub fn make(place: &Path, kind: Kind) -> Result<Self> {
        Self::attached(place, kind, Platter::new(kind.size), |device| {
            let (make, _) = kind.make;
            run(Command::new(make[0]).args(&make[1..]).arg(device))
        })
    }

    /// A disk below `place` that holds these bytes, with a file system of this kind: the kernel recovers it, and mounts it.
    pub fn of(place: &Path, kind: Kind, bytes: Vec<u8>) -> Result<Self> {
        Self::attached(place, kind, Platter::of(bytes), |_| Ok(()))
    }

    fn attached(
        place: &Path,
        kind: Kind,
        platter: Platter,
        fill: impl FnOnce(&str) -> Result<()>,
    ) -> Result<Self> {
        let (fuse, mounted) = (place.join("fuse"), place.join("disk"));
        for directory in [&fuse, &mounted] {
            std::fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
        }
        let platter = Arc::new(platter);
        let session = fuser::spawn_mount(Served(Arc::clone(&platter)), &fuse, &Config::default());
        let session = session.context("mounting a disk's file by FUSE")?;
        let file = fuse.join(NAME);
        let device = attach(&file)?;
        let mut mount = Command::new("mount");
        mount.args(["-t", kind.name, "-o", kind.options, &device]).arg(&mounted);
        let outcome = fill(&device).and_then(|()| run(&mut mount));
        // From here on only the mount holds the device, which goes with it, whatever ends us.
        let detached = run(Command::new("losetup").args(["-d", &device]));
        outcome.and(detached)?;
        Ok(Self { platter, mounted, file, _session: session })
    }

    /// Where it is mounted.
    pub fn mounted(&self) -> &Path {
        &self.mounted
    }

    /// The file that it is for the kernel.
    pub fn file(&self) -> &Path {
        &self.file
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.platter.set(super::Condition::Well);
        // What fails here ends with the sandbox.
        let _ = run(Command::new("umount").arg("-l").arg(&self.mounted));
    }
}

/// Why there can be no disk here, if there can be none: block devices are the superuser's, and not of a namespace.
pub fn lacking() -> Option<String> {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    if !rustix::process::geteuid().is_root() || !is_everybody(&map) {
        return Some("it takes root itself: a disk of our own is a loop device".to_owned());
    }
    let missing = ["/dev/fuse", "/dev/loop-control"].into_iter().find(|path| !Path::new(path).exists())?;
    Some(format!("there is no {missing}, and a disk of our own is made with it"))
}

/// Whether a namespace has all users, each under its own number, as only the first one has (user_namespaces(7)).
fn is_everybody(map: &str) -> bool {
    map.split_whitespace().eq(["0", "0", "4294967295"])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_of_a_namespace_is_not_root() {
        assert!(is_everybody("         0          0 4294967295\n"));
        assert!(!is_everybody("         0       1000          1\n"));
        assert!(!is_everybody(""));
    }
}
