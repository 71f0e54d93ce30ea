//! When we are root: what must work for an ordinary user too, as an ordinary user.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use tempfile::TempDir;

use super::interop::{image_file, run_scenarios};
use super::processes::run_and_look;
use super::programs::{Program, programs};
use super::step::{Context, Report};
use super::test_output::TestOutput;

/// Nobody, who owns nothing and has no home.
const NOBODY: u32 = 65534;

/// Packages whose tests ask what the kernel allows an ordinary user.
const PACKAGES: &[&str] = &["crates/store", "crates/net"];

/// Scenarios in which an ordinary user's server differs from root's; a full run as that user runs them all.
const SCENARIOS: &[&str] = &[
    "libnfs",
    "rpcinfo-own-portmap",
    "mount-own-portmap",
    "checksum-nconnect-4",
    "open-files",
    "attributes",
    "container",
];

/// Runs them as nobody, from copies, since nobody may be unable to read the checkout.
pub fn run(context: &Context) -> Result<Report> {
    if !rustix::process::geteuid().is_root() {
        return Ok(Report::passed("we are an ordinary user: the steps above were this one"));
    }
    let home = home_of_nobody()?;
    let mut report = Report::default();
    let programs = programs(context)?.context("cargo build failed")?;
    let ours = |program: &&Program| PACKAGES.iter().any(|package| program.directory.ends_with(package));
    for program in programs.iter().filter(ours) {
        let copy = copy_to(&program.executable, home.path())?;
        let mut command = as_nobody(&copy, home.path());
        let mut output = TestOutput::default();
        let status = run_and_look(&mut command, |line| output.read(line))?;
        if !status.success() && output.report.failed == 0 {
            report.add(Report::failed(format!("{} as nobody ended with {status}", copy.display())));
        }
        report.add(output.report);
    }
    let howdah = copy_to(&context.workspace.binary("howdah"), home.path())?;
    let interop = copy_to(&context.workspace.binary("howdah-interop"), home.path())?;
    let mut command = as_nobody(&interop, home.path());
    let image = image_file(&context.workspace);
    if image.is_file() {
        command.arg("--image").arg(copy_to(&image, home.path())?);
    }
    command.args(SCENARIOS);
    report.add(run_scenarios(&mut command, &howdah, home.path(), true)?);
    if report.failed > 0 {
        report.remarks.push(format!("kept: {}", home.keep().display()));
    }
    Ok(report)
}

fn home_of_nobody() -> Result<TempDir> {
    let home =
        tempfile::Builder::new().prefix("howdah-nobody-").tempdir().context("making a home for nobody")?;
    chown(home.path(), Some(NOBODY), Some(NOBODY)).context("giving nobody a home")?;
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).context("opening nobody's home")?;
    Ok(home)
}

fn as_nobody(program: &Path, home: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command
        .args([&format!("--reuid={NOBODY}"), &format!("--regid={NOBODY}"), "--clear-groups", "--"])
        .arg(program)
        .current_dir(home)
        .env("HOME", home)
        .env("TMPDIR", home)
        // Nobody lacks what root has.
        .env_remove("HOWDAH_TESTS_HAVE")
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_RUNTIME_DIR");
    command
}

fn copy_to(program: &Path, home: &Path) -> Result<PathBuf> {
    let name = program.file_name().context("a program without a name")?;
    let copy = home.join(name);
    fs::copy(program, &copy).with_context(|| format!("copying {}", program.display()))?;
    Ok(copy)
}
