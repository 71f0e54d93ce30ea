//! keepalived takes the example of the manual. Skipped with a word where keepalived is not installed, or no network can be made.

use std::fs;
use std::path::Path;
use std::process::Command;

use howdah_needs::{Lack, skipped};

/// What is missing for the test, if anything is.
fn missing() -> Option<&'static str> {
    let runs = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).output().is_ok_and(|done| done.status.success())
    };
    if !runs("keepalived", &["--version"]) {
        return Some("keepalived");
    }
    (!runs("unshare", &["-rn", "ip", "link", "add", "eth0", "type", "veth"]))
        .then_some("a network of its own")
}

#[test]
fn keepalived_takes_the_example_of_the_manual() {
    if let Some(missing) = missing() {
        skipped(Lack::Program, format_args!("{missing} is missing"));
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/manual/clusters.md");
    let page = fs::read_to_string(page).expect("the page");
    let example = page.split("```").find(|block| block.contains("vrrp_instance")).expect("an example");
    let home = tempfile::tempdir().expect("a directory");
    let [file, log] = ["keepalived.conf", "log"].map(|name| home.path().join(name));
    fs::write(&file, example).expect("written");
    let script = "ip link add eth0 type veth peer name eth1; ip link set eth0 up; exec keepalived --config-test=\"$1\" --use-file \"$2\"";
    let mut command = Command::new("unshare");
    command.args(["-rn", "sh", "-ec", script, "sh"]).arg(&log).arg(&file);
    let done = command.output().expect("it runs");
    let text = fs::read_to_string(&log).unwrap_or_default();
    assert!(done.status.success() && text.is_empty(), "{done:?}\n{text}");
}
