//! Two doctors over loopback: what one asks, the other does, and nobody else gets anything.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use howdah_doctor::peer::{Peer, listen};

/// Longer than anything here takes, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(30);
/// Measuring takes as many times that.
const ROUND_TRIP: Duration = Duration::from_millis(140);
/// On loopback nothing is lost: what has not come after so long was not sent.
const NOTHING: Duration = Duration::from_millis(300);

/// Runs something while a doctor listens at that address.
fn beside(what: impl FnOnce(SocketAddr)) {
    let listening = listen("127.0.0.1:0".parse().expect("an address")).expect("a free port");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let running = scope.spawn(|| listening.run(&stop));
        // Whatever becomes of it, the other must end.
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| what(listening.address())));
        stop.store(true, Ordering::Relaxed);
        running.join().expect("no panic").expect("it listened");
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

#[test]
fn it_tells_of_its_host_and_measures_both_ways() {
    beside(|address| {
        let (peer, facts) = Peer::find(address).expect("it is there");
        assert!(facts.tcp_send.is_some() && facts.kernel.is_some(), "{facts:?}");
        // As if the path were long: a busy machine has more time then to let anything through.
        let there = peer.there(ROUND_TRIP).expect("it takes").expect("something went");
        let back = peer.back(ROUND_TRIP).expect("it sends").expect("something came");
        assert!(there.bytes_per_second > 0.0 && back.bytes_per_second > 0.0, "{there:?} {back:?}");
    });
}

#[test]
fn strangers_get_nothing() {
    beside(|address| {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        socket.set_read_timeout(Some(NOTHING)).expect("a limit");
        socket.send_to(&[0; 64], address).expect("sent");
        assert!(socket.recv(&mut [0; 64]).is_err(), "nobody has this secret");
        for words in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"howdah-doctor 1 send 1000\n", &[b'x'; 100]] {
            let mut stream = TcpStream::connect(address).expect("it listens");
            stream.set_read_timeout(Some(LIMIT)).expect("a limit");
            stream.write_all(words).expect("sent");
            let mut answer = Vec::new();
            // It closes, with what was sent unread or not.
            let _ = stream.read_to_end(&mut answer);
            assert_eq!(answer, b"", "{words:?}");
        }
    });
}

#[test]
fn nobody_who_does_not_listen_is_found() {
    let nobody = UdpSocket::bind("127.0.0.1:0").expect("a free port").local_addr().expect("bound");
    assert!(Peer::find(nobody).is_err());
}

#[test]
fn one_who_talks_without_end_is_no_doctor() {
    let talker = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = talker.local_addr().expect("bound");
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = talker.accept().expect("somebody asks");
            // Until nobody listens any more.
            while stream.write_all(&[0; 64 << 10]).is_ok() {}
        });
        let error = Peer::find(address).expect_err("zeros are no facts");
        assert_eq!(error.kind(), ErrorKind::InvalidData);
    });
}
