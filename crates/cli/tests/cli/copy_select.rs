//! `howdah cp` with --exclude, --include, --delete and --dry-run, as people type them.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::server::{HOWDAH, Server, home, run, serve};

fn cp(directory: &Path, words: &str) -> (Option<i32>, String, String) {
    run(Command::new(HOWDAH).arg("cp").args(words.split(' ')).current_dir(directory))
}

/// The names below a directory, sorted.
fn names(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).expect("a directory") {
            let path = entry.expect("an entry").path();
            found.push(path.strip_prefix(directory).expect("below").to_str().expect("text").to_owned());
            if path.is_dir() {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_mirror_at_a_server_is_shown_made_and_kept() {
    let home = home();
    let at = home.path();
    for (path, content) in
        [("project/a.c", "a"), ("project/a.o", "a"), ("project/sub/b.c", "b"), ("data/m/old/x", "x")]
    {
        fs::create_dir_all(at.join(path).parent().expect("a directory")).expect("made");
        fs::write(at.join(path), content).expect("written");
    }
    fs::write(at.join("data/m/kept.o"), "x").expect("written");
    let server =
        Server::start(serve(at).arg(at.join("data")).args(["--listen", "127.0.0.1:0", "--squash", "none"]));
    let flags = "-rT --delete --exclude *.o";
    let places = format!("project nfs://{}/m", server.address());
    let before = names(&at.join("data/m"));
    let (code, output, errors) = cp(at, &format!("{flags} --dry-run {places}"));
    assert_eq!((code, &errors[..]), (Some(0), ""), "{output}");
    for part in [
        "project/a.c: would be copied (1 B)\n",
        "project/sub: would be created\n",
        "/m/old/x: would be deleted\n",
        "dry run, nothing was changed: 2 files (2 B) would be copied\n",
        "  2 names would be deleted\n",
        "  1 name excluded\n",
    ] {
        assert!(output.contains(part), "{part} in\n{output}");
    }
    assert_eq!(names(&at.join("data/m")), before);
    let (code, output, _) = cp(at, &format!("{flags} --dry-run -q {places}"));
    assert_eq!((code, &output[..]), (Some(0), ""));
    let (code, output, errors) = cp(at, &format!("{flags} --json -v {places}"));
    assert_eq!(code, Some(0), "{errors}");
    let totals: serde_json::Value = serde_json::from_str(&output).expect("JSON alone");
    assert_eq!(
        (&totals["removed"], &totals["excluded"], &totals["dry_run"]),
        (&2.into(), &1.into(), &false.into())
    );
    assert!(errors.contains("/m/old: deleted\n"), "{errors}");
    assert_eq!(names(&at.join("data/m")), ["a.c", "kept.o", "sub", "sub/b.c"]);
}

#[test]
fn what_cannot_be_mirrored_is_refused() {
    let home = home();
    let at = home.path();
    for path in ["a/x", "b/y", "to/z"] {
        fs::create_dir_all(at.join(path).parent().expect("a directory")).expect("made");
        fs::write(at.join(path), "1").expect("written");
    }
    for (words, expected, said) in [
        ("--delete a to", 2, "needs --recursive"),
        ("-r --delete -n a to", 2, "cannot be used together"),
        ("-r --delete a/. b/. to", 2, "copy one source at a time"),
        ("-r --exclude a[ a to", 2, "[ without a ]"),
        ("-r --delete nothing a to", 1, "nothing will be deleted"),
    ] {
        let (code, _, errors) = cp(at, words);
        assert!(code == Some(expected) && errors.contains(said), "{words}: {code:?} {errors}");
        assert!(at.join("to/z").exists(), "{words}");
    }
}
