//! Copies of a part of a tree, mirrors, and copies that only say what they would do.

use std::sync::{Arc, Barrier};

use howdah_copy::{CopyOptions, CopyTarget, CopyTuning, Fate, Pattern, Patterns};
use howdah_vfs::layer::ReadOnly;
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Change, FileKind, Name, Node};

use crate::copying;
use crate::copying::random::{Random, seed};
use crate::copying::tree::{Files, grow};
use crate::copying::trouble::{Busy, Dying, Folding, Mounted, Together};
use crate::copying::{copier, copy, item, options};

fn memory() -> Files {
    Files(Arc::new(MemoryFileSystem::new()))
}

/// Makes what these paths name in a directory: directories where they end with a slash, else files of 3 bytes.
fn plant(files: &Files, top: &Node, paths: &str) {
    for path in paths.split(' ').filter(|path| !path.is_empty()) {
        let mut at = *top;
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next().filter(|part| !part.is_empty()) {
            at = match files.look(&at.handle, part) {
                Some(there) => there,
                None if parts.peek().is_some() => files.directory(&at.handle, part),
                None => {
                    files.file(&at.handle, part, 3, &[(0, path.as_bytes()[..3.min(path.len())].to_vec())])
                }
            };
        }
    }
}

fn top(files: &Files, called: &str, paths: &str) -> Node {
    let top = files.directory(&files.root().handle, called);
    plant(files, &top, paths);
    top
}

/// The paths below a directory, of directories with a slash at the end.
fn paths(files: &Files, top: &str) -> String {
    let seen = files.see(&files.at(top));
    let shown = |path: &String| {
        let is_directory = files.at(&format!("{top}{path}")).attributes.kind == FileKind::Directory;
        format!("{}{}", &path[1..], if is_directory { "/" } else { "" })
    };
    seen.keys().map(shown).collect::<Vec<_>>().join(" ")
}

/// `-` before a pattern excludes, `+` includes.
fn patterns(text: &str) -> Patterns {
    let mut patterns = Patterns::new();
    for pattern in text.split(' ').filter(|text| !text.is_empty()) {
        let fate = if pattern.starts_with('-') { Fate::Exclude } else { Fate::Include };
        patterns.push(fate, Pattern::parse(&pattern.as_bytes()[1..]).expect("a pattern"));
    }
    patterns
}

fn mirror(excluded: &str) -> CopyOptions {
    CopyOptions { delete: true, patterns: patterns(excluded), ..options() }
}

/// Copies into a directory that may be there, as `cp -rT`.
fn onto(
    from: &Files,
    source: Node,
    to: &Files,
    options: CopyOptions,
) -> (howdah_copy::Outcome, copying::Heard) {
    copy(from, source, to, "copy", options)
}

#[test]
fn what_patterns_leave_out_is_not_copied() {
    const TREE: &str = "a.c a.o sub/b.c sub/b.o cache/x sub/cache/y keep/z.o";
    for (rules, wanted, excluded) in [
        ("-*.o", "a.c cache/ cache/x keep/ sub/ sub/b.c sub/cache/ sub/cache/y", 3),
        ("-/cache/", "a.c a.o keep/ keep/z.o sub/ sub/b.c sub/b.o sub/cache/ sub/cache/y", 1),
        ("-cache/", "a.c a.o keep/ keep/z.o sub/ sub/b.c sub/b.o", 2),
        ("+keep/*.o -*.o -cache", "a.c keep/ keep/z.o sub/ sub/b.c", 4),
        ("+*/ +*.c -*", "a.c cache/ keep/ sub/ sub/b.c sub/cache/", 5),
        ("-*", "", 5),
    ] {
        let (from, to) = (memory(), memory());
        let source = top(&from, "source", TREE);
        let (outcome, heard) =
            copy(&from, source, &to, "copy", CopyOptions { patterns: patterns(rules), ..options() });
        assert_eq!(outcome.figures.errors, 0, "{rules}: {:?}", heard.all());
        assert_eq!((paths(&to, "copy"), outcome.figures.excluded), (wanted.to_owned(), excluded), "{rules}");
    }
}

#[test]
fn a_file_that_is_named_is_matched_by_its_name() {
    let (from, to) = (memory(), memory());
    let file = from.file(&from.root().handle, "a.o", 1, &[]);
    let options = CopyOptions { patterns: patterns("-*.o"), ..options() };
    let (outcome, _) = copy(&from, file, &to, "a.o", options);
    assert_eq!((outcome.figures.files, outcome.figures.excluded, outcome.figures.errors), (0, 1, 0));
}

#[test]
fn other_names_of_an_excluded_file_are_copied() {
    let (from, to) = (memory(), memory());
    let source = top(&from, "source", "a.o");
    let first = from.look(&source.handle, "a.o").expect("there");
    for name in ["b.c", "c.c"] {
        from.link(&first.handle, &source.handle, name);
    }
    let (outcome, heard) =
        copy(&from, source, &to, "copy", CopyOptions { patterns: patterns("-*.o"), ..options() });
    assert_eq!(
        (outcome.figures.files, outcome.figures.hard_links, outcome.figures.errors),
        (1, 1, 0),
        "{:?}",
        heard.all()
    );
    assert_eq!(paths(&to, "copy"), "b.c c.c");
}

/// With fewer at the same time it would wait for ever.
#[test]
fn removals_are_in_flight_at_the_same_time_in_one_directory_and_below() {
    for (extra, removed) in [("a b c d", 4), ("old/e old/f old/g old/h", 5)] {
        let (from, to) = (memory(), memory());
        let source = top(&from, "source", "kept");
        top(&to, "copy", &format!("kept {extra}"));
        let together = Together { inner: Arc::clone(&to.0), removals: Barrier::new(4) };
        let options = CopyOptions { jobs: Some(4), ..mirror("") };
        let (outcome, heard) = onto(&from, source, &Files(Arc::new(together)), options);
        assert_eq!((outcome.figures.errors, outcome.figures.removed), (0, removed), "{:?}", heard.all());
        assert_eq!(paths(&to, "copy"), "kept");
    }
}

#[test]
fn a_mirror_has_what_the_source_has_and_no_more() {
    let mut random = Random::new(seed("a_mirror_has_what_the_source_has_and_no_more"));
    let (from, to) = (memory(), memory());
    let source = from.directory(&from.root().handle, "source");
    grow(&from, &source, 60, 100_000, &mut random);
    let (outcome, heard) = onto(&from, source, &to, mirror(""));
    assert_eq!((outcome.figures.errors, outcome.figures.removed), (0, 0), "{:?}", heard.all());
    // What the source never had, in places that it has.
    let copied = to.at("copy");
    let extra = to.directory(&copied.handle, "extra");
    grow(&to, &extra, 30, 1000, &mut random);
    for directory in directories(&to, copied) {
        to.file(&directory.handle, "stranger", 1, &[]);
    }
    // What the source has no more.
    for name in from.names(&source.handle).iter().filter(|_| random.below(2) == 0) {
        let node = from.look(&source.handle, name).expect("listed");
        if node.attributes.kind != FileKind::Directory {
            let name = Name::parse(name.as_bytes()).expect("a name");
            from.0
                .remove(copying::tree::ROOT, &source.handle, name, &mut Change::default())
                .expect("removed");
        }
    }
    let before = to.see(&copied);
    let dry = CopyOptions { dry_run: true, ..mirror("") };
    let (planned, heard) = onto(&from, from.at("source"), &read_only(&to), dry);
    assert_eq!((planned.figures.errors, to.see(&copied)), (0, before), "{:?}", heard.all());
    let (outcome, heard) = onto(&from, from.at("source"), &to, mirror(""));
    assert_eq!(outcome.figures.errors, 0, "{:?}", heard.all());
    assert_eq!(to.see(&to.at("copy")), from.see(&source));
    assert!(outcome.figures.removed >= 31 && heard.has("removed /there/copy/extra"), "{:?}", heard.all());
    assert_eq!(planned.figures.removed, outcome.figures.removed);
}

fn directories(files: &Files, top: Node) -> Vec<Node> {
    let mut all = vec![top];
    let mut at = 0;
    while let Some(directory) = all.get(at).copied() {
        let below = files.names(&directory.handle).into_iter();
        let nodes = below.map(|name| files.look(&directory.handle, &name).expect("listed"));
        all.extend(nodes.filter(|node| node.attributes.kind == FileKind::Directory));
        at += 1;
    }
    all
}

fn read_only(files: &Files) -> Files {
    Files(Arc::new(ReadOnly::around(Arc::clone(&files.0))))
}

#[test]
fn what_a_pattern_leaves_out_is_not_deleted_nor_what_an_interrupted_copy_left() {
    const PARTIAL: &str = ".x.howdah-partial-0123456789abcdef";
    let (from, to) = (memory(), memory());
    let source = top(&from, "source", "a sub/b");
    let copied = top(&to, "copy", "old a.log sub/c.log sub/old gone/d.log gone/d gone/e/f");
    to.file(&copied.handle, PARTIAL, 1, &[]);
    let (outcome, heard) = onto(&from, source, &to, mirror("-*.log"));
    assert_eq!(outcome.figures.errors, 0, "{:?}", heard.all());
    assert_eq!(paths(&to, "copy"), format!("{PARTIAL} a a.log gone/ gone/d.log sub/ sub/b sub/c.log"));
    assert_eq!(outcome.figures.removed, 5, "{:?}", heard.all());
}

#[test]
fn what_the_destination_spells_otherwise_is_not_deleted() {
    let (from, to) = (memory(), memory());
    let source = top(&from, "source", "README Sub/A Sub/b New");
    top(&to, "copy", "readme sub/a sub/old old");
    let folding = Files(Arc::new(Folding { inner: Arc::clone(&to.0) }));
    let (outcome, heard) = onto(&from, source, &folding, mirror(""));
    assert_eq!((outcome.figures.errors, outcome.figures.removed), (0, 2), "{:?}", heard.all());
    assert_eq!(paths(&to, "copy"), "New readme sub/ sub/a sub/b");
}

#[test]
fn what_is_mounted_below_the_destination_is_not_deleted_where_the_copy_stays_in_one_file_system() {
    for (one_file_system, left) in [(true, "a old/ old/mounted/ old/mounted/x"), (false, "a")] {
        let (from, to) = (memory(), memory());
        let source = top(&from, "source", "a");
        top(&to, "copy", "old/mounted/x old/y");
        let root = to.at("copy/old/mounted").handle;
        let mounted = Files(Arc::new(Mounted { inner: Arc::clone(&to.0), root }));
        let options = CopyOptions { one_file_system, ..mirror("") };
        let (outcome, heard) = onto(&from, source, &mounted, options);
        assert_eq!(outcome.figures.errors, 0, "{:?}", heard.all());
        assert_eq!(paths(&to, "copy"), left);
    }
}

#[test]
fn nothing_is_deleted_outside_of_directories_that_were_copied() {
    let (from, to) = (memory(), memory());
    let source = top(&from, "source", "a");
    top(&to, "copy", "old");
    top(&to, "beside", "x");
    let (outcome, heard) = onto(&from, source, &to, mirror(""));
    assert_eq!((outcome.figures.errors, outcome.figures.removed), (0, 1), "{:?}", heard.all());
    assert_eq!(to.names(&to.root().handle), ["beside", "copy"]);
    // A file is no directory to be mirrored.
    let file = from.file(&from.root().handle, "file", 1, &[]);
    let (outcome, _) = copy(&from, file, &to, "beside-file", mirror(""));
    assert_eq!((outcome.figures.errors, outcome.figures.removed), (0, 0));
}

#[test]
fn nothing_is_deleted_if_the_source_cannot_be_read() {
    let (from, to) = (memory(), memory());
    let source = top(&from, "source", "a b sub/c");
    top(&to, "copy", "old sub/old");
    // As many calls as it takes until one of reading fails, and all behind it.
    for calls in 0..30 {
        let failing = Files(Arc::new(Dying { inner: Arc::clone(&from.0), left: calls.into() }));
        let (outcome, heard) = onto(&failing, source, &to, mirror(""));
        if outcome.figures.errors == 0 {
            assert!(calls > 3 && outcome.figures.removed == 2, "{calls}: {:?}", heard.all());
            return;
        }
        assert_eq!(outcome.figures.removed, 0, "{calls}: {:?}", heard.all());
        assert!(heard.has("nothing was deleted"), "{:?}", heard.all());
    }
    panic!("the copy was never whole");
}

#[test]
fn the_source_of_a_copy_is_never_deleted() {
    let files = memory();
    let outer = top(&files, "outer", "inner/source/a old");
    let source = files.at("outer/inner/source");
    let (copier, heard) = copier(&files, mirror(""));
    let onto_outer =
        howdah_copy::Item { target: CopyTarget::Directory(outer), ..item(&files, source, &files, "outer") };
    let outcome = copier.run(vec![onto_outer]);
    assert_eq!(paths(&files, "outer"), "a inner/ inner/source/ inner/source/a");
    assert!(outcome.figures.errors == 1 && heard.has("it is the source of this copy"), "{:?}", heard.all());
}

#[test]
fn a_dry_run_tells_what_a_run_does_and_changes_nothing() {
    let mut random = Random::new(seed("a_dry_run_tells_what_a_run_does_and_changes_nothing"));
    // Of several names of a file, workers side by side copy the one that they happen to find first.
    let one_worker = || CopyOptions {
        tuning: CopyTuning { most_jobs: 1, most_small_jobs: 1, ..options().tuning },
        ..options()
    };
    for _ in 0..5 {
        let (from, to) = (memory(), memory());
        let source = from.directory(&from.root().handle, "source");
        grow(&from, &source, 60, 10_000, &mut random);
        if random.below(2) == 0 {
            // A part of it is there already.
            let begun = CopyOptions { patterns: patterns("-*[13579]"), ..options() };
            assert_eq!(copy(&from, source, &to, "copy", begun).0.figures.errors, 0);
        }
        let before = to.see(&to.root());
        let dry = CopyOptions { dry_run: true, ..one_worker() };
        let (planned, heard) = copy(&from, source, &read_only(&to), "copy", dry);
        assert_eq!((planned.figures.errors, to.see(&to.root())), (0, before), "{:?}", heard.all());
        let (done, heard) = copy(&from, source, &to, "copy", one_worker());
        let sums = |outcome: &howdah_copy::Outcome| {
            let figures = outcome.figures;
            (
                (figures.files, figures.kept, figures.hard_links, figures.copied_bytes),
                (figures.directories, figures.symbolic_links, figures.special_files),
            )
        };
        assert_eq!(sums(&planned), sums(&done), "{:?}", heard.all());
    }
}

#[test]
fn an_empty_source_deletes_all_only_if_that_is_said() {
    for (source, options, removed) in [
        ("", mirror(""), 0),
        ("", CopyOptions { dry_run: true, ..mirror("") }, 0),
        ("", CopyOptions { delete_all: true, ..mirror("") }, 2),
        ("", CopyOptions { max_delete: Some(10), ..mirror("") }, 2),
        ("kept", mirror(""), 2),
        // What a pattern leaves out is in the source.
        ("x.o", mirror("-*.o"), 2),
    ] {
        let (from, to) = (memory(), memory());
        let source = top(&from, "source", source);
        top(&to, "copy", "old1 old2");
        let (outcome, heard) = onto(&from, source, &to, options.clone());
        let errors = u64::from(removed == 0);
        assert_eq!((outcome.figures.errors, outcome.figures.removed), (errors, removed), "{:?}", heard.all());
        assert_eq!(heard.has("--delete=all"), removed == 0, "{:?}", heard.all());
    }
    // Nothing is there to be deleted, or what is there stays anyway.
    for (there, excluded) in [("", ""), ("a.log .a.howdah-partial-0123456789abcdef", "-*.log")] {
        let (from, to) = (memory(), memory());
        let source = top(&from, "source", "");
        top(&to, "copy", there);
        let (outcome, heard) = onto(&from, source, &to, mirror(excluded));
        assert_eq!((outcome.figures.errors, outcome.figures.removed), (0, 0), "{:?}", heard.all());
    }
}

#[test]
fn no_more_names_are_deleted_than_may_be() {
    for most in 0..7 {
        let (from, to) = (memory(), memory());
        let source = top(&from, "source", "a");
        top(&to, "copy", "old1 old2 old/x old/y old/z/deep");
        let options = CopyOptions { max_delete: Some(most), ..mirror("") };
        let (outcome, heard) = onto(&from, source, &to, options);
        // Seven names, and one error that says that some stayed.
        assert_eq!((outcome.figures.removed, outcome.figures.errors), (most, 1), "{:?}", heard.all());
        assert!(heard.has("--max-delete is reached"), "{:?}", heard.all());
    }
    let (from, to) = (memory(), memory());
    let source = top(&from, "source", "a");
    top(&to, "copy", "old1 old2 old/x");
    let (outcome, heard) = onto(&from, source, &to, CopyOptions { max_delete: Some(4), ..mirror("") });
    assert_eq!((outcome.figures.removed, outcome.figures.errors), (4, 0), "{:?}", heard.all());
}

#[test]
fn a_name_that_cannot_be_deleted_is_not_one_of_those_that_may_be() {
    let (from, to) = (memory(), memory());
    let source = top(&from, "source", "a");
    top(&to, "copy", "busy/ old");
    let busy = Files(Arc::new(Busy { inner: Arc::clone(&to.0) }));
    let options = CopyOptions { max_delete: Some(1), jobs: Some(1), ..mirror("") };
    let (outcome, heard) = onto(&from, source, &busy, options);
    assert_eq!((outcome.figures.removed, outcome.figures.errors), (1, 1), "{:?}", heard.all());
    assert_eq!(paths(&to, "copy"), "a busy/");
}
