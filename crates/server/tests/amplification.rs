//! What comes back for a datagram, in bytes for each that was sent: whoever writes another's address on his calls makes us send
//! it there. The figures are printed (`cargo test -p howdah-server --test amplification -- --nocapture`).

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use common::{call, make_file, root, serve_memory};
use howdah_server::limits::{EXCESS_BURST, EXCESS_RATE};
use howdah_wire::nfs3::{self, FileHandle};
use howdah_wire::rpc::{CallHeader, Credentials, RecordMark};
use howdah_wire::xdr::Encoder;
use howdah_wire::{mount, portmap, rpcbind};

/// How long an answer over loopback may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// An answer that is no list is at most so much longer than its call, in bytes: attributes, or an address.
const SHORT: usize = 64;
/// What answers with a list, and is bounded by what the address was told of late: DUMP.
const LISTS: [&str; 3] = ["portmap 2, procedure 4", "rpcbind 3, procedure 4", "rpcbind 4, procedure 4"];

struct Asker {
    socket: UdpSocket,
    server: SocketAddr,
}

impl Asker {
    fn new(server: SocketAddr) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { socket, server }
    }

    /// Bytes of the answer to a call.
    fn ask(&self, message: &[u8]) -> usize {
        self.socket.send_to(message, self.server).unwrap();
        let mut reply = vec![0; 65_536];
        self.socket.recv_from(&mut reply).unwrap().0
    }
}

/// The shortest call: without credentials.
fn shortest(program: u32, version: u32, procedure: u32, arguments: &[u8]) -> Vec<u8> {
    let header = CallHeader { xid: 7, program, version, procedure, credentials: Credentials::None };
    [Encoder::to_vec(&header), arguments.to_vec()].concat()
}

#[test]
fn what_strangers_can_have_sent_elsewhere_is_short_or_bounded() {
    let (server, address) = serve_memory();
    let asker = Asker::new(address);
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
    let nobody = words(&[0; 6]);
    let mut calls = Vec::new();
    for (name, program, versions, procedures) in [
        ("portmap", portmap::PROGRAM, 2..=2, 0..6),
        ("rpcbind", rpcbind::PROGRAM, 3..=4, 0..13),
        ("MOUNT", mount::PROGRAM, 1..=3, 0..6),
        ("NFS", nfs3::PROGRAM, 3..=3, 0..22),
    ] {
        for version in versions {
            // With arguments that mean nothing, and with none at all.
            for procedure in procedures.clone() {
                let name = format!("{name} {version}, procedure {procedure}");
                calls.push((name.clone(), shortest(program, version, procedure, &[])));
                calls.push((name, shortest(program, version, procedure, &nobody)));
            }
        }
    }
    let (mut sent, mut received) = (0, 0);
    for (number, (name, message)) in (0u32..).zip(&mut calls) {
        // Its own xid: what is answered late on a busy machine is no answer to the next call.
        message[..4].copy_from_slice(&number.to_be_bytes());
        asker.socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        asker.socket.send_to(message, address).unwrap();
        let mut reply = vec![0; 65_536];
        let mut answers = std::iter::from_fn(|| {
            asker.socket.recv_from(&mut reply).ok().map(|(length, _)| (length, reply[..4].to_vec()))
        });
        // Some are never answered (portmap's CALLIT).
        let Some((length, _)) = answers.find(|(_, xid)| xid[..] == message[..4]) else { continue };
        (sent, received) = (sent + message.len(), received + length);
        assert!(length <= message.len() + SHORT || LISTS.contains(&name.as_str()), "{name}: {length} bytes");
        if length > message.len() {
            println!(
                "{name}: {} bytes for {}, {:.1} times",
                length,
                message.len(),
                length as f64 / message.len() as f64
            );
        }
    }
    assert!(received > 0, "strangers are answered");
    println!("all that strangers may ask, once: {received} bytes for {sent}");
    drop(server);
}

#[test]
fn lists_end_once_an_address_was_told_much_more_than_it_asked_for() {
    let (server, address) = serve_memory();
    let handle = root(&server);
    let asker = Asker::new(address);
    let list = shortest(rpcbind::PROGRAM, rpcbind::VERSION_4, rpcbind::dump::PROCEDURE, &[]);
    let start = Instant::now();
    let one = asker.ask(&list);
    assert!(one > list.len(), "it is longer than its call: {one}");
    let count = 4 * EXCESS_BURST as usize / one;
    for _ in 0..count {
        asker.socket.send_to(&list, address).unwrap();
    }
    // Datagrams of one client come to one socket and are answered in turn: what is answered before this was answered by now.
    let arguments = nfs3::getattr::Arguments { node: FileHandle(&handle) };
    let getattr = call(77, nfs3::PROGRAM, nfs3::VERSION, nfs3::getattr::PROCEDURE, &arguments);
    asker.socket.send_to(&getattr[RecordMark::SIZE..], address).unwrap();
    let mut told = one - list.len();
    let mut reply = vec![0; 65_536];
    loop {
        let (length, _) = asker.socket.recv_from(&mut reply).expect("a client with a handle is answered");
        if reply[..4] == 77u32.to_be_bytes() {
            break;
        }
        told += length - list.len();
    }
    let forgotten = EXCESS_RATE * (start.elapsed().as_secs() + 1);
    println!("{} lists asked for: {told} bytes more than were sent", count + 1);
    assert!(told as u64 <= EXCESS_BURST + forgotten, "{told}");
}

#[test]
fn who_has_a_handle_reads_as_fast_as_ever() {
    let (server, address) = serve_memory();
    let file = make_file(&server, address, 1 << 20);
    let asker = Asker::new(address);
    let arguments = nfs3::read::Arguments { node: FileHandle(&file), offset: 0, count: 32 << 10 };
    let read = call(7, nfs3::PROGRAM, nfs3::VERSION, nfs3::read::PROCEDURE, &arguments);
    let read = &read[RecordMark::SIZE..];
    let mut told = 0;
    for _ in 0..16 {
        told += asker.ask(read);
    }
    println!("READ: {:.0} times as much as was sent", told as f64 / 16.0 / read.len() as f64);
    assert!(told as u64 > 4 * EXCESS_BURST, "{told}");
}
