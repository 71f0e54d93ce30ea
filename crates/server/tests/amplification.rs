//! What comes back for a datagram, in bytes for each that was sent: a caller that forges the address of its calls makes us send
//! it there. The figures are printed (`cargo test -p howdah-server --test amplification -- --nocapture`).

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use common::{call, make_file, serve_memory};
use howdah_server::limits::STRANGER_EXTRA_MAX;
use howdah_wire::nfs3::{self, FileHandle};
use howdah_wire::rpc::{CallHeader, Credentials, RecordMark};
use howdah_wire::xdr::Encoder;
use howdah_wire::{mount, nfsacl, nlm, portmap, rpcbind};

/// How long an answer over loopback may take.
const PATIENCE: Duration = Duration::from_secs(10);

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
fn what_strangers_can_have_sent_elsewhere_is_short() {
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
        ("NFSACL", nfsacl::PROGRAM, 3..=3, 0..3),
        ("NLM", nlm::PROGRAM, 4..=4, 0..24),
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
        assert!(length <= message.len() + STRANGER_EXTRA_MAX, "{name}: {length} bytes");
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
fn who_has_a_handle_reads_as_fast_as_ever() {
    let (server, address) = serve_memory();
    let file = make_file(&server, address, 1 << 20);
    let asker = Asker::new(address);
    let arguments = nfs3::read::Arguments { node: FileHandle(&file), offset: 0, count: 32 << 10 };
    let read = call(7, nfs3::PROGRAM, nfs3::VERSION, nfs3::read::PROCEDURE, &arguments);
    let read = &read[RecordMark::SIZE..];
    let mut replied = 0;
    for _ in 0..16 {
        replied += asker.ask(read);
    }
    println!("READ: {:.0} times as much as was sent", replied as f64 / 16.0 / read.len() as f64);
    assert!(replied > 16 * (32 << 10), "{replied}");
}
