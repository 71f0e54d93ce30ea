//! The directory to mount on: what is there already, and the kernel's knobs of a mount.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount_remount};

/// How long a mount may take to open its directory before it is taken for alive: one without a process refuses at once.
const ANSWER: Duration = Duration::from_secs(2);

/// What is found at a directory to mount on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundPlace {
    /// A directory that can be mounted on.
    Free,
    /// A directory with something in it, which a mount would hide.
    NotEmpty,
    /// A mount: what it shows as its device, and its type.
    Mounted(String, String),
    /// A mount by FUSE whose process is gone.
    Dead,
    /// Something that is no directory.
    NotDirectory,
    /// Nothing.
    Missing,
}

/// What the kernel enforces of a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enforced {
    /// Whether every write is refused.
    pub read_only: bool,
    /// Whether set-user-ID and set-group-ID bits count.
    pub set_id: bool,
    /// Whether devices can be opened.
    pub devices: bool,
    /// Whether programs may be run.
    pub executable: bool,
}

/// Changes what the kernel enforces of the mount on a directory.
///
/// # Errors
/// The kernel refuses: this takes root, and no file may be open for writing in what becomes read-only.
pub fn remount(directory: &Path, enforced: Enforced) -> io::Result<()> {
    let flags = [
        (enforced.read_only, MountFlags::RDONLY),
        (!enforced.set_id, MountFlags::NOSUID),
        (!enforced.devices, MountFlags::NODEV),
        (!enforced.executable, MountFlags::NOEXEC),
    ];
    let flags =
        flags.iter().filter(|(is_set, _)| *is_set).fold(MountFlags::empty(), |all, (_, flag)| all | *flag);
    Ok(mount_remount(directory, flags, c"")?)
}

/// Looks at a directory to mount on.
///
/// # Errors
/// It cannot be looked at.
pub fn look_at(directory: &Path) -> io::Result<FoundPlace> {
    // What a mount that is away would be asked for must not be waited for.
    match statx(CWD, directory, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE) {
        Err(error) if is_dead(error.raw_os_error()) => return Ok(FoundPlace::Dead),
        Err(Errno::NOENT) => return Ok(FoundPlace::Missing),
        Err(error) => return Err(error.into()),
        Ok(found) if u32::from(found.stx_mode) & libc::S_IFMT != libc::S_IFDIR => {
            return Ok(FoundPlace::NotDirectory);
        }
        Ok(_) => {}
    }
    if let Some((source, kind)) = mounted_on(directory)? {
        // The kernel answers from memory for one that is dead.
        let is_dead = kind.starts_with("fuse") && refuses(directory);
        return Ok(if is_dead { FoundPlace::Dead } else { FoundPlace::Mounted(source, kind) });
    }
    let is_empty = fs::read_dir(directory)?.next().is_none();
    Ok(if is_empty { FoundPlace::Free } else { FoundPlace::NotEmpty })
}

/// What the kernel says of a mount by FUSE whose process is gone, or just going.
fn is_dead(errno: i32) -> bool {
    errno == libc::ENOTCONN || errno == libc::ECONNABORTED
}

/// Whether a mount has no process that could open its directory. One that waits for its server has.
fn refuses(directory: &Path) -> bool {
    let (answer, answered) = channel();
    let directory = directory.to_owned();
    let open = move || {
        let error = fs::read_dir(directory).err();
        let _ = answer.send(error.and_then(|error| error.raw_os_error()).is_some_and(is_dead));
    };
    let asks = thread::Builder::new().name("look".into()).spawn(open);
    asks.is_ok() && answered.recv_timeout(ANSWER).unwrap_or(false)
}

/// Device and type of what is mounted right there, last. The mount itself is not asked: its server may be away.
///
/// # Errors
/// The mount table cannot be read.
pub fn mounted_on(directory: &Path) -> io::Result<Option<(String, String)>> {
    let directory = from_root(directory)?;
    let table = fs::read("/proc/self/mountinfo")?;
    let rows = table.split(|&byte| byte == b'\n').filter_map(row);
    let here = rows.rev().find(|(place, ..)| *place == directory);
    Ok(here.map(|(_, source, kind)| (source, kind)))
}

/// Mounts of this type whose process is gone: where each is, and what was mounted.
///
/// # Errors
/// The mount table cannot be read.
pub fn dead_mounts(kind: &str) -> io::Result<Vec<(PathBuf, String)>> {
    let table = fs::read("/proc/self/mountinfo")?;
    let rows = table.split(|&byte| byte == b'\n').filter_map(row);
    let of_kind = rows.filter(|(_, _, its)| its == kind);
    let dead = of_kind.filter(|(place, ..)| matches!(look_at(place), Ok(FoundPlace::Dead)));
    Ok(dead.map(|(place, source, _)| (place, source)).collect())
}

/// The directory from the root on, without links. What is mounted there is not asked.
///
/// # Errors
/// The directory that it is in does not exist, or cannot be looked at: a mount by FUSE whose process is gone is in the way (ENOTCONN).
pub fn from_root(directory: &Path) -> io::Result<PathBuf> {
    let whole = std::path::absolute(directory)?;
    let (Some(parent), Some(name)) = (whole.parent(), whole.file_name()) else { return whole.canonicalize() };
    let here = parent.canonicalize()?.join(name);
    // Reading a link asks no directory.
    if fs::read_link(&here).is_ok() { here.canonicalize() } else { Ok(here) }
}

/// The mount by FUSE without a process that a directory lies below, if there is one.
pub fn dead_above(directory: &Path) -> Option<&Path> {
    let is_gone = |above: &&Path| matches!(look_at(above), Ok(FoundPlace::Dead));
    directory.ancestors().skip(1).filter(is_gone).last()
}

/// Place, device and type of a line of mountinfo (proc_pid_mountinfo(5)).
fn row(line: &[u8]) -> Option<(PathBuf, String, String)> {
    let mut fields = line.split(|&byte| byte == b' ');
    let place = unescaped(fields.nth(4)?);
    let mut fields = fields.skip_while(|field| *field != b"-").skip(1);
    let kind = String::from_utf8_lossy(fields.next()?).into_owned();
    let source = String::from_utf8_lossy(&unescaped(fields.next()?)).into_owned();
    Some((PathBuf::from(std::ffi::OsStr::from_bytes(&place)), source, kind))
}

/// Blanks and the like are written as a backslash and three octal digits.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = field;
    while let Some((&first, after)) = rest.split_first() {
        let octal = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()).filter(|_| first == b'\\') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    bytes
}

/// Takes a mount away; with `lazy` even if it is in use, which then ends when nobody uses it any more.
///
/// # Errors
/// Busy (EBUSY), not mounted (EINVAL), or not permitted.
pub fn unmount(directory: &Path, lazy: bool) -> io::Result<()> {
    let flags = if lazy { UnmountFlags::DETACH } else { UnmountFlags::empty() };
    match rustix::mount::unmount(directory, flags | UnmountFlags::NOFOLLOW) {
        Err(Errno::PERM) => by_fusermount(directory, lazy),
        done => Ok(done?),
    }
}

/// A user's mounts are taken away by the program that made them.
fn by_fusermount(directory: &Path, lazy: bool) -> io::Result<()> {
    let mut command = Command::new("fusermount3");
    command.arg("-u").args(lazy.then_some("-z")).arg("--").arg(directory);
    let output = command.output().map_err(|_| io::Error::from(Errno::PERM))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let is_busy = said.to_lowercase().contains("busy");
    Err(if is_busy { Errno::BUSY.into() } else { io::Error::other(said) })
}

/// Lets the kernel read so many KiB of a mount ahead: by default it asks for no more than 128 KiB at a time. Only the superuser
/// may; says whether it was done.
pub fn read_ahead(directory: &Path, kibibytes: u32) -> bool {
    let Ok(found) = statx(CWD, directory, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE) else { return false };
    let knob = format!("/sys/class/bdi/{}:{}/read_ahead_kb", found.stx_dev_major, found.stx_dev_minor);
    fs::write(knob, kibibytes.to_string()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_the_mount_table_are_read() {
        let line = b"36 35 0:98 / /mnt/a\\040b rw,noatime master:1 - fuse nfs://host/x rw,user_id=0";
        let place = PathBuf::from("/mnt/a b");
        assert_eq!(row(line), Some((place, "nfs://host/x".to_owned(), "fuse".to_owned())));
        assert_eq!(row(b""), None);
    }

    #[test]
    fn a_link_is_followed_with_and_without_a_slash() {
        let home = tempfile::tempdir().expect("a directory");
        let home = home.path().canonicalize().expect("there");
        fs::create_dir(home.join("mnt")).expect("made");
        std::os::unix::fs::symlink("mnt", home.join("link")).expect("made");
        for name in ["mnt", "mnt/", "link", "link/", "./link", "mnt/../link"] {
            assert_eq!(from_root(&home.join(name)).expect("found"), home.join("mnt"), "{name}");
        }
        assert_eq!(from_root(&home.join("none")).expect("its directory is"), home.join("none"));
        assert!(from_root(&home.join("none/below")).is_err());
    }

    #[test]
    fn what_is_there_is_told() {
        let home = tempfile::tempdir().expect("a directory");
        assert_eq!(look_at(home.path()).expect("looked"), FoundPlace::Free);
        fs::write(home.path().join("file"), "").expect("written");
        assert_eq!(look_at(home.path()).expect("looked"), FoundPlace::NotEmpty);
        assert_eq!(look_at(&home.path().join("file")).expect("looked"), FoundPlace::NotDirectory);
        assert_eq!(look_at(&home.path().join("none")).expect("looked"), FoundPlace::Missing);
        assert!(
            matches!(look_at(Path::new("/proc")).expect("looked"), FoundPlace::Mounted(_, kind) if kind == "proc")
        );
    }
}
