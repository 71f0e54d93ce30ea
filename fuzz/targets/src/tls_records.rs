//! The boundary of TLS: a session that is given what a client sends, and what somebody on the way makes of it.

use howdah_tls::{SEALED_MAX, TlsSession};

use crate::tls_site::site;

/// Steps of one input.
const STEPS_MAX: usize = 64;

/// The server's end, and what came of it.
struct Server {
    session: TlsSession,
    kept: Vec<u8>,
    plain: Vec<u8>,
    has_failed: bool,
}

impl Server {
    fn receive(&mut self, bytes: &[u8]) {
        if self.has_failed {
            return;
        }
        self.kept.extend_from_slice(bytes);
        let plain = &mut self.plain;
        match self.session.open(&mut self.kept, |piece| plain.extend_from_slice(piece)) {
            Ok(consumed) => {
                assert!(consumed <= self.kept.len());
                self.kept.drain(..consumed);
            }
            Err(_) => self.has_failed = true,
        }
    }

    /// Sends something, whatever was half received.
    fn send(&mut self) -> Vec<u8> {
        let mut sealed = vec![0; SEALED_MAX];
        let length = self.session.seal(b"answer", &mut self.kept, &mut sealed);
        let mut all = std::mem::take(self.session.outgoing());
        if let Ok(length) = length {
            all.extend_from_slice(&sealed[..length]);
        }
        all
    }
}

/// Lets a client and a server talk, and does to what passes what the input says: whole, in two pieces, changed, cut, twice, not at
/// all, or with other bytes before it.
pub fn run(input: &[u8]) {
    let (server, client) = site();
    let session = server.session().expect("random numbers");
    let mut server = Server { session, kept: Vec::new(), plain: Vec::new(), has_failed: false };
    let mut client = client.session().expect("random numbers");
    let (mut kept, mut calls, mut sent) = (Vec::new(), 0_u8, Vec::new());
    for step in input.chunks(3).take(STEPS_MAX) {
        let (what, where_at, byte) =
            (step[0], step.get(1).copied().unwrap_or(0), step.get(2).copied().unwrap_or(0));
        // What the server has to say reaches the client as it is.
        let mut flight = std::mem::take(server.session.outgoing());
        if what & 0x80 != 0 {
            flight.extend(server.send());
        }
        kept.extend_from_slice(&flight);
        if let Ok(opened) = client.open(&mut kept, |_| {}) {
            kept.drain(..opened);
        }
        let mut bytes = std::mem::take(client.outgoing());
        if !client.is_handshaking() {
            calls = calls.wrapping_add(1);
            let call = [calls; 40];
            let mut sealed = vec![0; SEALED_MAX];
            if let Ok(length) = client.seal(&call, &mut kept, &mut sealed) {
                bytes.extend_from_slice(&sealed[..length]);
                sent.extend_from_slice(&call);
            }
        }
        let at = if bytes.is_empty() { 0 } else { usize::from(where_at) * bytes.len() / 256 };
        match what & 7 {
            1 => {
                server.receive(&bytes[..at]);
                server.send();
                server.receive(&bytes[at..]);
            }
            2 if !bytes.is_empty() => {
                bytes[at] ^= byte;
                server.receive(&bytes);
            }
            3 => server.receive(&bytes[..at]),
            4 => {
                server.receive(&bytes);
                server.receive(&bytes);
            }
            5 => {}
            6 => {
                server.receive(&[&step[1..], &bytes].concat());
            }
            _ => server.receive(&bytes),
        }
        // Whatever was done on the way: what comes out is what the client sent, in order, as far as it came.
        assert!(sent.starts_with(&server.plain), "{} bytes came out that nobody sent so", server.plain.len());
    }
}
