//! What comes over the admin socket: any bytes, and requests for any path with any body. Whatever it was, the next question is
//! answered.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use arbitrary::{Arbitrary, Unstructured};
use howdah_net::LocalListener;
use howdah_server::exports::{ClientRule, Export, Exports};
use howdah_server::{Server, Settings, Sockets};
use howdah_vfs::memory::MemoryFileSystem;

/// Where a question can go.
const PLACES: [&str; 15] = [
    "/v1",
    "/v1/procedures",
    "/v1/knobs",
    "/v1/knobs/tcp_sndbuf",
    "/v1/knobs/memory_budget",
    "/v1/tuning",
    "/v1/samples",
    "/v1/exports",
    "/v1/capture",
    "/v1/clients",
    "/v1/memory",
    "/v1/udp",
    "/v1/workers",
    "/metrics",
    "/",
];

#[derive(Debug, Arbitrary)]
struct Request<'a> {
    method: u8,
    place: u8,
    more: &'a str,
    header: Option<(&'a str, &'a str)>,
    body: &'a [u8],
    claimed: Option<u16>,
}

/// A server for all inputs of a process; it ends with it.
struct Asked {
    socket: PathBuf,
    _server: Server,
    _home: tempfile::TempDir,
}

/// The first byte says whether it is a request at all.
pub fn run(input: &[u8]) {
    static ASKED: OnceLock<Asked> = OnceLock::new();
    let asked = ASKED.get_or_init(start);
    let Some((kind, rest)) = input.split_first() else { return };
    if kind % 4 == 0 {
        ask(&asked.socket, rest, true);
    } else if let Ok(request) = Request::arbitrary(&mut Unstructured::new(rest)) {
        ask(&asked.socket, &request.bytes(), true);
    }
    let answer = ask(&asked.socket, b"GET /v1 HTTP/1.1\r\nHost: howdah\r\n\r\n", false);
    assert!(answer.starts_with(b"HTTP/1.1 200 "), "{}", answer.escape_ascii());
}

fn start() -> Asked {
    let home = tempfile::tempdir().expect("a directory");
    let socket = home.path().join("admin");
    let rule = ClientRule::default();
    let export = Export::new("/", 7, Arc::new(MemoryFileSystem::new()), vec![rule]);
    let exports = Exports::new(vec![export], [7; 16]).expect("one export");
    let mut sockets = Sockets::bind(&["127.0.0.1:0".parse().expect("an address")], false).expect("a port");
    sockets.admin = Some(LocalListener::bind(&socket).expect("a socket"));
    let settings = Settings { workers: 1, ..Settings::default() };
    let server = Server::start(&settings, sockets, exports).expect("a server");
    Asked { socket, _server: server, _home: home }
}

impl Request<'_> {
    fn bytes(&self) -> Vec<u8> {
        let method = ["GET", "PUT", "POST", "HEAD", "DELETE", "OPTIONS"][usize::from(self.method) % 6];
        let place = PLACES[usize::from(self.place) % PLACES.len()];
        let length = self.claimed.map_or(self.body.len(), usize::from);
        let mut text = format!("{method} {place}{} HTTP/1.1\r\nHost: howdah\r\n", self.more);
        if let Some((name, value)) = self.header {
            text += &format!("{name}: {value}\r\n");
        }
        text += &format!("Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
        [text.as_bytes(), self.body].concat()
    }
}

/// Sends it all and takes what comes. Who says that there is no more may get no answer, but need not be waited for.
fn ask(socket: &PathBuf, request: &[u8], is_all: bool) -> Vec<u8> {
    let mut stream = UnixStream::connect(socket).expect("it listens");
    // It may hang up while we still write.
    let _ = stream.write_all(request);
    if is_all {
        let _ = stream.shutdown(std::net::Shutdown::Write);
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}
