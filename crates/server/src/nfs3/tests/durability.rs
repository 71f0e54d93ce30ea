//! READ, WRITE and COMMIT: counts, limits, where the data is, and what the verifier says.

use std::io;
use std::os::fd::BorrowedFd;

use howdah_vfs::Waiting;
use howdah_wire::nfs3::{FileHandle, Status, commit, read, write};
use howdah_wire::rpc::Accepted;
use howdah_wire::xdr::Encoder;

use super::client::{Client, TEXT, decoded};
use crate::Transport;

fn reading(client: &Client, offset: u64, count: u32) -> read::Arguments<'_> {
    read::Arguments { node: FileHandle(&client.file), offset, count }
}

fn writing<'a>(client: &'a Client, offset: u64, data: &'a [u8]) -> write::Arguments<'a> {
    let (node, count, stability) = (FileHandle(&client.file), data.len() as u32, write::Stability::Unstable);
    write::Arguments { node, offset, count, stability, data }
}

fn contents(client: &Client) -> Vec<u8> {
    let result = client.call(read::PROCEDURE, &reading(client, 0, 1 << 20));
    decoded::<read::Reply>(&result).expect("data").data.to_vec()
}

#[test]
fn reads() {
    let client = Client::new();
    for (offset, count, expected, end) in [
        (0, 100, TEXT, true),
        (0, 12, TEXT, true),
        (0, 5, &TEXT[..5], false),
        (7, 4, &TEXT[7..11], false),
        (7, 5, &TEXT[7..], true),
        (12, 1, &[], true),
        (u64::MAX / 2, 1, &[], true),
        (0, 0, &[], false),
    ] {
        let result = client.call(read::PROCEDURE, &reading(&client, offset, count));
        let read = decoded::<read::Reply>(&result).expect("data");
        assert_eq!((read.data, read.end), (expected, end), "{count} at {offset}");
        assert_eq!(read.attributes.expect("attributes").size, 12);
    }
    for (node, status) in [(&client.directory, Status::IsDirectory), (&client.link, Status::Invalid)] {
        let arguments = read::Arguments { node: FileHandle(node), ..reading(&client, 0, 1) };
        let refused = client.call(read::PROCEDURE, &arguments);
        let refused = decoded::<read::Reply>(&refused).expect_err("no file");
        assert_eq!(refused.status, status);
        assert!(refused.detail.is_some(), "attributes all the same");
    }
}

#[test]
fn a_read_is_no_longer_than_is_ever_announced() {
    let mut client = Client::new();
    let big = vec![3; 1 << 20];
    for offset in [0, 1 << 20] {
        assert_eq!(client.status(write::PROCEDURE, &writing(&client, offset, &big)), None);
    }
    for (transport, address, most) in [
        (Transport::Tcp, "192.0.2.9:700", 1 << 20),
        (Transport::Udp, "192.0.2.9:700", 32 << 10),
        (Transport::Udp, "192.0.2.1:700", 32 << 10),
    ] {
        client.peer.transport = transport;
        client.peer.ends.client = address.parse().expect("address");
        let result = client.call(read::PROCEDURE, &reading(&client, 0, u32::MAX));
        assert_eq!(decoded::<read::Reply>(&result).expect("data").data.len(), most);
    }
}

#[test]
fn a_write_tells_the_file_before_and_after() {
    let client = Client::new();
    let result = client.call(write::PROCEDURE, &writing(&client, 7, b"there!!"));
    let written = decoded::<write::Reply>(&result).expect("written");
    assert_eq!(written.count, 7);
    assert_eq!(written.file.before.expect("before").size, 12);
    assert_eq!(written.file.after.expect("after").size, 14);
    assert_eq!(contents(&client), b"howdy, there!!");
    for stability in [write::Stability::Unstable, write::Stability::DataSync, write::Stability::FileSync] {
        let arguments = write::Arguments { stability, ..writing(&client, 0, b"H") };
        let result = client.call(write::PROCEDURE, &arguments);
        assert!(decoded::<write::Reply>(&result).expect("written").committed >= stability);
    }
}

#[test]
fn a_count_beyond_the_data_is_refused_and_data_beyond_the_count_left_alone() {
    let client = Client::new();
    let arguments = write::Arguments { count: 6, ..writing(&client, 0, b"HOWDY") };
    let result = client.call(write::PROCEDURE, &arguments);
    let refused = decoded::<write::Reply>(&result).expect_err("too little data");
    assert_eq!(refused.status, Status::Invalid);
    assert_eq!(refused.detail.after.expect("attributes all the same").size, 12);
    let arguments = write::Arguments { count: 2, ..writing(&client, 0, b"HOWDY") };
    let result = client.call(write::PROCEDURE, &arguments);
    assert_eq!(decoded::<write::Reply>(&result).expect("written").count, 2);
    assert_eq!(contents(&client), b"HOwdy, world");
    assert_eq!(client.status(write::PROCEDURE, &writing(&client, 0, b"")), None);
    for (node, status) in [(&client.directory, Status::IsDirectory), (&client.link, Status::Invalid)] {
        let arguments = write::Arguments { node: FileHandle(node), ..writing(&client, 0, b"x") };
        assert_eq!(client.status(write::PROCEDURE, &arguments), Some(status));
    }
}

/// Data in a socket that is a piece of memory.
struct InMemory(Vec<u8>);

impl crate::request::BulkData for InMemory {}

impl Waiting for InMemory {
    fn length(&self) -> usize {
        self.0.len()
    }

    fn move_to(&mut self, _: BorrowedFd<'_>, _: u64) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn take(&mut self) -> io::Result<&[u8]> {
        Ok(&self.0)
    }
}

#[test]
fn data_that_waits_in_the_socket_is_written_too() {
    for (count, expected) in [(5, &b"HOWDY, world"[..]), (2, b"HOwdy, world")] {
        let client = Client::new();
        let arguments = write::Head {
            node: FileHandle(&client.file),
            offset: 0,
            count,
            stability: write::Stability::FileSync,
            length: 5,
        };
        let mut waiting = InMemory(b"HOWDY".to_vec());
        let (outcome, result) =
            client.send(write::PROCEDURE, &Encoder::to_vec(&arguments), Some(&mut waiting));
        assert_eq!(outcome, Ok(Accepted::Success));
        assert_eq!(decoded::<write::Reply>(&result).expect("written").count, count);
        assert_eq!(contents(&client), expected);
    }
}

#[test]
fn the_verifier_changes_when_data_may_be_lost() {
    let client = Client::new();
    let write = |client: &Client| {
        let result = client.call(write::PROCEDURE, &writing(client, 0, b"HOWDY"));
        decoded::<write::Reply>(&result).expect("written").verifier
    };
    let commit = |client: &Client| {
        let arguments = commit::Arguments { node: FileHandle(&client.file), offset: 0, count: 0 };
        let result = client.call(commit::PROCEDURE, &arguments);
        let committed = decoded::<commit::Reply>(&result).expect("committed");
        assert!(committed.file.after.is_some());
        committed.verifier
    };
    let first = write(&client);
    assert_eq!(commit(&client), first);
    assert_eq!(write(&client), first);
    client.memory.restart();
    assert_ne!(commit(&client), first, "what was written may be lost");
    let arguments = commit::Arguments { node: FileHandle(&client.directory), offset: 0, count: 0 };
    assert!(client.status(commit::PROCEDURE, &arguments).is_some(), "a directory is not committed");
}
