//! Sentences of ARCHITECTURE.md, which hold, and numbers that may only fall: files in import cycles, names of public types that
//! stand for two things, methods of the largest types, open fields, lines. `baseline.toml` has the numbers; after one fell,
//! `UPDATE=1 cargo test --workspace --test tidy` lowers it there.

#![allow(clippy::print_stdout)] // Shown when a test fails, or when it is asked for.

mod architecture;
mod cycles;
mod figures;
mod rules;
mod source;
mod tokens;
mod trips;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};

use source::Crate;

/// The numbers.
const BASELINE: &str = "xtask/tests/tidy/baseline.toml";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The crates, by their folder's name. All tests read them once.
fn crates() -> &'static BTreeMap<String, Crate> {
    static CRATES: LazyLock<BTreeMap<String, Crate>> = LazyLock::new(read_crates);
    &CRATES
}

fn read_crates() -> BTreeMap<String, Crate> {
    let folders = fs::read_dir(root().join("crates")).expect("crates");
    let folders =
        folders.map(|entry| entry.expect("an entry").path()).filter(|path| path.join("src").is_dir());
    folders
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let mut files = Vec::new();
            list(&path.join("src"), &mut files);
            (name, read(&path.join("src"), files))
        })
        .collect()
}

fn list(directory: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            list(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// A crate, without files that only tests have.
fn read(source: &Path, files: Vec<PathBuf>) -> Crate {
    let mut all = Crate::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a file");
        let place = file.strip_prefix(source).expect("in it").with_extension("");
        let mut module: Vec<String> = place.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        // A binary's own file is the root of another crate; it refers to the library by name.
        if module == ["main"] {
            continue;
        }
        if module.last().is_some_and(|last| last == "mod") || module == ["lib"] {
            module.pop();
        }
        all.insert(module, (place.to_string_lossy().into_owned(), source::of_text(&text)));
    }
    let declared = |module: &[String]| match module.split_last() {
        None => true,
        Some((last, parent)) => all.get(parent).is_some_and(|(_, parent)| parent.modules.contains(last)),
    };
    let tests: Vec<Vec<String>> = all.keys().filter(|module| !declared(module)).cloned().collect();
    all.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
    all
}

/// Fails if a number rose, and also if it fell and still stands higher in the baseline.
fn only_falls(what: &str, now: usize, which: &str) {
    let allowed = bound(&[what], now);
    assert!(now <= allowed, "{what}: {now}, and {BASELINE} allows {allowed}:\n{which}");
    assert!(
        now == allowed,
        "{what}: only {now} now; UPDATE=1 cargo test --workspace --test tidy lowers {allowed}"
    );
}

/// Fails if a number rose. That it fell with every change needs no note.
fn at_most(what: &str, now: usize) {
    let allowed = bound(&[what], now);
    assert!(now <= allowed, "{what}: {now}, and {BASELINE} allows {allowed}");
}

/// The names that a table of the baseline has.
fn names_in(table: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(BASELINE)).expect("a baseline");
    let baseline: toml::Table = text.parse().expect("TOML");
    baseline[table].as_table().expect("a table").keys().cloned().collect()
}

/// What the baseline allows for this number. Lowered first, if that is asked for.
fn bound(path: &[&str], now: usize) -> usize {
    // Tests run at the same time, and each writes its own number.
    static WRITING: Mutex<()> = Mutex::new(());
    let _writing = WRITING.lock();
    let file = root().join(BASELINE);
    let mut baseline: toml::Table = fs::read_to_string(&file).expect("a baseline").parse().expect("TOML");
    let (last, tables) = path.split_last().expect("a name");
    let inner = tables.iter().fold(&mut baseline, |table, name| {
        table.get_mut(*name).and_then(toml::Value::as_table_mut).expect("a table of that name")
    });
    let allowed = inner.get(*last).and_then(toml::Value::as_integer).unwrap_or(0) as usize;
    if now < allowed && std::env::var_os("UPDATE").is_some() {
        inner.insert((*last).to_owned(), toml::Value::Integer(now as i64));
        fs::write(&file, baseline.to_string()).expect("written");
        return now;
    }
    allowed
}

#[test]
fn files_in_import_cycles_become_fewer() {
    let (mut files, mut cyclic) = (0, 0);
    let mut report = String::new();
    for (name, of) in crates() {
        let graph = cycles::graph(of);
        let found = cycles::in_cycles(&graph);
        files += of.len();
        cyclic += found.len();
        let edges = found.iter().map(|file| {
            let to: Vec<&str> =
                graph[*file].iter().map(String::as_str).filter(|to| found.contains(to)).collect();
            format!("  {file} -> {}\n", to.join(", "))
        });
        report += &format!("{name}: {} of {}\n{}", found.len(), of.len(), edges.collect::<String>());
    }
    report += &format!("{cyclic} of {files}\n");
    // `cargo test … -- --show-output` shows it, for a reader who wants to break one.
    println!("{report}");
    only_falls("files_in_import_cycles", cyclic, &report);
}

#[test]
fn what_architecture_says_of_the_crates_is_true() {
    let broken = rules::broken(&root(), crates());
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn names_of_public_types_stand_for_one_thing() {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, of) in crates() {
        for (file, source) in of.values() {
            for one in &source.public_types {
                places.entry(one.clone()).or_default().insert(format!("{name}/{file}"));
            }
        }
    }
    // Each message of a protocol has these, in a file of its own (`wire/nfs3/rename.rs`).
    const OF_A_MESSAGE: [&str; 5] = ["Arguments", "Failure", "Reply", "Results", "Success"];
    places.retain(|name, files| files.len() > 1 && !OF_A_MESSAGE.contains(&name.as_str()));
    let list: Vec<String> = places
        .iter()
        .map(|(name, files)| format!("{name}: {}", files.iter().cloned().collect::<Vec<_>>().join(", ")))
        .collect();
    only_falls("type_names_used_twice", list.len(), &list.join("\n"));
}
