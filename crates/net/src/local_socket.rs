//! Unix sockets for this host's own user: the name in the file system is private from its first moment, goes with its owner, and
//! one that a killed process left behind is replaced. Names longer than the kernel's 107 bytes work, too.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::linux::fs::MetadataExt;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags, fchmod};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
};

/// For its owner only: who may write to it may connect.
const MODE: u32 = 0o600;
/// Connections that wait to be accepted; beyond it a caller waits.
const BACKLOG: i32 = 64;
/// How long a caller waits: longer than those before it may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// The longest name that fits into `sun_path` with its end (unix(7)).
const NAME_MAX: usize = 107;

/// A listening socket with a name in the file system.
#[derive(Debug)]
pub struct LocalListener {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode of the name, so that only our own is removed.
    identity: (u64, u64),
}

impl LocalListener {
    /// Listens under that name. What a process that is gone left there is replaced.
    ///
    /// # Errors
    /// `AddrInUse` if somebody listens there; `AlreadyExists` if it is no socket; whatever else the host refuses.
    pub fn bind(path: &Path) -> io::Result<Self> {
        remove_if_dead(path)?;
        if fs::symlink_metadata(path).is_ok() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let socket = socket(SocketFlags::NONBLOCK)?;
        // Before it has a name: the kernel makes the name with the mode of the socket (`unix_bind`).
        fchmod(&socket, Mode::from_raw_mode(MODE))?;
        with_short_name(path, |name| Ok(bind(&socket, &SocketAddrUnix::new(name)?)?))?;
        let metadata = fs::symlink_metadata(path)?;
        listen(&socket, BACKLOG)?;
        Ok(Self {
            listener: UnixListener::from(socket),
            path: path.to_owned(),
            identity: (metadata.st_dev(), metadata.st_ino()),
        })
    }

    /// Its name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Another descriptor of the same socket, which does not block.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn socket(&self) -> io::Result<UnixListener> {
        self.listener.try_clone()
    }
}

impl Drop for LocalListener {
    fn drop(&mut self) {
        let ours = fs::symlink_metadata(&self.path)
            .is_ok_and(|metadata| (metadata.st_dev(), metadata.st_ino()) == self.identity);
        if ours {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Connects to the socket of that name.
///
/// # Errors
/// `NotFound`: there is none. `ConnectionRefused`: nobody listens. `PermissionDenied`: it is another user's. `TimedOut`: the
/// listener accepts nobody.
pub fn connect_local(path: &Path) -> io::Result<UnixStream> {
    connect_within(PATIENCE, path)
}

fn connect_within(patience: Duration, path: &Path) -> io::Result<UnixStream> {
    let socket = socket(SocketFlags::empty())?;
    // It bounds how long connecting waits for a place in the queue, too; without it, for ever.
    set_socket_timeout(&socket, Timeout::Send, Some(patience))?;
    match connect_to(&socket, path) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(io::ErrorKind::TimedOut.into()),
        connected => connected.map(|()| UnixStream::from(socket)),
    }
}

fn connect_to(socket: &OwnedFd, path: &Path) -> io::Result<()> {
    with_short_name(path, |name| Ok(connect(socket, &SocketAddrUnix::new(name)?)?))
}

fn socket(flags: SocketFlags) -> io::Result<OwnedFd> {
    Ok(socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC | flags, None)?)
}

/// Removes a socket's name if nobody listens behind it; says whether it did. Nothing there, or somebody: it does nothing.
///
/// # Errors
/// `AlreadyExists` if there is something else than a socket; whatever else the host refuses.
pub fn remove_if_dead(path: &Path) -> io::Result<bool> {
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        looked => looked?,
    };
    if !metadata.file_type().is_socket() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    // Without waiting for a place in the queue of somebody who accepts nobody.
    match connect_to(&socket(SocketFlags::NONBLOCK)?, path).map_err(|error| (error.kind(), error)) {
        Err((io::ErrorKind::ConnectionRefused, _)) => {
            fs::remove_file(path)?;
            Ok(true)
        }
        Ok(()) | Err((io::ErrorKind::NotFound | io::ErrorKind::WouldBlock, _)) => Ok(false),
        Err((_, error)) => Err(error),
    }
}

/// Calls with the name, or with a shorter one for the same place: of its directory as this process has it open.
fn with_short_name<T>(path: &Path, call: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    if path.as_os_str().len() <= NAME_MAX {
        return call(path);
    }
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let directory: File = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::PATH | OFlags::DIRECTORY).bits().cast_signed())
        .open(directory)?;
    call(&Path::new("/proc/self/fd").join(directory.as_fd().as_raw_fd().to_string()).join(name))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn it_is_private_and_goes_with_its_owner() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("socket");
        let listener = LocalListener::bind(&path).expect("bound");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, MODE);
        connect_local(&path).expect("somebody listens");
        let again = LocalListener::bind(&path).expect_err("somebody has it");
        assert_eq!(again.kind(), io::ErrorKind::AddrInUse);
        drop(listener);
        assert!(!path.exists());
    }

    #[test]
    fn what_nobody_listens_behind_is_replaced_and_what_is_another_thing_stays() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("socket");
        drop(UnixListener::bind(&path).expect("bound"));
        assert!(path.exists(), "its name is left behind");
        let listener = LocalListener::bind(&path).expect("replaced");
        // Somebody else's socket of the same name is not ours to remove.
        fs::remove_file(&path).expect("removed");
        let other = UnixListener::bind(&path).expect("bound");
        drop(listener);
        assert!(path.exists());
        drop(other);
        assert!(remove_if_dead(&path).expect("looked at") && !remove_if_dead(&path).expect("gone"));
        fs::write(&path, "a file").expect("written");
        let refused = LocalListener::bind(&path).expect_err("a file is in the way");
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn nobody_waits_for_ever_for_one_who_accepts_nobody() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("socket");
        let busy = UnixListener::bind(&path).expect("bound");
        listen(&busy, 0).expect("a queue of one");
        let _first = connect_local(&path).expect("the one");
        assert!(!remove_if_dead(&path).expect("looked at"), "somebody listens");
        let taken = LocalListener::bind(&path).expect_err("somebody has it");
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
        let late = connect_within(Duration::from_millis(10), &path).expect_err("the queue is full");
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_name_may_be_longer_than_the_kernel_s() {
        let home = tempfile::tempdir().expect("a directory");
        let directory = home.path().join("d".repeat(120));
        fs::create_dir(&directory).expect("made");
        let path = directory.join("socket");
        let listener = LocalListener::bind(&path).expect("bound");
        connect_local(&path).expect("connected");
        drop(listener);
        assert!(!path.exists());
    }
}
