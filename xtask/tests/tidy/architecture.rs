//! What ARCHITECTURE.md says of the crates: the table of floors, and the sentences about what each does not know.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The line above the table.
const ABOVE_FLOORS: &str = "Every arrow between crates goes down";
/// Where the names of crates stand in a line of it; what is left of them is the floor, if it is not that of the line before.
const NAMES: std::ops::Range<usize> = 3..20;
/// What a crate ends with that others of its floor may use.
const LEAF: &str = "leaf)";

/// A crate's place in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub floor: u32,
    /// Crates of the same floor may use it.
    pub is_leaf: bool,
    /// A lint keeps it from sockets, files, clocks and threads.
    pub is_pure: bool,
}

/// The document.
pub struct Architecture(String);

impl Architecture {
    /// That of the workspace.
    pub fn read(root: &Path) -> Self {
        Self(fs::read_to_string(root.join("ARCHITECTURE.md")).expect("ARCHITECTURE.md"))
    }

    /// The floors, by crate.
    pub fn floors(&self) -> BTreeMap<String, Place> {
        let (_, behind) = self.0.split_once(ABOVE_FLOORS).expect("the floors");
        let table = behind.split("```").nth(1).expect("a table");
        let (mut places, mut floor) = (BTreeMap::new(), 0);
        for line in table.lines().filter(|line| !line.is_empty()) {
            floor = line[..NAMES.start].trim().parse().unwrap_or(floor);
            let (is_leaf, is_pure) = (line.ends_with(LEAF), line.contains("(pure"));
            for name in line[NAMES].split_whitespace() {
                let before = places.insert(name.to_owned(), Place { floor, is_leaf, is_pure });
                assert!(before.is_none(), "{name} has two floors");
            }
        }
        places
    }

    /// What the document says that a crate, or a part of it, does not know: each such sentence, with its crate.
    pub fn unknown(&self) -> Vec<(String, String)> {
        let (_, crates) = self.0.split_once("\n## The crates\n").expect("the crates");
        let (crates, _) = crates.split_once("\n## ").expect("the next chapter");
        let mut found = Vec::new();
        for paragraph in crates.split("\n- **").skip(1) {
            let name = paragraph.split("**").next().expect("a name");
            let text = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
            let sentences = text.split(". ").flat_map(|sentence| sentence.split("; "));
            let sentences = sentences.map(|sentence| sentence.trim_end_matches('.'));
            found.extend(
                sentences
                    .filter(|sentence| sentence.contains("not know*"))
                    .map(|sentence| (name.to_owned(), sentence.to_owned())),
            );
        }
        found
    }
}

#[test]
fn floors_and_sentences_are_read() {
    let text = "Every arrow between crates goes down:\n\n```\n1  net  store       sockets | files\n   tls              sessions  \
                (pure)\n0  units            figures  (pure, leaf)\n```\n\n## The crates\n\n- **net** (`crates/net`): opens \
                sockets. *Does not know* what\n  bytes mean.\n- **tls**: sessions. Handlers *do not know* sockets; workers *do not know* \
                NFS.\n- **units**: nothing.\n\n## More\n";
    let architecture = Architecture(text.to_owned());
    let place = |floor, is_leaf, is_pure| Place { floor, is_leaf, is_pure };
    let wanted = [
        ("net", place(1, false, false)),
        ("store", place(1, false, false)),
        ("tls", place(1, false, true)),
        ("units", place(0, true, true)),
    ];
    assert_eq!(architecture.floors(), wanted.map(|(name, place)| (name.to_owned(), place)).into());
    let wanted = [
        ("net", "*Does not know* what bytes mean"),
        ("tls", "Handlers *do not know* sockets"),
        ("tls", "workers *do not know* NFS"),
    ];
    assert_eq!(architecture.unknown(), wanted.map(|(name, text)| (name.to_owned(), text.to_owned())));
}
