//! The client's side of a stream: whatever the pieces, fragments and order, replies come out as they were sent, data is
//! where it belongs, and nothing is kept because a server claims it.

use std::collections::HashMap;

use howdah_rpc::client::{
    Claim, FirstBytes, Locate, Peer, PeerError, ReceiveInto, Reply, Room, StreamRecord,
};
use howdah_wire::rpc::{Accepted, AuthStatus, Denied, RecordMark, ReplyHeader};
use howdah_wire::xdr::{DecodeProblem, Encoder};
use proptest::prelude::*;

const RECORD_MAX: usize = 1 << 20;
/// What every buffer holds before.
const BEFORE: &[u8] = b"before";

/// A reply that is sent: words of results, then perhaps data, then perhaps a trailer.
#[derive(Debug, Clone)]
struct Sent {
    xid: u32,
    outcome: Result<Accepted, Denied>,
    /// Words of the results before the data.
    words: usize,
    data: Option<Vec<u8>>,
    /// Words after the data.
    trailer: usize,
    /// Whether somebody waits for it, and with a buffer.
    known: bool,
    has_buffer: bool,
}

/// The results say in their first word how many follow, and in their second how long the data is, if there is any.
fn locate(results: &[u8]) -> Locate {
    let word = |at: usize| results.get(at..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
    let (Some(words), Some(length)) = (word(0), word(4)) else { return Locate::NeedMore };
    match length {
        u32::MAX => Locate::NoData,
        length => Locate::Data { at: 8 + 4 * words as usize, length: length as usize },
    }
}

impl Sent {
    fn head(&self) -> Vec<u8> {
        let length = self.data.as_ref().map_or(u32::MAX, |data| data.len() as u32);
        let mut head = [(self.words as u32).to_be_bytes(), length.to_be_bytes()].concat();
        head.extend((0..4 * self.words).map(|at| at as u8));
        head
    }

    fn trailer(&self) -> Vec<u8> {
        vec![0xee; 4 * self.trailer]
    }

    fn message(&self) -> Vec<u8> {
        let mut message = Encoder::to_vec(&ReplyHeader { xid: self.xid, outcome: self.outcome });
        message.extend(self.head());
        if let Some(data) = &self.data {
            message.extend(data);
            message.resize(message.len().next_multiple_of(4), 0);
        }
        message.extend(self.trailer());
        message
    }

    /// Whether its data goes to a buffer.
    fn is_received(&self) -> bool {
        self.has_buffer && self.outcome == Ok(Accepted::Success) && self.data.is_some()
    }

    fn check(&self, reply: Reply) {
        assert_eq!((reply.xid, reply.outcome, reply.problem), (self.xid, self.outcome, None));
        let mut results = self.head();
        let mut received = BEFORE.to_vec();
        match &self.data {
            Some(data) if self.is_received() => received.extend(data),
            Some(data) => {
                results.extend(data);
                results.resize(results.len().next_multiple_of(4), 0);
            }
            None => {}
        }
        results.extend(self.trailer());
        assert!(reply.results == results, "results of {self:?}: {:02x?}", reply.results);
        let count = received.len() - BEFORE.len();
        assert_eq!(reply.received, self.has_buffer.then_some((received, count)));
    }
}

fn sent() -> impl Strategy<Value = Sent> {
    let outcome = prop_oneof![
        8 => Just(Ok(Accepted::Success)),
        1 => Just(Ok(Accepted::ProgramMismatch { low: 2, high: 3 })),
        1 => Just(Err(Denied::Authentication(AuthStatus::TooWeak))),
    ];
    let length = prop_oneof![4 => 0..64_usize, 4 => 0..5_000_usize, 1 => 60_000..100_000_usize];
    let data = prop::option::weighted(0.7, length);
    (any::<u32>(), outcome, 0..300_usize, data, 0..3_usize, prop::bool::weighted(0.9), any::<bool>())
        .prop_map(|(xid, outcome, words, data, trailer, known, has_buffer)| {
            let data = data.map(|length| (0..length).map(|at| (at * 7 + words) as u8).collect());
            Sent { xid, outcome, words, data, trailer, known, has_buffer: has_buffer && known }
        })
}

/// The bytes of a record in fragments of these lengths, and the rest in one.
fn framed(message: &[u8], fragments: &[usize]) -> Vec<u8> {
    let (mut stream, mut rest) = (Vec::new(), message);
    for &length in fragments {
        let (fragment, left) = rest.split_at(length.min(rest.len()));
        stream.extend(RecordMark { length: fragment.len() as u32, last: false }.to_bytes());
        stream.extend(fragment);
        rest = left;
    }
    stream.extend(RecordMark { length: rest.len() as u32, last: true }.to_bytes());
    stream.extend(rest);
    stream
}

/// Receives up to `piece` bytes of the stream, as a socket would.
fn receive(room: Room<'_>, stream: &mut &[u8], piece: usize) {
    assert!(room.most > 0, "there is always room");
    let mut left = piece.min(stream.len());
    let mut append = |buffer: &mut Vec<u8>, most: usize| {
        let (now, later) = stream.split_at(left.min(most));
        buffer.extend_from_slice(now);
        *stream = later;
        left -= now.len();
    };
    append(room.first, room.most);
    if let Some((buffer, most)) = room.next {
        append(buffer, most);
    }
}

/// Feeds a stream in pieces, and gives the replies that come out.
fn feed(
    peer: &mut Peer,
    mut stream: &[u8],
    pieces: &[usize],
    mut claim: impl FnMut(u32) -> Claim,
) -> Result<Vec<Reply>, PeerError> {
    let (mut replies, mut pieces) = (Vec::new(), pieces.iter().cycle());
    while !stream.is_empty() {
        let piece = *pieces.next().expect("a cycle");
        receive(peer.room(piece % 2 == 0), &mut stream, piece);
        while let Some(record) = peer.poll(&mut claim)? {
            if let StreamRecord::Reply(reply) = record {
                replies.push(reply);
            }
        }
    }
    Ok(replies)
}

fn buffer(most: usize) -> ReceiveInto {
    ReceiveInto { buffer: BEFORE.to_vec(), most, locate }
}

fn pieces() -> impl Strategy<Value = Vec<usize>> {
    let piece = prop_oneof![3 => 1..8_usize, 3 => 1..600_usize, 2 => 1..70_000_usize, 1 => Just(usize::MAX)];
    prop::collection::vec(piece, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn replies_come_out_as_they_were_sent(
        mut replies in prop::collection::vec((sent(), prop::collection::vec(0..3_000_usize, 0..4)), 1..12),
        pieces in pieces(),
    ) {
        for (index, (sent, _)) in replies.iter_mut().enumerate() {
            // Each has an xid of its own.
            sent.xid = sent.xid << 8 | index as u32;
        }
        let stream: Vec<u8> =
            replies.iter().flat_map(|(sent, fragments)| framed(&sent.message(), fragments)).collect();
        let known: HashMap<u32, bool> = replies
            .iter()
            .filter(|(sent, _)| sent.known)
            .map(|(sent, _)| (sent.xid, sent.has_buffer))
            .collect();
        let claim = |xid| match known.get(&xid) {
            Some(has_buffer) => Claim::Call(has_buffer.then(|| buffer(100_000))),
            None => Claim::Unknown,
        };
        let mut peer = Peer::new(RECORD_MAX);
        let came = feed(&mut peer, &stream, &pieces, claim).expect("good replies");
        let expected: Vec<_> = replies.iter().map(|(sent, _)| sent).filter(|sent| sent.known).collect();
        prop_assert_eq!(came.len(), expected.len());
        for (sent, reply) in expected.into_iter().zip(came) {
            sent.check(reply);
        }
        prop_assert_eq!(peer.unknown() as usize, replies.len() - known.len());
        prop_assert!(!peer.is_partial());
    }

    #[test]
    fn a_stream_that_ends_anywhere_gives_the_buffer_back_as_it_was(
        sent in sent(), fragments in prop::collection::vec(0..3_000_usize, 0..4), pieces in pieces(), end in 0.0..1.0,
    ) {
        let sent = Sent { known: true, has_buffer: true, outcome: Ok(Accepted::Success), ..sent };
        let stream = framed(&sent.message(), &fragments);
        let mut claimed = 0;
        let claim = |_| {
            claimed += 1;
            Claim::Call(Some(buffer(100_000)))
        };
        let mut peer = Peer::new(RECORD_MAX);
        let cut = ((stream.len() as f64) * end) as usize;
        let came = feed(&mut peer, &stream[..cut], &pieces, claim).expect("a good start");
        prop_assert!(came.is_empty());
        let back = peer.abandon();
        prop_assert_eq!(back.is_some(), claimed == 1);
        if let Some((xid, receive)) = back {
            prop_assert_eq!((xid, &receive.buffer[..]), (sent.xid, BEFORE));
        }
    }

    #[test]
    fn junk_is_an_error_or_waits_for_more_and_never_panics(
        junk in prop::collection::vec(any::<u8>(), 0..3_000), pieces in pieces(), small in any::<bool>(),
    ) {
        let mut junk = junk;
        if small && !junk.is_empty() {
            // A mark that is believed, so that what follows is looked at.
            junk[0] = 0x80;
            junk.iter_mut().skip(1).take(2).for_each(|byte| *byte = 0);
        }
        let mut peer = Peer::new(RECORD_MAX);
        let _ = feed(&mut peer, &junk, &pieces, |_| Claim::Call(Some(buffer(1_000))));
    }
}

#[test]
fn a_claim_is_refused_before_anything_is_kept_for_it() {
    let mark = RecordMark { length: (1 << 31) - 1, last: true }.to_bytes();
    let late = [framed(&a_read(1, 400).message(), &[]), mark.to_vec()].concat();
    let error = feed(&mut Peer::new(RECORD_MAX), &late, &[4], |_| Claim::Unknown).expect_err("too long");
    assert_eq!(error, PeerError::TooLong { claimed: (1 << 31) - 1, limit: RECORD_MAX });
    let banner = b"SSH-2.0-OpenSSH_9.2\r\n";
    let error = feed(&mut Peer::new(RECORD_MAX), banner, &[64], |_| Claim::Unknown).expect_err("no RPC");
    assert_eq!(error, PeerError::NotRpc(FirstBytes::of(banner)));
    let empty = RecordMark { length: 0, last: false }.to_bytes().repeat(2_000);
    let error = feed(&mut Peer::new(RECORD_MAX), &empty, &[4096], |_| Claim::Unknown).expect_err("endless");
    assert!(matches!(error, PeerError::TooManyFragments { .. }));
}

#[test]
fn a_call_between_two_replies_comes_out_whole() {
    let call = [7, 0, 2, 0x4000_0000, 1, 0, 0, 0, 0, 0].map(u32::to_be_bytes).concat();
    let good = a_read(2, 400);
    let stream =
        [framed(&good.message(), &[]), framed(&call, &[9, 13]), framed(&good.message(), &[])].concat();
    for piece in [1, 7, 100, 100_000] {
        let (mut peer, mut rest) = (Peer::new(RECORD_MAX), &stream[..]);
        let mut came = Vec::new();
        while !rest.is_empty() {
            receive(peer.room(true), &mut rest, piece);
            while let Some(record) = peer.poll(|_| Claim::Call(Some(buffer(1_000)))).expect("records") {
                came.push(record);
            }
        }
        let [StreamRecord::Reply(first), StreamRecord::Call(its), StreamRecord::Reply(last)] =
            <[StreamRecord; 3]>::try_from(came).expect("three records")
        else {
            panic!("a call between two replies");
        };
        assert_eq!(its, call);
        [first, last].into_iter().for_each(|reply| good.check(reply));
    }
}

#[test]
fn a_call_longer_than_any_is_passed_over() {
    let call = [&[7, 0, 2].map(u32::to_be_bytes).concat()[..], &[0; 200 << 10]].concat();
    let good = a_read(2, 400);
    let stream = [framed(&call, &[]), framed(&good.message(), &[])].concat();
    let mut peer = Peer::new(RECORD_MAX);
    let came = feed(&mut peer, &stream, &[1_000], |_| Claim::Call(Some(buffer(1_000)))).expect("records");
    let [read] = <[Reply; 1]>::try_from(came).expect("one reply");
    good.check(read);
    assert_eq!(peer.unknown(), 1);
}

#[test]
fn a_denial_ends_its_call_only_whatever_its_reason() {
    // 7 is AUTH_FAILED, 13 RPCSEC_GSS_CREDPROBLEM (RFC 5531 9): neither is a reason of AUTH_SYS.
    for (reason, status) in [(7, AuthStatus::Other(7)), (13, AuthStatus::NoContext)] {
        let denial = [1, 1, 1, 1, reason].map(u32::to_be_bytes).concat();
        let good = a_read(2, 400);
        let stream = [framed(&denial, &[]), framed(&good.message(), &[])].concat();
        let mut peer = Peer::new(RECORD_MAX);
        let came = feed(&mut peer, &stream, &[1], |_| Claim::Call(Some(buffer(1_000)))).expect("replies");
        let [denied, read] = <[Reply; 2]>::try_from(came).expect("two replies");
        assert_eq!((denied.xid, denied.outcome), (1, Err(Denied::Authentication(status))));
        good.check(read);
    }
}

#[test]
fn memory_follows_what_came_not_what_was_claimed() {
    let mut message = Encoder::to_vec(&ReplyHeader { xid: 1, outcome: Ok(Accepted::Success) });
    message.resize(4_000, 0);
    let mut stream = RecordMark { length: RECORD_MAX as u32, last: true }.to_bytes().to_vec();
    stream.extend(message);
    let mut peer = Peer::new(RECORD_MAX);
    feed(&mut peer, &stream, &[1_000], |_| Claim::Call(None)).expect("allowed");
    let room = peer.room(false);
    assert!(room.first.capacity() + room.most < 256 << 10, "{} and {}", room.first.capacity(), room.most);
}

fn a_read(xid: u32, length: usize) -> Sent {
    let data = Some(vec![xid as u8; length]);
    let outcome = Ok(Accepted::Success);
    Sent { xid, outcome, words: 22, data, trailer: 0, known: true, has_buffer: true }
}

#[test]
fn more_data_than_asked_for_and_data_that_ends_early_are_problems_of_that_call_only() {
    let (long, good) = (a_read(1, 5_000), a_read(3, 400));
    // Says that there is more data than the record has.
    let mut short = a_read(2, 600).message();
    short.truncate(short.len() - 300);
    let stream = [framed(&long.message(), &[]), framed(&short, &[]), framed(&good.message(), &[])].concat();
    for piece in [1, 100, 100_000] {
        let mut peer = Peer::new(RECORD_MAX);
        let came = feed(&mut peer, &stream, &[piece], |_| Claim::Call(Some(buffer(1_000)))).expect("replies");
        let [first, second, third] = <[Reply; 3]>::try_from(came).expect("three replies");
        let problem = first.problem.expect("too long").problem;
        assert_eq!(problem, DecodeProblem::TooLong { claimed: 5_000, limit: 1_000 });
        assert_eq!(second.problem.expect("too short").problem, DecodeProblem::Truncated);
        for reply in [&first, &second] {
            assert_eq!(reply.received, Some((BEFORE.to_vec(), 0)));
        }
        good.check(third);
    }
}

#[test]
fn bulk_data_is_not_copied_once_its_place_in_a_reply_is_known() {
    let replies: Vec<Sent> = (0..50).map(|xid| a_read(xid, 128 << 10)).collect();
    let stream: Vec<u8> = replies.iter().flat_map(|sent| framed(&sent.message(), &[])).collect();
    let mut peer = Peer::new(RECORD_MAX);
    let came = feed(&mut peer, &stream, &[usize::MAX - 1], |_| Claim::Call(Some(buffer(128 << 10))));
    for (sent, reply) in replies.iter().zip(came.expect("replies")) {
        sent.check(reply);
    }
    assert!(peer.copied() < 200, "{} bytes were copied", peer.copied());
}
