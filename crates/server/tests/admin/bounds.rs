//! Who may ask, how much, for how long, and what is answered to what is not there.

use std::io::{Read, Write};

use howdah_needs::{Lack, skipped};
use howdah_net::connect_local;
use rustix::process::Uid;

use crate::ask::{Asked, answer, open_to_all, send};

/// `nobody` on every Linux.
const NOBODY: u32 = 65534;
/// What `exchange.rs` lets in at once.
const PLACES: usize = 32;

#[test]
fn it_says_what_there_is_and_what_is_not() {
    let asked = Asked::start();
    let index = asked.get("/v1");
    assert_eq!(index["version"], 1);
    assert_eq!(index["process"], std::process::id());
    assert_eq!(index["listening"][0], asked.address.to_string());
    for (method, path, status) in [("GET", "/v1/nothing", 404), ("DELETE", "/v1", 405)] {
        let (answered, body) = asked.ask(method, path, "");
        assert_eq!(answered, status, "{method} {path}");
        for field in ["error", "hint"] {
            assert!(body[field].as_str().is_some_and(|text| !text.is_empty()), "{method} {path}: {body}");
        }
    }
}

#[test]
fn its_socket_goes_with_the_server() {
    let asked = Asked::start();
    let socket = asked.socket.clone();
    assert!(socket.exists());
    drop(asked.server);
    assert!(!socket.exists());
    assert!(connect_local(&socket).is_err());
}

#[test]
fn other_users_are_refused_even_where_the_socket_lets_them_in() {
    if !rustix::process::geteuid().is_root() {
        skipped(Lack::Root, "becoming another user needs root");
        return;
    }
    let asked = Asked::start();
    open_to_all(&asked.socket);
    let socket = asked.socket.clone();
    let other = std::thread::spawn(move || {
        // Of this thread alone: the library call without the C library's, which would change all threads.
        let nobody = Uid::from_raw(NOBODY);
        rustix::thread::set_thread_res_uid(nobody, nobody, nobody).expect("root may");
        let mut stream = connect_local(&socket).expect("it lets everybody in");
        send(&mut stream, "GET", "/v1", "");
        answer(stream)
    });
    let (status, body) = other.join().expect("asked");
    assert_eq!(status, 403);
    assert_eq!(body["error"], "this server is run by another user");
    asked.get("/v1");
}

#[test]
fn who_says_nothing_holds_no_place_for_long() {
    let asked = Asked::start();
    let silent: Vec<_> = (0..PLACES).map(|_| connect_local(&asked.socket).expect("let in")).collect();
    let mut half = connect_local(&asked.socket).expect("waits");
    half.write_all(b"GET /v1 HTTP/1.1\r\nHost: how").expect("sent");
    // It waits until the silent ones are shut out.
    asked.get("/v1");
    for mut stream in silent {
        let mut nothing = Vec::new();
        stream.read_to_end(&mut nothing).expect("closed");
    }
}

#[test]
fn too_much_is_refused() {
    let asked = Asked::start();
    let mut stream = connect_local(&asked.socket).expect("let in");
    let filler = "x".repeat(64 << 10);
    // It may hang up while we still write.
    let _ = write!(stream, "GET /v1 HTTP/1.1\r\nHost: howdah\r\nX: {filler}\r\n\r\n");
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    assert!(text.is_empty() || text.starts_with(b"HTTP/1.1 431 "), "{}", String::from_utf8_lossy(&text));
    asked.get("/v1");
}

#[test]
fn a_body_longer_than_any_is_refused() {
    let asked = Asked::start();
    for (length, is_refused) in [(64 << 10, false), ((64 << 10) + 1, true)] {
        let mut stream = connect_local(&asked.socket).expect("let in");
        let body = "x".repeat(length);
        let head = "PUT /v1/knobs/memory_budget HTTP/1.1\r\nHost: howdah\r\nContent-Type: application/json";
        // It may hang up while we still write.
        let _ = write!(stream, "{head}\r\nContent-Length: {length}\r\n\r\n{body}");
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text);
        assert_eq!(text.starts_with("HTTP/1.1 413 "), is_refused, "{length} bytes: {text}");
    }
    asked.get("/v1");
}
