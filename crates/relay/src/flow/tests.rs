//! A flow between sockets, in pieces of all sizes: nothing is lost, added or out of order, however it is carried.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;

use howdah_net::{Interest, Listener, Poller, Stream, Token};
use howdah_random::Random;

use super::*;

/// A connection whose bytes pass through memory.
struct Copied(Stream);

impl AsFd for Copied {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl RelayEnd for Copied {
    fn can_splice(&self) -> bool {
        false
    }

    fn receive_behind(&self, buffer: &mut Vec<u8>, most: usize) -> io::Result<Sent> {
        self.0.receive_behind(buffer, most)
    }

    fn send_some(&self, bytes: &[u8]) -> io::Result<Sent> {
        self.0.send_some(bytes)
    }

    fn end_sending(&self) {
        self.0.end_sending();
    }

    fn reset(&self) {
        self.0.reset();
    }
}

fn connected() -> (Stream, TcpStream) {
    let listener = Listener::bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
    let peer = TcpStream::connect(listener.address()).expect("it listens");
    loop {
        if let Some(stream) = listener.accept().expect("open") {
            return (stream, peer);
        }
    }
}

/// Carries all of one direction; how often the sink took nothing.
fn carry(source: &dyn RelayEnd, sink: &dyn RelayEnd) -> io::Result<usize> {
    let poller = Poller::new()?;
    poller.add(source, Token(0), Interest::NONE)?;
    poller.add(sink, Token(1), Interest::NONE)?;
    let (mut flow, mut tools, mut held_up) = (Flow::between(source, sink), Tools::default(), 0);
    loop {
        let writable = Interest { readable: false, writable: true };
        match flow.pump(source, sink, &mut tools)?.waits {
            Waits::Over => return Ok(held_up),
            Waits::ForItsTurn => continue,
            Waits::ForSource => poller.arm(source, Token(0), Interest::READABLE)?,
            Waits::ForSink => {
                held_up += 1;
                poller.arm(sink, Token(1), writable)?;
            }
        }
        while poller.wait()?.is_none() {}
    }
}

fn pieces_of_all_sizes(seed: u64, wrap: impl Fn(Stream) -> Box<dyn RelayEnd + Send>) {
    let (source, mut client) = connected();
    let (sink, mut server) = connected();
    let (source, sink) = (wrap(source), wrap(sink));
    let content: Vec<u8> = {
        let mut random = Random::new(seed);
        (0..12 << 20_u32).map(|_| random.below(256) as u8).collect()
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut random, mut at) = (Random::new(seed + 1), 0);
            while at < content.len() {
                let piece = (1 << random.below(19)) + random.below(100) as usize;
                let end = content.len().min(at + piece);
                client.write_all(&content[at..end]).expect("open");
                at = end;
            }
            client.shutdown(Shutdown::Write).expect("open");
        });
        let carried = scope.spawn(move || carry(&*source, &*sink).map(|held_up| (held_up, sink)));
        let (mut random, mut received) = (Random::new(seed + 2), Vec::new());
        let mut buffer = vec![0; 1 << 20];
        loop {
            let bits = 1 + random.below(19);
            let most = 1 + random.index(1 << bits);
            match server.read(&mut buffer[..most]).expect("open") {
                0 => break,
                count => received.extend_from_slice(&buffer[..count]),
            }
        }
        assert!(received == content, "seed {seed}: {} bytes of {}", received.len(), content.len());
        let _sink = carried.join().expect("no panic").expect("in order");
    });
}

#[test]
fn pieces_of_all_sizes_arrive_through_a_pipe() {
    pieces_of_all_sizes(0x5eed, |stream| {
        assert!(stream.can_splice());
        Box::new(stream)
    });
}

#[test]
fn pieces_of_all_sizes_arrive_through_memory() {
    pieces_of_all_sizes(0x5eed, |stream| Box::new(Copied(stream)));
}

#[test]
fn what_is_in_a_pipe_is_not_lost_where_the_sink_takes_none_from_it() {
    let (source, mut client) = connected();
    let (sink, mut server) = connected();
    let (mut flow, mut tools) = (Flow::between(&source, &sink), Tools::default());
    client.write_all(b"howdy").expect("open");
    while !flow.take(&source, &mut tools).expect("open") {}
    assert!(matches!(flow.held, Held::Piped(_, 5)));
    // No socket: splice(2) gives nothing to a file that appends.
    let directory = tempfile::tempdir().expect("a directory");
    let file = std::fs::File::options().append(true).create(true).open(directory.path().join("log"));
    let file = NoSocket(file.expect("made"), sink);
    assert_eq!(flow.give(&file, &mut tools).expect("through memory"), 5);
    assert!(!flow.splices());
    let mut received = [0; 5];
    server.read_exact(&mut received).expect("sent");
    assert_eq!(&received, b"howdy");
}

/// Takes nothing from a pipe, and all else.
struct NoSocket(std::fs::File, Stream);

impl AsFd for NoSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl RelayEnd for NoSocket {
    fn can_splice(&self) -> bool {
        true
    }

    fn receive_behind(&self, buffer: &mut Vec<u8>, most: usize) -> io::Result<Sent> {
        self.1.receive_behind(buffer, most)
    }

    fn send_some(&self, bytes: &[u8]) -> io::Result<Sent> {
        self.1.send_some(bytes)
    }

    fn end_sending(&self) {
        self.1.end_sending();
    }

    fn reset(&self) {
        self.1.reset();
    }
}
