//! Builds a copy so that nothing of the place, the user and the time is in the binary.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::checkout::Checkout;
use super::symbols;
use crate::workspace::Workspace;

/// Between flags in `CARGO_ENCODED_RUSTFLAGS`, where they may hold blanks.
const SEPARATOR: &str = "\u{1f}";

/// What a user sets for other builds begins with this: both compilers, their flags and wrappers, profiles, targets.
const OF_A_USER: [&str; 11] = [
    "CARGO_PROFILE_",
    "CARGO_BUILD_",
    "CARGO_TARGET_",
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTC",
    "RUSTFLAGS",
    "CC",
    "CFLAGS",
    "CXX",
    "TARGET_",
    "HOST_",
];

/// What was built.
pub struct Built {
    /// The binary.
    pub file: PathBuf,
    /// Its debug symbols.
    pub symbols: PathBuf,
    /// All of the binary.
    pub bytes: Vec<u8>,
    /// Its SHA-256, in hexadecimal.
    pub sum: String,
}

/// Builds it for this target.
pub fn build(workspace: &Workspace, checkout: &Checkout, target: &str) -> Result<Built> {
    let places = places(checkout)?;
    let mut command = Command::new(workspace.cargo());
    command.current_dir(checkout.path()).args([
        "build",
        "--profile",
        "dist",
        "--locked",
        "--package",
        "howdah",
    ]);
    command.args(["--target", target, "--target-dir"]).arg(checkout.target());
    // What else a user's environment says of flags is not for a binary that is to be the same for all.
    for (name, _) in env::vars_os().filter(|(name, _)| is_of_this_user(name)) {
        command.env_remove(name);
    }
    command.env("CARGO_ENCODED_RUSTFLAGS", rust_flags(&places)).env("CFLAGS", c_flags(&places));
    command.env("SOURCE_DATE_EPOCH", &checkout.time).env("CARGO_INCREMENTAL", "0");
    ensure!(command.status().context("starting cargo")?.success(), "cargo build failed");
    let file = checkout.target().join(target).join("dist/howdah");
    let symbols = symbols::move_apart(&file).context("moving debug symbols out of it")?;
    let bytes = fs::read(&file).with_context(|| format!("reading {}", file.display()))?;
    tells_no_place(&bytes, &places)?;
    Ok(Built { sum: sum(&file)?, file, symbols, bytes })
}

/// Directories that differ from one who builds to the next, and what is said in their place. Of two of which one lies in the other
/// the last that fits counts.
fn places(checkout: &Checkout) -> Result<Vec<(String, &'static str)>> {
    let home = env::var("CARGO_HOME").ok().map(PathBuf::from);
    let home = home
        .or_else(|| env::home_dir().map(|home| home.join(".cargo")))
        .context("asking where cargo is at home")?;
    let text = |path: PathBuf| path.into_os_string().into_string().ok().context("a path that is no text");
    Ok(vec![
        (text(home)?, "/cargo"),
        (text(checkout.path())?, "/howdah"),
        (text(checkout.target())?, "/target"),
    ])
}

fn rust_flags(places: &[(String, &str)]) -> String {
    let flags: Vec<_> =
        places.iter().map(|(place, shown_as)| format!("--remap-path-prefix={place}={shown_as}")).collect();
    flags.join(SEPARATOR)
}

fn c_flags(places: &[(String, &str)]) -> String {
    let flags: Vec<_> =
        places.iter().map(|(place, shown_as)| format!("-ffile-prefix-map={place}={shown_as}")).collect();
    flags.join(" ")
}

/// Whether a variable changes what cargo or rustc builds.
fn is_of_this_user(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    OF_A_USER.iter().any(|start| name.starts_with(start))
}

/// The binary would show where it was built, and be another one elsewhere.
fn tells_no_place(bytes: &[u8], places: &[(String, &str)]) -> Result<()> {
    for (place, shown_as) in places {
        let is_there = bytes.windows(place.len()).any(|window| window == place.as_bytes());
        ensure!(!is_there, "the binary tells of {place}, which was to be {shown_as} in it");
    }
    Ok(())
}

/// The SHA-256 of a file, in hexadecimal.
pub fn sum(file: &Path) -> Result<String> {
    let output = Command::new("sha256sum").arg(file).output().context("starting sha256sum")?;
    ensure!(output.status.success(), "sha256sum: {}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    printed.split_whitespace().next().map(str::to_owned).context("sha256sum said nothing")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_to_both_compilers() {
        let places = [("/home/a b".to_owned(), "/cargo"), ("/x".to_owned(), "/howdah")];
        assert_eq!(
            rust_flags(&places),
            "--remap-path-prefix=/home/a b=/cargo\u{1f}--remap-path-prefix=/x=/howdah"
        );
        assert_eq!(c_flags(&places[1..]), "-ffile-prefix-map=/x=/howdah");
    }

    #[test]
    fn what_a_user_set_for_other_builds_is_left_out() {
        let is = |name: &str| is_of_this_user(&name.into());
        assert!(is("RUSTFLAGS") && is("CARGO_PROFILE_RELEASE_LTO") && is("CARGO_TARGET_DIR"));
        assert!(is("RUSTC_WORKSPACE_WRAPPER") && is("CARGO_ENCODED_RUSTFLAGS"));
        assert!(is("CFLAGS_x86_64_unknown_linux_gnu") && is("TARGET_CXXFLAGS") && is("HOST_CFLAGS"));
        assert!(!is("CARGO_HOME") && !is("PATH") && !is("RUSTUP_TOOLCHAIN"));
    }

    #[test]
    fn a_binary_that_tells_where_it_was_built_is_none() {
        let places = [("/home/a".to_owned(), "/cargo"), ("/x/y".to_owned(), "/howdah")];
        assert!(tells_no_place(b"\0/cargo/src/lib.rs\0/howdah/x", &places).is_ok());
        let printed = tells_no_place(b"\0/cargo/src/lib.rs\0/x/y/main.rs", &places);
        assert!(printed.is_err_and(|error| error.to_string().contains("tells of /x/y")));
    }
}
