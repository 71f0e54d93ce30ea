//! One past what a connection may send.

#![allow(clippy::unwrap_used)]

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;

use common::{getattr, root, serve_memory};
use howdah_server::limits::RECORD_MAX;
use howdah_wire::rpc::RecordMark;

#[test]
fn a_record_may_be_as_long_as_announced_and_no_longer() {
    let (server, address) = serve_memory();
    let claim = |length: usize| {
        let mut stream = TcpStream::connect(address).unwrap();
        let mark = RecordMark { length: u32::try_from(length).unwrap(), last: true };
        stream.write_all(&mark.to_bytes()).unwrap();
        stream
    };
    assert_eq!(claim(RECORD_MAX + 1).read(&mut [0]).unwrap_or(0), 0, "the connection is closed");
    // A reply (RFC 5531 9) is no call: it is read to its end, and answered by closing or not at all; so a call follows it.
    let mut whole = claim(RECORD_MAX);
    whole.write_all(&vec![0; RECORD_MAX]).unwrap();
    let answered = whole.read(&mut [0; 64]).unwrap_or(0);
    assert!(
        answered > 0,
        "the longest record is read and answered: it is an RPC call of no version that we know"
    );
    let mut another = TcpStream::connect(address).unwrap();
    assert!(getattr(&mut another, &root(&server)).is_ok());
}
