//! `docs/SEMANTICS.md` names a test for each clause: this one sees that they exist.

use std::fs;
use std::path::{Path, PathBuf};

/// The tests named in the text: `FILE::NAME` between backticks.
fn named_tests(text: &str) -> Vec<(&str, &str)> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter_map(|quoted| quoted.split_once("::")).collect()
}

/// The file behind a short name.
fn file(repository: &Path, short: &str) -> PathBuf {
    let crates = repository.join("crates");
    let path = match short.split_once('/') {
        Some(("conformance", topic)) => format!("vfs/src/conformance/topics/{topic}.rs"),
        Some((protocol @ ("nfs3" | "nfs4"), tests)) => format!("server/src/{protocol}/tests/{tests}.rs"),
        _ => format!("{short}.rs"),
    };
    crates.join(path)
}

#[test]
fn every_clause_names_tests_that_exist() {
    let repository =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/server is two below");
    let text = fs::read_to_string(repository.join("docs/SEMANTICS.md")).expect("the document");
    for (short, name) in named_tests(&text) {
        let path = file(repository, short);
        let source =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{short}: {}: {error}", path.display()));
        assert!(source.contains(&format!("fn {name}(")), "{short} has no test `{name}`");
    }
    let clauses: Vec<_> = text.split("\n- **S-").skip(1).collect();
    assert!(clauses.len() > 30, "{} clauses", clauses.len());
    let mut ids: Vec<_> = clauses.iter().map(|clause| clause.split_once("**").map(|(id, _)| id)).collect();
    ids.sort_unstable();
    let twice = ids.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None, "two clauses have one id");
    for clause in clauses {
        assert!(
            !named_tests(clause).is_empty(),
            "no test for S-{}",
            clause.lines().next().unwrap_or_default()
        );
    }
}
