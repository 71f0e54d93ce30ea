//! How many system calls each call makes once its node is open, counted by strace; without it there is nothing to
//! count with, and the test says so.

mod common;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Place, is_root};
use howdah_needs::{Lack, skipped};
use howdah_store::local::{LocalFileSystem, Options, SyncMode};
use howdah_vfs::{
    Access, Caller, Change, Create, CreateFile, Data, Detail, Entry, FileSystem, Handle, ListDirectory,
    MakeDirectory, MakeSpecial, Name, NewAttributes, ReadFile, SetAttributes, SetTime, SpecialKind,
    Stability, WriteFile,
};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

/// Set in the process that is traced.
const CHILD: &str = "HOWDAH_TEST_TRACED";

const ME: Caller = Caller::ROOT;

/// `f_type` of tmpfs.
const TMPFS: rustix::fs::FsWord = 0x0102_1994;

/// Calls of each kind. What is done once, or once a second, vanishes in the mean.
const CALLS: u64 = 200;

/// Entries of a short and of a long directory, and of one page of a listing.
const SHORT: u64 = 2_000;
const LONG: u64 = 20_000;
const PAGE: u64 = 200;

/// System calls that come now and then, whatever the calls are.
const FEW: u64 = 20;

/// Each call, and the system calls that it may make.
const EXPECTED: &[(&str, &[(&str, u64)])] = &[
    ("GETATTR", &[("fstat", 1)]),
    ("GETATTR of a directory, NFSv4", &[("fstat", 1)]),
    ("LOOKUP", &[("fstat", 1), ("statx", 1)]),
    ("ACCESS", &[("fstat", 1), ("faccessat2", 1)]),
    ("READ 4 KiB", &[("fstat", 1), ("pread64", 1)]),
    ("READ 1 MiB", &[("fstat", 1)]),
    ("WRITE 4 KiB", &[("fstat", 2), ("pwrite64", 1)]),
    ("WRITE 4 KiB, stable", &[("fstat", 2), ("pwrite64", 1), ("fsync", 1)]),
    ("CREATE", &[("fstat", 2), ("openat", 1), ("statx", 1), ("name_to_handle_at", 1)]),
    // What a process that was killed made, and did not make durable, is made durable before it is answered for.
    (
        "CREATE again",
        &[
            // The first three, and one close, for a file that gets its verifier before a name, which is taken.
            ("linkat", 1),
            ("utimensat", 1),
            ("openat", 2),
            ("fstat", 2),
            ("statx", 1),
            ("name_to_handle_at", 1),
            ("fsync", 2),
            ("close", 2),
        ],
    ),
    // It cannot be opened, so its file system is synced, whichever that is.
    ("SETATTR of a FIFO", &[("fstat", 2), ("utimensat", 1), ("syncfs", 1)]),
    ("SETATTR of a FIFO on another mount", &[("fstat", 2), ("utimensat", 1), ("syncfs", 1)]),
    ("REMOVE", &[("fstat", 2), ("statx", 1), ("unlinkat", 1), ("close", 1)]),
];

#[test]
fn each_call_makes_its_system_calls_and_no_more() {
    let Some(counted) = traced("each_call_makes_its_system_calls_and_no_more", work) else { return };
    for (call, expected) in EXPECTED {
        let Some(found) = counted.get(*call) else {
            skipped(
                Lack::Kernel,
                format_args!("{call}: nothing is durable in {}", env!("CARGO_TARGET_TMPDIR")),
            );
            continue;
        };
        let expected: HashMap<_, _> =
            expected.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        assert_eq!(per_call(found), expected, "{call}");
    }
}

#[test]
fn an_entry_of_a_long_listing_takes_as_many_system_calls_as_one_of_a_short_one() {
    let name = "an_entry_of_a_long_listing_takes_as_many_system_calls_as_one_of_a_short_one";
    let Some(counted) = traced(name, list_short_and_long) else { return };
    let (short, long) = (&counted["short"], &counted["long"]);
    assert!(long["statx"] >= LONG, "all of it was counted: {long:?}");
    for (call, most) in [
        // The entries, and what is looked at once in a page.
        ("statx", LONG + LONG / PAGE),
        ("name_to_handle_at", LONG),
        ("fstat", 2 * LONG / PAGE),
        ("getdents64", LONG / 100),
        // The directory itself, and nothing in it.
        ("openat", 10),
        ("open_by_handle_at", 0),
        ("lseek", 10),
    ] {
        let [short, long] = [short, long].map(|counts| counts.get(call).copied().unwrap_or_default());
        assert!(long <= most + FEW, "{call}: {long} times for {LONG} entries");
        assert!(long <= short * (LONG / SHORT) + FEW, "{call}: {short} for {SHORT}, {long} for {LONG}");
    }
}

/// Runs `body` under strace, in another process: system calls by section, of the thread that makes the calls, between the
/// marks. None in that process, or where there is no strace.
fn traced(test: &str, body: fn()) -> Option<HashMap<String, HashMap<String, u64>>> {
    if std::env::var_os(CHILD).is_some() {
        body();
        return None;
    }
    let mut probe = Command::new("unshare");
    probe.args(["--mount", "strace", "-V"]).stdout(Stdio::null()).stderr(Stdio::null());
    if !is_root() || !probe.status().is_ok_and(|status| status.success()) {
        skipped(Lack::Program, "this takes strace, a mount namespace and the superuser");
        return None;
    }
    let trace = tempfile::NamedTempFile::new().expect("a file");
    // What it mounts is its own.
    let status = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "strace", "-f", "-qq", "-o"])
        .arg(trace.path())
        .arg(std::env::current_exe().expect("own path"))
        .args(["--exact", test, "--test-threads=1"])
        .env(CHILD, "1")
        .stdout(Stdio::null())
        .status()
        .expect("strace runs");
    assert!(status.success(), "the traced process: {status}");
    Some(count(trace.path()))
}

/// System calls per call, of those that were made in all.
fn per_call(counted: &HashMap<String, u64>) -> HashMap<String, u64> {
    let each = counted.iter().map(|(name, count)| (name.clone(), (count + CALLS / 2) / CALLS));
    // Locks that another thread held, memory that had to be asked for: not once per call. And the standard library's own check of a
    // descriptor that it closes, without optimisation only.
    each.filter(|(name, count)| *count > 0 && name != "fcntl").collect()
}

fn count(trace: &Path) -> HashMap<String, HashMap<String, u64>> {
    let text = std::fs::read_to_string(trace).expect("the trace");
    let (mut counted, mut section, mut thread) = (HashMap::new(), None, "");
    for line in text.lines() {
        let Some((id, rest)) = line.split_once(char::is_whitespace) else { continue };
        let rest = rest.trim_start();
        if let Some(mark) = rest.split_once("mark:").and_then(|(_, mark)| mark.split_once('"')) {
            section = Some(mark.0.to_owned());
            thread = id;
            continue;
        }
        let Some(name) = rest.split('(').next().filter(|_| id == thread && !rest.starts_with("<...")) else {
            continue;
        };
        if let Some(section) = &section {
            let calls: &mut HashMap<String, u64> = counted.entry(section.clone()).or_default();
            *calls.entry(name.to_owned()).or_default() += 1;
        }
    }
    counted
}

/// Lists a short and a long directory, each of which nothing is known of.
fn list_short_and_long() {
    let under = common::places().pop().expect("a place");
    let place = Place::under(&under);
    for (text, count) in [("short", SHORT), ("long", LONG)] {
        let directory = place.export().join(text);
        std::fs::create_dir(&directory).expect("a directory");
        for number in 0..count {
            std::fs::File::create(directory.join(format!("entry-{number:06}"))).expect("a file");
        }
        let fs = place.open();
        let directory = fs.lookup(&ME, &fs.root(), parse(text)).expect("LOOKUP").node.handle;
        mark(text);
        assert_eq!(list(&fs, &directory), count + 2);
        mark("");
    }
}

/// How many entries a listing in full gives, by pages.
fn list(fs: &LocalFileSystem, directory: &Handle) -> u64 {
    let (mut cookie, mut count) = (0, 0);
    loop {
        let (from, mut page) = (cookie, 0);
        let mut sink = |entry: Entry<'_>| {
            if page == PAGE {
                return ControlFlow::Break(());
            }
            (cookie, page) = (entry.cookie, page + 1);
            ControlFlow::Continue(())
        };
        let listing = fs
            .read_directory(&ME, ListDirectory::new(directory, from, Detail::Nodes), &mut sink)
            .expect("READDIRPLUS");
        count += page;
        if listing.end {
            return count;
        }
    }
}

/// Leaves a mark in the trace: a system call that fails, with a text in it.
fn mark(text: &str) {
    let _ = std::fs::metadata(format!("mark:{text}"));
}

/// Runs a call often, marked.
fn run(text: &str, mut call: impl FnMut(u64)) {
    call(CALLS);
    mark(text);
    (0..CALLS).for_each(call);
    mark("");
}

fn work() {
    let under = common::places().pop().expect("a place");
    let place = Place::under(&under);
    let options = Options { sync: SyncMode::Async, ..place.options() };
    let fs = LocalFileSystem::open(&place.export(), options).expect("opens");
    let root = fs.root();
    let change = &mut Change::default();
    let name = |number: u64| format!("file-{number:04}");
    let guarded = Create::Guarded(NewAttributes::with_mode(0o644));
    run("CREATE", |number| create(&fs, &root, &name(number), &guarded));
    let file = fs.lookup(&ME, &root, parse(&name(0))).expect("LOOKUP").node.handle;
    let data = vec![1; 1 << 20];
    fs.write(&ME, WriteFile::new(&file, 0, Data::Bytes(&data), Stability::Unstable), change).expect("WRITE");
    // The kernel's clock must pass the birth of the files before their handles are remembered.
    let settled = std::time::Instant::now() + std::time::Duration::from_millis(50);
    while std::time::Instant::now() < settled {
        fs.lookup(&ME, &root, parse(&name(1))).expect("LOOKUP");
    }
    run("GETATTR", |_| {
        fs.attributes(&ME, &file).expect("GETATTR");
    });
    let directory = fs.make_directory(
        &ME,
        MakeDirectory::new(&root, parse("directory"), &NewAttributes::with_mode(0o755)),
        change,
    );
    let directory = directory.expect("MKDIR").handle;
    run("GETATTR of a directory, NFSv4", |_| {
        fs.attributes(&ME, &directory).expect("GETATTR");
        assert!(!fs.is_junction(&directory));
    });
    run("LOOKUP", |_| {
        fs.lookup(&ME, &root, parse(&name(1))).expect("LOOKUP");
    });
    run("ACCESS", |_| {
        fs.access(&ME, &file, Access::ALL).expect("ACCESS");
    });
    let mut buffer = Vec::with_capacity(1 << 20);
    run("READ 4 KiB", |number| {
        buffer.clear();
        fs.read(&ME, ReadFile::new(&file, number * 4096, 4096), &mut buffer).expect("READ");
    });
    run("READ 1 MiB", |_| drop(fs.read(&ME, ReadFile::new(&file, 0, 1 << 20), &mut buffer).expect("READ")));
    for (text, stability) in
        [("WRITE 4 KiB", Stability::Unstable), ("WRITE 4 KiB, stable", Stability::FileSync)]
    {
        run(text, |number| {
            let data = Data::Bytes(&data[..4096]);
            fs.write(&ME, WriteFile::new(&file, number * 4096, data, stability), change).expect("WRITE");
        });
    }
    run("REMOVE", |number| fs.remove(&ME, &root, parse(&name(number)), change).expect("REMOVE"));
    create_again();
}

fn parse(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

fn create(fs: &LocalFileSystem, root: &Handle, text: &str, how: &Create) {
    fs.create(&ME, CreateFile::new(root, parse(text), how), &mut Change::default()).expect("CREATE");
}

/// CREATE of what is there already, where changes are made durable: not in memory.
fn create_again() {
    let place = Place::under(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let kind = rustix::fs::statfs(place.export()).expect("a file system").f_type;
    if kind == TMPFS {
        return;
    }
    let options = Options { sync: SyncMode::Sync, cross_mounts: true, ..place.options() };
    let fs = LocalFileSystem::open(&place.export(), options).expect("opens");
    let (root, exclusive) = (fs.root(), Create::Exclusive([7; 8]));
    run("CREATE again", |_| create(&fs, &root, "exclusive", &exclusive));
    touch("SETATTR of a FIFO", &fs, &root);
    let point = place.export().join("mounted");
    std::fs::create_dir(&point).expect("a directory");
    mount("none", &point, "tmpfs", MountFlags::empty(), None).expect("mounts");
    let point = fs.lookup(&ME, &root, parse("mounted")).expect("LOOKUP").node.handle;
    touch("SETATTR of a FIFO on another mount", &fs, &point);
    drop(fs);
    unmount(place.export().join("mounted"), UnmountFlags::DETACH).expect("unmounts");
}

/// Sets the times of a FIFO.
fn touch(text: &str, fs: &LocalFileSystem, directory: &Handle) {
    let (new, change) = (NewAttributes::with_mode(0o644), &mut Change::default());
    let made =
        fs.make_special(&ME, MakeSpecial::new(directory, parse("fifo"), SpecialKind::Fifo, &new), change);
    let fifo = made.expect("MKNOD").handle;
    let now = NewAttributes { accessed: SetTime::Now, modified: SetTime::Now, ..NewAttributes::default() };
    run(text, |_| fs.set_attributes(&ME, SetAttributes::new(&fifo, &now, None), change).expect("SETATTR"));
}
