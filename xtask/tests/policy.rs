//! Every crate in the dependency tree may stand there: licences, bans and sources of `deny.toml`. `cargo deny` checks the
//! same and takes minutes to build, so this is what CI runs. Advisories stay with `cargo deny`.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The registry that crates may come from; others, and git, are refused (`sources` of `deny.toml`).
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn policy() -> toml::Table {
    let text = fs::read_to_string(root().join("deny.toml")).expect("deny.toml");
    text.parse().expect("deny.toml is TOML")
}

/// All packages of the tree, on every platform and with every feature.
fn packages() -> Vec<Value> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--format-version", "1", "--all-features", "--locked"];
    let output = Command::new(cargo).args(arguments).current_dir(root()).output().expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

fn name(package: &Value) -> String {
    format!("{} {}", package["name"].as_str().unwrap_or("?"), package["version"].as_str().unwrap_or("?"))
}

/// Whether an SPDX expression holds with these licences: `MIT OR (Apache-2.0 AND ISC)`.
fn holds(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    // Older crates separate alternatives by a slash.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    let result = any(&mut words, allowed);
    result && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any(words: &mut Words<'_>, allowed: &BTreeSet<&str>) -> bool {
    let mut result = all(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        result |= all(words, allowed);
    }
    result
}

fn all(words: &mut Words<'_>, allowed: &BTreeSet<&str>) -> bool {
    let mut result = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        result &= one(words, allowed);
    }
    result
}

fn one(words: &mut Words<'_>, allowed: &BTreeSet<&str>) -> bool {
    let word = words.next().unwrap_or_default();
    if word == "(" {
        let result = any(words, allowed);
        return words.next_if_eq(&")").is_some() && result;
    }
    match words.next_if_eq(&"WITH") {
        Some(_) => {
            let with = format!("{word} WITH {}", words.next().unwrap_or_default());
            allowed.contains(with.as_str())
        }
        None => allowed.contains(word),
    }
}

#[test]
fn expressions_of_licences_are_understood() {
    let allowed = BTreeSet::from(["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"]);
    for (expression, wanted) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("MIT/GPL-3.0", true),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR GPL-3.0) AND ISC", true),
        ("MIT AND (GPL-3.0 OR BSD-3-Clause)", false),
        ("Apache-2.0 WITH LLVM-exception OR Apache-2.0", true),
        ("Apache-2.0", false),
        ("MIT)", false),
        ("", false),
    ] {
        assert_eq!(holds(expression, &allowed), wanted, "{expression}");
    }
}

#[test]
fn every_crate_has_an_allowed_licence_a_known_source_and_is_not_banned() {
    let policy = policy();
    let strings = |value: &toml::Value| value.as_array().expect("a list").clone();
    let licences = strings(&policy["licenses"]["allow"]);
    let allowed: BTreeSet<&str> = licences.iter().filter_map(toml::Value::as_str).collect();
    let bans = strings(&policy["bans"]["deny"]);
    let banned: BTreeSet<&str> = bans.iter().filter_map(|ban| ban["crate"].as_str()).collect();
    assert!(!allowed.is_empty() && !banned.is_empty(), "deny.toml has both lists");

    let packages = packages();
    assert!(packages.len() > 100, "only {} packages", packages.len());
    let mut wrong = Vec::new();
    for package in &packages {
        let licence = package["license"].as_str().unwrap_or_default();
        if !holds(licence, &allowed) {
            wrong.push(format!("{}: licence {licence:?}", name(package)));
        }
        if banned.contains(package["name"].as_str().unwrap_or_default()) {
            wrong.push(format!("{}: banned", name(package)));
        }
        match package["source"].as_str() {
            Some(REGISTRY) => {}
            Some(source) => wrong.push(format!("{}: from {source}", name(package))),
            // One of our own: what it depends on has a version or a path.
            None => {
                let dependencies = package["dependencies"].as_array().expect("a list");
                let wild = dependencies.iter().filter(|one| one["req"] == "*" && one["path"].is_null());
                wrong.extend(wild.map(|one| format!("{}: any version of {}", name(package), one["name"])));
            }
        }
    }
    assert!(wrong.is_empty(), "not allowed by deny.toml:\n{}", wrong.join("\n"));
}
