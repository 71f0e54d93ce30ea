//! A guest kernel whose NFS client speaks TLS (Linux 6.5 or later), from a later Debian than this machine's: kernel, C
//! library and TLS daemon are unpacked below `target/`, and nothing is installed.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use super::guest_registers::preload;
use super::step::{Context, Report};

/// The release that has such a kernel.
const RELEASE: &str = "trixie";
/// The kernel, the C library that it was built for, and the daemon that does the handshakes of the client.
const PACKAGES: &[&str] = &["user-mode-linux", "libc6", "ktls-utils"];
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Where the scenarios find what lies in the directory: the loader's path in the kernel may not be longer than it was.
const SEEN_AS: &str = "/run/newer";
const LOADER: &[u8] = b"/lib64/ld-linux-x86-64.so.2\0";
const LOADER_SEEN_AS: &[u8] = b"/run/newer/ld.so\0";
const LIBRARIES: &str = "root/usr/lib/x86_64-linux-gnu";

/// Where it is, if it was fetched.
pub fn directory(context: &Context) -> Option<PathBuf> {
    let directory = place(context);
    directory.join("linux.uml").is_file().then_some(directory)
}

/// Fetches it, unless it is here. Also where this machine's own guest kernel is new enough: the daemon belongs to it.
pub fn fetch(context: &Context) -> Report {
    if directory(context).is_some() || !cfg!(target_arch = "x86_64") {
        return Report::default();
    }
    let place = place(context);
    match fetch_into(&place) {
        Ok(()) => Report::passed(format!("unpacked a guest kernel of Debian {RELEASE}")),
        Err(error) => {
            Report::skipped(format!("no guest kernel with TLS: {RELEASE} could not be had: {error:#}"))
        }
    }
}

fn place(context: &Context) -> PathBuf {
    context.workspace.target.join("newer-guest")
}

fn fetch_into(place: &Path) -> Result<()> {
    for name in ["lists/partial", "cache/archives/partial", "root"] {
        fs::create_dir_all(place.join(name)).with_context(|| format!("making {}", place.display()))?;
    }
    ensure!(Path::new(KEYRING).is_file(), "{KEYRING} is missing");
    let source = format!("deb [signed-by={KEYRING}] {} {RELEASE} main\n", mirror()?);
    fs::write(place.join("sources.list"), source).context("writing sources.list")?;
    apt_get(place, &["update"])?;
    apt_get(place, &[&["download"], PACKAGES].concat())?;
    for entry in fs::read_dir(place).context("listing what was fetched")? {
        let path = entry.context("listing what was fetched")?.path();
        if path.extension().is_some_and(|extension| extension == "deb") {
            run(Command::new("dpkg-deb").arg("-x").arg(&path).arg(place.join("root")))?;
            fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
        }
    }
    for name in ["lists", "cache"] {
        fs::remove_dir_all(place.join(name)).with_context(|| format!("removing {name}"))?;
    }
    make_startable(place)
}

/// Where this machine has its packages from.
fn mirror() -> Result<String> {
    let output = Command::new("apt-get")
        .args(["indextargets", "--format", "$(ORIGIN) $(REPO_URI)", "Created-By: Packages"])
        .output()
        .context("starting apt-get")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut mirrors = text.lines().filter_map(|line| line.strip_prefix("Debian "));
    let found = mirrors.find(|uri| !uri.contains("security")).map(str::to_owned);
    found.context("this machine has no packages of Debian")
}

/// apt with lists and a cache of its own: this machine's own are not touched.
fn apt_get(place: &Path, words: &[&str]) -> Result<()> {
    let option = |name: &str, file: &str| format!("{name}={}", place.join(file).display());
    let mut command = Command::new("apt-get");
    command
        .args(["--quiet=2", "-o", "APT::Sandbox::User=", "-o", "Dir::Etc::sourceparts=-"])
        .args(["-o", &option("Dir::Etc::sourcelist", "sources.list")])
        .args(["-o", &option("Dir::State::lists", "lists")])
        .args(["-o", &option("Dir::Cache", "cache")])
        .args(words)
        .current_dir(place);
    run(&mut command)
}

/// The kernel with the loader that belongs to it, and a program of the usual name which starts that.
fn make_startable(place: &Path) -> Result<()> {
    let path = place.join("root/usr/bin/linux.uml");
    let mut kernel = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
    let at = kernel.windows(LOADER.len()).position(|bytes| bytes == LOADER);
    let at = at.context("the kernel names no loader")?;
    kernel[at..at + LOADER_SEEN_AS.len()].copy_from_slice(LOADER_SEEN_AS);
    write_program(&place.join("kernel"), &kernel)?;
    for (target, name) in [
        (format!("{LIBRARIES}/ld-linux-x86-64.so.2"), "ld.so"),
        (LIBRARIES.to_owned(), "libraries"),
        ("root/usr/sbin/tlshd".to_owned(), "tlshd"),
    ] {
        ensure!(place.join(&target).exists(), "no {target} in the packages");
        symlink(&target, place.join(name)).with_context(|| format!("making the link {name}"))?;
    }
    // The libraries are of the kernel alone: no other program may be started with them.
    let start = format!(
        "#!/bin/sh\nexec env {}LD_LIBRARY_PATH={SEEN_AS}/libraries {SEEN_AS}/kernel \"$@\"\n",
        preload()
    );
    write_program(&place.join("linux.uml"), start.as_bytes())
}

fn write_program(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("writing {}", path.display()))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("making {} executable", path.display()))
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("starting {command:?}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        bail!("{}", text.lines().last().unwrap_or("it said nothing"));
    }
    Ok(())
}
