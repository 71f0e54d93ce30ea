//! A server with an admin socket, and a client that speaks HTTP by hand.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use howdah_net::{Listener, LocalListener, connect_local};
use howdah_server::admin::MetricsSettings;
use howdah_server::exports::{ClientRule, Export, Exports, Squash};
use howdah_server::states::{HeadSettings, OwnRights, StateOptions};
use howdah_server::uplink::{Uplink, UplinkCache, UplinkDisk, UplinkReport};
use howdah_server::{Server, Service, Settings, Sockets};
use howdah_vfs::FileSystem;
use howdah_vfs::memory::MemoryFileSystem;
use howdah_wire::nfs4::Status;
use serde_json::Value;

use crate::common::nfs4::Client;

/// A server of an empty file system in memory, and where it is reached.
pub struct Asked {
    pub server: Server,
    pub address: SocketAddr,
    pub socket: PathBuf,
    pub metrics: SocketAddr,
    _home: tempfile::TempDir,
}

/// A way to a far server of which nothing happens.
struct Far;

impl Uplink for Far {
    fn report(&self) -> UplinkReport {
        UplinkReport {
            url: "nfs://far/export".to_owned(),
            is_up: true,
            limited_by: "none".to_owned(),
            cache: Some(UplinkCache::default()),
            disk: Some(UplinkDisk::default()),
            ..UplinkReport::default()
        }
    }
}

fn head_of_cluster(home: &Path) -> StateOptions {
    let records = home.join("heads");
    let settings = HeadSettings {
        scope: [1; 16],
        exports: vec![(1, "/".to_owned())],
        addresses: ["127.0.0.1".parse().expect("an address")].into(),
    };
    StateOptions::in_cluster(&records, OwnRights::always(), 1, &settings, Duration::from_secs(90))
        .expect("records")
}

impl Asked {
    /// Starts it.
    pub fn start() -> Self {
        Self::serving(Arc::new(MemoryFileSystem::new()))
    }

    /// Starts one of these files.
    pub fn serving(file_system: Arc<dyn FileSystem>) -> Self {
        Self::with(file_system, &Settings::default(), false)
    }

    /// Starts it as the only head of a cluster.
    pub fn head() -> Self {
        Self::with(Arc::new(MemoryFileSystem::new()), &Settings::default(), true)
    }

    /// Starts one whose monitors get so much.
    pub fn telling(metrics: MetricsSettings) -> Self {
        Self::with(Arc::new(MemoryFileSystem::new()), &Settings { metrics, ..Settings::default() }, false)
    }

    fn with(file_system: Arc<dyn FileSystem>, settings: &Settings, is_head: bool) -> Self {
        let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
        let export = Export::new("/", 1, file_system, vec![rule]).with_uplink(Some(Arc::new(Far)));
        let exports = Exports::new(vec![export], [7; 16]).expect("one export");
        let mut sockets = Sockets::bind(&["127.0.0.1:0".parse().expect("an address")], true).expect("bound");
        let home = tempfile::tempdir().expect("a directory");
        let socket = home.path().join("admin");
        sockets.admin = Some(LocalListener::bind(&socket).expect("bound"));
        let listener = Listener::bind("127.0.0.1:0".parse().expect("an address")).expect("bound");
        let metrics = listener.address();
        sockets.metrics = Some(listener);
        let states = if is_head { head_of_cluster(home.path()) } else { StateOptions::forgetful() };
        let service = Service::with(exports, Some(states), Vec::new());
        let server = Server::start_service(settings, sockets, service).expect("started");
        let address = server.addresses()[0].1;
        Self { server, address, socket, metrics, _home: home }
    }

    /// Two clients of NFSv4, each with a lock.
    pub fn lockers(&self) -> [Client; 2] {
        [("one", 0), ("other", 100)].map(|(name, offset)| {
            let mut client = Client::new(TcpStream::connect(self.address).expect("connected"), name);
            let file = client.open("locked");
            assert_eq!(client.lock(&file, (offset, 10)), Status::OK);
            client
        })
    }

    /// The path of a question with names in it: a knob, and the last of the clients of NFSv4.
    pub fn named(&self, path: &str) -> String {
        let path = path.replace("{name}", "tcp_rcvbuf");
        if !path.contains("{client}") {
            return path;
        }
        let state = self.get("/v1/state");
        let clients = state["clients"].as_array().expect("a list");
        path.replace("{client}", clients.last().expect("a client")["id"].as_str().expect("an id"))
    }

    /// Asks, and gives the status and the JSON that comes with it.
    pub fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut stream = connect_local(&self.socket).expect("it listens");
        send(&mut stream, method, path, body);
        answer(stream)
    }

    /// Begins a capture, in which this is called.
    pub fn captures(&self, call: impl FnOnce()) {
        let (status, state) = self.ask("PUT", "/v1/capture", r#"{"run": true}"#);
        assert_eq!(status, 200, "{state}");
        call();
    }

    /// What is there.
    pub fn get(&self, path: &str) -> Value {
        let (status, value) = self.ask("GET", path, "");
        assert_eq!(status, 200, "{path}: {value}");
        value
    }
}

/// A body that a question takes whenever it is asked.
pub fn body(method: &str, path: &str) -> &'static str {
    match (method, path) {
        ("PUT", "/v1/capture") => r#"{"run": false}"#,
        ("PUT", "/v1/state/{client}") => r#"{"release": true}"#,
        ("PUT", _) => r#"{"value": "auto"}"#,
        _ => "",
    }
}

/// Sends a question.
pub fn send(stream: &mut UnixStream, method: &str, path: &str, body: &str) {
    let length = body.len();
    let question =
        format!("{method} {path} HTTP/1.1\r\nHost: howdah\r\nContent-Length: {length}\r\n\r\n{body}");
    stream.write_all(question.as_bytes()).expect("sent");
}

/// Reads the answer to its end.
pub fn answer(mut stream: UnixStream) -> (u16, Value) {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("answered");
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("a head in {text:?}"));
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
    assert!(head.to_ascii_lowercase().contains("content-type: application/json"), "{head}");
    (status, serde_json::from_str(body).expect("JSON"))
}

/// Opens the socket to everybody, as somebody might who thinks that it helps.
pub fn open_to_all(socket: &Path) {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    set_permissions(socket.parent().expect("a directory"), Permissions::from_mode(0o755)).expect("ours");
    set_permissions(socket, Permissions::from_mode(0o666)).expect("ours");
}
