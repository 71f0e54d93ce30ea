//! What was asked is counted: exactly, where it belongs, and while it happens.

use std::io::Write;
use std::net::TcpStream;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{FileSystem, Result};
use howdah_wire::mount;
use howdah_wire::nfs3::{self, FileHandle, mkdir};
use serde_json::Value;

use crate::ask::Asked;
use crate::common::{call, getattr, nfs_call, nfs4, read_record, root};

/// How long a loaded machine may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Asks until the answer is as wanted: a reply is counted as gone a moment after its client has it.
fn until(asked: &Asked, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = asked.get(path);
        if is_so(&answer) {
            return answer;
        }
        assert!(Instant::now() < deadline, "never: {answer}");
    }
}

/// The figures of a procedure.
fn of<'a>(procedures: &'a Value, name: &str) -> &'a Value {
    let all = procedures.as_array().expect("a list");
    all.iter().find(|one| one["procedure"] == name).unwrap_or_else(|| panic!("no {name} in {procedures}"))
}

fn answered(figures: &Value, calls: u64) -> bool {
    figures["latency"]["calls"] == calls
}

#[test]
fn calls_are_counted_where_they_belong() {
    let asked = Asked::start();
    let mut stream = TcpStream::connect(asked.address).expect("connected");
    let handle = root(&asked.server);
    for _ in 0..10 {
        assert!(getattr(&mut stream, &handle).is_ok());
    }
    for _ in 0..3 {
        assert!(getattr(&mut stream, b"made up").is_err());
    }
    let object = nfs3::DirectoryName { directory: FileHandle(&handle), name: b"made" };
    let make = mkdir::Arguments { object, new: nfs3::NewAttributes::default() };
    let make = nfs_call(5, mkdir::PROCEDURE, &make);
    for refused in [
        &make[..],
        &make,
        &call(6, nfs3::PROGRAM, 2, 0, &()),
        &call(7, nfs3::PROGRAM, 3, 99, &()),
        &call(8, mount::PROGRAM, 3, 0, &()),
        &nfs_call(9, nfs3::getattr::PROCEDURE, &()),
    ] {
        stream.write_all(refused).expect("sent");
        read_record(&mut stream);
    }
    let answer = until(&asked, "/v1/procedures", |answer| answered(of(&answer["procedures"], "GETATTR"), 14));
    let getattrs = of(&answer["procedures"], "GETATTR");
    assert_eq!(getattrs["calls"], 14);
    assert_eq!(getattrs["errors"], serde_json::json!({ "BADHANDLE": 3, "GARBAGE_ARGS": 1 }));
    // Of 112 bytes 84 are attributes: RFC 5531 has 24 before the result, RFC 1813 a status.
    assert_eq!(getattrs["sent"], 10 * 112 + 3 * 28 + 24);
    let makes = of(&answer["procedures"], "MKDIR");
    assert_eq!((&makes["calls"], &makes["replayed"]), (&Value::from(2), &Value::from(1)));
    assert_eq!(makes["received"], 2 * (make.len() - 4));
    assert_eq!(of(&answer["procedures"], "NULL")["program"], "mountd");
    assert_eq!(answer["unheard"]["unavailable"], 2);
    assert_eq!(asked.get("/v1/workers")["reply_cache"]["replayed"], 1);

    let exports = asked.get("/v1/exports");
    let [root, none] = &exports["exports"].as_array().expect("a list")[..] else { panic!("{exports}") };
    assert_eq!((&root["export"], &none["export"]), (&Value::from("/"), &Value::from("(none)")));
    assert_eq!(of(&root["procedures"], "GETATTR")["calls"], 10);
    assert_eq!(of(&none["procedures"], "GETATTR")["calls"], 4);
}

#[test]
fn compounds_are_counted_as_what_they_are_made_for() {
    let asked = Asked::start();
    let mut client = nfs4::Client::new(TcpStream::connect(asked.address).expect("connected"), "client");
    client.open("file");
    let answer = until(&asked, "/v1/procedures", |answer| {
        let all = answer["procedures"].as_array().expect("a list");
        all.iter().any(|one| one["procedure"] == "OPEN" && answered(one, 1))
    });
    for name in ["EXCHANGE_ID", "CREATE_SESSION", "RECLAIM_COMPLETE", "OPEN"] {
        let figures = of(&answer["procedures"], name);
        assert_eq!((&figures["calls"], &figures["version"]), (&1.into(), &4.into()), "{figures}");
    }
}

/// Waits in every call until it is let go.
struct Stuck {
    inner: MemoryFileSystem,
    go: Mutex<mpsc::Receiver<()>>,
}

impl Layer for Stuck {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if call == Call::SetAttributes {
            let _ = self.go.lock().expect("one waits at a time").recv();
        }
        run(&self.inner)
    }
}

#[test]
fn who_waits_for_storage_is_seen_to() {
    let (go, stuck) = mpsc::channel();
    let files = Stuck { inner: MemoryFileSystem::new(), go: Mutex::new(stuck) };
    let asked = Asked::serving(Arc::new(files));
    let workers = asked.get("/v1/workers");
    let all = workers["workers"].as_u64().expect("a number");
    until(&asked, "/v1/workers", |workers| workers["waiting"] == all);
    let handle = root(&asked.server);
    let set = nfs3::setattr::Arguments {
        node: FileHandle(&handle),
        new: nfs3::NewAttributes { mode: Some(0o700), ..nfs3::NewAttributes::default() },
        guard: None,
    };
    let mut stream = TcpStream::connect(asked.address).expect("connected");
    stream.write_all(&nfs_call(1, nfs3::setattr::PROCEDURE, &set)).expect("sent");
    until(&asked, "/v1/workers", |workers| workers["in_storage"] == 1 && workers["waiting"] == all - 1);
    let start = Instant::now();
    // The clock must have gone on for what follows.
    while start.elapsed() < Duration::from_millis(20) {
        std::thread::yield_now();
    }
    go.send(()).expect("it waits");
    read_record(&mut stream);
    let answer = until(&asked, "/v1/procedures", |answer| answered(of(&answer["procedures"], "SETATTR"), 1));
    let figures = of(&answer["procedures"], "SETATTR");
    let (storage, latency) = (&figures["storage_seconds"], &figures["latency"]["seconds"]);
    let (storage, latency) = (storage.as_f64().expect("a number"), latency.as_f64().expect("a number"));
    assert!(0.02 <= storage && storage <= latency, "{figures}");
    until(&asked, "/v1/workers", |workers| workers["waiting"] == all);
}
