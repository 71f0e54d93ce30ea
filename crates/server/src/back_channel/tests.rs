//! The channel of one session, without sockets.

use std::sync::Arc;
use std::time::Duration;

use howdah_net::Token;
use howdah_state::{ClientId, ClientIdentity, Principal, SessionAnswer, SessionId};
use howdah_wire::nfs4::callback::{compound::Head, notify_lock, sequence};
use howdah_wire::nfs4::compound::{ReplyHead, ResultHead};
use howdah_wire::nfs4::create_session::ChannelSizes;
use howdah_wire::nfs4::sequence::CALLBACK_PATH_DOWN;
use howdah_wire::nfs4::{StateId, Status};
use howdah_wire::rpc::{Accepted, Call, Denied, ReplyHeader};
use howdah_wire::xdr::{Decode, Encode, Encoder};

use crate::locks::Mutex;

use super::back_call::BackCall;
use super::channel::{BackChannel, BackRecord};
use super::{BackChannels, BackCredentials, BackSession, SendRecord};
use crate::Transport;
use crate::calling::peer;
use crate::exports::{Exported, Exports};
use crate::limits::BACK_CALLS_MAX;
use crate::states::{ClientNews, SessionData, StateOptions, States};

const PROGRAM: u32 = 0x4000_0000;
const LINE: Token = Token(5);
const OTHER: Token = Token(6);
const NOW: Duration = Duration::from_secs(100);

fn channel() -> BackChannel {
    let credentials = BackCredentials::Sys { machine: b"client".as_slice().into(), user: 7, group: 8 };
    let mut id = [0; 16];
    id[0] = 1;
    let (id, client) = (SessionId(id), ClientId(9));
    BackChannel::new(BackSession { id, client, minor_version: 2, program: PROGRAM, credentials })
}

fn lock(owner: usize) -> BackCall {
    let owner = Box::from(format!("{owner}").as_bytes());
    BackCall::NotifyLock { node: b"handle".as_slice().into(), client: 9, owner }
}

/// What is sent next: over which connection, its number, its number in the slot, and the owner of the lock.
fn next(channel: &mut BackChannel, now: Duration, xid: u32) -> Option<(Token, u32, Vec<u8>)> {
    let BackRecord { line, message } = channel.next(now, || xid)?;
    let Call::Call(header, mut arguments) = Call::parse(&message) else { panic!("no call") };
    assert_eq!((header.xid, header.program, header.version, header.procedure), (xid, PROGRAM, 1, 1));
    let head = Head::decode(&mut arguments).expect("a compound");
    assert_eq!((head.minor_version, head.operations), (2, 2));
    assert_eq!(arguments.u32("operation"), Ok(sequence::OPERATION));
    let sequence = sequence::Arguments::decode(&mut arguments).expect("CB_SEQUENCE");
    assert_eq!((sequence.slot, sequence.highest_slot), (0, 0));
    assert_eq!(arguments.u32("operation"), Ok(notify_lock::OPERATION));
    let arguments = notify_lock::Arguments::decode(&mut arguments).expect("CB_NOTIFY_LOCK");
    Some((line, sequence.sequence, arguments.owner.owner.0.to_vec()))
}

/// The answer of a client to the call with this number: that of CB_SEQUENCE, and that of the operation behind it.
fn answer(xid: u32, first: Status, second: Option<Status>) -> Vec<u8> {
    let mut answer = Encoder::to_vec(&ReplyHeader { xid, outcome: Ok(Accepted::Success) });
    let mut encoder = Encoder::new(&mut answer);
    let results = 1 + u32::from(second.is_some());
    ReplyHead { status: second.unwrap_or(first), tag: b"", results }.encode(&mut encoder);
    ResultHead { operation: sequence::OPERATION, status: first }.encode(&mut encoder);
    if first == Status::OK {
        let session = howdah_wire::nfs4::SessionId([1; 16]);
        sequence::Success { session, sequence: 1, slot: 0, highest_slot: 0, target_highest_slot: 0 }
            .encode(&mut encoder);
    }
    if let Some(status) = second {
        ResultHead { operation: notify_lock::OPERATION, status }.encode(&mut encoder);
    }
    answer
}

#[test]
fn calls_go_one_after_the_other_each_with_the_next_number() {
    let mut channel = channel();
    channel.push(lock(1));
    channel.push(lock(2));
    assert_eq!(next(&mut channel, NOW, 1), None, "over nothing");
    channel.bind(LINE);
    channel.bind(OTHER);
    assert_eq!(next(&mut channel, NOW, 1), Some((LINE, 1, b"1".to_vec())));
    assert_eq!(next(&mut channel, NOW, 2), None, "one at a time");
    let done = answer(1, Status::OK, Some(Status::BADHANDLE));
    assert_eq!(channel.answer(NOW, OTHER, &done), None, "not from there");
    assert_eq!(channel.answer(NOW, LINE, &done), Some((lock(1), Some(Status::BADHANDLE))));
    assert_eq!(channel.answer(NOW, LINE, &done), None, "once");
    assert_eq!(next(&mut channel, NOW, 2), Some((LINE, 2, b"2".to_vec())));
}

#[test]
fn what_was_not_answered_is_sent_again_with_its_number_over_another_connection() {
    let mut channel = channel();
    channel.bind(LINE);
    channel.push(lock(1));
    next(&mut channel, NOW, 1).expect("sent");
    channel.unbind(LINE);
    assert!(channel.is_down());
    channel.bind(OTHER);
    assert!(!channel.is_down());
    assert_eq!(next(&mut channel, NOW, 2), Some((OTHER, 1, b"1".to_vec())));
    let late = NOW + Duration::from_secs(10);
    assert!(!channel.expire(late - Duration::from_millis(1)));
    assert!(channel.expire(late), "it does not answer");
    assert!(channel.is_down());
    assert_eq!(channel.answer(late, OTHER, &answer(2, Status::OK, Some(Status::OK))), None, "too late");
    channel.bind(LINE);
    assert_eq!(next(&mut channel, late, 3), Some((LINE, 1, b"1".to_vec())));
}

#[test]
fn a_client_that_asks_for_time_is_called_again_and_one_that_refuses_is_not() {
    let mut channel = channel();
    channel.bind(LINE);
    channel.push(lock(1));
    next(&mut channel, NOW, 1).expect("sent");
    assert_eq!(channel.answer(NOW, LINE, &answer(1, Status::DELAY, None)), None);
    assert_eq!(next(&mut channel, NOW, 2), None);
    let later = NOW + Duration::from_secs(1);
    assert_eq!(next(&mut channel, later, 2), Some((LINE, 1, b"1".to_vec())));
    assert_eq!(channel.answer(later, LINE, &answer(2, Status::BADSESSION, None)), Some((lock(1), None)));
    assert!(channel.is_down());
    for refusal in [Ok(Accepted::ProgramUnavailable), Err(Denied::RpcMismatch)] {
        channel.bind(LINE);
        channel.push(lock(1));
        next(&mut channel, later, 3).expect("sent");
        let refusal = Encoder::to_vec(&ReplyHeader { xid: 3, outcome: refusal });
        assert_eq!(channel.answer(later, LINE, &refusal), Some((lock(1), None)));
        assert!(channel.is_down());
    }
    assert_eq!(channel.answer(later, LINE, b"xy"), None, "rubbish");
}

#[test]
fn calls_past_the_last_are_not_made() {
    let mut channel = channel();
    channel.bind(LINE);
    channel.push(lock(0));
    next(&mut channel, NOW, 1).expect("sent");
    (0..=BACK_CALLS_MAX).for_each(|owner| channel.push(lock(owner)));
    assert_eq!(
        channel.answer(NOW, LINE, &answer(1, Status::OK, Some(Status::OK))),
        Some((lock(0), Some(Status::OK)))
    );
    assert_eq!(
        next(&mut channel, NOW, 2),
        Some((LINE, 2, b"2".to_vec())),
        "the oldest that nobody waits for went"
    );
}

fn recall(number: u8) -> BackCall {
    let delegation = StateId { sequence: 1, other: [number; 12] };
    BackCall::Recall { node: [number].as_slice().into(), delegation }
}

#[test]
fn a_delegation_that_came_back_is_not_asked_for() {
    let mut channel = channel();
    [recall(0), recall(1), recall(2)].into_iter().for_each(|call| channel.push(call));
    channel.bind(LINE);
    channel.next(NOW, || 1).expect("the first is under way");
    [0, 1].into_iter().for_each(|file| channel.returned(&[file]));
    let done = answer(1, Status::OK, Some(Status::OK));
    assert_eq!(channel.answer(NOW, LINE, &done), Some((recall(0), Some(Status::OK))));
    channel.next(NOW, || 2).expect("one is left");
    let done = answer(2, Status::OK, Some(Status::OK));
    assert_eq!(channel.answer(NOW, LINE, &done), Some((recall(2), Some(Status::OK))));
    assert_eq!(channel.next(NOW, || 3), None);
}

#[test]
fn a_delegation_is_asked_for_again_and_never_forgotten() {
    let mut channel = channel();
    channel.bind(LINE);
    channel.push(recall(0));
    (0..=BACK_CALLS_MAX).for_each(|owner| channel.push(lock(owner)));
    // The client has not seen the answer that gives it.
    let (mut now, mut xid) = (NOW, 0);
    let mut refuse = |channel: &mut BackChannel| loop {
        xid += 1;
        now += Duration::from_secs(1);
        channel.next(now, || xid)?;
        let (call, _) = channel.answer(now, LINE, &answer(xid, Status::OK, Some(Status::BAD_STATEID)))?;
        if call == recall(0) {
            return Some(());
        }
    };
    for _ in 0..5 {
        refuse(&mut channel).expect("it is asked for");
    }
    assert_eq!(refuse(&mut channel), None, "not for ever");
}

/// Keeps what is sent.
#[derive(Clone, Default)]
struct Sent(Arc<Mutex<Vec<BackRecord>>>);

impl SendRecord for Sent {
    fn send(&self, line: Token, message: &[u8]) {
        self.0.lock().push(BackRecord { line, message: message.to_vec() });
    }
}

impl Sent {
    /// The connection and the number of the last call, and how many there were.
    fn last(&self) -> (Token, u32, usize) {
        let sent = self.0.lock();
        let BackRecord { line, message } = sent.last().expect("a call");
        (*line, super::message::xid(message).expect("a number"), sent.len())
    }
}

#[test]
fn a_client_without_a_connection_for_calls_is_told_and_called_over_its_next_one() {
    let states = Arc::new(States::new(StateOptions::forgetful()));
    let exported = Arc::new(Exported::new(Exports::default()));
    let (back, sent) = (BackChannels::new(Arc::clone(&states), exported), Sent::default());
    back.send_over(Box::new(sent.clone()));
    let principal = Principal(Box::new([1]));
    let sizes = ChannelSizes {
        header_padding: 0,
        request: 4096,
        response: 4096,
        kept_response: 4096,
        operations: 8,
        slots: 1,
        rdma_reads: None,
    };
    let session = states.ask(|state, now| {
        let network = [192, 0, 2, 1].into();
        let identity = ClientIdentity {
            owner: b"one",
            verifier: [1; 8],
            principal: &principal,
            peer: network,
            network,
            server: network,
        };
        let exchanged = state.exchange_id(now, identity, false)?;
        let data = SessionData::new(sizes, &peer("192.0.2.1:700", "192.0.2.1:2049", Transport::Tcp));
        state.create_session(now, exchanged.client, exchanged.sequence, identity.caller(), 1, data)
    });
    let Ok(SessionAnswer::Created(session)) = session else { panic!("no session") };
    let (id, client) = (session.id(), session.client());
    let credentials = BackCredentials::None;
    let of_session = BackSession { id, client, minor_version: 1, program: PROGRAM, credentials };
    back.begin(of_session, Some(LINE));
    assert!(back.reaches(client));
    back.call(client, lock(1));
    assert_eq!((sent.last().0, sent.last().2), (LINE, 1));
    back.gone(LINE);
    assert_eq!(session.flags(), CALLBACK_PATH_DOWN);
    assert!(!back.reaches(client));
    assert!(!back.answer(LINE, b"an answer"), "nobody is called over it");
    back.bind(id, OTHER);
    assert_eq!((session.flags(), sent.last().0, sent.last().2), (0, OTHER, 2));
    assert!(back.answer(OTHER, &answer(sent.last().1, Status::OK, Some(Status::OK))));
    back.call(client, lock(2));
    back.call(client, lock(3));
    assert_eq!(sent.last().2, 3, "one at a time");
    assert!(back.answer(OTHER, &answer(sent.last().1, Status::OK, Some(Status::OK))));
    assert_eq!(sent.last().2, 4);
    back.ended(client);
    assert!(!back.reaches(client));
    assert!(!back.answer(OTHER, b"an answer"), "its client is gone");
}
