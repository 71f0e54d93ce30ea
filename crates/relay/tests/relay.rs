//! A relay between sockets: bytes, ends, resets and limits come through as they are.

mod far;

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use far::{FIRST_WORDS, Site, answer_null, listen, relay_to, words};
use howdah_random::Random;
use howdah_relay::{Far, RelaySettings, metrics};

const MOUNT: u32 = 100_005;
/// More than all sockets on the way hold.
const MUCH: usize = 256 << 20;

/// Writes content of a seed in pieces of all sizes, and ends.
fn write_all(mut stream: &TcpStream, seed: u64, length: usize) {
    let (mut random, mut left) = (Random::new(seed), length);
    let content = content(seed, length);
    while left > 0 {
        let bits = random.index(18);
        let piece = left.min(1 + random.index(1 << bits));
        let at = length - left;
        stream.write_all(&content[at..at + piece]).expect("open");
        left -= piece;
    }
    stream.shutdown(Shutdown::Write).expect("open");
}

fn content(seed: u64, length: usize) -> Vec<u8> {
    let mut random = Random::new(!seed);
    (0..length).map(|_| random.number() as u8).collect()
}

fn read_all(mut stream: &TcpStream, seed: u64, length: usize) {
    let mut received = Vec::new();
    stream.read_to_end(&mut received).expect("in order");
    assert!(received == content(seed, length), "seed {seed}: {} bytes of {length}", received.len());
}

#[test]
fn both_directions_pass_at_the_same_time_and_end_one_after_the_other() {
    let site = Site::new(&RelaySettings::default());
    let (near, far) = site.connect();
    let (there, back) = (4 << 20, 3 << 20);
    thread::scope(|scope| {
        scope.spawn(|| write_all(&near, 1, there));
        scope.spawn(|| write_all(&far, 2, back));
        scope.spawn(|| read_all(&near, 2, back));
        read_all(&far, 1, there);
    });
}

#[test]
fn what_comes_after_the_other_side_has_ended_arrives() {
    let site = Site::new(&RelaySettings::default());
    let (near, far) = site.connect();
    write_all(&near, 3, 1000);
    read_all(&far, 3, 1000);
    // The client has ended its side and waits for answers.
    write_all(&far, 4, 2 << 20);
    read_all(&near, 4, 2 << 20);
}

fn reset(stream: TcpStream) {
    rustix::net::sockopt::set_socket_linger(stream.as_fd(), Some(Duration::ZERO)).expect("a socket");
}

fn is_reset(mut stream: &TcpStream) -> bool {
    matches!(stream.read(&mut [0; 1]), Err(error) if error.kind() == ErrorKind::ConnectionReset)
}

#[test]
fn a_reset_on_one_side_is_one_on_the_other() {
    let site = Site::new(&RelaySettings::default());
    let (near, far) = site.connect();
    reset(far);
    assert!(is_reset(&near), "its client connects again");
    let (near, far) = site.connect();
    reset(near);
    assert!(is_reset(&far));
}

#[test]
fn a_far_server_that_is_gone_closes_the_connections_of_its_clients() {
    let site = Site::new(&RelaySettings::default());
    let (mut near, far) = site.connect();
    drop(far);
    assert_eq!(near.read(&mut [0; 1]).expect("in order"), 0);
    // A client that goes on all the same learns that nobody is there.
    let refused = (0..1000).find_map(|_| {
        thread::yield_now();
        near.write_all(&[0; 1024]).and_then(|()| near.read_exact(&mut [0; 1])).err()
    });
    assert!(refused.is_some());
    let (_near, _far) = site.connect();
}

/// Writes until nothing is taken for a while; how much was.
fn write_until_full(mut stream: &TcpStream) -> usize {
    stream.set_write_timeout(Some(Duration::from_millis(500))).expect("a socket");
    let (piece, mut written) = (vec![7; 64 << 10], 0);
    while written < MUCH {
        match stream.write(&piece) {
            Ok(count) => written += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    written
}

#[test]
fn a_side_that_takes_nothing_stops_the_other() {
    let site = Site::new(&RelaySettings::default());
    let (near, far) = site.connect();
    for (writer, mut reader) in [(&near, &far), (&far, &near)] {
        let written = write_until_full(writer);
        assert!(written < MUCH, "the relay takes without end");
        // All of it comes once it is wanted.
        let mut received = vec![0; written];
        reader.read_exact(&mut received).expect("open");
        assert!(received.iter().all(|&byte| byte == 7));
    }
    let report = site.relay.report();
    let connection = &report.connections[0];
    assert!(
        connection.to_far.held_up_seconds > 0.0 && connection.to_near.held_up_seconds > 0.0,
        "{report:?}"
    );
    assert!(connection.to_far.spliced && connection.to_near.spliced, "{report:?}");
}

#[test]
fn what_a_server_sent_before_both_ended_arrives_however_late_it_is_read() {
    let site = Site::new(&RelaySettings::default());
    let (mut near, far) = site.connect();
    write_all(&near, 5, 1000);
    read_all(&far, 5, 1000);
    let written = write_until_full(&far);
    far.shutdown(Shutdown::Write).expect("open");
    // The relay has heard of both ends by then, and holds what the client has not read.
    drop(far);
    let mut received = Vec::new();
    near.read_to_end(&mut received).expect("in order");
    assert_eq!(received.len(), written);
    assert!(received.iter().all(|&byte| byte == 7));
}

#[test]
fn what_is_beyond_the_number_of_connections_is_closed() {
    let site = Site::new(&RelaySettings { connections_max: 2, ..RelaySettings::default() });
    let first = site.connect();
    let second = site.connect();
    let third = site.client();
    assert!(is_reset(&third), "there is no place for it");
    drop(first);
    // The place is free once the relay has seen that.
    let fourth = loop {
        let mut fourth = site.client();
        fourth.write_all(&words(FIRST_WORDS[4])).unwrap_or_default();
        site.far.set_nonblocking(true).expect("a socket");
        match site.far.accept() {
            Ok(_) => break fourth,
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    };
    assert!(site.relay.report().refused >= 1);
    drop((second, fourth));
}

#[test]
fn where_nobody_is_far_away_a_client_is_let_go() {
    let patience = Some(Duration::from_millis(300));
    let site = Site::new(&RelaySettings { patience, ..RelaySettings::default() });
    let near = site.client();
    drop(site.far);
    (&near).write_all(&words(FIRST_WORDS[4])).expect("open");
    assert!(is_reset(&near));
    assert_eq!(site.relay.report().failed, 1);
}

#[test]
fn calls_of_mount_go_to_its_own_port() {
    let ((nfs, nfs_address), (mount, mount_address)) = (listen(), listen());
    let relay = thread::scope(|scope| {
        scope.spawn(|| answer_null(&nfs, 1, |program| program != MOUNT));
        scope.spawn(|| answer_null(&mount, 1, |program| program == MOUNT));
        let url = format!("nfs://{nfs_address}?mountport={}", mount_address.port());
        relay_to(&url, &RelaySettings::default())
    });
    for (program, listener) in [(MOUNT, &mount), (100_003, &nfs)] {
        let mut near = TcpStream::connect(relay.addresses()[0]).expect("it listens");
        near.write_all(&words(program)).expect("open");
        let mut heard = [0; 20];
        listener.accept().expect("passed on").0.read_exact(&mut heard).expect("open");
        assert_eq!(heard[..], words(program));
    }
    assert_eq!(relay.far().mount_port(), Some(mount_address.port()));
}

#[test]
fn a_client_that_ends_before_its_first_call_leaves_nothing() {
    let site = Site::new(&RelaySettings::default());
    let mut near = site.client();
    near.write_all(b"howdy").expect("open");
    near.shutdown(Shutdown::Write).expect("open");
    assert!(!near.read(&mut [0; 1]).is_ok_and(|count| count > 0), "closed");
}

#[test]
fn what_is_wrong_with_the_far_server_is_said() {
    let find = |url: &str| Far::find(&url.parse().expect("a URL")).err().map(|error| error.to_string());
    let (listener, address) = listen();
    let said = thread::scope(|scope| {
        scope.spawn(|| answer_null(&listener, 1, |_| false));
        find(&format!("nfs://{address}")).expect("no NFS")
    });
    assert!(said.contains("answers, but serves no NFS"), "{said}");
    drop(listener);
    let said = find(&format!("nfs://{address}")).expect("nobody");
    assert!(said.contains("cannot reach the far server") && said.contains("refused"), "{said}");
}

#[test]
fn figures_name_what_was_carried() -> io::Result<()> {
    let site = Site::new(&RelaySettings::default());
    let (mut near, mut far) = site.connect();
    far.write_all(b"howdy")?;
    near.read_exact(&mut [0; 5])?;
    drop((near, far));
    let report = loop {
        let report = site.relay.report();
        if report.connections.is_empty() {
            break report;
        }
        thread::yield_now();
    };
    assert_eq!((report.bytes_to_far, report.bytes_to_near, report.accepted), (20, 5, 1));
    let text = metrics(&report);
    assert!(text.contains("howdah_relay_bytes_total{direction=\"to_near\"} 5\n"), "{text}");
    Ok(())
}
