//! Calls and replies of each service. What a server does with them is written here once more.

use std::ops::Range;

use howdah_gss::{ContextSide, Enctype, GssContext, LucidContext, SessionKey};
use howdah_random::Random;
use howdah_rpc::client::{
    Claim, Locate, Outgoing, Peer, PeerError, ReceiveInto, Reply, SealBuffer, StreamRecord,
};
use howdah_wire::rpc::{Accepted, Call, CallHeader, RecordMark, ReplyHeader, SignedCall, SignedReply};
use howdah_wire::xdr::Decode;

use super::*;

const XID: u32 = 0x0102_0304;
const SERVICES: [GssService; 3] = [GssService::None, GssService::Integrity, GssService::Privacy];
/// What the caller's buffer holds before.
const BEFORE: &[u8] = b"before";
/// The longest record of these tests.
const RECORD_MAX: usize = 1 << 20;

/// Both sides of a context.
fn contexts(enctype: Enctype, random: &mut Random) -> (Arc<ClientContext>, GssContext) {
    let key = SessionKey::new(enctype.number(), &random.bytes(enctype.key_length())).expect("a key");
    let lucid =
        |side| LucidContext { side, key: key.clone(), acceptor_subkey: true, send_sequence: 0, expiry: 0 };
    let (ours, theirs) = (lucid(ContextSide::Initiator), lucid(ContextSide::Acceptor));
    let context = ClientContext::new(&ours, GssContext::new(&ours), b"handle".to_vec());
    (Arc::new(context), GssContext::new(&theirs))
}

struct Bytes(Vec<u8>);

impl Encode for Bytes {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.fixed(&self.0);
    }
}

/// A call with a payload and a tail.
fn outgoing(payload: &[u8]) -> Outgoing<Vec<u8>> {
    let header =
        CallHeader { xid: XID, program: 100_003, version: 3, procedure: 7, credentials: Credentials::None };
    let payload = (!payload.is_empty()).then(|| payload.to_vec());
    Outgoing::new(&header, &Bytes(b"arguments...".to_vec()), payload, Some(&Bytes(b"tail".to_vec())))
}

/// A sending of a call, without its record mark.
fn sent(call: &ProtectedCall, outgoing: &Outgoing<Vec<u8>>) -> Vec<u8> {
    let mut desk = SealBuffer::default();
    let envelope = outgoing.seal(None, Some(call), &mut desk);
    let message = envelope.message().concat();
    assert_eq!(envelope.length(), RecordMark::SIZE + message.len());
    message
}

/// What a server makes of a sending: its number and the plain arguments.
fn received(server: &GssContext, message: &[u8]) -> (u32, Vec<u8>) {
    let signed = SignedCall::of(message).expect("a signed call");
    server.verify(&[signed.signed], signed.mic).expect("signed by the client");
    let credential = GssCredential::from_body(signed.credential).expect("a credential");
    assert_eq!((credential.procedure, credential.handle), (GssProcedure::Data, &b"handle"[..]));
    let Call::Call(_, decoder) = Call::parse(message) else { panic!("no call") };
    let mut arguments = decoder.rest().to_vec();
    let (number, plain) = match credential.service {
        GssService::None => (credential.sequence, arguments),
        GssService::Integrity => {
            let mut decoder = Decoder::new(&arguments);
            let body = SignedBody::decode(&mut decoder).expect("a signed body");
            decoder.finish("arguments").expect("nothing else");
            server.verify(&[body.signed], body.mic).expect("signed by the client");
            let (number, plain) = body.parts().expect("a number");
            (number, plain.to_vec())
        }
        GssService::Privacy => {
            let token = SealedBody::find(&arguments).expect("a token").token;
            let opened = server.unwrap(&mut arguments[token]).expect("encrypted by the client");
            let (number, plain) = SealedBody::parts(opened).expect("a number");
            (number, plain.to_vec())
        }
    };
    assert_eq!(number, credential.sequence);
    (number, plain)
}

/// A server's reply, without its record mark, and where its verifier's token is.
fn reply(server: &GssContext, service: GssService, number: u32, results: &[u8]) -> (Vec<u8>, Range<usize>) {
    let (word, mut message) = (number.to_be_bytes(), Vec::new());
    let (mic, header) = (server.sign(&[&word]), ReplyHeader { xid: XID, outcome: Ok(Accepted::Success) });
    let signed = SignedReply { header, mic: mic.bytes() };
    signed.encode(&mut Encoder::new(&mut message));
    let body = [&word[..], results].concat();
    match service {
        GssService::None => message.extend_from_slice(results),
        GssService::Integrity => {
            let mic = server.sign(&[&body]);
            SignedBody { signed: &body, mic: mic.bytes() }.encode(&mut Encoder::new(&mut message));
        }
        GssService::Privacy => {
            let mut token = vec![0; WRAP_HEAD];
            token.extend_from_slice(&body);
            token.resize(token.len() + server.wrap_tail(), 0);
            server.wrap(&mut token);
            Encoder::new(&mut message).opaque(&token);
        }
    }
    (message, howdah_wire::rpc::REPLY_MIC_AT..howdah_wire::rpc::REPLY_MIC_AT + mic.bytes().len())
}

/// Results with data behind one word and its length, and a word behind it.
fn results(data: &[u8]) -> Vec<u8> {
    let mut results = b"head".to_vec();
    Encoder::new(&mut results).opaque(data);
    results.extend_from_slice(b"tail");
    results
}

fn locate(results: &[u8]) -> Locate {
    match word(results, 4) {
        Some(length) => Locate::Data { at: 8, length: length as usize },
        None => Locate::NeedMore,
    }
}

/// The reply as the client has it, from a stream that brings so many bytes at a time.
fn arrived(
    call: &ProtectedCall,
    message: &[u8],
    has_buffer: bool,
    step: usize,
) -> Result<Option<Reply>, PeerError> {
    let mark = RecordMark { length: message.len() as u32, last: true }.to_bytes();
    let stream = [&mark[..], message].concat();
    let (mut peer, mut at) = (Peer::new(RECORD_MAX), 0);
    loop {
        let receive = || has_buffer.then(|| ReceiveInto { buffer: BEFORE.to_vec(), most: 1 << 19, locate });
        match peer.poll(|_| Claim::Covered(receive(), call.cover()))? {
            Some(StreamRecord::Reply(mut reply)) => return reply.open(call).map(|()| Some(reply)),
            Some(StreamRecord::Call(_)) => return Ok(None),
            None if at == stream.len() => return Ok(None),
            None => {}
        }
        let room = peer.room(has_buffer);
        let count = room.most.min(step).min(stream.len() - at);
        room.first.extend_from_slice(&stream[at..at + count]);
        at += count;
    }
}

#[test]
fn calls_and_replies_of_every_service_arrive_as_they_are() {
    let seed = 0x2203;
    let mut random = Random::new(seed);
    for enctype in Enctype::ALL {
        let (context, server) = contexts(enctype, &mut random);
        for (service, size) in SERVICES
            .into_iter()
            .flat_map(|service| [0, 1, 2, 3, 4, 5, 1_000, 65_537, 300_000].map(|size| (service, size)))
        {
            let case = format!("seed {seed:#x}: {enctype}, {service:?}, {size} bytes");
            let data = random.bytes(size);
            let call = ProtectedCall::new(Arc::clone(&context), service);
            let (number, plain) = received(&server, &sent(&call, &outgoing(&data)));
            let padded = [b"arguments...", &data[..], &ZEROS[..padding(size)], b"tail"].concat();
            assert!(plain == padded, "{case}");
            let (message, _) = reply(&server, service, number, &results(&data));
            for step in [7 + size / 50, usize::MAX] {
                let came = arrived(&call, &message, true, step).expect("genuine").expect("a reply");
                let (buffer, count) = came.received.expect("data");
                assert_eq!((came.problem, came.outcome), (None, Ok(Accepted::Success)), "{case}");
                assert!((count, &buffer[..]) == (size, &[BEFORE, &data].concat()[..]), "{case}");
                let around = [&b"head"[..], &(size as u32).to_be_bytes(), b"tail"].concat();
                assert_eq!(came.results, around, "{case}");
                let whole = arrived(&call, &message, false, step).expect("genuine").expect("a reply");
                assert!(whole.results == results(&data), "{case}");
            }
        }
    }
}

#[test]
fn a_reply_with_any_bit_changed_is_not_used() {
    let mut random = Random::new(1);
    for enctype in Enctype::ALL {
        let (context, server) = contexts(enctype, &mut random);
        for (service, has_buffer) in
            SERVICES.into_iter().flat_map(|service| [(service, false), (service, true)])
        {
            let call = ProtectedCall::new(Arc::clone(&context), service);
            let (number, _) = received(&server, &sent(&call, &outgoing(b"")));
            let (message, mic) = reply(&server, service, number, &results(b"howdy"));
            // Of a service that signs headers alone the results are not covered.
            let end = if service == GssService::None { mic.end } else { message.len() };
            for (at, bit) in (4..end).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
                let mut changed = message.clone();
                changed[at] ^= 1 << bit;
                let came = arrived(&call, &changed, has_buffer, usize::MAX);
                let is_used =
                    |reply: &Reply| reply.outcome == Ok(Accepted::Success) && reply.problem.is_none();
                let used = came.ok().flatten().filter(is_used);
                assert!(used.is_none(), "{enctype}, {service:?}: bit {bit} of byte {at}: {used:?}");
            }
        }
    }
}

#[test]
fn what_is_not_genuine_leaves_the_buffer_as_it_was() {
    let mut random = Random::new(2);
    let (context, server) = contexts(Enctype::ALL[0], &mut random);
    for service in SERVICES {
        let call = ProtectedCall::new(Arc::clone(&context), service);
        sent(&call, &outgoing(b""));
        let (message, _) = reply(&server, service, 77, &results(b"howdy"));
        let mark = RecordMark { length: message.len() as u32, last: true }.to_bytes();
        let mut peer = Peer::new(RECORD_MAX);
        peer.room(false).first.extend_from_slice(&[&mark[..], &message].concat());
        let receive = ReceiveInto { buffer: BEFORE.to_vec(), most: 100, locate };
        let mut receive = Some(receive);
        let record = peer.poll(|_| Claim::Covered(receive.take(), call.cover())).expect("a record");
        let Some(StreamRecord::Reply(mut reply)) = record else { panic!("no reply") };
        assert_eq!(reply.open(&call), Err(PeerError::NotGenuine));
        assert_eq!((reply.results, reply.received), (Vec::new(), Some((BEFORE.to_vec(), 0))));
    }
}

#[test]
fn a_reply_may_be_to_any_of_the_last_sendings() {
    let mut random = Random::new(3);
    let (context, server) = contexts(Enctype::ALL[0], &mut random);
    for service in SERVICES {
        let call = ProtectedCall::new(Arc::clone(&context), service);
        let outgoing = outgoing(b"payload");
        let numbers: Vec<u32> =
            (0..=SENDINGS_MAX).map(|_| received(&server, &sent(&call, &outgoing)).0).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
        for (sending, &number) in numbers.iter().enumerate() {
            let (message, _) = reply(&server, service, number, &results(b"howdy"));
            let came = arrived(&call, &message, true, usize::MAX);
            assert_eq!(came.is_ok(), sending > 0, "{service:?}: sending {sending}");
        }
        // The number of the body is that of the verifier.
        if service != GssService::None {
            let last = numbers[SENDINGS_MAX];
            let (other, _) = reply(&server, service, numbers[1], &results(b"howdy"));
            let (mut mixed, mic) = reply(&server, service, last, &results(b"howdy"));
            mixed.truncate(mic.end + 4);
            mixed.extend_from_slice(&other[mic.end + 4..]);
            assert!(arrived(&call, &mixed, true, usize::MAX).is_err(), "{service:?}");
        }
    }
}

#[test]
fn a_denial_is_over_or_wants_new_keys() {
    let mut random = Random::new(4);
    for (status, wanted, is_refused) in [
        (AuthStatus::NoContext, DeniedCall::NewKeys, true),
        (AuthStatus::ContextEnded, DeniedCall::NewKeys, true),
        (AuthStatus::RejectedCredentials, DeniedCall::NewKeys, true),
        (AuthStatus::RejectedVerifier, DeniedCall::NewKeys, true),
        (AuthStatus::BadCredentials, DeniedCall::NewKeys, false),
        (AuthStatus::BadVerifier, DeniedCall::NewKeys, false),
        (AuthStatus::TooWeak, DeniedCall::Over, false),
    ] {
        let (context, _) = contexts(Enctype::ALL[0], &mut random);
        let call = ProtectedCall::new(Arc::clone(&context), GssService::None);
        assert_eq!(call.on_denied(status), wanted, "{status:?}");
        let is_over = context.age() == super::super::context::ContextAge::Over;
        assert_eq!(is_over, is_refused, "{status:?}");
    }
}
