//! The bill of materials: every crate that is in the binary, in the words of CycloneDX.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::checkout::Checkout;
use crate::workspace::Workspace;

/// The program that makes it, of the makers of the format.
const PROGRAM: &str = "cargo-cyclonedx";
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
    let cargo = || {
        let mut command = Command::new(workspace.cargo());
        command.current_dir(checkout.path()).env("SOURCE_DATE_EPOCH", &checkout.time);
        command
    };
    let there = cargo().args(["cyclonedx", "--version"]).output().context("starting cargo")?.status.success();
    if !there {
        println!("installing {PROGRAM}");
        let installed = cargo().args(["install", "--locked", PROGRAM]).status().context("starting cargo")?;
        ensure!(installed.success(), "{PROGRAM} cannot be installed; cargo install {PROGRAM} tells why");
    }
    let written = cargo()
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
    ensure!(written.context("starting cargo")?.success(), "{PROGRAM} failed");
    let file = checkout.path().join("crates/cli").join(format!("{NAME}.json"));
    let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    // Where the copy lies says nothing to others, and would differ from one list to the next.
    let place = checkout.path();
    counted(text.replace(place.to_str().context("a path that is no text")?, "/howdah"))
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
    fn it_is_of_howdah_and_its_crates() {
        let told = |name: &str| {
            format!(
                r#"{{"metadata":{{"component":{{"name":"{name}"}}}},"components":[{{"name":"howdah-rpc"}},{{"name":"tokio"}}]}}"#
            )
        };
        let bill = counted(told("howdah")).expect("a bill");
        assert_eq!((bill.crates, bill.ours), (3, 2));
        assert!(counted(told("xtask")).is_err() && counted("{}".to_owned()).is_err());
    }
}
