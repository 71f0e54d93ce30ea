//! What a compiler says of itself.

use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The host that this compiler runs on, and builds for unless told otherwise, as rustc calls it.
pub fn host(rustc: &mut Command) -> Result<String> {
    let output = rustc.arg("-vV").output().context("starting rustc")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "rustc -vV: {}", said.trim());
    let told = String::from_utf8_lossy(&output.stdout);
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not tell its host")
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
