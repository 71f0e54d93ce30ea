//! A toy protocol that needs all that a channel can put around a call: sessions, checksums, calls of the server.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use howdah_client::channel::{
    AfterCall, CallEnd, CallProtection, CallSends, CallSession, CallTicket, Channel, ChannelOptions,
    ChannelProtocol, ConnectStep, Lanes, Request, Target, TicketNeed, TicketStamp, Transport, Unprotected,
};
use howdah_net::Connection;
use howdah_wire::xdr::{Encode, Encoder};

use crate::scripted::{self, Came};

/// Slots of the session.
const SLOTS: usize = 2;
const PAYLOAD: &[u8] = b"some payload";
/// Where the arguments begin in a message from behind its xid: type, version of RPC, program, version, procedure, credentials and
/// verifier, both of nothing.
const ARGUMENTS_AT: usize = 36;

/// The slots: the number of the last call of each, and whether one is under way.
#[derive(Default)]
struct Slots {
    slots: [(u32, bool); SLOTS],
    most: Arc<AtomicU32>,
}

impl CallSession for Slots {
    fn has_ticket(&self, _: TicketNeed) -> bool {
        self.slots.iter().any(|(_, is_used)| !is_used)
    }

    fn take(&mut self, _: TicketNeed, _: Duration) -> CallTicket {
        let slot = self.slots.iter().position(|(_, is_used)| !is_used).expect("there is one");
        self.slots[slot] = (self.slots[slot].0 + 1, true);
        let used = self.slots.iter().filter(|(_, is_used)| *is_used).count();
        self.most.fetch_max(used as u32, Ordering::SeqCst);
        CallTicket {
            session: [0; 16],
            slot: slot as u32,
            number: self.slots[slot].0,
            highest_slot: slot as u32,
        }
    }

    fn release(&mut self, ticket: &CallTicket, _: CallEnd<'_>, _: CallSends, _: Duration) -> AfterCall {
        self.slots[ticket.slot as usize].1 = false;
        AfterCall::Over
    }

    fn wants_owner(&mut self) -> bool {
        false
    }
}

/// The ticket stands at the start of the arguments.
fn stamp(ticket: &CallTicket, arguments: &mut [u8]) {
    arguments[..4].copy_from_slice(&ticket.slot.to_be_bytes());
    arguments[4..8].copy_from_slice(&ticket.number.to_be_bytes());
}

/// Ends each call with a number that is used once, and the sum of all bytes and that number.
#[derive(Default)]
struct Checksums(AtomicU32);

impl CallProtection for Checksums {
    fn protect(&self, call: &Unprotected<'_>, before: &mut Vec<u8>, after: &mut Vec<u8>) {
        let number = self.0.fetch_add(1, Ordering::SeqCst);
        before.extend_from_slice(call.header);
        before.extend_from_slice(call.arguments);
        after.extend_from_slice(call.tail);
        let sum = sum(before[4..].iter().chain(call.payload).chain(&*after), number);
        [number, sum].iter().for_each(|word| after.extend(word.to_be_bytes()));
    }
}

fn sum<'b>(bytes: impl Iterator<Item = &'b u8>, number: u32) -> u32 {
    bytes.fold(number, |sum, byte| sum.rotate_left(5).wrapping_add(u32::from(*byte)))
}

/// A call as the server sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    xid: u32,
    slot: u32,
    number: u32,
    tail: u32,
    /// Of its checksum.
    once: u32,
}

/// Takes a call apart; its checksum must be right.
fn see(came: &Came) -> Seen {
    let word = |at: usize| u32::from_be_bytes(came.message[at..at + 4].try_into().expect("four bytes"));
    let data = ARGUMENTS_AT + 8;
    let tail = data + PAYLOAD.len().next_multiple_of(4);
    let once = word(tail + 4);
    let xid = came.xid.to_be_bytes();
    let all = xid.iter().chain(&came.message[..tail + 4]);
    assert_eq!(&came.message[data..][..PAYLOAD.len()], PAYLOAD);
    assert_eq!(word(tail + 8), sum(all, once));
    Seen { xid: came.xid, slot: word(ARGUMENTS_AT), number: word(ARGUMENTS_AT + 4), tail: word(tail), once }
}

struct Words([u32; 2]);

impl Encode for Words {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.0.into_iter().for_each(|word| encoder.u32(word));
    }
}

struct Tail(u32);

impl Encode for Tail {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u32(self.0);
    }
}

/// Says on each connection that it speaks the toy protocol, before any call.
#[derive(Default)]
struct Hello(AtomicU32);

impl ConnectStep for Hello {
    fn run(&self, connection: Connection, _: std::time::Instant) -> io::Result<Connection> {
        self.0.fetch_add(1, Ordering::SeqCst);
        connection.send(&[io::IoSlice::new(&hello())], false)?;
        Ok(connection)
    }
}

fn hello() -> Vec<u8> {
    scripted::reply(0x4845_4c4f, &[])
}

fn open(address: SocketAddr, protocol: ChannelProtocol) -> Channel {
    let target = Target { addresses: vec![address], transport: Transport::Tcp };
    let options = ChannelOptions { lanes: Lanes::Fixed(1), ..ChannelOptions::default() };
    Channel::open_for(target, options, protocol).expect("a channel")
}

#[test]
fn a_call_bears_its_ticket_and_a_checksum_made_at_each_send_and_its_payload_has_bytes_behind_it() {
    const CALLS: u32 = 6;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let its = Arc::clone(&seen);
    let address = scripted::start(move |connection, mut guest| {
        assert_eq!(guest.call()?.xid, 0x4845_4c4f, "the step comes first");
        loop {
            let came = guest.call()?;
            let call = see(&came);
            its.lock().expect("no panic").push((connection, call));
            // The first one is lost, with its connection.
            if connection == 0 {
                return Ok(());
            }
            guest.answer(&came, &call.number.to_be_bytes())?;
        }
    });
    let (most, steps) = (Arc::default(), Arc::new(Hello::default()));
    let slots = Slots { most: Arc::clone(&most), ..Slots::default() };
    let protocol = ChannelProtocol {
        session: Some(Box::new(slots)),
        steps: vec![Arc::clone(&steps) as Arc<dyn ConnectStep>],
        ..ChannelProtocol::default()
    };
    let channel = open(address, protocol);
    let protection: Arc<dyn CallProtection> = Arc::new(Checksums::default());
    let calls: Vec<_> = (0..CALLS)
        .map(|number| {
            channel.start(Request {
                arguments: &Words([u32::MAX; 2]),
                payload: Some(bytes::Bytes::from_static(PAYLOAD).into()),
                tail: Some(&Tail(number)),
                stamp: Some(TicketStamp { write: stamp, need: TicketNeed::Usual }),
                protection: Ok(Some(Arc::clone(&protection))),
                ..Request::null(400_000, 1)
            })
        })
        .collect();
    for call in calls {
        call.wait().expect("an answer");
    }
    assert_eq!(most.load(Ordering::SeqCst), SLOTS as u32, "calls beyond the slots wait");
    assert_eq!(steps.0.load(Ordering::SeqCst), 2);
    let seen = seen.lock().expect("no panic");
    let (lost, answered) = seen.split_first().expect("calls");
    assert_eq!(answered.len() as u32, CALLS);
    let again = answered.iter().find(|(_, call)| call.xid == lost.1.xid).expect("it is sent again").1;
    assert_eq!(Seen { once: lost.1.once, ..again }, lost.1, "with its xid and its ticket");
    let mut once: Vec<u32> = seen.iter().map(|(_, call)| call.once).collect();
    once.sort_unstable();
    once.dedup();
    assert!(once.len() > CALLS as usize, "a new checksum for each send: {seen:?}");
    for slot in 0..SLOTS as u32 {
        let numbers = answered.iter().filter(|(_, call)| call.slot == slot).map(|(_, call)| call.number);
        assert!(numbers.clone().eq(1..=numbers.count() as u32), "slot {slot}: {seen:?}");
    }
}

#[test]
fn a_call_of_the_server_is_answered_on_the_lane_on_which_it_came() {
    let address = scripted::start(|_, mut guest| {
        let came = guest.call()?;
        // xid, CALL, version of RPC, program, version, procedure, no credentials, no verifier.
        let call = [77, 0, 2, 400_001, 1, 3, 0, 0, 0, 0].map(u32::to_be_bytes).concat();
        guest.send(&[&(0x8000_0000 | call.len() as u32).to_be_bytes()[..], &call].concat())?;
        let answer = guest.call()?;
        let results: Vec<u8> = [&answer.xid.to_be_bytes()[..], &answer.message].concat();
        guest.answer(&came, &results)
    });
    let protocol = ChannelProtocol {
        answer_call: Some(Arc::new(|call| {
            let xid = u32::from_be_bytes(call[..4].try_into().expect("an xid"));
            Some(scripted::reply(xid, b"done").split_off(4))
        })),
        ..ChannelProtocol::default()
    };
    let channel = open(address, protocol);
    let answer = channel.call(Request::null(400_000, 1)).expect("an answer");
    assert_eq!(answer.results, scripted::reply(77, b"done")[4..]);
}

#[test]
fn a_connection_on_which_the_server_calls_is_of_no_use_to_a_channel_that_answers_nothing() {
    let address = scripted::start(|number, mut guest| {
        if number == 0 {
            guest.call()?;
            let call = [77, 0, 2, 400_001, 1, 3, 0, 0, 0, 0].map(u32::to_be_bytes).concat();
            guest.send(&[&(0x8000_0000 | call.len() as u32).to_be_bytes()[..], &call].concat())?;
            return guest.ignore_all();
        }
        guest.answer_all()
    });
    let channel = open(address, ChannelProtocol::default());
    let pending = channel.start(Request::null(400_000, 1));
    assert!(pending.wait().expect("an answer over the next connection").sent_more_than_once);
    assert!(channel.report().lanes[0].received > 0);
}
