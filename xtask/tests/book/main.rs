//! The documents: links lead to files and headings that exist, every page of the manual is in its contents, sentences of README and
//! manual are short, all pages together are bounded, and some words are in none of them. `mdbook build docs` makes the book of the
//! same files.

mod literals;
mod markdown;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use literals::literals;
use markdown::{Link, anchors, links, prose, sentences, words};

/// The longest sentence of README and manual, in words.
const SENTENCE_MAX: usize = 35;

/// The most words of all pages of the book together, those that are written from the code included.
const WORDS_MAX: usize = 90_000;

/// Pages of the manual that are written from help and comments: their sentences are those of the code.
const FROM_THE_CODE: [&str; 3] = ["commands.md", "exit-codes.md", LIMITS];

/// Words that have no innocent use in README, manual and messages, in small letters, with what to write instead.
const WORST: [(&str, &str); 16] = [
    ("third figure", "max"),
    ("99 of 100", "p99"),
    ("whoever", "name the actor"),
    ("whomever", "name the actor"),
    ("anew", "again"),
    ("goes on", "continues, resumes"),
    ("go on", "continue, resume"),
    ("comes again", "is repeated"),
    ("what moves", "name it"),
    ("processors", "CPUs"),
    ("processor time", "CPU time"),
    ("takes its time", "name what is slow"),
    ("is told", "is reported"),
    ("are told of", "see"),
    ("for want of", "without"),
    ("makes use of", "uses"),
];

/// The page that is written from the code and whose words are those of its comments. Help is not left out: it is the page of commands.
const LIMITS: &str = "limits.md";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("a path")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All documents whose links are checked.
fn documents() -> Vec<PathBuf> {
    fn collect(directory: &Path, into: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, into);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                into.push(path);
            }
        }
    }
    let names = [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "interop/README.md",
    ];
    let mut all: Vec<PathBuf> = names.iter().map(|name| root().join(name)).collect();
    collect(&root().join("docs"), &mut all);
    all.sort();
    all
}

/// What is wrong with a link of a document.
fn wrong(document: &Path, link: &Link) -> Option<String> {
    let (file, heading) = match link.target.split_once('#') {
        Some((file, heading)) => (file, Some(heading)),
        None => (link.target.as_str(), None),
    };
    if ["http://", "https://", "mailto:"].iter().any(|scheme| file.starts_with(scheme)) {
        return None;
    }
    let target = if file.is_empty() { document.to_owned() } else { document.with_file_name("").join(file) };
    let place = format!("{}:{}: {}", document.display(), link.line, link.target);
    let docs = root().join("docs");
    let leaves = |target: PathBuf| target.canonicalize().is_ok_and(|target| !target.starts_with(&docs));
    if document.starts_with(&docs) && leaves(target.clone()) {
        return Some(format!("{place}: not in the book; write the path as code"));
    }
    if !target.exists() {
        return Some(format!("{place}: no such file"));
    }
    let heading = heading?;
    let is_there = target.is_file() && anchors(&read(&target)).contains(heading);
    (!is_there).then(|| format!("{place}: no such heading"))
}

/// The pages that the contents list.
fn listed() -> BTreeSet<PathBuf> {
    let docs = root().join("docs");
    links(&read(&docs.join("SUMMARY.md"))).into_iter().map(|link| docs.join(link.target)).collect()
}

/// README and the pages of the manual.
fn manual() -> Vec<PathBuf> {
    let pages = fs::read_dir(root().join("docs/manual")).expect("pages");
    let mut pages: Vec<PathBuf> = pages.map(|entry| entry.expect("a page").path()).collect();
    pages.extend(["README.md", "docs/introduction.md"].map(|name| root().join(name)));
    pages.sort();
    pages
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut seen = 0;
    let mut all_wrong = Vec::new();
    for document in documents() {
        let links = links(&read(&document));
        seen += links.len();
        all_wrong.extend(links.iter().filter_map(|link| wrong(&document, link)));
    }
    assert!(all_wrong.is_empty(), "{}", all_wrong.join("\n"));
    assert!(seen > 300, "only {seen} links found");
}

#[test]
fn the_contents_list_every_page_of_the_book() {
    let listed = listed();
    let docs = root().join("docs");
    let is_page = |page: &PathBuf| page.starts_with(&docs) && !page.ends_with("SUMMARY.md");
    let missing: Vec<PathBuf> =
        documents().into_iter().filter(|page| is_page(page) && !listed.contains(page)).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md does not list {missing:?}, so the book has no such page");
}

#[test]
fn sentences_of_readme_and_manual_are_short() {
    let is_written = |page: &PathBuf| !FROM_THE_CODE.iter().any(|name| page.ends_with(name));
    let pages: Vec<PathBuf> = manual().into_iter().filter(is_written).collect();
    assert!(pages.len() > 30, "only {} pages are found", pages.len());
    let mut long = Vec::new();
    for page in pages {
        for sentence in sentences(&read(&page)) {
            let length = words(&sentence);
            if length > SENTENCE_MAX {
                long.push(format!("{}: {length} words: {sentence}", page.display()));
            }
        }
    }
    assert!(long.is_empty(), "more than {SENTENCE_MAX} words:\n{}", long.join("\n"));
}

#[test]
fn the_book_is_short_enough() {
    let docs = root().join("docs");
    let pages = documents().into_iter().filter(|page| page.starts_with(&docs));
    let mut lengths: Vec<(usize, PathBuf)> = pages.map(|page| (words(&read(&page)), page)).collect();
    lengths.sort_unstable();
    let sum: usize = lengths.iter().map(|(length, _)| length).sum();
    let longest = lengths.iter().rev().take(10);
    let longest: Vec<String> = longest.map(|(length, page)| format!("{length} {}", page.display())).collect();
    assert!(
        sum <= WORDS_MAX,
        "{sum} words, {WORDS_MAX} are allowed; the longest pages:\n{}",
        longest.join("\n")
    );
    assert!(sum > WORDS_MAX / 2, "only {sum} words found");
}

#[test]
fn readme_counts_the_built_in_plans() {
    let plans = files(&root().join("lab/plans"), &["toml"]).len();
    let counted = format!("{plans} built-in plans");
    assert!(read(&root().join("README.md")).contains(&counted), "README.md does not say {counted:?}");
}

/// The worst words in a text of small letters.
fn worst_in(text: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    WORST.into_iter().filter(move |(word, _)| {
        text.match_indices(word).any(|(at, _)| {
            let ends = [text[..at].chars().next_back(), text[at + word.len()..].chars().next()];
            !ends.into_iter().flatten().any(char::is_alphanumeric)
        })
    })
}

#[test]
fn the_worst_words_are_in_no_page() {
    let mut found = Vec::new();
    for page in manual() {
        if page.ends_with(LIMITS) {
            continue;
        }
        // Help stands there as it is printed, in blocks of code.
        let page_text = read(&page);
        let words = if page.ends_with("commands.md") { page_text } else { prose(&page_text).join(" ") };
        let words: Vec<&str> = words.split_whitespace().collect();
        let text = words.join(" ").to_lowercase();
        found.extend(
            worst_in(&text).map(|(word, instead)| format!("{}: {word:?}: {instead}", page.display())),
        );
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Sources whose literals users do not read: limits have a page of their own, and the suite's cases are for developers.
const NOT_READ: [&str; 4] = ["limits.rs", "testing.rs", "tests", "conformance"];

/// Files below a directory with one of these endings.
fn files(directory: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path, endings));
        } else if path.extension().is_some_and(|ending| endings.iter().any(|one| ending == *one)) {
            found.push(path);
        }
    }
    found
}

#[test]
fn the_worst_words_are_in_no_message() {
    let (mut found, mut seen) = (Vec::new(), 0);
    for entry in fs::read_dir(root().join("crates")).expect("crates") {
        let source = entry.expect("a crate").path().join("src");
        for file in files(&source, &["rs", "js", "html"]) {
            if NOT_READ.iter().any(|part| file.iter().any(|one| one == *part)) {
                continue;
            }
            let text = read(&file);
            // A page's scripts have most of their texts in other quotes.
            let is_rust = file.extension().is_some_and(|ending| ending == "rs");
            let texts = if is_rust { literals(&text) } else { text.lines().map(str::to_owned).collect() };
            for literal in texts {
                seen += 1;
                let worst = worst_in(&literal.to_lowercase())
                    .next()
                    .map(|(word, instead)| format!("{word:?}: {instead}"));
                found.extend(worst.map(|what| format!("{}: {what}: {literal}", file.display())));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(seen > 3_000, "only {seen} literals found");
}
