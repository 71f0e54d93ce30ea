//! `cargo xtask --help` answers in seconds on a fresh checkout, since the task runner needs few crates, and none of howdah's.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::process::Command;

/// Crates that it is built of at most, those of its dependencies included.
const MOST: usize = 40;

#[test]
fn the_task_runner_needs_few_crates_and_none_of_howdahs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = [
        "tree",
        "--package",
        "xtask",
        "--edges",
        "normal,build",
        "--prefix",
        "none",
        "--locked",
        "--offline",
    ];
    let output = Command::new(cargo).args(tree).current_dir(root).output().expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let crates: BTreeSet<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(crates.contains("clap") && crates.len() <= MOST, "{} crates: {crates:?}", crates.len());
    let own: Vec<&&str> = crates.iter().filter(|name| name.starts_with("howdah")).collect();
    assert!(own.is_empty(), "code that needs {own:?} belongs in errands/");
}
