//! An attacker's connection. What he sends never waits for the server: one thread plays them all.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::Context;
use socket2::{Domain, Socket, Type};

/// How long an attacker waits for the server to take him in.
const PATIENCE: Duration = Duration::from_secs(5);
/// What he reads at once.
const PIECE: usize = 128 << 10;

/// A connection, and what the socket had no room for of what was to be sent: another record behind half of one would make garbage of
/// both.
pub struct Attacker {
    stream: TcpStream,
    unsent: Vec<u8>,
}

impl Attacker {
    /// One who has come, and sent this first.
    pub fn come(address: SocketAddr, first: Vec<u8>) -> anyhow::Result<Self> {
        let stream = connect(address)?;
        stream.set_nonblocking(true).context("an attacker's socket")?;
        let mut attacker = Self { stream, unsent: first };
        attacker.send();
        Ok(attacker)
    }

    /// Takes what has come of the act before, and sends another, unless there is no room yet; whether the server still has him.
    pub fn ask(&mut self, calls: impl FnOnce() -> Vec<u8>) -> bool {
        let _ = self.stream.read(&mut [0; PIECE]);
        if self.unsent.is_empty() {
            self.unsent = calls();
        }
        self.send()
    }

    /// Sends so many bytes of a record that he has begun, or fewer; whether the server still has him.
    pub fn dribble(&mut self, count: usize) -> bool {
        self.unsent.resize(count.max(self.unsent.len()), 0);
        self.send()
    }

    fn send(&mut self) -> bool {
        match self.stream.write(&self.unsent) {
            Ok(sent) => drop(self.unsent.drain(..sent)),
            // A socket that is full is no sign of anything.
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
        true
    }
}

/// A connection of somebody who means harm.
pub fn connect(address: SocketAddr) -> anyhow::Result<TcpStream> {
    let socket =
        Socket::new(Domain::for_address(address), Type::STREAM, None).context("an attacker's socket")?;
    socket.set_recv_buffer_size(4 << 10).context("an attacker's socket")?;
    // Closed at once, with nothing left behind: else this host runs out of ports.
    socket.set_linger(Some(Duration::ZERO)).context("an attacker's socket")?;
    socket.connect_timeout(&address.into(), PATIENCE).context("an attacker connects")?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};
    use std::time::Instant;

    use super::*;

    #[test]
    fn what_a_full_socket_did_not_take_is_sent_before_anything_else() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a listener");
        let mut attacker =
            Attacker::come(listener.local_addr().expect("bound"), vec![0; 4]).expect("connected");
        let (mut server, _) = listener.accept().expect("accepted");
        server.set_read_timeout(Some(PATIENCE)).expect("set");
        // Acts of bytes that are all the same, until one does not fit.
        let act = |number: usize| vec![number as u8; 100_003];
        let full = (1..200).find(|&number| {
            assert!(attacker.ask(|| act(number)), "the server has him");
            !attacker.unsent.is_empty()
        });
        let last = full.expect("a socket has an end");
        let mut seen = vec![0; 4 + last * 100_003];
        std::thread::scope(|scope| {
            scope.spawn(|| server.read_exact(&mut seen).expect("all of it"));
            let start = Instant::now();
            while !attacker.unsent.is_empty() {
                assert!(start.elapsed() < PATIENCE, "the rest is never sent");
                assert!(attacker.ask(|| unreachable!("before the last act is sent")));
                std::thread::yield_now();
            }
        });
        let whole = (1..=last).flat_map(act).collect::<Vec<_>>();
        assert!(seen[4..] == whole, "in order, and whole");
    }
}
