//! `howdah cp`, `ls`, `cat` and `stat` as people run them: on local paths, and at a howdah of the test's own.

#[path = "running/server.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod server;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use howdah_random::Random;
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit};
use server::{HOWDAH, Server, home, run, serve};

/// The seed of this run, printed, or the one that is asked for.
#[allow(clippy::print_stdout, reason = "a test that fails is repeated with its seed")]
fn seed(test: &str) -> Random {
    let asked = std::env::var("HOWDAH_SEED").ok().and_then(|text| text.parse().ok());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos() as u64;
    let seed = asked.unwrap_or(now);
    println!("again: HOWDAH_SEED={seed} cargo test -p howdah --test copy {test}");
    Random::new(seed)
}

fn howdah<const N: usize>(arguments: [&str; N]) -> (Option<i32>, String, String) {
    run(Command::new(HOWDAH).args(arguments))
}

fn start(home: &Path, port: u16) -> Server {
    Server::start(
        serve(home)
            .arg(home.join("data"))
            .arg("--listen")
            .arg(format!("127.0.0.1:{port}"))
            .args(["--squash", "none"]),
    )
}

fn url(server: &Server, path: &str) -> String {
    format!("nfs://{}/{path}", server.address())
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// What is below a directory, as far as a copy must be like it.
fn tree(directory: &Path) -> BTreeMap<String, (u32, u64, i64, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).expect("a directory") {
            let path = entry.expect("an entry").path();
            let facts = path.symlink_metadata().expect("there");
            let content = match () {
                () if facts.is_symlink() => text(&fs::read_link(&path).expect("a link")).as_bytes().to_vec(),
                () if facts.is_file() => fs::read(&path).expect("a file"),
                () => Vec::new(),
            };
            let mode = if facts.is_symlink() { 0 } else { facts.mode() };
            let links = if facts.is_dir() { 0 } else { facts.nlink() };
            let name = text(path.strip_prefix(directory).expect("below")).to_owned();
            found.insert(name, (mode, links, facts.mtime(), facts.mtime_nsec(), content));
            if facts.is_dir() {
                open.push(path);
            }
        }
    }
    found
}

/// A small tree with something of everything.
fn plant(at: &Path, random: &mut Random) {
    fs::create_dir_all(at.join("sub/deep")).expect("made");
    fs::write(at.join("big"), random.bytes(3_000_000)).expect("written");
    for number in 0..30 {
        let size = random.number() as usize % 20_000;
        fs::write(at.join(format!("sub/file-{number}")), random.bytes(size)).expect("written");
    }
    fs::hard_link(at.join("big"), at.join("sub/deep/same")).expect("linked");
    symlink("../big", at.join("sub/link")).expect("linked");
    let sparse = fs::File::create(at.join("sparse")).expect("made");
    sparse.write_all_at(b"middle", 4 << 20).expect("written");
    sparse.set_len(10 << 20).expect("set");
}

#[test]
fn a_tree_goes_to_a_server_and_comes_back() {
    let home = home();
    let mut random = seed("a_tree_goes_to_a_server_and_comes_back");
    let (source, back) = (home.path().join("source"), home.path().join("back"));
    plant(&source, &mut random);
    let server = start(home.path(), 0);
    let there = url(&server, "there");
    let (code, totals, errors) = howdah(["cp", "-r", "--verify", text(&source), &there]);
    assert_eq!(code, Some(0), "{totals}{errors}");
    assert!(
        totals.contains("32 files copied")
            && totals.contains("1 hard link")
            && totals.contains("verified: 32")
    );
    assert_eq!(tree(&source), tree(&home.path().join("data/there")));
    let (code, totals, errors) = howdah(["cp", "-r", "--json", &there, text(&back)]);
    assert_eq!(code, Some(0), "{totals}{errors}");
    assert_eq!(tree(&source), tree(&back));
    let blocks = back.join("sparse").metadata().expect("there").blocks();
    assert!(blocks * 512 < 1 << 20, "the holes came along: {blocks} blocks");
    let totals: serde_json::Value = serde_json::from_str(&totals).expect("JSON");
    assert_eq!((&totals["files"], &totals["errors"]), (&32.into(), &0.into()));
    // Once more, as the directory itself: nothing is to be done.
    let (_, totals, _) = howdah(["cp", "-rT", &there, text(&back)]);
    assert!(totals.starts_with("0 files copied") && totals.contains("34 unchanged"), "{totals}");
    // And into the directory, as cp does.
    let (code, ..) = howdah(["cp", "-rq", &there, text(&back)]);
    assert_eq!((code, tree(&back.join("there"))), (Some(0), tree(&source)));
}

#[test]
fn files_are_listed_shown_and_described_at_a_server() {
    let home = home();
    fs::create_dir(home.path().join("data/sub")).expect("made");
    fs::write(home.path().join("data/sub/.hidden"), "x").expect("written");
    let server = start(home.path(), 0);
    let root = url(&server, "");
    assert_eq!(howdah(["ls", &root]), (Some(0), "file\nsub\n".to_owned(), String::new()));
    let (_, all, _) = howdah(["ls", "-aR", &root]);
    assert_eq!(all, format!("{root}:\nfile\nsub\n\n{root}sub:\n.hidden\n"));
    let (_, long, _) = howdah(["ls", "-l", &url(&server, "file")]);
    assert!(long.starts_with("-rw") && long.contains(" 5 "), "{long}");
    let (_, json, _) = howdah(["ls", "--json", &root]);
    let first: serde_json::Value = serde_json::from_str(json.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&first["name"], &first["size"]), (&"file".into(), &5.into()));
    let file = url(&server, "file");
    assert_eq!(howdah(["cat", &file, &file]), (Some(0), "hellohello".to_owned(), String::new()));
    let (code, shown, _) = howdah(["stat", &root]);
    assert!(code == Some(0) && shown.contains("Kind: directory") && shown.contains("Limits: "), "{shown}");
    let (code, shown, errors) = howdah(["cat", &url(&server, "missing"), &file]);
    assert_eq!((code, &shown[..]), (Some(1), "hello"));
    assert!(errors.contains("cannot find nfs://") && errors.contains("no such file"), "{errors}");
}

#[test]
fn links_at_a_server_are_followed_where_they_are_here() {
    let home = home();
    let data = home.path().join("data");
    fs::create_dir(data.join("real")).expect("made");
    fs::write(data.join("real/inner"), "inner").expect("written");
    fs::write(home.path().join("new"), "new").expect("written");
    for (target, link) in [
        ("real", "directory"),
        ("./directory/../real//inner", "inner"),
        ("../file", "out"),
        ("/file", "absolute"),
        ("loop", "loop"),
        ("none", "nowhere"),
        ("../file", "real/up"),
    ] {
        symlink(target, data.join(link)).expect("linked");
    }
    let server = start(home.path(), 0);
    let (new, to) = (home.path().join("new"), home.path().join("to"));
    for path in ["inner", "directory/inner"] {
        assert_eq!(howdah(["cat", &url(&server, path)]), (Some(0), "inner".to_owned(), String::new()));
    }
    assert_eq!(howdah(["cp", &url(&server, "inner"), text(&to)]).0, Some(0));
    assert_eq!(fs::read_to_string(&to).expect("a file"), "inner");
    assert_eq!(howdah(["cp", "-r", &url(&server, "inner"), text(&home.path().join("link"))]).0, Some(0));
    assert!(home.path().join("link").is_symlink(), "with -r links are copied");
    // What they lead to is the destination, too.
    for (link, written) in [("directory", "real/new"), ("inner", "real/inner")] {
        let (code, _, errors) = howdah(["cp", text(&new), &url(&server, link)]);
        assert_eq!(code, Some(0), "{errors}");
        assert_eq!(fs::read_to_string(data.join(written)).expect("copied"), "new");
        assert!(data.join(link).is_symlink());
    }
    for (link, said) in [
        ("out", "leads out of what is mounted"),
        ("real/up", "leads out of what is mounted"),
        ("absolute", "the link leads to /file"),
        ("loop", "more than 40 symbolic links"),
        ("nowhere", "leads to nothing"),
    ] {
        for arguments in [["cp", text(&new), &url(&server, link)], ["cp", &url(&server, link), text(&to)]] {
            let (code, _, errors) = howdah(arguments);
            assert!(code == Some(1) && errors.contains(said), "{arguments:?}: {errors}");
        }
        assert!(data.join(link).is_symlink());
    }
    assert!(!data.join("none").exists());
}

#[test]
fn what_cannot_be_copied_is_named_and_the_rest_is_copied() {
    let home = home();
    let (from, to) = (home.path().join("from"), home.path().join("to"));
    fs::create_dir_all(&from).expect("made");
    fs::create_dir_all(to.join("a")).expect("made");
    fs::write(from.join("a"), "a").expect("written");
    fs::write(from.join("b"), "b").expect("written");
    let (a, b) = (from.join("a"), from.join("b"));
    let (code, _, errors) = howdah(["cp", text(&a), text(&b), text(&to)]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("cannot replace"), "{errors}");
    assert_eq!(fs::read_to_string(to.join("b")).expect("copied"), "b");
    for (arguments, said) in [
        (vec![text(&from), text(&to)], "add -r to copy directories"),
        (vec!["-r", text(&from), text(&to.join("b"))], "is in the way"),
        (vec!["-r", text(&home.path().join("from")), text(&from.join("in"))], "into itself"),
        (vec![text(&a), text(&a)], "the same file"),
        (vec![text(&a), text(&b), text(&home.path().join("none"))], "is not a directory"),
        (vec![text(&a), text(&home.path().join("none/"))], "no such directory"),
        (vec![text(&home.path().join("none")), text(&to)], "no such file"),
    ] {
        let (code, _, errors) = run(Command::new(HOWDAH).arg("cp").args(&arguments));
        assert!(code == Some(1) && errors.contains(said), "{arguments:?}: {errors}");
    }
}

#[test]
fn of_two_sources_of_one_name_none_is_lost() {
    let home = home();
    let path = |name: &str| text(&home.path().join(name)).to_owned();
    for directory in ["a/d", "b/d", "there"] {
        fs::create_dir_all(path(directory)).expect("made");
    }
    for file in ["a/f", "b/f", "a/d/one", "b/d/two"] {
        fs::write(path(file), file).expect("written");
    }
    fs::write(path("d"), "a file").expect("written");
    for (first, second, called) in [("a/f", "b/f", "f"), ("a/d", "d", "d"), ("a/f", "a/f", "f")] {
        let (code, _, errors) = howdah(["cp", "-r", &path(first), &path(second), &path("there")]);
        let said = format!(
            "cannot copy {} to {}: an earlier source is called {called}",
            path(second),
            path("there")
        );
        assert!(code == Some(1) && errors.contains(&said), "{errors}");
        if called == "f" {
            assert_eq!(fs::read(path("there/f")).expect("there"), b"a/f", "the first is copied");
            fs::remove_file(path("there/f")).expect("removed");
        }
    }
    let (code, _, errors) = howdah(["cp", "-r", &path("a/d"), &path("b/d"), &path("there")]);
    assert_eq!(code, Some(0), "{errors}");
    let names: Vec<String> = tree(&home.path().join("there")).into_keys().collect();
    assert_eq!(names, ["d", "d/one", "d/two"], "directories become one");
    // One that cannot come there keeps no other from it.
    fs::remove_dir_all(path("there/d")).expect("removed");
    let (code, _, errors) = howdah(["cp", "-r", &path("a/d"), &path("d"), &path("b/d"), &path("there")]);
    assert!(code == Some(1) && errors.matches("an earlier source").count() == 1, "{errors}");
    let names: Vec<String> = tree(&home.path().join("there")).into_keys().collect();
    assert_eq!(names, ["d", "d/one", "d/two"]);
    // One that is named twice finds itself there.
    fs::remove_dir_all(path("there/d")).expect("removed");
    let (code, totals, errors) = howdah(["cp", "-r", &path("a/d"), &path("a/d/"), &path("there")]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(totals.starts_with("1 file copied") && totals.contains("1 unchanged"), "{totals}");
}

#[test]
fn what_cannot_be_printed_is_an_error_and_a_reader_who_went_away_is_none() {
    let home = home();
    let (data, to) = (home.path().join("data"), home.path().join("to"));
    for arguments in [vec!["ls", text(&data)], vec!["cp", "--json", text(&data.join("file")), text(&to)]] {
        let full = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let mut command = Command::new(HOWDAH);
        let (code, _, errors) = run(command.args(&arguments).stdout(full));
        assert_eq!(code, Some(1), "{arguments:?}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(errors.starts_with("howdah: printing: no space left on device"), "{errors}");
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let (code, _, errors) = run(Command::new(HOWDAH).args(&arguments).stdout(writer));
        assert_eq!((code, &errors[..]), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn an_interrupted_tree_is_gone_on_with_by_the_same_command() {
    let home = home();
    let mut random = seed("an_interrupted_tree_is_gone_on_with_by_the_same_command");
    let (source, to) = (home.path().join("source"), home.path().join("to"));
    plant(&source, &mut random);
    // So slow that it is sure to be at it when it is asked to stop.
    let mut slow = Command::new(HOWDAH);
    slow.args(["cp", "-r", "-j1", "--rate", "200K", "-v", text(&source), text(&to)]);
    let mut child = slow.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().expect("piped")));
    lines.next().expect("a file was copied").expect("text");
    let id = rustix::process::Pid::from_raw(i32::try_from(child.id()).expect("an id")).expect("not 0");
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it lives");
    let said: Vec<String> = lines.map(|line| line.expect("text")).collect();
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    assert!(said.iter().any(|line| line.contains("run the same command again to resume")), "{said:?}");
    let (code, totals, errors) = howdah(["cp", "-r", text(&source), text(&to)]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(totals.contains("unchanged"), "{totals}");
    assert_eq!(tree(&source), tree(&to), "as itself, not inside, and nothing is left behind");
}

/// Whether a connection of this local port has bytes that its process did not receive yet (proc_net_tcp).
fn has_unread(port: u16) -> bool {
    const ESTABLISHED: &str = "01";
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).expect("Linux has it"));
    tables.iter().flat_map(|table| table.lines()).any(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_its_own = fields[1].ends_with(&format!(":{port:04X}")) && fields[3] == ESTABLISHED;
        is_its_own && !fields[4].ends_with(":00000000")
    })
}

#[test]
fn a_copy_is_stopped_though_the_server_does_not_answer() {
    let home = home();
    let source = home.path().join("source");
    fs::create_dir_all(home.path().join("data")).expect("made");
    fs::create_dir_all(&source).expect("made");
    for name in ["a", "b", "c"] {
        fs::write(source.join(name), vec![7; 1 << 20]).expect("written");
    }
    let server = start(home.path(), 0);
    let mut slow = Command::new(HOWDAH);
    slow.args(["cp", "-r", "-j1", "--rate", "400K", "-v", text(&source), &url(&server, "to")]);
    let mut child = slow.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().expect("piped")));
    lines.next().expect("a file was copied").expect("text");
    server.signal(rustix::process::Signal::STOP);
    // It has called, and waits for the answer.
    while !has_unread(server.address().port()) {
        thread::sleep(Duration::from_millis(20));
    }
    let id = rustix::process::Pid::from_raw(i32::try_from(child.id()).expect("an id")).expect("not 0");
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it lives");
    let output = child.wait_with_output().expect("it ends");
    server.signal(rustix::process::Signal::CONT);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("a second signal ends at once"), "{errors}");
    assert!(errors.contains("run the same command again to resume"), "{errors}");
}

#[test]
fn who_asks_for_a_rate_is_told_that_it_limits() {
    let home = home();
    let source = home.path().join("source");
    fs::create_dir_all(home.path().join("data")).expect("made");
    fs::write(&source, vec![7; 1 << 20]).expect("written");
    let server = start(home.path(), 0);
    let (code, totals, errors) = howdah(["cp", "--rate", "400K", text(&source), &url(&server, "to")]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(totals.contains("limited by --rate, 409.6 kB/s"), "{totals}");
    let (code, totals, errors) = howdah(["cp", "--rate", "100G", "-I", text(&source), &url(&server, "to")]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(!totals.contains("--rate"), "{totals}");
}

#[test]
fn what_shows_intervals_ends_when_nobody_reads_it() {
    let mut shown = Command::new(HOWDAH);
    shown.args(["nics", "--interval", "100ms"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = shown.spawn().expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), &output.stderr[..]), (Some(0), &b""[..]));
}

#[test]
fn what_is_no_file_is_not_replaced_by_one() {
    let home = home();
    let path = |name: &str| home.path().join(name);
    fs::create_dir_all(path("data/into")).expect("made");
    fs::write(path("file"), "text").expect("written");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    for name in ["data/pipe", "data/into/file"] {
        rustix::fs::mkfifoat(rustix::fs::CWD, path(name), mode).expect("made");
    }
    symlink("pipe", path("data/link")).expect("made");
    let server = start(home.path(), 0);
    let local = |name: &str| text(&path("data")).to_owned() + "/" + name;
    for to in [local("pipe"), local("link"), local("into"), url(&server, "pipe"), url(&server, "into")] {
        let (code, _, errors) = howdah(["cp", text(&path("file")), &to]);
        assert_eq!(code, Some(1), "{to}: {errors}");
        assert!(errors.contains("pipe"), "{to}: {errors}");
    }
    for name in ["data/pipe", "data/into/file"] {
        let found = fs::symlink_metadata(path(name)).expect("there");
        assert!(!found.is_file(), "{name}");
    }
    assert!(path("data/link").is_symlink());
    // Of a tree, what is there may be a pipe again.
    let (code, _, errors) = howdah(["cp", "-rT", text(&path("data")), text(&path("copy"))]);
    assert_eq!(code, Some(0), "{errors}");
    let (code, _, errors) = howdah(["cp", "-rT", text(&path("data")), text(&path("copy"))]);
    assert_eq!(code, Some(0), "{errors}");
}

#[test]
fn another_name_of_a_file_does_not_replace_a_pipe() {
    let home = home();
    let path = |name: &str| home.path().join(name);
    fs::create_dir_all(path("from")).expect("made");
    fs::write(path("from/a"), "text").expect("written");
    fs::hard_link(path("from/a"), path("from/b")).expect("made");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    for pipe in ["to/a", "to/b"] {
        fs::create_dir_all(path("to")).expect("made");
        rustix::fs::mkfifoat(rustix::fs::CWD, path(pipe), mode).expect("made");
        let (code, _, errors) = howdah(["cp", "-rT", text(&path("from")), text(&path("to"))]);
        assert!(code == Some(1) && errors.contains("pipe"), "{pipe}: {errors}");
        assert!(!fs::symlink_metadata(path(pipe)).expect("there").is_file(), "{pipe}");
        fs::remove_dir_all(path("to")).expect("removed");
    }
}

#[test]
fn names_are_any_bytes() {
    let home = home();
    fs::create_dir_all(home.path().join("data")).expect("made");
    let server = start(home.path(), 0);
    let name = std::ffi::OsStr::from_bytes(b"gr\xfcn \xe2\x80\xae");
    let (file, back) = (home.path().join(name), home.path().join("back"));
    fs::write(&file, "text").expect("written");
    let (code, _, errors) = run(Command::new(HOWDAH).arg("cp").arg(&file).arg(url(&server, "")));
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(fs::read(home.path().join("data").join(name)).expect("there"), b"text");
    let (_, listed, _) = howdah(["ls", &url(&server, "")]);
    assert_eq!(listed, "file\ngr\\xfcn \\u{202e}\n");
    let (code, _, errors) = howdah(["cp", &url(&server, "gr%FCn%20%E2%80%AE"), text(&back)]);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(fs::read(back).expect("there"), b"text");
    let (code, _, errors) =
        run(Command::new(HOWDAH).arg("cat").arg(std::ffi::OsStr::from_bytes(b"nfs://h/\xff")));
    assert!(code == Some(2) && errors.contains("% and two hexadecimal digits"), "{errors}");
}

#[test]
fn files_of_the_kernel_are_not_taken_for_empty() {
    let home = home();
    let to = home.path().join("to");
    for arguments in [["cp", "/proc/cpuinfo", text(&to)], ["cp", "/proc/self", text(&to)]] {
        let (code, _, errors) = howdah(arguments);
        assert_eq!(code, Some(1), "{errors}");
    }
    let (code, _, errors) = howdah(["cat", "/proc/cpuinfo"]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("how long they are"), "{errors}");
    assert!(!to.exists());
}

#[test]
fn a_source_that_is_not_there_keeps_no_other_from_its_copy() {
    let home = home();
    let path = |name: &str| home.path().join(name).display().to_string();
    fs::create_dir(path("to")).expect("made");
    fs::write(path("one"), "1").expect("written");
    let (code, totals, errors) = howdah(["cp", &path("none"), &path("one"), &path("to")]);
    assert_eq!(code, Some(1), "{errors}");
    assert!(totals.starts_with("1 file copied") && errors.contains("none"), "{totals}{errors}");
    assert_eq!(fs::read(path("to/one")).expect("there"), b"1");
}

#[test]
fn a_time_that_the_protocol_cannot_say_keeps_no_file_from_its_copy() {
    let home = home();
    let source = home.path().join("source");
    fs::create_dir_all(home.path().join("data")).expect("made");
    fs::create_dir_all(&source).expect("made");
    let early = UNIX_EPOCH - Duration::from_secs(100);
    let late = UNIX_EPOCH + Duration::from_secs(5_000_000_000);
    for (name, time) in [("early", early), ("late", late)] {
        let file = fs::File::create(source.join(name)).expect("made");
        file.set_modified(time).expect("set");
    }
    let server = start(home.path(), 0);
    let (code, totals, errors) = howdah(["cp", "-r", text(&source), &url(&server, "to")]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(totals.starts_with("2 files copied"), "{totals}");
    assert_eq!(errors.matches("times from 1970 to 2106 only").count(), 1, "{errors}");
    let seconds = |name: &str| fs::metadata(home.path().join("data/to").join(name)).expect("there").mtime();
    assert_eq!((seconds("early"), seconds("late")), (0, u32::MAX.into()));
    let (code, totals, errors) = howdah(["cp", "-rT", text(&source), &url(&server, "to")]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(totals.contains("2 unchanged"), "{totals}");
}

/// Bytes that a process has read by read(2) and its like, which is what it copies from local files.
fn read_so_far(child: &Child) -> u64 {
    let facts = fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap_or_default();
    let line = facts.lines().find_map(|line| line.strip_prefix("rchar: "));
    line.and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[test]
fn a_copy_that_is_killed_again_and_again_goes_on_where_it_stopped() {
    const SIZE: usize = 64 << 20;
    /// What may be lost by a kill: what was not committed (4 MiB and more as it grows, and as much while a commit runs),
    /// blocks on their way, and files too small to be remembered.
    const LOST: u64 = 20 << 20;
    const KILLS: u64 = 5;
    let home = home();
    let mut random = seed("a_copy_that_is_killed_again_and_again_goes_on_where_it_stopped");
    let source = home.path().join("source");
    plant(&source, &mut random);
    fs::write(source.join("huge"), random.bytes(SIZE)).expect("written");
    let total: u64 = tree(&source).values().map(|facts| facts.4.len() as u64).sum();
    let mut server = start(home.path(), 0);
    let there = url(&server, "there");
    let port = server.address().port();
    let mut command = Command::new(HOWDAH);
    command.args(["cp", "-rT", "-j4", "--rate", "40M", text(&source), &there]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (mut read, mut kills) = (0, 0);
    let ended = loop {
        let mut child = command.spawn().expect("it starts");
        if kills == KILLS {
            break child.wait().expect("it ends");
        }
        thread::sleep(Duration::from_millis(300 + random.number() % 1200));
        read += read_so_far(&child);
        child.kill().expect("ours");
        let ended = child.wait().expect("it ends");
        kills += 1;
        if ended.success() {
            break ended;
        }
        if kills == 2 {
            // The server, too.
            drop(server);
            server = start(home.path(), port);
        }
    };
    assert!(ended.success());
    assert_eq!(tree(&source), tree(&home.path().join("data/there")));
    assert!(read < total + kills * LOST, "{read} bytes read before {kills} kills, of {total}");
}

#[test]
fn a_server_makes_no_set_id_programs_nor_devices_here_unasked() {
    let home = home();
    let data = home.path().join("data/tree");
    fs::create_dir(&data).expect("made");
    fs::write(data.join("program"), "#!/bin/sh\n").expect("written");
    fs::set_permissions(data.join("program"), PermissionsExt::from_mode(0o6755)).expect("set");
    let device = rustix::fs::makedev(1, 3);
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        let (kind, mode) = (rustix::fs::FileType::CharacterDevice, Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(rustix::fs::CWD, data.join("null"), kind, mode, device).expect("made");
    }
    let server = start(home.path(), 0);
    let from = url(&server, "tree");
    let mode = |name: &str| fs::symlink_metadata(home.path().join(name)).map(|file| file.mode()).ok();
    let to = |name: &str| home.path().join(name).display().to_string();

    let (code, said, why) = howdah(["cp", "-r", &from, &to("plain")]);
    assert_eq!(code, Some(0), "{said}{why}");
    assert_eq!(mode("plain/program").map(|mode| mode & 0o7777), Some(0o755));
    assert!(said.contains("set-ID bits of 1 file left out; --set-id keeps them"), "{said}");
    assert_eq!(mode("plain/null"), None);
    assert_eq!(said.contains("1 device left out; --devices copies them"), is_root, "{said}");

    let (code, said, why) = howdah(["cp", "-r", "--set-id", "--devices", &from, &to("all")]);
    assert_eq!(code, Some(0), "{said}{why}");
    assert_eq!(mode("all/program").map(|mode| mode & 0o7777), Some(0o6755));
    assert!(!said.contains("left out"), "{said}");
    if is_root {
        let made = fs::symlink_metadata(home.path().join("all/null")).expect("it is there");
        assert_eq!(made.rdev(), device);
    }
}

#[test]
fn a_rate_of_nothing_is_refused() {
    let (code, _, why) = howdah(["cp", "--rate", "0", "/nowhere", "/elsewhere"]);
    assert!(code == Some(2) && why.contains("leave it out to copy without a limit"), "{why}");
}

#[test]
fn a_limit_of_file_sizes_refuses_a_write_and_does_not_end_the_server() {
    let home = home();
    let server = start(home.path(), 0);
    let limit = Rlimit { current: Some(64 << 10), maximum: Some(64 << 10) };
    let process = rustix::process::Pid::from_raw(server.process() as i32);
    rustix::process::prlimit(process, Resource::Fsize, limit).expect("set");
    let file = home.path().join("large");
    fs::write(&file, vec![7; 1 << 20]).expect("written");
    let (code, _, why) = howdah(["cp", &file.display().to_string(), &url(&server, "large")]);
    assert!(code == Some(1) && why.contains("large"), "{why}");
    let (code, said, why) = howdah(["ls", &url(&server, "")]);
    assert_eq!(code, Some(0), "it still serves: {said}{why}");
}

#[test]
fn root_that_is_squashed_is_told_so() {
    let home = home();
    let server =
        Server::start(serve(home.path()).arg(home.path().join("data")).args(["--listen", "127.0.0.1:0"]));
    let file = home.path().join("file");
    fs::write(&file, "data").expect("written");
    fs::set_permissions(home.path().join("data"), PermissionsExt::from_mode(0o755)).expect("set");
    let (code, said, why) = howdah(["cp", &file.display().to_string(), &url(&server, "file")]);
    if rustix::process::geteuid().is_root() {
        assert!(
            code == Some(1) && why.contains("permission denied") && why.contains("squash = \"none\""),
            "{why}"
        );
        assert!(server.screen.contains("acts as nobody"), "{}", server.screen);
    } else {
        assert_eq!(code, Some(0), "{said}{why}");
    }
}
