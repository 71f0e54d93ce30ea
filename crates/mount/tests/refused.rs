//! What programs see of a file system that refuses, loses and hangs.

mod support;

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, PermissionsExt, chown};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use howdah_mount::MountOptions;
use howdah_needs::{Lack, skipped};
use howdah_store::local::{LocalFileSystem, Options};
use howdah_vfs::layer::{Call, Fault, FaultKind, FaultPlan, Faulty, Layer, ReadOnly};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Caller, Change, FileSystem, FsError, Name, Result, WriteFile, Written};
use parking_lot::RwLock;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use support::Mount;

fn refusing(call: Call, error: FsError) -> Arc<dyn FileSystem> {
    let fault = Fault { call: Some(call), one_in: 1, kind: FaultKind::Refuse(error) };
    Arc::new(Faulty::around(Arc::new(MemoryFileSystem::new()), FaultPlan::new(1, [fault])))
}

fn errno(error: &io::Error) -> Option<Errno> {
    error.raw_os_error().map(Errno::from_raw_os_error)
}

#[test]
fn a_refusal_comes_through_as_it_is() {
    for (error, expected) in [
        (FsError::AccessDenied, Errno::ACCESS),
        (FsError::NoSpace, Errno::NOSPC),
        (FsError::QuotaExceeded, Errno::DQUOT),
        (FsError::Stale, Errno::STALE),
        (FsError::TimedOut, Errno::IO),
    ] {
        let Some(mount) = Mount::of(refusing(Call::MakeDirectory, error)) else { return };
        assert_eq!(errno(&fs::create_dir(mount.at("x")).expect_err("refused")), Some(expected));
    }
    let read_only = Arc::new(ReadOnly::around(Arc::new(MemoryFileSystem::new())));
    let Some(mount) = Mount::of(read_only) else { return };
    assert_eq!(fs::write(mount.at("x"), "x").expect_err("refused").kind(), ErrorKind::ReadOnlyFilesystem);
}

#[test]
fn data_that_is_not_durable_is_told_by_fsync_and_by_close() {
    let Some(mount) = Mount::of(refusing(Call::Commit, FsError::NoSpace)) else { return };
    let mut file = File::create(mount.at("file")).expect("made");
    file.write_all(b"lost").expect("taken");
    assert_eq!(file.sync_all().expect_err("not durable").kind(), ErrorKind::StorageFull);
    // Dropping it would swallow the answer.
    assert_eq!(nix::unistd::close(file), Err(nix::errno::Errno::ENOSPC));
}

#[test]
fn an_error_that_a_write_told_is_not_told_as_another_one_by_fsync() {
    let Some(mount) = Mount::of_cached(refusing(Call::Write, FsError::NoSpace)) else { return };
    let mut file = File::create(mount.at("file")).expect("made");
    let mut other = OpenOptions::new().write(true).open(mount.at("file")).expect("opened");
    let block = vec![7; 4 << 20];
    // The first writes are taken, and a later one gets their error.
    let failure =
        (0..10_000).find_map(|_| file.write_all(&block).err()).expect("a full disk is reported in the end");
    assert_eq!(failure.kind(), ErrorKind::StorageFull);
    if let Err(error) = file.sync_all() {
        assert_eq!(error.kind(), ErrorKind::StorageFull, "what was written since");
    }
    // Who has it open, too, hears the cause.
    assert_eq!(other.sync_all().expect_err("data is lost").kind(), ErrorKind::StorageFull);
    assert_eq!(other.flush().map_err(|error| error.kind()), Ok(()));
}

/// A file system on which a user's quota is used up after so many bytes.
struct WithQuota {
    inner: MemoryFileSystem,
    left: AtomicU64,
}

impl Layer for WithQuota {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.inner)
    }

    fn write(&self, caller: &Caller, write: WriteFile<'_>, change: &mut Change) -> Result<Written> {
        let bytes = write.data.len() as u64;
        let fits = |left: u64| left.checked_sub(bytes);
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits)
            .map_err(|_| FsError::QuotaExceeded)?;
        FileSystem::write(&self.inner, caller, write, change)
    }
}

#[test]
fn a_quota_that_ends_in_the_middle_of_a_file_is_told_by_fsync_and_by_close() {
    const HALF: u64 = 2 << 20;
    let limited = || Arc::new(WithQuota { inner: MemoryFileSystem::new(), left: HALF.into() });
    for is_cached in [true, false] {
        let mount = || if is_cached { Mount::of_cached(limited()) } else { Mount::of(limited()) };
        let Some(mount) = mount() else { return };
        let file = File::create(mount.at("file")).expect("made");
        let mut failure = None;
        for block in 0..4 * HALF / 65_536 {
            failure = failure.or(file.write_all_at(&[7; 65_536], block * 65_536).err());
        }
        let failure = failure.or(file.sync_all().err()).expect("it does not fit");
        assert_eq!(errno(&failure), Some(Errno::DQUOT), "cached: {is_cached}");
    }
    let Some(mount) = Mount::of_cached(limited()) else { return };
    let file = File::create(mount.at("file")).expect("made");
    file.write_all_at(&[7; 1 << 20], 0).expect("taken");
    file.sync_all().expect("it fits");
    let beyond = file.write_all_at(&[7; 2 << 20], 1 << 20).err().and_then(|error| errno(&error));
    // Dropping it would swallow the answer.
    let closed = nix::unistd::close(file).err().map(|errno| errno as i32);
    assert!(
        closed.or(beyond.map(Errno::raw_os_error)) == Some(Errno::DQUOT.raw_os_error()),
        "{closed:?} {beyond:?}"
    );
}

#[test]
fn a_file_that_is_gone_is_stale() {
    let memory = Arc::new(MemoryFileSystem::new());
    let options =
        MountOptions { attributes: Duration::ZERO, names: Duration::ZERO, ..MountOptions::default() };
    let Some(mount) = Mount::with(Arc::clone(&memory) as _, &options) else { return };
    fs::write(mount.at("file"), "x").expect("written");
    let open = File::open(mount.at("file")).expect("opened");
    let name = Name::parse(b"file").expect("a name");
    memory.remove(&Caller::ROOT, &memory.root(), name, &mut Change::default()).expect("removed by another");
    assert_eq!(errno(&open.metadata().expect_err("gone")), Some(Errno::STALE));
    assert_eq!(fs::metadata(mount.at("file")).expect_err("gone").kind(), ErrorKind::NotFound);
}

/// A file system whose reads wait until a lock is free.
struct Hanging {
    inner: MemoryFileSystem,
    gate: Arc<RwLock<()>>,
    waits: Sender<()>,
}

impl Layer for Hanging {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if call == Call::Read {
            self.waits.send(()).expect("heard");
            drop(self.gate.read());
        }
        run(&self.inner)
    }
}

#[test]
fn who_waits_for_a_server_that_is_away_can_be_interrupted() {
    let (waits, is_waiting) = channel();
    let gate = Arc::new(RwLock::new(()));
    let hanging = Hanging { inner: MemoryFileSystem::new(), gate: Arc::clone(&gate), waits };
    let Some(mount) = Mount::of(Arc::new(hanging)) else { return };
    fs::write(mount.at("file"), "x").expect("written");
    let away = gate.write();
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        // A shell's job in the background ignores SIGINT, and so do its children.
        if is_ignored(signal) {
            continue;
        }
        let mut cat =
            Command::new("cat").arg(mount.at("file")).stdout(Stdio::piped()).spawn().expect("started");
        is_waiting.recv().expect("it reads");
        // Others are not held up.
        assert_eq!(fs::metadata(mount.at("file")).expect("answered").len(), 1);
        let process = Pid::from_raw(i32::try_from(cat.id()).expect("an id")).expect("not 0");
        kill_process(process, signal).expect("it lives");
        assert_eq!(cat.wait().expect("it ends").signal(), Some(signal.as_raw()));
    }
    // A program that handles the signal goes on, with EINTR.
    let script = "import os,signal,sys\nsignal.signal(signal.SIGINT, lambda *_: os._exit(7))\nopen(sys.argv[1],'rb',0).read()";
    let python = Command::new("python3").args(["-c", script]).arg(mount.at("file")).spawn();
    if let Ok(mut python) = python {
        is_waiting.recv().expect("it reads");
        let process = Pid::from_raw(i32::try_from(python.id()).expect("an id")).expect("not 0");
        kill_process(process, Signal::INT).expect("it lives");
        assert_eq!(python.wait().expect("it ends").code(), Some(7));
    } else {
        skipped(Lack::Program, "there is no python3");
    }
    drop(away);
    let mut text = String::new();
    File::open(mount.at("file")).expect("opened").read_to_string(&mut text).expect("it is back");
    assert_eq!(text, "x");
}

/// Whether programs that this process starts ignore a signal.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("a process");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
    let ignored = u64::from_str_radix(ignored.trim(), 16).expect("a mask");
    ignored & 1 << (signal.as_raw() - 1) != 0
}

#[test]
fn each_call_acts_as_who_makes_it() {
    let home = tempfile::tempdir().expect("a directory");
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).expect("set");
    let local = LocalFileSystem::open(home.path(), Options::default()).expect("opened");
    let options = MountOptions { allow_other: true, caller: None, ..MountOptions::default() };
    let Some(mount) = Mount::with(Arc::new(local), &options) else { return };
    let make = |name: &str, owner: u32, group: u32, mode: u32| {
        fs::write(mount.at(name), "x").expect("written");
        chown(mount.at(name), Some(owner), Some(group)).expect("given away");
        fs::set_permissions(mount.at(name), fs::Permissions::from_mode(mode)).expect("set");
    };
    make("own", 1000, 1000, 0o600);
    make("group", 0, 2000, 0o640);
    make("other", 0, 0, 0o600);
    fs::create_dir(mount.at("private")).expect("made");
    make("private/open", 0, 0, 0o644);
    fs::set_permissions(mount.at("private"), fs::Permissions::from_mode(0o700)).expect("set");
    let can_read = |name: &str| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "1000", "--regid", "1000", "--groups", "2000", "cat"]).arg(mount.at(name));
        command.stderr(Stdio::null()).output().map(|output| output.status.success())
    };
    let Ok(own) = can_read("own") else {
        skipped(Lack::Program, "there is no setpriv (Debian: util-linux)");
        return;
    };
    let read = |name| can_read(name).expect("started");
    assert!(own && read("group"));
    assert!(!read("other"));
    // Root looked into it, by which the kernel knows the name; that opens it to nobody else.
    assert!(fs::read(mount.at("private/open")).is_ok() && !read("private/open"));
    let mut shared = OpenOptions::new().append(true).open(mount.at("other")).expect("opened");
    shared.write_all(b"y").expect("written");
}
