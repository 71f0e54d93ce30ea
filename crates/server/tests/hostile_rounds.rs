//! Memory has a bound whatever clients do, however long: what rounds of hostile load take once, later rounds use again.
//!
//! One test: it looks at the memory of this process, in which the server runs.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use std::io::Write;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use common::{getattr, nfs_call, read_record, root, serve_memory};
use howdah_random::Random;
use howdah_rpc::limits::CALLS_REMEMBERED;
use howdah_wire::nfs3::{
    self, DirectoryName, FileHandle, NewAttributes, create, readdirplus, remove, setattr,
};
use howdah_wire::rpc::{AuthSys, CallHeader, Credentials, RecordMark};
use howdah_wire::xdr::{Encode, Encoder};

const ROUNDS: usize = 8;
/// What later rounds may add: blocks that lie apart in the allocator's arenas, and tables that double.
const SLACK: usize = 12 << 20;
/// What the server may hold in the end: what the manual says ("Memory of the server") of answers, receive buffers and workers, and
/// a third more for free blocks.
const MOST: usize = 96 << 20;
/// Calls that are remembered, of a round: half of the rounds fill all room for them, and for what they change, of which there
/// is twice as much.
const REMEMBERED: usize = 2 * CALLS_REMEMBERED / (ROUNDS / 2) + 2_000;
/// Calls that are sent together.
const BURST: usize = 100;
/// Names in the directory at most.
const NAMES: usize = 400;
/// An answer comes within this, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Who means harm.
struct Attacker {
    address: SocketAddr,
    root: Vec<u8>,
    random: Random,
    xid: u32,
}

#[test]
fn later_rounds_of_hostile_load_take_no_more_memory() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |now| u64::from(now.subsec_nanos()))
    });
    println!("SEED={seed}");
    howdah_net::give_large_blocks_back();
    let (server, address) = serve_memory();
    let mut attacker = Attacker { address, root: root(&server), random: Random::new(seed), xid: 1 };
    let before = anonymous();
    let mut held = Vec::new();
    for _ in 0..ROUNDS {
        attacker.remembered_calls();
        attacker.damaged_calls();
        attacker.half_open_records();
        attacker.unread_listings();
        attacker.strangers();
        attacker.datagrams();
        // Honest clients are served, and what came before is done.
        assert!(getattr(&mut attacker.connect(), &attacker.root).is_ok());
        held.push(anonymous().saturating_sub(before));
    }
    let sizes: Vec<String> = held.iter().map(|bytes| format!("{:.1}", *bytes as f64 / 1e6)).collect();
    println!("MB after each round: {}", sizes.join(" "));
    let (half, all) = (held[ROUNDS / 2 - 1], held[ROUNDS - 1]);
    assert!(
        all <= half + SLACK,
        "{half} bytes after half of the rounds, {all} after all of them; SEED={seed}"
    );
    assert!(all <= MOST, "{all} bytes; SEED={seed}");
}

impl Attacker {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// A record of a call by this user with these groups.
    fn call(&mut self, user: u32, groups: &[u32], procedure: u32, arguments: &impl Encode) -> Vec<u8> {
        self.xid = self.xid.wrapping_add(1);
        let credentials = Credentials::Sys(AuthSys::new(b"hostile", user, user, groups));
        let (program, version) = (nfs3::PROGRAM, nfs3::VERSION);
        let header = CallHeader { xid: self.xid, program, version, procedure, credentials };
        let mut message = Encoder::to_vec(&header);
        arguments.encode(&mut Encoder::new(&mut message));
        record(&message)
    }

    fn number(&mut self) -> u32 {
        self.random.number() as u32
    }

    /// What is remembered for the case that it comes again: as other users, of many names.
    fn remembered_calls(&mut self) {
        for _ in 0..REMEMBERED / BURST {
            let mut stream = self.connect();
            let burst: Vec<u8> = (0..BURST).flat_map(|_| self.change()).collect();
            stream.write_all(&burst).unwrap();
            (0..BURST).for_each(|_| drop(read_record(&mut stream)));
        }
    }

    fn change(&mut self) -> Vec<u8> {
        let (root, name) = (self.root.clone(), format!("name{}", self.random.index(NAMES)));
        let object = DirectoryName { directory: FileHandle(&root), name: name.as_bytes() };
        match self.random.index(4) {
            0 => {
                let how = create::How::Unchecked(NewAttributes::default());
                self.call(0, &[], create::PROCEDURE, &create::Arguments { object, how })
            }
            1 => self.call(0, &[], remove::PROCEDURE, &remove::Arguments { object }),
            _ => {
                let new = NewAttributes { mode: Some(0o755), ..NewAttributes::default() };
                let arguments = setattr::Arguments { node: FileHandle(&root), new, guard: None };
                let user = self.number();
                self.call(user, &[], setattr::PROCEDURE, &arguments)
            }
        }
    }

    /// Calls with some bytes that are others, until the server has enough of them.
    fn damaged_calls(&mut self) {
        for _ in 0..200 {
            let mut stream = self.connect();
            for _ in 0..10 {
                let mut call = self.change();
                self.damage(&mut call[RecordMark::SIZE..]);
                if stream.write_all(&call).is_err() {
                    break;
                }
            }
        }
    }

    fn damage(&mut self, bytes: &mut [u8]) {
        for _ in 0..1 + self.random.index(4) {
            let at = self.random.index(bytes.len());
            bytes[at] = self.random.number() as u8;
        }
    }

    /// Records of which the most never comes.
    fn half_open_records(&mut self) {
        let mut crowd = Vec::new();
        for _ in 0..60 {
            let mut stream = self.connect();
            let length = [3_000, 60_000, 1 << 20][self.random.index(3)];
            let mark = RecordMark { length, last: true }.to_bytes();
            let some = self.random.index(2_500);
            let _ = stream.write_all(&[&mark[..], &self.random.bytes(some)].concat());
            crowd.push(stream);
        }
    }

    /// Listings that nobody reads.
    fn unread_listings(&mut self) {
        let root = self.root.clone();
        let arguments = readdirplus::Arguments {
            directory: FileHandle(&root),
            cookie: 0,
            verifier: [0; 8],
            name_count: 64 << 10,
            count: 64 << 10,
        };
        let burst = nfs_call(7, readdirplus::PROCEDURE, &arguments).repeat(20);
        let mut crowd: Vec<TcpStream> = (0..20).map(|_| self.connect()).collect();
        crowd.iter_mut().for_each(|stream| stream.write_all(&burst).unwrap());
    }

    /// Users whom nobody has seen, with all groups that there may be, and handles that were made up.
    fn strangers(&mut self) {
        for _ in 0..10 {
            let mut stream = self.connect();
            for _ in 0..BURST {
                let first = self.number() >> 1;
                let groups: Vec<u32> = (first..first + 16).collect();
                let mut handle = self.root.clone();
                if self.random.one_in(2) {
                    self.damage(&mut handle);
                }
                let arguments = nfs3::getattr::Arguments { node: FileHandle(&handle) };
                let call = self.call(first, &groups, nfs3::getattr::PROCEDURE, &arguments);
                stream.write_all(&call).unwrap();
            }
            (0..BURST).for_each(|_| drop(read_record(&mut stream)));
        }
    }

    /// Datagrams from many ports, damaged ones among them; nobody waits for the answers.
    fn datagrams(&mut self) {
        for _ in 0..50 {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.connect(self.address).unwrap();
            for _ in 0..40 {
                let mut call = self.change().split_off(RecordMark::SIZE);
                if self.random.one_in(2) {
                    self.damage(&mut call);
                }
                // The server answered one before, and this socket's buffer is full of answers.
                let _ = socket.send(&call);
            }
        }
    }
}

fn record(message: &[u8]) -> Vec<u8> {
    let mark = RecordMark { length: message.len() as u32, last: true };
    [&mark.to_bytes()[..], message].concat()
}

/// Memory of this process that no file is behind, in bytes.
fn anonymous() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("Linux 4.5 or later");
    line.split_whitespace().next().and_then(|number| number.parse::<usize>().ok()).expect("kilobytes") << 10
}
