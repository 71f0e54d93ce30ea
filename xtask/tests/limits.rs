//! The page of limits in the manual is what the code says; `UPDATE=1 cargo test -p xtask --test limits` writes it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use howdah_limits::Limit;

const MANUAL: &str = "docs/manual/limits.md";
const START: &str = "<!-- limits: written by `UPDATE=1 cargo test -p xtask --test limits` -->\n";
const END: &str = "<!-- end of limits -->\n";

/// What each part of the page is about, and its limits.
const PARTS: [(&str, &[Limit]); 9] = [
    ("Connections, calls and what is kept of them", howdah_server::limits::LIMITS),
    ("Records, and calls that come again", howdah_rpc::limits::LIMITS),
    ("Connections of QUIC", howdah_quic::limits::LIMITS),
    ("Clients of NFSv4 and NLM, and what they have", howdah_state::limits::LIMITS),
    ("What a message may hold", howdah_wire::limits::LIMITS),
    ("Exported directories", howdah_store::limits::LIMITS),
    ("What a server lists", howdah_vfs::limits::LIMITS),
    ("Mounts", howdah_mount::limits::LIMITS),
    ("Pass-through relays", howdah_relay::limits::LIMITS),
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The page.
fn page() -> String {
    let mut text = String::new();
    for (about, limits) in PARTS {
        let _ = write!(text, "\n## {about}\n\n| limit | | what and why | beyond it |\n|---|---|---|---|\n");
        for limit in limits {
            let (name, amount, beyond) = (limit.name, limit.amount, limit.beyond);
            let _ = writeln!(text, "| `{name}` | {amount} | {} | {beyond} |", limit.explanation());
        }
    }
    text.push('\n');
    text
}

#[test]
fn the_manual_has_every_limit_as_the_code_has_it() {
    let path = repository().join(MANUAL);
    let manual = fs::read_to_string(&path).expect("the manual");
    let (before, rest) = manual.split_once(START).expect("where the page starts");
    let (there, after) = rest.split_once(END).expect("where it ends");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, format!("{before}{START}{}{END}{after}", page())).expect("written");
    } else {
        assert!(
            there == page(),
            "{MANUAL} differs from the code: UPDATE=1 cargo test -p xtask --test limits"
        );
    }
}

#[test]
fn the_test_of_every_limit_exists() {
    let mut names = BTreeSet::new();
    for limit in PARTS.iter().flat_map(|(_, limits)| *limits) {
        assert!(names.insert((limit.module, limit.name)), "{} stands twice", limit.name);
        let (file, test) = limit.test.split_once("::").expect("FILE::TEST");
        let path = repository().join("crates").join(format!("{file}.rs"));
        let source = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(source.contains(&format!("fn {test}()")), "{} has no test {test}", path.display());
    }
}
