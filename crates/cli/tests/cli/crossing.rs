//! File systems below the root of an NFSv4 server, as `howdah ls` and `howdah cp` cross them: exports whose files have the same numbers, and one
//! that is on another server.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;

use howdah_wire::nfs4::attributes::{FS_LOCATIONS, Location, Locations, Values};
use howdah_wire::nfs4::compound::{ReplyHead, ResultHead};
use howdah_wire::nfs4::{Bitmap, Name, Opaque, Status, getattr, getfh, lookup, putfh, sequence};
use howdah_wire::xdr::{Array, Decode, Decoder, Encode, Encoder};

use crate::middleman::{Exchange, Fate, Middleman};
use crate::server;
use crate::server::{HOWDAH, Server, home, run};

fn howdah(words: &[&str]) -> String {
    let (code, output, errors) = run(Command::new(HOWDAH).args(words));
    assert_eq!(code, Some(0), "{words:?}: {errors}");
    output
}

/// A server of two file systems in memory, as `/one` and `/two`.
fn two(home: &Path) -> Server {
    let export = |name| format!("[[export]]\nname = \"/{name}\"\nmemory = \"64M\"\nsquash = \"none\"\n");
    let config = home.join("howdah.toml");
    let text = format!("listen = [\"127.0.0.1:0\"]\nrpcbind = \"off\"\n{}{}", export("one"), export("two"));
    fs::write(&config, text).expect("written");
    let mut command = Command::new(HOWDAH);
    command.args(["serve", "--config"]).arg(&config).arg("--state").arg(home.join("state"));
    Server::start(command.args(["--log", "info"]))
}

/// `howdah ls --json` of a place: name, file system and number of each entry.
fn listed(url: &str) -> Vec<(String, u64, u64)> {
    let one = |line: &str| {
        let entry: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let number = |field: &str| entry[field].as_u64().unwrap_or_else(|| panic!("{line}"));
        let name = entry["name"].as_str().unwrap_or_else(|| panic!("{line}"));
        (name.to_owned(), number("file_system"), number("file"))
    };
    howdah(&["ls", "--json", url]).lines().map(one).collect()
}

#[test]
fn files_of_two_file_systems_are_not_taken_for_one() {
    let home = home();
    let at = home.path();
    let server = two(at);
    let url = |path: &str| format!("nfs://{}{path}?version=4.2", server.address());
    // Two names of one file in each, which are the first files there: their numbers are the same.
    for name in ["one", "two"] {
        fs::create_dir(at.join(name)).expect("made");
        fs::write(at.join(name).join("first"), name).expect("written");
        fs::hard_link(at.join(name).join("first"), at.join(name).join("second")).expect("linked");
        let from = at.join(name).join(".").display().to_string();
        howdah(&["cp", "-rq", &from, &url(&format!("/{name}"))]);
    }
    let [one, two] = ["/one", "/two"].map(|path| listed(&url(path)));
    assert_eq!((one.len(), one[0].2, one[1].2), (2, two[0].2, two[1].2), "{one:?} {two:?}");
    assert_ne!(one[0].1, two[0].1, "{one:?} {two:?}");
    let root = listed(&url("/"));
    assert_eq!(root.iter().map(|entry| entry.0.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    let text = |path: &str| at.join(path).display().to_string();
    howdah(&["cp", "-rq", &url("/"), &text("all")]);
    let inode = |path: &str| fs::metadata(at.join("all").join(path)).expect("copied").ino();
    for name in ["one", "two"] {
        let content = fs::read_to_string(at.join("all").join(name).join("second")).expect("copied");
        assert_eq!(content, name);
        assert_eq!(inode(&format!("{name}/first")), inode(&format!("{name}/second")));
    }
    assert_ne!(inode("one/first"), inode("two/first"));
    howdah(&["cp", "-rq", "--one-file-system", &url("/"), &text("root alone")]);
    for name in ["one", "two"] {
        let names = fs::read_dir(at.join("root alone").join(name)).expect("the directory is copied");
        assert_eq!(names.count(), 0, "and nothing below it");
    }
}

/// The results of a compound with these operations, which go well.
fn answered(exchange: &Exchange<'_>, operations: &[(u32, &[u8])]) -> Fate {
    let mut decoder = Decoder::new(exchange.results);
    ReplyHead::decode(&mut decoder).expect("a reply");
    ResultHead::decode(&mut decoder).expect("SEQUENCE");
    let session = sequence::Success::decode(&mut decoder).expect("it went well");
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    let status = Status::OK;
    ReplyHead { status, tag: b"", results: operations.len() as u32 + 1 }.encode(&mut encoder);
    ResultHead { operation: sequence::OPERATION, status }.encode(&mut encoder);
    session.encode(&mut encoder);
    for (operation, body) in operations {
        ResultHead { operation: *operation, status }.encode(&mut encoder);
        encoder.fixed(body);
    }
    Fate::Replace(bytes)
}

/// A GETATTR's body of where the file system is.
fn elsewhere() -> Vec<u8> {
    let servers = [Opaque(b"other.example")];
    let (root, there) = ([Name(b"moved")], [Name(b"vol")]);
    let places = [Location { servers: Array::of(&servers), root: Array::of(&there) }];
    let mut value = Vec::new();
    Locations { root: Array::of(&root), places: Array::of(&places) }.encode(&mut Encoder::new(&mut value));
    let attributes = Bitmap::of(&[FS_LOCATIONS]);
    let mut body = Vec::new();
    Values { attributes, has_unknown: false, bytes: &value }.encode(&mut Encoder::new(&mut body));
    body
}

/// The operation behind PUTFH of a compound.
fn behind_put(exchange: &Exchange<'_>) -> Option<u32> {
    let word = |at: usize| Some(u32::from_be_bytes(*exchange.arguments.get(at..)?.first_chunk()?));
    // An empty tag, the minor version and the number of operations, SEQUENCE, and the number of PUTFH.
    let length = word(12 + 36 + 4)? as usize;
    word(12 + 36 + 4 + 4 + length.next_multiple_of(4))
}

/// The server answers as one whose directory `moved` is on another server.
#[test]
fn a_name_that_is_on_another_server_says_where() {
    let home = home();
    let at = home.path();
    fs::create_dir_all(at.join("data/moved")).expect("made");
    symlink("moved", at.join("data/link")).expect("linked");
    let mut command = server::serve(at);
    command.arg(at.join("data")).args(["--listen", "127.0.0.1:0", "--squash", "none"]);
    let server = Server::start(command.arg("--privileged-ports=never"));
    let between = Middleman::before(server.address());
    between.judge(|exchange| {
        let is_meant = exchange.arguments.windows(5).any(|bytes| bytes == b"moved");
        match behind_put(exchange) {
            Some(getattr::OPERATION) if is_meant => after_lookup(exchange),
            Some(lookup::OPERATION) if is_meant => {
                let body = elsewhere();
                let operations: [(u32, &[u8]); 3] =
                    [(putfh::OPERATION, &[]), (lookup::OPERATION, &[]), (getattr::OPERATION, &body)];
                answered(exchange, &operations)
            }
            _ => Fate::Pass,
        }
    });
    let url = format!("nfs://{}/link/below?version=4.2&lanes=1", between.address);
    let copy = at.join("copy").display().to_string();
    for words in [&["ls", &url][..], &["cp", "-q", &url, &copy]] {
        let (code, _, errors) = run(Command::new(HOWDAH).args(words));
        assert_eq!(code, Some(1), "{words:?}: {errors}");
        assert!(errors.contains("moved is on another server: use other.example:/vol"), "{words:?}: {errors}");
    }
}

/// The same reply, in which GETFH behind LOOKUP is refused: RFC 8881 lets LOOKUP go into what is elsewhere.
fn after_lookup(exchange: &Exchange<'_>) -> Fate {
    let mut decoder = Decoder::new(exchange.results);
    let head = ReplyHead::decode(&mut decoder).expect("a reply");
    let start = decoder.position();
    for done in 0..head.results {
        let ResultHead { operation, status } = ResultHead::decode(&mut decoder).expect("a result");
        if status != Status::OK {
            return Fate::Pass;
        }
        match operation {
            sequence::OPERATION => drop(sequence::Success::decode(&mut decoder).expect("a session")),
            getattr::OPERATION => drop(getattr::Success::decode(&mut decoder).expect("attributes")),
            getfh::OPERATION => drop(getfh::Success::decode(&mut decoder).expect("a handle")),
            lookup::OPERATION => {
                let before = &exchange.results[start..decoder.position()];
                let mut bytes = Vec::new();
                let mut encoder = Encoder::new(&mut bytes);
                ReplyHead { status: Status::MOVED, tag: b"", results: done + 2 }.encode(&mut encoder);
                encoder.fixed(before);
                ResultHead { operation: getfh::OPERATION, status: Status::MOVED }.encode(&mut encoder);
                return Fate::Replace(bytes);
            }
            _ => {}
        }
    }
    Fate::Pass
}
