//! What cargo builds for the tests: every binary and every test program of the workspace, by one command, so that all of
//! them have the same profile and features and nothing is compiled twice.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::processes::is_watched;
use super::step::{Context, Report};

/// A test program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The folder of its package in the workspace, and what it is called there: `crates/server admin`.
    pub name: String,
    /// The package's folder, in which its tests run.
    pub directory: PathBuf,
    pub executable: PathBuf,
}

/// Builds everything; nothing is run.
pub fn build(context: &Context) -> Result<Report> {
    Ok(match programs(context)? {
        Some(programs) => Report::passed(format!("{} test programs, and the binaries", programs.len())),
        None => Report::failed("cargo build failed"),
    })
}

/// Builds everything; the test programs. None: cargo failed, and said why.
pub fn programs(context: &Context) -> Result<Option<Vec<Program>>> {
    let mut command = Command::new(context.workspace.cargo());
    command.args(["build", "--workspace", "--bins", "--tests", "--locked"]);
    command.arg("--message-format=json-render-diagnostics").current_dir(&context.workspace.root);
    if !is_watched() {
        command.arg("--quiet");
    }
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().context("starting cargo")?;
    if !output.status.success() {
        return Ok(None);
    }
    let root = format!("{}/", context.workspace.root.display());
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(Some(text.lines().filter_map(|line| program(line, &root)).collect()))
}

/// The test program that a line of cargo's messages is about.
fn program(line: &str, root: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(line).ok()?;
    if message["profile"]["test"] != true {
        return None;
    }
    let executable = PathBuf::from(message["executable"].as_str()?);
    let manifest = PathBuf::from(message["manifest_path"].as_str()?);
    let directory = manifest.parent()?.to_owned();
    let package = directory.to_string_lossy().trim_start_matches(root).to_owned();
    let name = match message["target"]["kind"][0].as_str()? {
        "test" => format!("{package} {}", message["target"]["name"].as_str()?),
        kind => format!("{package} ({kind})"),
    };
    Some(Program { name, directory, executable })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_found_in_what_cargo_prints() {
        let line = |test: bool, kind: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/crates/a/Cargo.toml","target":{{"kind":["{kind}"],
                "name":"b"}},"profile":{{"test":{test}}},"executable":"/w/target/debug/deps/b-1"}}"#
            )
            .replace('\n', "")
        };
        let found = program(&line(true, "test"), "/w/").expect("a test program");
        assert_eq!((found.name.as_str(), found.directory.as_path()), ("crates/a b", "/w/crates/a".as_ref()));
        assert_eq!(program(&line(true, "lib"), "/w/").expect("unit tests").name, "crates/a (lib)");
        assert_eq!(program(&line(false, "bin"), "/w/"), None);
        assert_eq!(program("no JSON", "/w/"), None);
    }
}
