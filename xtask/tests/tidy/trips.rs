//! The trips of ARCHITECTURE.md: each file exists, and is entered by what the line before names.

use std::fs;
use std::path::Path;

use super::{root, source, tokens};

/// The chapter.
const CHAPTER: &str = "\n## Three trips, file by file\n";

/// A line: a file, and what of the next file it names; nothing if it returns.
#[derive(Debug, PartialEq, Eq)]
struct Stop {
    file: String,
    enters: Option<String>,
}

/// The trips of a document, by their titles.
fn trips(document: &str) -> Vec<(String, Vec<Stop>)> {
    let (_, chapter) = document.split_once(CHAPTER).expect("the chapter");
    let chapter = chapter.split("\n## ").next().expect("a text");
    let of_section = |section: &str| {
        let title = section.lines().next().expect("a title").to_owned();
        (title, section.split("\n- ").skip(1).map(stop).collect())
    };
    chapter.split("\n### ").skip(1).map(of_section).collect()
}

fn stop(item: &str) -> Stop {
    let item = item.split("\n\n").next().expect("a text");
    let file = item.split('`').nth(1).expect("a file").to_owned();
    let enters = item
        .split_once('\u{2192}')
        .map(|(_, behind)| behind.split('`').nth(1).expect("a name behind the arrow").to_owned());
    Stop { file, enters }
}

/// What does not hold of a trip.
fn broken(root: &Path, stops: &[Stop]) -> Vec<String> {
    let mut broken = Vec::new();
    for (at, Stop { file, enters }) in stops.iter().enumerate() {
        let Ok(text) = fs::read_to_string(root.join(file)) else {
            broken.push(format!("{file} is not there"));
            continue;
        };
        let Some(next) = stops.get(at + 1) else { continue };
        let Some(name) = enters else {
            if !stops[..at].iter().any(|earlier| earlier.file == next.file) {
                broken.push(format!("{file} returns, and {} was not on the way to it", next.file));
            }
            continue;
        };
        let path = tokens::tokens(name);
        if !tokens::tokens(&text).windows(path.len()).any(|window| window == path) {
            broken.push(format!("{file} does not name {name}"));
        }
        let item = path.last().expect("a name");
        let defines = |text: String| source::of_text(&text).defined.contains(item);
        if !fs::read_to_string(root.join(&next.file)).is_ok_and(defines) {
            broken.push(format!("{} does not define {item}", next.file));
        }
    }
    broken
}

#[test]
fn trips_go_from_file_to_file() {
    let document = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let trips = trips(&document);
    assert_eq!(trips.len(), 3, "the chapter has three trips");
    let mut wrong = Vec::new();
    for (title, stops) in &trips {
        assert!(stops.len() > 5, "{title} has only {} stops: are they still written as before?", stops.len());
        wrong.extend(broken(&root(), stops).into_iter().map(|what| format!("{title}: {what}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn stops_are_read_and_judged() {
    let text = "# A\n\n## Three trips, file by file\n\nText.\n\n### One\n\n- `a.rs`: goes on\n  \u{2192} `b::run`\n- \
                `b.rs`: returns\n- `a.rs`: ends\n\n## More\n";
    let stop =
        |file: &str, enters: Option<&str>| Stop { file: file.to_owned(), enters: enters.map(str::to_owned) };
    let stops = [stop("a.rs", Some("b::run")), stop("b.rs", None), stop("a.rs", None)];
    assert_eq!(trips(text)[0].1, stops);
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    write("a.rs", "fn a() { b::run() }");
    write("b.rs", "pub fn run() {}");
    assert!(broken(folder.path(), &stops).is_empty());
    write("b.rs", "pub fn ran() {}");
    assert_eq!(broken(folder.path(), &stops), ["b.rs does not define run"]);
    write("a.rs", "fn a() { b::ran() }");
    assert_eq!(broken(folder.path(), &stops).len(), 2);
    assert_eq!(broken(folder.path(), &[stop("b.rs", None), stop("a.rs", None)]).len(), 1);
}
