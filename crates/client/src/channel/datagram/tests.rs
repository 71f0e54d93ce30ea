//! What a real path of small packets does to large datagrams, by a server that answers what it likes.

use std::net::UdpSocket;
use std::time::Duration;

use howdah_net::UdpClient;
use howdah_rpc::client::datagram::Settings;
use howdah_rpc::client::{Class, Locate, ReceiveInto};
use howdah_wire::rpc::Credentials;

use super::super::driver::Driver;
use super::super::{CallError, ChannelOptions, Request};
use super::Datagrams;

/// Calls that are answered, that are not, and that end the server.
const ANSWERED: u32 = 1;
const LOST: u32 = 2;
const END: u32 = 3;
const SIZE: usize = 8 << 10;

/// The results are data.
fn locate(results: &[u8]) -> Locate {
    Locate::Data { at: 0, length: results.len() }
}

fn request(procedure: u32, receive: Option<ReceiveInto>) -> Request<'static> {
    let class = if receive.is_some() { Class::Read } else { Class::Attributes };
    Request { procedure, credentials: Credentials::None, receive, class, ..Request::null(100_003, 3) }
}

fn read(procedure: u32, buffer: &[u8]) -> Request<'static> {
    request(procedure, Some(ReceiveInto { buffer: buffer.to_vec(), most: SIZE, locate }))
}

fn serve(socket: &UdpSocket) {
    let mut buffer = [0; 1024];
    loop {
        let (length, from) = socket.recv_from(&mut buffer).expect("a call");
        let call = &buffer[..length];
        let procedure = u32::from_be_bytes(call[20..24].try_into().expect("a word"));
        if procedure == END {
            return;
        }
        if procedure != LOST {
            // Accepted, a verifier of nothing, success, and something.
            let reply = [&call[..4], &[0, 0, 0, 1], &[0; 16], b"data"].concat();
            socket.send_to(&reply, from).expect("sent");
        }
    }
}

#[test]
fn a_read_whose_datagrams_get_lost_while_others_pass_comes_back_with_its_buffer() {
    let server = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    // Should the test fail before it ends the server.
    server.set_read_timeout(Some(Duration::from_secs(60))).expect("a time");
    let address = server.local_addr().expect("bound");
    let socket = UdpClient::connect(address, false, Duration::from_millis(100)).expect("a socket");
    let settings = Settings { path_mtu: 1500, first_transfer: Some(SIZE), ..Settings::default() };
    let driver = Driver::new(&ChannelOptions::default(), None, None);
    std::thread::scope(|scope| {
        scope.spawn(|| serve(&server));
        let datagrams = Datagrams::with(socket, driver, &settings).expect("a channel");
        assert_eq!(datagrams.transfer_size(), SIZE);
        // How long a READ takes as a rule is known from here on.
        let answer = datagrams.start(read(ANSWERED, b"<")).wait().expect("an answer");
        assert_eq!(answer.received, Some((b"<data".to_vec(), 4)));
        let lost = datagrams.start(read(LOST, b"<"));
        for _ in 0..64 {
            datagrams.start(request(ANSWERED, None)).wait().expect("an answer");
        }
        match lost.wait() {
            Err(CallError::TooLarge { transfer, buffer }) => {
                assert_eq!((transfer, buffer), (1024, Some(b"<".to_vec())));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(datagrams.transfer_size(), 1024);
        let report = datagrams.report().datagrams.expect("they are datagrams");
        assert_eq!((report.transfer_drops, report.calls_in_flight), (1, 0));
        // Nobody waits for it.
        drop(datagrams.start(request(END, None)));
    });
}

#[test]
fn a_call_that_may_go_only_after_the_channel_was_closed_is_over() {
    let silent = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let address = silent.local_addr().expect("bound");
    let driver = Driver::new(&ChannelOptions::default(), None, None);
    let options = ChannelOptions::default();
    let datagrams = Datagrams::open(address, &options, driver).expect("a channel");
    datagrams.driver().core().close(Duration::ZERO);
    // As one that another thread lets go once those before it have ended.
    let late = datagrams.start(request(LOST, None));
    assert!(late.is_done(), "nobody keeps its timers");
    assert!(matches!(late.wait(), Err(CallError::Closed)));
}
