//! The bill of materials: every crate that is in the binary, in the words of CycloneDX.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::checkout::Checkout;
use crate::workspace::Workspace;

/// The program that makes it, of the makers of the format, and its version: another one may write another bill of the same binary.
const PROGRAM: &str = "cargo-cyclonedx";
const VERSION: &str = "0.5.9";
/// How it is to call what it writes, without `.json`.
const NAME: &str = "howdah.cdx";

/// A list.
pub struct Bill {
    /// JSON.
    pub text: String,
    /// How many crates.
    pub crates: usize,
    /// How many of them lie in this repository.
    pub ours: usize,
}

/// Of the crates of a copy's binary on this target. Written into the copy, which goes.
pub fn of(workspace: &Workspace, checkout: &Checkout, target: &str) -> Result<Bill> {
    let program = program(workspace)?;
    let written = Command::new(&program)
        .current_dir(checkout.path())
        .env("CARGO", workspace.cargo())
        .env("SOURCE_DATE_EPOCH", &checkout.time)
        .args([
            "cyclonedx",
            "--manifest-path",
            "crates/cli/Cargo.toml",
            "--format",
            "json",
            "--target",
            target,
        ])
        .args(["--override-filename", NAME])
        .status();
    ensure!(written.with_context(|| format!("starting {PROGRAM}"))?.success(), "{PROGRAM} failed");
    let file = checkout.path().join("crates/cli").join(format!("{NAME}.json"));
    let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    // Where the copy lies says nothing to others, and would differ from one list to the next.
    let place = checkout.path();
    counted(text.replace(place.to_str().context("a path that is no text")?, "/howdah"))
}

/// Where the program is: below this workspace's target directory, where it is installed unless it is there.
fn program(workspace: &Workspace) -> Result<PathBuf> {
    let root = workspace.target.join("tools");
    let program = root.join("bin").join(PROGRAM);
    if Command::new(&program)
        .args(["cyclonedx", "--version"])
        .output()
        .is_ok_and(|output| is_wanted(&output.stdout))
    {
        return Ok(program);
    }
    println!("installing {PROGRAM} {VERSION} in {}", root.display());
    let mut install = Command::new(workspace.cargo());
    install.args(["install", "--locked", "--force", "--version", VERSION, PROGRAM, "--root"]).arg(&root);
    let status = install.status().context("starting cargo")?;
    ensure!(
        status.success(),
        "{PROGRAM} {VERSION} cannot be installed, which takes crates.io; cargo tells why above"
    );
    Ok(program)
}

/// Whether that is what the wanted version says of itself.
fn is_wanted(output: &[u8]) -> bool {
    String::from_utf8_lossy(output).split_whitespace().any(|word| word == VERSION)
}

fn counted(text: String) -> Result<Bill> {
    let bill: Value = serde_json::from_str(&text).context("reading it as JSON")?;
    let names = bill["components"].as_array().context("it lists no components")?;
    let names = names.iter().filter_map(|component| component["name"].as_str());
    let (crates, ours) = names
        .fold((1, 1), |(crates, ours), name| (crates + 1, ours + usize::from(name.starts_with("howdah"))));
    ensure!(bill["metadata"]["component"]["name"] == "howdah" && ours > 1, "it is not that of howdah");
    Ok(Bill { text, crates, ours })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_not_wanted() {
        assert!(is_wanted(format!("cargo-cyclonedx {VERSION}\n").as_bytes()));
        assert!(!is_wanted(format!("cargo-cyclonedx {VERSION}1\n").as_bytes()) && !is_wanted(b""));
    }

    #[test]
    fn it_is_of_howdah_and_its_crates() {
        let output = |name: &str| {
            format!(
                r#"{{"metadata":{{"component":{{"name":"{name}"}}}},"components":[{{"name":"howdah-rpc"}},{{"name":"tokio"}}]}}"#
            )
        };
        let bill = counted(output("howdah")).expect("a bill");
        assert_eq!((bill.crates, bill.ours), (3, 2));
        assert!(counted(output("xtask")).is_err() && counted("{}".to_owned()).is_err());
    }
}
