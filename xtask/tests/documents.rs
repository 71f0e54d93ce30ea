//! The files that the documents name exist: a reader who follows a READ through the rooms must find the rooms.

use std::fs;
use std::path::Path;

/// Folders that a path in a document may start with.
const ROOTS: [&str; 7] = ["crates/", "docs/", "errands/", "fuzz/", "interop/", "packaging/", "xtask/"];

#[test]
fn the_files_that_readme_and_architecture_name_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut seen = 0;
    for document in ["README.md", "ARCHITECTURE.md"] {
        let text = fs::read_to_string(root.join(document)).expect("a document");
        let quoted =
            text.split(['`', '(', ')']).filter(|word| ROOTS.iter().any(|root| word.starts_with(root)));
        for path in quoted.filter(|path| !path.contains(char::is_whitespace)) {
            assert!(root.join(path).exists(), "{document} names {path}, which is not there");
            seen += 1;
        }
    }
    assert!(seen > 20, "only {seen} paths found: are they still written as before?");
}
