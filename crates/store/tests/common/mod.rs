//! Where and as whom the tests run: on memory (tmpfs) and on disk, as the superuser and as nobody.
#![allow(dead_code)]

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use howdah_needs::{Lack, skipped};
use howdah_store::local::{LocalFileSystem, Options};
use howdah_vfs::Caller;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use tempfile::TempDir;

/// Who has no privilege.
pub const NOBODY: u32 = 65_534;

/// Set in the process that runs a test without privilege.
const CHILD: &str = "HOWDAH_TEST_UNPRIVILEGED";

/// A variable that no test asks for.
const NOTHING: (&str, &str) = ("HOWDAH_TEST_NOTHING", "");

/// Held by who writes a copy of this program until it runs: what another test starts meanwhile would have the copy open for writing,
/// too, and such a file cannot be run.
static COPYING: Mutex<()> = Mutex::new(());

/// The directories under which tests make theirs: on disk, and on tmpfs where there is one to write to.
pub fn places() -> Vec<PathBuf> {
    let shared = Path::new("/dev/shm");
    let usable = tempfile::tempdir_in(shared).is_ok();
    std::iter::once(std::env::temp_dir()).chain(usable.then(|| shared.to_owned())).collect()
}

/// Whether a place lies on tmpfs.
pub fn is_on_memory(place: &Path) -> bool {
    const TMPFS: u64 = 0x0102_1994;
    #[allow(clippy::unnecessary_cast)] // the type of the field differs between architectures
    let kind = rustix::fs::statfs(place).expect("statfs").f_type as u64;
    kind == TMPFS
}

/// An export with its state beside it, removed when dropped.
pub struct Place {
    directory: TempDir,
}

impl Place {
    /// Without a umask, which would hold for what an ordinary user's server makes.
    pub fn under(place: &Path) -> Self {
        rustix::process::umask(rustix::fs::Mode::empty());
        let directory = tempfile::tempdir_in(place).expect("a temporary directory");
        for name in ["export", "state", "outside"] {
            std::fs::create_dir(directory.path().join(name)).expect("a directory in it");
        }
        Self { directory }
    }

    pub fn export(&self) -> PathBuf {
        self.directory.path().join("export")
    }

    pub fn state(&self) -> PathBuf {
        self.directory.path().join("state")
    }

    pub fn outside(&self) -> PathBuf {
        self.directory.path().join("outside")
    }

    pub fn options(&self) -> Options {
        Options { state: Some(self.state()), ..Options::default() }
    }

    pub fn open(&self) -> LocalFileSystem {
        LocalFileSystem::open(&self.export(), self.options()).expect("the export opens")
    }
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Who this process is.
pub fn myself() -> Caller {
    Caller::new(rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())
}

/// Runs a test body as it is, and once more without privilege if this process has any: the test named `name` runs
/// again, in another process, as nobody.
pub fn with_and_without_privilege(name: &str, body: impl Fn(&Path)) {
    for place in places() {
        body(&place);
    }
    if is_root() {
        run_as_nobody(name, NOTHING);
    }
}

/// Runs a test body without privilege only.
pub fn without_privilege(name: &str, body: impl Fn(&Path)) {
    if is_root() {
        return run_as_nobody(name, NOTHING);
    }
    for place in places() {
        body(&place);
    }
}

/// Runs the test named `name` in another process, as nobody, with a variable set.
pub fn run_as_nobody(name: &str, variable: (&str, impl AsRef<std::ffi::OsStr>)) {
    assert!(std::env::var_os(CHILD).is_none(), "nobody is the superuser here");
    // The build may lie where nobody may not go, so the program goes where everybody may.
    let home = tempfile::tempdir().expect("a temporary directory");
    std::fs::set_permissions(home.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("chmod");
    let program = home.path().join("test");
    let alone = COPYING.lock().unwrap_or_else(PoisonError::into_inner);
    std::fs::copy(std::env::current_exe().expect("own path"), &program).expect("a copy of this program");
    chown(&program, Some(NOBODY), Some(NOBODY)).expect("chown");
    let child = Command::new(&program)
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .env(variable.0, variable.1)
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("running as nobody");
    drop(alone);
    let output = child.wait_with_output().expect("waiting for nobody");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "as nobody: {}\n{text}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs a test of this program in a mount namespace of its own, with a file system mounted at `mnt` in its place.
pub fn in_a_namespace(test: &str, body: impl Fn(&Place)) {
    const CHILD: &str = "HOWDAH_TEST_NAMESPACE";
    if std::env::var_os(CHILD).is_some() {
        let place = Place::under(&std::env::temp_dir());
        std::fs::create_dir_all(place.export().join("mnt/underneath")).expect("directories");
        mount("none", place.export().join("mnt"), "tmpfs", MountFlags::empty(), None).expect("mounts");
        std::fs::write(place.export().join("mnt/inside"), b"inside").expect("writes");
        body(&place);
        // What a body mounted beside it goes with it, so that the place can be removed.
        for mounted in std::fs::read_dir(place.export()).expect("listed") {
            let point = mounted.expect("an entry").path();
            while unmount(&point, UnmountFlags::DETACH).is_ok() {}
        }
        return;
    }
    let allowed = |mut command: Command| command.status().is_ok_and(|status| status.success());
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private"]);
        command
    };
    let mut probe = unshare();
    probe.arg("true");
    if !is_root() || !allowed(probe) {
        skipped(Lack::Namespaces, "this takes a mount namespace");
        return;
    }
    let mut run = unshare();
    run.arg(std::env::current_exe().expect("own path"))
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, "1");
    assert!(allowed(run), "in the namespace");
}
