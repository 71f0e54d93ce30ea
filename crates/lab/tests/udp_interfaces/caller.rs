//! A client that speaks datagrams, and counts how often it had to send one again.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use howdah_lab::network::LabHost;
use howdah_wire::nfs3::{self, DirectoryName, FileHandle, NewAttributes, getattr, mkdir};
use howdah_wire::rpc::{Accepted, AuthSys, CallHeader, Credentials, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder, Encode, Encoder};

use crate::LIMIT;

/// When a call without an answer is sent again, where an answer may be missing.
pub const AGAIN: Duration = Duration::from_millis(100);

/// The client.
pub struct Caller {
    socket: UdpSocket,
    server: SocketAddr,
    root: Vec<u8>,
    xid: u32,
    /// Calls that were sent again.
    pub again: u32,
}

impl Caller {
    /// On a host, of a server at this address.
    pub fn new(host: &LabHost, server: SocketAddr, root: &[u8]) -> Self {
        let any: IpAddr =
            if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = host.run_in(|| UdpSocket::bind((any, 0))).expect("a thread").expect("a socket");
        Self { socket, server, root: root.to_vec(), xid: 1, again: 0 }
    }

    /// Makes a directory that is not there yet: if it were made twice, the second time would fail.
    pub fn make_directory(&mut self, name: &str, patience: Duration) {
        let root = self.root.clone();
        let object = DirectoryName { directory: FileHandle(&root), name: name.as_bytes() };
        let arguments = mkdir::Arguments { object, new: NewAttributes::default() };
        let call = self.call(mkdir::PROCEDURE, &arguments);
        let result = self.exchange(&call, patience);
        mkdir::Reply::decode(&mut Decoder::new(&result)).expect("a result").expect("made, and once");
    }

    /// Asks for the root's attributes, once.
    pub fn get_attributes(&mut self) {
        let root = self.root.clone();
        let call = self.call(getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(&root) });
        let result = self.exchange(&call, LIMIT);
        getattr::Reply::decode(&mut Decoder::new(&result)).expect("a result").expect("attributes");
    }

    fn call(&mut self, procedure: u32, arguments: &impl Encode) -> Vec<u8> {
        self.xid += 1;
        let credentials = Credentials::Sys(AuthSys::new(b"test", 0, 0, &[]));
        let (xid, program, version) = (self.xid, nfs3::PROGRAM, nfs3::VERSION);
        let mut message = Encoder::to_vec(&CallHeader { xid, program, version, procedure, credentials });
        arguments.encode(&mut Encoder::new(&mut message));
        message
    }

    /// Sends a call until it is answered: again each time that this long has passed.
    fn exchange(&mut self, call: &[u8], patience: Duration) -> Vec<u8> {
        let deadline = Instant::now() + LIMIT;
        self.socket.set_read_timeout(Some(patience)).expect("a timeout");
        loop {
            // Where the interface is down it cannot even be sent.
            let _ = self.socket.send_to(call, self.server);
            if let Some(result) = self.receive() {
                return result;
            }
            assert!(Instant::now() < deadline, "no answer from {}", self.server);
            self.again += 1;
        }
    }

    /// The answer to the last call; earlier ones may have been answered twice.
    fn receive(&self) -> Option<Vec<u8>> {
        let mut reply = vec![0; 2000];
        loop {
            let (length, from) = self.socket.recv_from(&mut reply).ok()?;
            assert_eq!(from, self.server, "from where it was asked");
            let mut decoder = Decoder::new(&reply[..length]);
            let header = ReplyHeader::decode(&mut decoder).expect("a reply");
            assert_eq!(header.outcome, Ok(Accepted::Success));
            if header.xid == self.xid {
                return Some(decoder.rest().to_vec());
            }
        }
    }
}
