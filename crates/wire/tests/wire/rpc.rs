//! The RPC header: both directions, against itself and against another implementation.

use howdah_wire::rpc::{
    Accepted, AuthFlavor, AuthStatus, AuthSys, Call, CallHeader, Credentials, Denied, GssCredential,
    GssProcedure, GssService, GssVerifier, REPLY_MIC_AT, RecordMark, ReplyHeader, SignedCall, SignedReply,
    TlsAnswer, TlsProbe,
};
use howdah_wire::xdr::{Decode, DecodeProblem, Decoder, Encode, Encoder};
use onc_rpc::auth::{AuthFlavor as TheirFlavor, AuthUnixParams};
use onc_rpc::{
    AcceptedReply, AcceptedStatus, AuthError, CallBody, MessageType, RejectedReply, ReplyBody, RpcMessage,
};
use proptest::prelude::*;

/// Their message as bytes without the record mark, which they always write.
fn serialised(xid: u32, message: MessageType<&[u8], &[u8]>) -> Vec<u8> {
    let bytes = RpcMessage::new(xid, message).serialise().expect("a vector takes everything");
    let mark = RecordMark::from_bytes(bytes[..4].try_into().expect("four bytes"));
    assert_eq!(mark, RecordMark { length: bytes.len() as u32 - 4, last: true });
    bytes[4..].to_vec()
}

/// A header as it comes back, and what follows it.
fn parsed(message: &[u8]) -> Option<(CallHeader<'_>, &[u8])> {
    match Call::parse(message) {
        Call::Call(header, arguments) => Some((header, arguments.rest())),
        _ => None,
    }
}

proptest! {
    #[test]
    fn calls_as_a_user(
        [xid, program, version, procedure, user, group] in any::<[u32; 6]>(),
        machine in prop::collection::vec(any::<u8>(), 0..40),
        groups in prop::collection::vec(any::<u32>(), 0..=16),
        arguments in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let credentials = Credentials::Sys(AuthSys::new(&machine, user, group, &groups));
        let header = CallHeader { xid, program, version, procedure, credentials };
        let mut ours = Encoder::to_vec(&header);
        let length = ours.len();
        for end in 0..length {
            prop_assert!(parsed(&ours[..end]).is_none(), "a header cut at {}", end);
        }
        ours.extend_from_slice(&arguments);
        prop_assert_eq!(parsed(&ours), Some((header, &arguments[..])));

        let user = TheirFlavor::AuthUnix(AuthUnixParams::new(0, &machine[..], user, group, groups));
        let none = TheirFlavor::AuthNone(None);
        let same = CallBody::new(program, version, procedure, user, none, &arguments[..]);
        prop_assert_eq!(&ours, &serialised(xid, MessageType::Call(same)));
    }

    #[test]
    fn calls_as_nobody([xid, program, version, procedure] in any::<[u32; 4]>()) {
        let header = CallHeader { xid, program, version, procedure, credentials: Credentials::None };
        let ours = Encoder::to_vec(&header);
        prop_assert_eq!(parsed(&ours), Some((header, &[][..])));
        let none = || TheirFlavor::AuthNone(None);
        let same = CallBody::new(program, version, procedure, none(), none(), &[][..]);
        prop_assert_eq!(ours, serialised(xid, MessageType::Call(same)));
    }

    #[test]
    fn noise_is_refused_or_read_but_never_panics(noise in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Call::parse(&noise);
    }

    #[test]
    fn marks_come_back(length in 0u32..1 << 31, last: bool) {
        let mark = RecordMark { length, last };
        prop_assert_eq!(RecordMark::from_bytes(mark.to_bytes()), mark);
    }
}

#[test]
fn every_reply_comes_back_and_is_theirs_too() {
    let none = || TheirFlavor::AuthNone(None);
    let accepted = |status| MessageType::Reply(ReplyBody::Accepted(AcceptedReply::new(none(), status)));
    let denied = |why| MessageType::Reply(ReplyBody::Denied(why));
    let refused = |why| denied(RejectedReply::AuthError(why));
    let authentication = |status| Err(Denied::Authentication(status));
    for (outcome, same) in [
        (Ok(Accepted::Success), accepted(AcceptedStatus::Success(&[][..]))),
        (Ok(Accepted::ProgramUnavailable), accepted(AcceptedStatus::ProgramUnavailable)),
        (
            Ok(Accepted::ProgramMismatch { low: 3, high: 4 }),
            accepted(AcceptedStatus::ProgramMismatch { low: 3, high: 4 }),
        ),
        (Ok(Accepted::ProcedureUnavailable), accepted(AcceptedStatus::ProcedureUnavailable)),
        (Ok(Accepted::GarbageArguments), accepted(AcceptedStatus::GarbageArgs)),
        (Ok(Accepted::SystemError), accepted(AcceptedStatus::SystemError)),
        (Err(Denied::RpcMismatch), denied(RejectedReply::RpcVersionMismatch { low: 2, high: 2 })),
        (authentication(AuthStatus::BadCredentials), refused(AuthError::BadCredentials)),
        (authentication(AuthStatus::RejectedCredentials), refused(AuthError::RejectedCredentials)),
        (authentication(AuthStatus::BadVerifier), refused(AuthError::BadVerifier)),
        (authentication(AuthStatus::RejectedVerifier), refused(AuthError::RejectedVerifier)),
        (authentication(AuthStatus::TooWeak), refused(AuthError::TooWeak)),
    ] {
        let ours = comes_back!(ReplyHeader, ReplyHeader { xid: 0xfeed_beef, outcome });
        assert_eq!(ours, serialised(0xfeed_beef, same), "{outcome:?}");
    }
}

#[test]
fn a_denial_is_one_whatever_its_reason() {
    // RFC 5531 9: 0 is AUTH_OK, 6 and 7 are of the client's end and unknown, 8 to 14 those of other flavors; and more may come.
    for number in (0..=14).chain([99, u32::MAX]) {
        let message = [7, 1, 1, 1, number].map(u32::to_be_bytes).concat();
        let header = ReplyHeader::decode(&mut Decoder::new(&message)).expect("a denial");
        assert!(matches!(header.outcome, Err(Denied::Authentication(_))), "{number}: {header:?}");
        assert_eq!(Encoder::to_vec(&header), message, "{number}");
    }
}

#[test]
fn what_is_no_call_is_told_apart() {
    let reply = Encoder::to_vec(&ReplyHeader { xid: 7, outcome: Ok(Accepted::Success) });
    assert!(matches!(Call::parse(&reply), Call::Reply), "a reply is never answered");
    let other = [7u32, 0, 3].map(u32::to_be_bytes).concat();
    assert!(matches!(Call::parse(&other), Call::OtherVersion { xid: 7 }));
    let short = [7u32, 0, 2, 100_003].map(u32::to_be_bytes).concat();
    assert!(matches!(Call::parse(&short), Call::Malformed { xid: Some(7), .. }));
}

#[test]
fn credentials_beyond_the_limits_are_refused() {
    let head = [7u32, 0, 2, 100_003, 3, 1];
    // A body of 401 bytes: the header is garbage.
    let long = [&head[..], &[1, 401]].concat().iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<_>>();
    match Call::parse(&long) {
        Call::Malformed { xid: Some(7), error } => {
            assert_eq!(error.problem, DecodeProblem::TooLong { claimed: 401, limit: 400 });
        }
        other => panic!("{other:?}"),
    }
    // 17 groups in a body that is long enough: the credentials are bad, the call itself is not.
    let body = [0u32, 0, 1, 1, 17].into_iter().chain(0..17).collect::<Vec<_>>();
    let words = [&head[..], &[1, body.len() as u32 * 4], &body[..], &[0, 0]].concat();
    let message = words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<_>>();
    let (header, rest) = parsed(&message).expect("a call");
    assert!(matches!(header.credentials, Credentials::Malformed(_)), "{header:?}");
    assert!(rest.is_empty());
    // A flavor that is not ours is kept by its number.
    let words = [&head[..], &[2, 0, 0, 0]].concat();
    let message = words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<_>>();
    let (header, _) = parsed(&message).expect("a call");
    assert_eq!(header.credentials, Credentials::Other(AuthFlavor::SHORT));
    // RPCSEC_GSS without a body is malformed, as AUTH_SYS would be.
    let words = [&head[..], &[6, 0, 0, 0]].concat();
    let message = words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<_>>();
    let (header, _) = parsed(&message).expect("a call");
    assert!(matches!(header.credentials, Credentials::Malformed(_)), "{header:?}");
}

#[test]
fn the_header_of_rpcsec_gss_has_its_verifier_where_it_is_looked_for() {
    let gss = GssCredential {
        procedure: GssProcedure::Data,
        sequence: 5,
        service: GssService::Integrity,
        handle: &[1, 2, 3, 4, 5],
    };
    let header =
        CallHeader { xid: 9, program: 100_003, version: 4, procedure: 1, credentials: Credentials::Gss(gss) };
    let mut message = Vec::new();
    header.encode_unsigned(&mut Encoder::new(&mut message));
    let signed = message.clone();
    GssVerifier { mic: b"a mic" }.encode(&mut Encoder::new(&mut message));
    let found = SignedCall::of(&message).expect("a call");
    assert_eq!((found.signed, found.mic), (&signed[..], &b"a mic"[..]));
    assert_eq!(parsed(&message).expect("a call").0, header);

    let header = ReplyHeader { xid: 9, outcome: Ok(Accepted::Success) };
    let reply = Encoder::to_vec(&SignedReply { header, mic: b"a token" });
    assert_eq!(&reply[REPLY_MIC_AT..][..7], b"a token");
    let mut decoder = Decoder::new(&reply);
    assert_eq!(SignedReply::decode(&mut decoder), Ok(SignedReply { header, mic: b"a token" }));
    assert_eq!(ReplyHeader::decode(&mut Decoder::new(&reply)), Ok(header));
    let plain = Encoder::to_vec(&SignedReply { header, mic: b"" });
    assert_eq!(plain, Encoder::to_vec(&header), "no token is AUTH_NONE");
}

#[test]
fn a_tls_probe_is_plain_or_is_told_apart() {
    let probe = |words: &[u32]| {
        let head = [9, 0, 2, 100_003, 3, 0];
        let message: Vec<u8> = head.iter().chain(words).flat_map(|word| word.to_be_bytes()).collect();
        match Call::parse(&message) {
            Call::Call(header, _) => match header.credentials {
                Credentials::Tls(probe) => probe,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(probe(&[7, 0, 0, 0]), TlsProbe::Plain);
    assert_eq!(probe(&[7, 4, 1, 0, 0]), TlsProbe::WithBody);
    assert_eq!(probe(&[7, 0, 0, 4, 1]), TlsProbe::WithVerifier);
    assert_eq!(probe(&[7, 0, 1, 0]), TlsProbe::WithVerifier);
    let header = CallHeader {
        xid: 9,
        program: 100_003,
        version: 3,
        procedure: 0,
        credentials: Credentials::Tls(TlsProbe::Plain),
    };
    let words = [9, 0, 2, 100_003, 3, 0, 7, 0, 0, 0_u32];
    assert_eq!(Encoder::to_vec(&header), words.map(u32::to_be_bytes).concat(), "RFC 9289 4.1");
}

#[test]
fn tls_begins_when_the_verifier_says_so_and_only_then() {
    let begins = TlsAnswer::Begins { xid: 7 };
    let bytes = Encoder::to_vec(&begins);
    let wanted =
        [&[0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8][..], b"STARTTLS", &[0; 4]].concat();
    assert_eq!(bytes, wanted);
    assert_eq!(TlsAnswer::decode(&mut Decoder::new(&bytes)), Ok(begins));
    for (at, byte) in [(15, 1), (20, b's')] {
        let mut other = bytes.clone();
        other[at] = byte;
        let answer = TlsAnswer::decode(&mut Decoder::new(&other)).expect("a reply");
        assert!(matches!(answer, TlsAnswer::Refused(_)), "{answer:?}");
    }
    let plain = ReplyHeader { xid: 7, outcome: Ok(Accepted::Success) };
    let answer = TlsAnswer::decode(&mut Decoder::new(&Encoder::to_vec(&plain)));
    assert_eq!(answer, Ok(TlsAnswer::Refused(plain)));
}
