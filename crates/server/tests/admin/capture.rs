//! A capture reports what was called: each field as `docs/protocols/capture.md` has it, no more calls than asked for, and
//! nothing that is nobody's business.

use std::collections::BTreeSet;
use std::net::{TcpStream, UdpSocket};

use howdah_wire::nfs3::{
    DirectoryName, FileHandle, NewAttributes, SetTime, access, commit, create, getattr, lookup, read,
    readdir, rename, setattr, symlink, write,
};
use howdah_wire::rpc::RecordMark;
use howdah_wire::xdr::{Decode, Decoder, Encode};
use serde_json::{Value, json};

use crate::ask::Asked;
use crate::common::{exchange, getattr as ask_attributes, nfs_call, nfs4, root};

/// A client that calls all that has a field of its own.
struct Caller {
    stream: TcpStream,
    root: Vec<u8>,
}

impl Caller {
    fn of(asked: &Asked) -> Self {
        let stream = TcpStream::connect(asked.address).expect("connected");
        Self { stream, root: root(&asked.server) }
    }

    fn call(&mut self, procedure: u32, arguments: &impl Encode) -> Vec<u8> {
        exchange(&mut self.stream, &nfs_call(1, procedure, arguments))
    }

    /// Makes a file of that size.
    fn make(&mut self, name: &[u8], size: u64) -> Vec<u8> {
        let root = self.root.clone();
        let object = DirectoryName { directory: FileHandle(&root), name };
        let new = NewAttributes { mode: Some(0o640), size: Some(size), ..NewAttributes::default() };
        let how = create::How::Guarded(new);
        let result = self.call(create::PROCEDURE, &create::Arguments { object, how });
        let made = create::Reply::decode(&mut Decoder::new(&result)).expect("a result").expect("made");
        made.node.expect("a handle").0.to_vec()
    }
}

pub fn begin(asked: &Asked, order: &Value) {
    let (status, state) = asked.ask("PUT", "/v1/capture", &order.to_string());
    assert_eq!(status, 200, "{state}");
}

pub fn calls(asked: &Asked, after: u64) -> (Vec<Value>, u64, Value) {
    let reply = asked.get(&format!("/v1/capture?after={after}"));
    let calls = reply["calls"].as_array().expect("a list").clone();
    (calls, reply["last"].as_u64().expect("a number"), reply["state"].clone())
}

/// One of each kind.
fn call_all(asked: &Asked) {
    let mut caller = Caller::of(asked);
    let file = caller.make(b"secret name", 100);
    let node = FileHandle(&file);
    let stability = write::Stability::DataSync;
    let data = &[7; 70_000][..];
    caller.call(write::PROCEDURE, &write::Arguments { node, offset: 50, count: 70_000, stability, data });
    caller.call(read::PROCEDURE, &read::Arguments { node, offset: 10, count: 1 << 17 });
    caller.call(commit::PROCEDURE, &commit::Arguments { node, offset: 0, count: 0 });
    let new = NewAttributes { user: Some(0), modified: SetTime::ServerTime, ..NewAttributes::default() };
    caller.call(setattr::PROCEDURE, &setattr::Arguments { node, new, guard: None });
    caller.call(access::PROCEDURE, &access::Arguments { node, wanted: 3 });
    let root = caller.root.clone();
    let at = |name: &'static [u8]| DirectoryName { directory: FileHandle(&root), name };
    caller.call(lookup::PROCEDURE, &lookup::Arguments { object: at(b"secret name") });
    caller.call(lookup::PROCEDURE, &lookup::Arguments { object: at(b"not there") });
    let new = NewAttributes::default();
    caller.call(symlink::PROCEDURE, &symlink::Arguments { object: at(b"link"), new, target: b"where to" });
    caller.call(rename::PROCEDURE, &rename::Arguments { from: at(b"link"), to: at(b"moved") });
    for cookie in [0, u64::MAX - 1] {
        let directory = FileHandle(&root);
        caller.call(
            readdir::PROCEDURE,
            &readdir::Arguments { directory, cookie, verifier: [0; 8], count: 4096 },
        );
    }
    let socket = UdpSocket::bind("127.0.0.1:0").expect("bound");
    socket.connect(asked.address).expect("connected");
    let call = nfs_call(2, getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(&root) });
    socket.send(&call[RecordMark::SIZE..]).expect("sent");
    socket.recv(&mut [0; 1024]).expect("answered");
}

#[test]
fn each_field_is_documented_and_each_documented_field_is_told() {
    let asked = Asked::start();
    begin(&asked, &json!({ "run": true }));
    call_all(&asked);
    nfs4::Client::new(TcpStream::connect(asked.address).expect("connected"), "client");
    let (calls, ..) = calls(&asked, 0);
    let listed: BTreeSet<String> =
        calls.iter().flat_map(|call| call.as_object().expect("an object").keys().cloned()).collect();
    assert_eq!(listed, documented(), "left: reported, right: in docs/protocols/capture.md");
}

/// The fields in the first column of the table of calls.
fn documented() -> BTreeSet<String> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocols/capture.md");
    let text = std::fs::read_to_string(file).expect("it is there");
    let section = text.split_once("\n## Call\n").expect("a section").1;
    let section = section.split("\n## ").next().expect("an end");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" | "));
    rows.flat_map(|(names, _)| {
        names.split(", ").map(|name| name.trim_matches('`').to_owned()).collect::<Vec<_>>()
    })
    .collect()
}

#[test]
fn calls_are_told_as_they_were_and_names_are_not() {
    let asked = Asked::start();
    begin(&asked, &json!({ "run": true }));
    call_all(&asked);
    let (calls, last, state) = calls(&asked, 0);
    assert_eq!((calls.len() as u64, &state["taken"]), (last, &json!(last)));
    let of = |name: &str| calls.iter().find(|call| call["procedure"] == name).expect("it was called");
    let (made, wrote, read) = (of("CREATE"), of("WRITE"), of("READ"));
    assert_eq!(
        (&made["how"], &made["mode"], &made["set_size"]),
        (&json!("guarded"), &json!(0o640), &json!(100))
    );
    assert_eq!((&wrote["node"], &wrote["size"]), (&made["found"], &json!(100)), "as it was before");
    assert_eq!(
        (&wrote["offset"], &wrote["done"], &wrote["stable"]),
        (&json!(50), &json!(70_000), &json!("data"))
    );
    assert_eq!(
        (&read["count"], &read["done"], &read["at_end"]),
        (&json!(1 << 17), &json!(70_040), &json!(true))
    );
    let lookups: Vec<_> = calls.iter().filter(|call| call["procedure"] == "LOOKUP").collect();
    assert_eq!((&lookups[0]["found"], &lookups[0]["name"]), (&made["found"], &made["name"]));
    assert_eq!((&lookups[1]["error"], lookups[1].get("found")), (&json!("NOENT"), None));
    assert_eq!(of("SYMLINK")["target"], json!(8));
    let list = of("READDIR");
    assert_eq!((&list["entries"], &list["at_end"]), (&json!(4), &json!(true)), "two names, . and ..");
    let text = Value::from(calls.clone()).to_string();
    assert!(!text.contains("secret") && !text.contains("127.0.0.1"), "{text}");
    // Calls that were given may be given once more, until the reader says that it has them.
    assert_eq!(self::calls(&asked, 0).0, calls);
    assert_eq!(self::calls(&asked, last).0, Vec::<Value>::new());
}

#[test]
fn names_are_told_if_asked_for() {
    let asked = Asked::start();
    begin(&asked, &json!({ "run": true, "names": "clear" }));
    call_all(&asked);
    let (calls, ..) = calls(&asked, 0);
    let names: BTreeSet<&str> = calls.iter().filter_map(|call| call["name"].as_str()).collect();
    assert_eq!(names, BTreeSet::from(["secret name", "not there", "link"]));
}

#[test]
fn bounds_hold_and_only_one_runs() {
    let asked = Asked::start();
    let mut caller = Caller::of(&asked);
    let (status, answer) = asked.ask("GET", "/v1/capture", "");
    assert_eq!(status, 404, "{answer}");
    begin(&asked, &json!({ "run": true, "calls": 3 }));
    let (status, answer) = asked.ask("PUT", "/v1/capture", r#"{"run": true}"#);
    assert!(
        status == 409 && answer["error"].as_str().is_some_and(|why| why.contains("runs already")),
        "{answer}"
    );
    let root = caller.root.clone();
    for _ in 0..5 {
        ask_attributes(&mut caller.stream, &root).expect("there");
    }
    let (three, last, state) = calls(&asked, 0);
    assert_eq!((three.len(), last, &state["ended"]), (3, 3, &json!("calls")));
    for (order, wanted) in [
        (json!({ "run": true, "seconds": 0 }), "seconds"),
        (json!({ "run": true, "calls": 0 }), "calls"),
        (json!({ "run": true, "names": "shown" }), "reading the body"),
    ] {
        let (status, answer) = asked.ask("PUT", "/v1/capture", &order.to_string());
        assert!(
            status == 400 && answer["error"].as_str().is_some_and(|why| why.contains(wanted)),
            "{answer}"
        );
    }
    // Another one begins where one has ended.
    begin(&asked, &json!({ "run": true }));
    ask_attributes(&mut caller.stream, &root).expect("there");
    let (status, state) = asked.ask("PUT", "/v1/capture", r#"{"run": false}"#);
    assert_eq!((status, &state["run"], &state["ended"]), (200, &json!(false), &json!("asked")));
    ask_attributes(&mut caller.stream, &root).expect("there");
    assert_eq!(calls(&asked, 0).0.len(), 1, "what came after the end is not in it");
}

/// A reader that is too late loses calls, and learns how many: workers wait for nobody.
#[test]
fn what_is_not_read_in_time_is_dropped_and_counted() {
    const PLACES: u64 = 16 << 10;
    const MORE: u64 = 100;
    let asked = Asked::start();
    let mut caller = Caller::of(&asked);
    begin(&asked, &json!({ "run": true }));
    let root = caller.root.clone();
    for _ in 0..PLACES + MORE {
        ask_attributes(&mut caller.stream, &root).expect("there");
    }
    let (first, mut last, state) = calls(&asked, 0);
    assert_eq!((&state["taken"], &state["dropped"]), (&json!(PLACES), &json!(MORE)));
    assert!(!first.is_empty() && (first.len() as u64) < PLACES, "an answer is bounded, too");
    let mut all = first.len() as u64;
    loop {
        let (calls, next, _) = calls(&asked, last);
        if calls.is_empty() {
            break;
        }
        (all, last) = (all + calls.len() as u64, next);
    }
    assert_eq!(all, PLACES);
}
