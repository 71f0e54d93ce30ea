//! Compilers: what one says of itself, and how to come by a nightly one.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;

/// The host that this compiler runs on, and builds for by default, as rustc calls it.
pub fn host(rustc: &mut Command) -> Result<String> {
    let output = rustc.arg("-vV").output().context("starting rustc")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "rustc -vV: {}", said.trim());
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not tell its host")
}

/// A command of the nightly toolchain, whichever runs us.
pub fn nightly(workspace: &Workspace, command: &[&str]) -> Command {
    let mut rustup = Command::new("rustup");
    rustup.args(["run", "nightly"]).args(command).current_dir(&workspace.root);
    // Those of the toolchain that runs us, and what would take the place of our flags or change what is a finding.
    for name in ["RUSTUP_TOOLCHAIN", "RUSTC", "RUSTDOC", "CARGO", "CARGO_ENCODED_RUSTFLAGS", "ASAN_OPTIONS"] {
        rustup.env_remove(name);
    }
    rustup
}

/// What the nightly compiler builds for.
pub fn nightly_host(workspace: &Workspace) -> Result<String> {
    host(&mut nightly(workspace, &["rustc"])).context("no nightly Rust: rustup toolchain install nightly")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_tells_its_host_or_why_not() {
        let said = host(Command::new("sh").args(["-c", "printf 'rustc 1.2\\nhost: riscv64-x\\nrelease: 1'"]));
        assert_eq!(said.expect("a host"), "riscv64-x");
        let failed = host(Command::new("sh").args(["-c", "echo no such toolchain >&2; exit 1"]));
        assert!(failed.is_err_and(|error| error.to_string().contains("no such toolchain")));
    }
}
