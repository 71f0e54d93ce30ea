//! `howdah cp` of what is read once: standard input, pipes, devices. And what is typed with a slash at its end.

use std::fs;
use std::io::Write;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::server::{HOWDAH, Server, home, run, serve};

/// More than a block, and no multiple of one.
const SIZE: usize = 5_000_001;

fn data() -> Vec<u8> {
    (0..SIZE).map(|at| (at % 251) as u8).collect()
}

fn started(home: &Path) -> Server {
    let mut command = serve(home);
    Server::start(command.arg(home.join("data")).args(["--listen", "127.0.0.1:0", "--squash", "none"]))
}

/// `howdah cp` with standard input from a pipe that gets these bytes.
fn cp_from(input: &[u8], directory: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(HOWDAH);
    command.arg("cp").args(arguments).current_dir(directory);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut pipe = child.stdin.take().expect("piped");
    // One that refuses its arguments reads nothing.
    let _ = pipe.write_all(input);
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_stream_is_copied_to_a_server_and_to_a_local_file() {
    let (home, data) = (home(), data());
    let server = started(home.path());
    let url = |name: &str| format!("nfs://{}/{name}", server.address());
    for (number, source) in ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].iter().enumerate() {
        let (far, near) = (url(&format!("far{number}")), format!("near{number}"));
        for (to, path) in [(&far, format!("data/far{number}")), (&near, near.clone())] {
            let (code, totals, errors) = cp_from(&data, home.path(), &[source, to]);
            assert_eq!((code, &errors[..]), (Some(0), ""), "{source} {to}");
            assert!(totals.starts_with("1 file copied, 5.0 MB"), "{totals}");
            let there = fs::read(home.path().join(path)).expect("copied");
            assert!(there == data, "{source} {to}: {} bytes", there.len());
            // What is there is replaced.
            let (code, _, errors) = cp_from(b"short", home.path(), &[source, to]);
            assert_eq!(code, Some(0), "{errors}");
        }
        assert_eq!(fs::read(home.path().join(&near)).expect("copied"), b"short");
        let (code, _, _) = cp_from(b"not taken", home.path(), &["-n", source, &near]);
        assert_eq!((code, &fs::read(home.path().join(&near)).expect("there")[..]), (Some(0), &b"short"[..]));
    }
    let left = fs::read_dir(home.path())
        .expect("listed")
        .chain(fs::read_dir(home.path().join("data")).expect("listed"));
    let names: Vec<String> =
        left.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
    assert!(!names.iter().any(|name| name.contains("howdah-partial")), "{names:?}");
}

#[test]
fn a_pipe_and_a_device_are_read_unless_trees_are_copied() {
    let home = home();
    let fifo = home.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("coreutils").success());
    let writer = std::thread::spawn({
        let fifo = fifo.clone();
        move || fs::write(fifo, data()).expect("read by the copy")
    });
    let (code, _, errors) = run(Command::new(HOWDAH).args(["cp", "fifo", "copy"]).current_dir(home.path()));
    assert_eq!(code, Some(0), "{errors}");
    writer.join().expect("written");
    assert!(fs::read(home.path().join("copy")).expect("copied") == data());
    let (code, _, errors) =
        run(Command::new(HOWDAH).args(["cp", "/dev/null", "null"]).current_dir(home.path()));
    assert_eq!(code, Some(0), "{errors}");
    let facts = home.path().join("null").symlink_metadata().expect("copied");
    assert!(facts.is_file() && facts.len() == 0, "{facts:?}");
    let (code, _, errors) =
        run(Command::new(HOWDAH).args(["cp", "-r", "fifo", "again"]).current_dir(home.path()));
    assert_eq!(code, Some(0), "{errors}");
    assert!(home.path().join("again").symlink_metadata().expect("made").file_type().is_fifo());
}

/// No process writes to the pipe, so opening it blocks.
#[test]
fn a_pipe_is_not_opened_for_a_copy_that_is_there_or_for_a_dry_run() {
    let home = home();
    let made = Command::new("mkfifo").arg(home.path().join("fifo")).status().expect("coreutils");
    assert!(made.success());
    fs::create_dir(home.path().join("directory")).expect("made");
    fs::write(home.path().join("directory/fifo"), b"old").expect("written");
    for (arguments, expected) in [
        (&["-n", "fifo", "directory"][..], "0 files copied"),
        (&["-n", "fifo", "directory/fifo"], "1 unchanged"),
        (&["--dry-run", "fifo", "directory"], "1 file (0 B) would be copied"),
    ] {
        let (code, output, errors) =
            run(Command::new(HOWDAH).arg("cp").args(arguments).current_dir(home.path()));
        assert_eq!((code, &errors[..]), (Some(0), ""), "{arguments:?}");
        assert!(output.contains(expected), "{arguments:?}: {output}");
    }
    assert_eq!(fs::read(home.path().join("directory/fifo")).expect("there"), b"old");
}

#[test]
fn a_pipe_that_is_not_there_yet_is_copied_into_a_directory_by_no_clobber() {
    let home = home();
    fs::create_dir(home.path().join("directory")).expect("made");
    let (code, _, errors) =
        run(Command::new(HOWDAH).args(["cp", "-n", "/dev/null", "directory"]).current_dir(home.path()));
    assert_eq!(code, Some(0), "{errors}");
    assert!(home.path().join("directory/null").is_file(), "{errors}");
}

#[test]
fn what_makes_no_sense_of_a_stream_is_refused() {
    let home = home();
    fs::create_dir(home.path().join("directory")).expect("made");
    for (arguments, part, code) in [
        (&["-", "directory"][..], "standard input has no name: name the copy", 1),
        (&["-", "directory/"], "standard input has no name: name the copy", 1),
        (&["-T", "-", "directory"], "a directory is in the way", 1),
        (&["-", "none/"], "there is no directory none/", 1),
        (&["-", "data/file", "directory"], "is copied alone", 1),
        (&["--verify", "-", "copy"], "is read once", 2),
        (&["--update", "-", "copy"], "has no time of its last change", 2),
        (&["data/file/", "copy"], "data/file/ is not a directory", 1),
        (&["-", "data/file/"], "data/file/ is not a directory", 1),
        (&["data/file", "data/file/"], "data/file/ is not a directory", 1),
    ] {
        let (found, _, errors) = cp_from(b"data", home.path(), arguments);
        assert_eq!(found, Some(code), "{arguments:?}: {errors}");
        assert!(errors.contains(part), "{arguments:?}: {errors}");
    }
    assert_eq!(fs::read(home.path().join("data/file")).expect("there"), b"hello");
    for command in ["cat", "ls"] {
        let (code, _, errors) =
            run(Command::new(HOWDAH).args([command, "data/file/"]).current_dir(home.path()));
        assert_eq!(code, Some(1), "{errors}");
        assert!(errors.contains("data/file/ is not a directory"), "{errors}");
    }
}

#[test]
fn names_in_json_are_the_names() {
    let home = home();
    let data = home.path().join("data");
    for name in ["a\nb", "tab\tquote\"", "schön", "\u{202e}x"] {
        fs::write(data.join(name), "x").expect("written");
    }
    let bytes = std::os::unix::ffi::OsStrExt::from_bytes(b"not \xff text");
    fs::write(data.join::<&std::ffi::OsStr>(bytes), "x").expect("written");
    let (code, output, errors) =
        run(Command::new(HOWDAH).args(["ls", "--json", "data"]).current_dir(home.path()));
    assert_eq!(code, Some(0), "{errors}");
    let values: Vec<serde_json::Value> =
        output.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for name in ["a\nb", "tab\tquote\"", "schön", "\u{202e}x", "file"] {
        assert!(values.iter().any(|value| value["name"] == name), "{name:?} in {output}");
    }
    let odd = values.iter().find(|value| value.get("name_hex").is_some()).expect("one is no text");
    assert_eq!(
        (&odd["name"], &odd["name_hex"]),
        (&serde_json::json!("not \\xff text"), &serde_json::json!("6e6f7420ff2074657874"))
    );
}
