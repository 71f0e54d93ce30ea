//! `cargo xtask sanitize`: the tests that run through files with `unsafe` in them, under AddressSanitizer, which sees memory that is
//! touched and was not given, or no more, and memory that nobody gives back.
#![allow(clippy::print_stdout, reason = "its output is for a person")]

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::rustc;
use crate::workspace::Workspace;

/// What is built here is built apart: another compiler, other flags.
const TARGET: &str = "sanitize";

/// Run the tests of files with `unsafe` in them under AddressSanitizer; takes a nightly Rust
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Only these packages; without any, all
    #[arg(value_name = "PACKAGE", value_parser = clap::builder::PossibleValuesParser::new(LOOKED_AT.iter().map(|looked| looked.package)))]
    pub packages: Vec<String>,
}

/// A package whose tests run.
struct LookedAt {
    package: &'static str,
    /// Which of its tests.
    tests: &'static [&'static str],
    /// Its files with `unsafe`, by their paths in the workspace.
    #[cfg_attr(not(test), allow(dead_code, reason = "a test compares them with what there is"))]
    files: &'static [&'static str],
}

/// All of them.
const LOOKED_AT: &[LookedAt] = &[
    LookedAt { package: "howdah-net", tests: &["--lib", "--tests"], files: &["crates/net/src/syscall.rs"] },
    LookedAt {
        package: "howdah-store",
        tests: &["--lib", "--tests"],
        files: &[
            "crates/store/src/local/syscall.rs",
            "crates/store/tests/allocations.rs",
            "crates/store/tests/leases.rs",
        ],
    },
    LookedAt {
        package: "howdah-link",
        tests: &["--test", "allocations"],
        files: &["crates/link/tests/allocations.rs"],
    },
    LookedAt {
        package: "howdah-gss",
        tests: &["--test", "allocations"],
        files: &["crates/gss/tests/allocations.rs"],
    },
    LookedAt {
        package: "howdah-server",
        tests: &["--lib", "--test", "hot_path"],
        files: &["crates/server/src/locks.rs", "crates/server/tests/hot_path.rs"],
    },
];

/// Runs them.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    // Said to cargo, so that what runs while it builds is built without sanitizers.
    let platform = rustc::nightly_host(&workspace)?;
    let chosen = |looked: &&LookedAt| {
        arguments.packages.is_empty() || arguments.packages.iter().any(|name| name == looked.package)
    };
    let mut failed = Vec::new();
    for looked in LOOKED_AT.iter().filter(chosen) {
        println!("\n== {}", looked.package);
        let status = rustc::nightly(&workspace, &["cargo", "test", "--locked", "--no-fail-fast"])
            .args(["--target", &platform, "-p", looked.package])
            .args(looked.tests)
            .env("CARGO_TARGET_DIR", workspace.target.join(TARGET))
            .env("RUSTFLAGS", "-Zsanitizer=address")
            .status()
            .context("starting the tests")?;
        if !status.success() {
            failed.push(looked.package);
        }
    }
    if failed.is_empty() {
        println!("\nPASS  nothing was found");
        return Ok(ExitCode::SUCCESS);
    }
    println!("\nFAIL  {}", failed.join(", "));
    Ok(ExitCode::FAILURE)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    /// Files with `unsafe` that no test here runs through: what takes another program, a mount or a device to run, one call each. That
    /// of `errands` is not part of howdah.
    const NOT_LOOKED_AT: [&str; 5] = [
        "crates/kerberos/src/library.rs",
        "crates/daemon/src/host/inherited.rs",
        "interop/src/exerciser/mod.rs",
        "errands/src/bench/floor/handle.rs",
        "crates/mount/tests/mapped.rs",
    ];

    fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }

    #[test]
    fn every_file_that_may_have_unsafe_code_is_told_of() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
        let mut found = Vec::new();
        ["crates", "errands", "interop", "xtask", "fuzz/fuzz_targets", "fuzz/targets"]
            .iter()
            .for_each(|name| sources(&root.join(name), &mut found));
        // In pieces, so that this file is not one of them.
        let mark = ["allow(unsafe", "_code"].concat();
        let has_mark = |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text.contains(&mark));
        let relative = |path: PathBuf| path.strip_prefix(root).expect("below it").display().to_string();
        let mut found: Vec<String> = found.into_iter().filter(has_mark).map(relative).collect();
        let mut known: Vec<&str> =
            LOOKED_AT.iter().flat_map(|looked| looked.files).chain(&NOT_LOOKED_AT).copied().collect();
        found.sort();
        known.sort_unstable();
        assert_eq!(found, known);
    }
}
