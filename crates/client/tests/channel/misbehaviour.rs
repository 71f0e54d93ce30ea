//! Servers that break off, answer in any order, answer twice, or do not answer.

use std::net::TcpListener;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use howdah_client::channel::{CallError, Channel, ChannelOptions, Class, Lanes, Patience, Target, Transport};

use crate::scripted::{self, Guest, read_results};
use crate::served::{Nothing, null, open, read, request, start_read};

/// Long enough that a loaded machine does not take a slow answer for none.
const LONG: Duration = Duration::from_secs(60);

fn start_null(channel: &Channel) -> howdah_client::channel::Pending {
    channel.start(request(0, &Nothing, Class::Attributes))
}

#[test]
fn a_call_whose_reply_broke_off_is_sent_again_with_its_xid() {
    let (tell, receiver) = mpsc::channel();
    let address = scripted::start(move |number, mut guest| {
        let came = guest.call()?;
        tell.send((came.clone(), guest.port())).expect("the test listens");
        let reply = scripted::reply(came.xid, &read_results(b"howdy, partner"));
        if number == 0 {
            return guest.send(&reply[..reply.len() - 6]);
        }
        guest.send(&reply)?;
        guest.answer_all()
    });
    let channel = open(address, ChannelOptions::default());
    let answer = start_read(&channel, b"node", 0, 100, b"> ".to_vec()).wait().expect("an answer");
    assert!(answer.sent_more_than_once);
    assert_eq!(answer.received, Some((b"> howdy, partner".to_vec(), 14)));
    assert_eq!(receiver.recv(), receiver.recv(), "the same call, with the same xid, from the same port");
    let report = channel.report();
    assert_eq!((report.procedures[0].calls, report.procedures[0].retransmissions), (1, 1));
    assert_eq!(report.lanes[0].connections, 2);
}

#[test]
fn replies_find_their_calls_in_any_order_and_only_once() {
    let address = scripted::start(|_, mut guest: Guest| {
        loop {
            let calls = [guest.call()?, guest.call()?, guest.call()?];
            for came in calls.iter().rev() {
                let results = read_results(&came.xid.to_be_bytes());
                // Twice, and once for a call that nobody made.
                guest.answer(came, &results)?;
                guest.answer(came, &results)?;
                guest.send(&scripted::reply(came.xid ^ 0x8000_0000, &results))?;
            }
        }
    });
    let channel = open(address, ChannelOptions { in_flight: Some(8), ..ChannelOptions::default() });
    for _ in 0..20 {
        let reads = [0, 1, 2].map(|_| start_read(&channel, b"node", 0, 4, Vec::new()));
        let xids = reads.map(|pending| {
            let (buffer, count) = read(pending);
            assert_eq!(count, 4);
            u32::from_be_bytes(buffer.try_into().expect("four bytes"))
        });
        assert_eq!(xids, [xids[0], xids[0].wrapping_add(1), xids[0].wrapping_add(2)]);
    }
}

#[test]
fn a_soft_call_is_given_up_and_a_later_one_is_answered() {
    let address = scripted::start(|_, mut guest| {
        let _never_answered = guest.call()?;
        guest.answer_all()
    });
    let patience = Patience::Soft(Duration::from_millis(300));
    let channel = open(address, ChannelOptions { patience, ..ChannelOptions::default() });
    assert!(matches!(null(&channel), Err(CallError::TimedOut)));
    // On a loaded machine an answer may take longer than that.
    let answered = (0..200).any(|_| null(&channel).is_ok());
    assert!(answered);
    assert!(channel.report().procedures[0].errors >= 1);
}

#[test]
fn a_soft_call_is_given_up_while_nobody_can_be_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let patience = Patience::Soft(Duration::from_millis(200));
    let channel = open(address, ChannelOptions { patience, ..ChannelOptions::default() });
    drop(listener);
    assert!(matches!(null(&channel), Err(CallError::TimedOut)));
}

#[test]
fn a_connection_that_is_silent_for_long_is_made_anew() {
    let (tell, receiver) = mpsc::channel();
    let address = scripted::start(move |number, mut guest| {
        tell.send(guest.port()).expect("the test listens");
        match number {
            0 => guest.ignore_all(),
            _ => guest.answer_all(),
        }
    });
    let silence = Duration::from_millis(500);
    let channel = open(address, ChannelOptions { silence, ..ChannelOptions::default() });
    let answer = null(&channel).expect("an answer over the second connection");
    assert!(answer.sent_more_than_once);
    let [first, second] = [(); 2].map(|()| receiver.recv().expect("two connections"));
    assert_eq!(first, second, "servers know by the port what is sent again");
}

#[test]
fn a_server_that_takes_calls_and_is_slow_is_asked_and_keeps_its_connection() {
    let address = scripted::start(|_, mut guest| {
        let slow = guest.call()?;
        // It comes once the client has waited for some seconds.
        let asked = guest.call()?;
        guest.answer(&slow, &[])?;
        guest.answer(&asked, &[])?;
        guest.answer_all()
    });
    let (patience, silence) = (Patience::Soft(LONG), 2 * LONG);
    let channel = open(address, ChannelOptions { patience, silence, ..ChannelOptions::default() });
    let answer = null(&channel).expect("an answer");
    assert!(!answer.sent_more_than_once);
    assert_eq!(channel.report().lanes[0].connections, 1);
}

#[test]
fn a_hard_call_waits_for_a_server_that_comes_back() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let channel = open(address, ChannelOptions::default());
    // Refuses the connection that was made, and all others for a while.
    drop(listener);
    let pending = [0, 1, 2].map(|_| start_null(&channel));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while channel.report().lanes[0].local.is_some() {
                std::thread::yield_now();
            }
            let listener = loop {
                match TcpListener::bind(address) {
                    Ok(listener) => break listener,
                    Err(_) => std::thread::yield_now(),
                }
            };
            scripted::listen(listener, |_, mut guest| guest.answer_all());
        });
        for pending in pending {
            pending.wait().expect("an answer of the server that came back");
        }
    });
}

#[test]
fn what_is_no_reply_ends_the_connection_and_at_last_the_call() {
    let address = scripted::start(|_, mut guest| {
        guest.call()?;
        guest.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")?;
        guest.ignore_all()
    });
    let channel = open(address, ChannelOptions::default());
    assert!(matches!(null(&channel), Err(CallError::Nonsense(_))));
}

#[test]
fn more_data_than_was_asked_for_is_refused_and_the_next_call_goes_on() {
    let address = scripted::start(|_, mut guest| {
        let came = guest.call()?;
        guest.answer(&came, &read_results(&[7; 100_000]))?;
        guest.answer_all()
    });
    let channel = open(address, ChannelOptions::default());
    let outcome = start_read(&channel, b"node", 0, 4096, Vec::new()).wait();
    assert!(matches!(outcome, Err(CallError::Malformed(_))), "{outcome:?}");
    let answer = null(&channel).expect("an answer on the same connection");
    assert!(!answer.sent_more_than_once);
    assert_eq!(channel.report().lanes[0].connections, 1);
}

#[test]
fn the_calls_of_a_stuck_lane_go_to_the_others() {
    let (silent, alive) = (
        scripted::start(|_, mut guest| guest.ignore_all()),
        scripted::start(|_, mut guest| guest.answer_all()),
    );
    let target = Target { addresses: vec![silent, alive], transport: Transport::Tcp };
    let options = ChannelOptions { lanes: Lanes::Fixed(2), silence: LONG, ..ChannelOptions::default() };
    let channel = Channel::open(target, options).expect("a channel");
    let started = Instant::now();
    // Goes over the first lane, as the second one is not connected yet, or by chance.
    let pending: Vec<_> = (0..8).map(|_| start_null(&channel)).collect();
    for pending in pending {
        pending.wait().expect("an answer over the lane that lives");
    }
    assert!(started.elapsed() < LONG, "only the silence of the whole server ended it");
    // It may be connected again, and be as silent as before: nobody waits for it.
    for _ in 0..100 {
        let answer = null(&channel).expect("an answer over the lane that lives");
        assert!(!answer.sent_more_than_once);
    }
}

#[test]
fn a_lane_that_cannot_connect_leaves_the_work_to_the_others() {
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("bound");
    let alive = scripted::start(|_, mut guest| guest.answer_all());
    let target = Target { addresses: vec![nobody, alive], transport: Transport::Tcp };
    let options = ChannelOptions { lanes: Lanes::Fixed(4), ..ChannelOptions::default() };
    let channel = Channel::open(target, options).expect("a channel");
    for _ in 0..100 {
        null(&channel).expect("an answer over a lane that is connected");
    }
}

#[test]
fn one_lane_goes_to_another_address_when_its_own_is_dead() {
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("bound");
    let first = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let second = scripted::start(|_, mut guest| guest.answer_all());
    let addresses = vec![nobody, first.local_addr().expect("bound"), second];
    let target = Target { addresses, transport: Transport::Tcp };
    let channel = Channel::open(target, ChannelOptions::default()).expect("a channel to the second address");
    assert_eq!(channel.report().lanes[0].server, first.local_addr().expect("bound"));
    let pending = start_null(&channel);
    drop(first);
    pending.wait().expect("an answer from the last address");
    assert_eq!(channel.report().lanes[0].server, second);
}
