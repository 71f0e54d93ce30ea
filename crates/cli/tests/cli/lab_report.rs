//! `howdah lab report`, as a user calls it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const PLAN: &str = r#"
name = "nothing-yet"
title = "Not begun"
asks = "What is there before anything is?"
[cell.clients.main]
kind = "howdah"
workload = "write"
"#;

fn report(at: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_howdah"));
    command.args(["lab", "report"]).args(arguments).current_dir(at).output().expect("it ran")
}

#[test]
fn it_writes_the_page_and_says_where() {
    let home = tempfile::tempdir().expect("a directory");
    let results = home.path().join("lab-results/nothing-yet-20261122-040000");
    fs::create_dir_all(&results).expect("made");
    fs::write(results.join("plan.toml"), PLAN).expect("written");
    for arguments in [&[][..], &["lab-results/nothing-yet-20261122-040000"]] {
        let done = report(home.path(), arguments);
        assert!(done.status.success(), "{done:?}");
        let said = String::from_utf8(done.stdout).expect("text");
        assert_eq!(said, "report: lab-results/nothing-yet-20261122-040000/report.html\n");
        let page = fs::read_to_string(results.join("report.html")).expect("written");
        assert!(page.contains("Nothing has been measured yet.") && page.contains("Not begun"));
        fs::remove_file(results.join("report.html")).expect("removed");
    }
}

#[test]
fn what_holds_no_results_is_a_wrong_argument() {
    let home = tempfile::tempdir().expect("a directory");
    for (arguments, says) in
        [(&["."][..], "no result directory"), (&[], "run a plan first"), (&["a", "b"], "one word too many")]
    {
        let done = report(home.path(), arguments);
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        assert!(String::from_utf8_lossy(&done.stderr).contains(says), "{done:?}");
    }
    let broken = home.path().join("broken");
    fs::create_dir(&broken).expect("made");
    fs::write(broken.join("plan.toml"), PLAN.replace("asks", "aks")).expect("written");
    let done = report(home.path(), &["broken"]);
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert!(String::from_utf8_lossy(&done.stderr).contains("plan.toml:4"), "{done:?}");
}
