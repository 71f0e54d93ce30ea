//! Calls that may not run twice, sent twice: on another connection, from another port, over the other transport.

mod common;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use common::{nfs_call, read_record, root, serve_memory};
use howdah_wire::nfs3::{
    DirectoryName, FileHandle, NewAttributes, Status, create, getattr, mkdir, remove, rename, rmdir, setattr,
    write,
};
use howdah_wire::rpc::{Accepted, RecordMark, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder};

/// How long an answer over loopback may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sends a call on a connection of its own, which is lost then; gives the whole reply.
fn over_tcp(server: SocketAddr, call: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(server).expect("connecting");
    stream.write_all(call).expect("sending");
    let reply = read_record(&mut stream);
    // Closed with a reset.
    socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).expect("set");
    reply
}

/// The same, and the connection ends in order.
fn over_tcp_to_its_end(server: SocketAddr, calls: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut stream = TcpStream::connect(server).expect("connecting");
    let exchange = |call: &Vec<u8>| {
        stream.write_all(call).expect("sending");
        read_record(&mut stream)
    };
    let replies = calls.iter().map(exchange).collect();
    // The server has seen the end once it ends its side, too.
    stream.shutdown(Shutdown::Write).expect("the last byte is sent");
    assert_eq!(stream.read(&mut [0]).expect("an end in order"), 0);
    replies
}

/// Sends a call in a datagram, from a port of its own.
fn over_udp(server: SocketAddr, call: &[u8]) -> Vec<u8> {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("any port");
    socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    socket.send_to(&call[RecordMark::SIZE..], server).expect("sending");
    let mut reply = vec![0; 65_536];
    let length = socket.recv(&mut reply).expect("an answer");
    reply.truncate(length);
    reply
}

fn result<'a, T: Decode<'a>>(reply: &'a [u8]) -> T {
    let mut decoder = Decoder::new(reply);
    assert_eq!(ReplyHeader::decode(&mut decoder).expect("a reply").outcome, Ok(Accepted::Success));
    T::decode(&mut decoder).expect("a result")
}

#[test]
fn a_repeated_call_is_answered_as_the_first_time_and_another_one_is_not() {
    let (server, address) = serve_memory();
    let root = root(&server);
    let object = |name: &'static [u8]| DirectoryName { directory: FileHandle(&root), name };
    let new = NewAttributes::default();

    let call = |xid| nfs_call(xid, mkdir::PROCEDURE, &mkdir::Arguments { object: object(b"directory"), new });
    let first = over_tcp(address, &call(1));
    result::<mkdir::Reply<'_>>(&first).expect("made");
    assert_eq!(over_tcp(address, &call(1)), first);
    assert_eq!(over_udp(address, &call(1)), first);
    let again = over_tcp(address, &call(2));
    assert_eq!(result::<mkdir::Reply<'_>>(&again).expect_err("it is there").status, Status::Exists);

    let how = create::How::Guarded(new);
    let call = |xid| nfs_call(xid, create::PROCEDURE, &create::Arguments { object: object(b"file"), how });
    let first = over_udp(address, &call(3));
    result::<create::Reply<'_>>(&first).expect("made");
    assert_eq!(over_tcp(address, &call(3)), first);

    let (from, to) = (object(b"file"), object(b"renamed"));
    let call = |xid| nfs_call(xid, rename::PROCEDURE, &rename::Arguments { from, to });
    let first = over_tcp(address, &call(4));
    result::<rename::Reply>(&first).expect("renamed");
    assert_eq!(over_tcp(address, &call(4)), first);

    let call = |xid| nfs_call(xid, remove::PROCEDURE, &remove::Arguments { object: object(b"renamed") });
    let first = over_tcp(address, &call(5));
    result::<remove::Reply>(&first).expect("removed");
    assert_eq!(over_udp(address, &call(5)), first);
    let again = over_tcp(address, &call(6));
    assert_eq!(result::<remove::Reply>(&again).expect_err("it is gone").status, Status::NotFound);
}

#[test]
fn a_client_that_begins_with_the_same_xid_each_time_gets_no_old_answers() {
    let (server, address) = serve_memory();
    let root = root(&server);
    let object = |name: &'static [u8]| DirectoryName { directory: FileHandle(&root), name };
    let new = NewAttributes::default();
    let make = |xid| nfs_call(xid, mkdir::PROCEDURE, &mkdir::Arguments { object: object(b"directory"), new });
    let remove = |xid| nfs_call(xid, rmdir::PROCEDURE, &rmdir::Arguments { object: object(b"directory") });
    let makes = |reply: &[u8]| result::<mkdir::Reply<'_>>(reply).is_ok();
    // Each of them makes and removes a directory, and says goodbye.
    for _ in 0..20 {
        let replies = over_tcp_to_its_end(address, &[make(1), remove(2)]);
        assert!(makes(&replies[0]));
        result::<rmdir::Reply>(&replies[1]).expect("removed");
    }
    // One that makes it, and finds it there when it comes again as if for the first time.
    assert!(makes(&over_tcp_to_its_end(address, &[make(1)])[0]));
    assert!(!makes(&over_tcp_to_its_end(address, &[make(1)])[0]));
    over_tcp_to_its_end(address, &[remove(9)]);
    // Those that are lost: what they did last shows that they had the first answer.
    for _ in 0..20 {
        assert!(makes(&over_tcp(address, &make(11))));
        result::<rmdir::Reply>(&over_tcp(address, &remove(12))).expect("removed");
    }
}

#[test]
fn a_refusal_is_repeated_until_the_client_has_changed_what_was_refused() {
    let (server, address) = serve_memory();
    let root = root(&server);
    let object = DirectoryName { directory: FileHandle(&root), name: b"late" };
    let remove = nfs_call(1, remove::PROCEDURE, &remove::Arguments { object });
    let refused = over_tcp(address, &remove);
    result::<remove::Reply>(&refused).expect_err("not there yet");
    assert_eq!(over_tcp(address, &remove), refused);
    let how = create::How::Guarded(NewAttributes::default());
    let made = over_tcp(address, &nfs_call(2, create::PROCEDURE, &create::Arguments { object, how }));
    result::<create::Reply<'_>>(&made).expect("made");
    result::<remove::Reply>(&over_tcp(address, &remove)).expect("another call, since the client has made it");
}

/// Writes three bytes at the start of a file.
fn write_three(server: SocketAddr, xid: u32, file: &[u8]) {
    let arguments = write::Arguments {
        node: FileHandle(file),
        offset: 0,
        count: 3,
        stability: write::Stability::Unstable,
        data: b"abc",
    };
    let reply = over_tcp(server, &nfs_call(xid, write::PROCEDURE, &arguments));
    assert_eq!(result::<write::Reply>(&reply).expect("written").count, 3);
}

fn size_of(server: SocketAddr, file: &[u8]) -> u64 {
    let call = nfs_call(99, getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(file) });
    result::<getattr::Reply>(&over_tcp(server, &call)).expect("it is there").attributes.size
}

#[test]
fn a_file_that_the_client_wrote_since_is_truncated_again() {
    let (server, address) = serve_memory();
    let root = root(&server);
    let new = NewAttributes { size: Some(0), ..NewAttributes::default() };
    let object = DirectoryName { directory: FileHandle(&root), name: b"file" };
    let how = create::How::Unchecked(new);
    let create = nfs_call(1, create::PROCEDURE, &create::Arguments { object, how });
    let made = over_tcp(address, &create);
    let file = result::<create::Reply<'_>>(&made).expect("made").node.expect("a handle").0.to_vec();
    // CREATE truncates what is there.
    write_three(address, 2, &file);
    assert_eq!(size_of(address, &file), 3);
    result::<create::Reply<'_>>(&over_tcp(address, &create)).expect("truncated");
    assert_eq!(size_of(address, &file), 0);

    // So does SETATTR, each time.
    let arguments = setattr::Arguments { node: FileHandle(&file), new, guard: None };
    let truncate = nfs_call(1, setattr::PROCEDURE, &arguments);
    for _ in 0..3 {
        write_three(address, 3, &file);
        result::<setattr::Reply>(&over_tcp(address, &truncate)).expect("truncated");
        assert_eq!(size_of(address, &file), 0);
    }
    // With nothing written since, it is the same call: the answer was lost.
    let first = over_tcp(address, &truncate);
    assert_eq!(over_tcp(address, &truncate), first);
}

#[test]
fn a_refusal_is_no_answer_to_a_call_that_may_go_well_by_now() {
    let (server, address) = serve_memory();
    let root = root(&server);
    let object = DirectoryName { directory: FileHandle(&root), name: b"directory" };
    let new = NewAttributes::default();
    let made = over_tcp(address, &nfs_call(8, mkdir::PROCEDURE, &mkdir::Arguments { object, new }));
    let directory = result::<mkdir::Reply<'_>>(&made).expect("made").node.expect("a handle");
    let inside = DirectoryName { directory, name: b"file" };
    let how = create::How::Guarded(new);
    let made = over_tcp(address, &nfs_call(9, create::PROCEDURE, &create::Arguments { object: inside, how }));
    result::<create::Reply<'_>>(&made).expect("made");

    let remove = nfs_call(1, rmdir::PROCEDURE, &rmdir::Arguments { object });
    let refused = over_tcp(address, &remove);
    assert_eq!(result::<rmdir::Reply>(&refused).expect_err("a file is in it").status, Status::NotEmpty);
    let emptied = over_tcp(address, &nfs_call(2, remove::PROCEDURE, &remove::Arguments { object: inside }));
    result::<remove::Reply>(&emptied).expect("removed");
    result::<rmdir::Reply>(&over_tcp(address, &remove)).expect("it is empty");
}
