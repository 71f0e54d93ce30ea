//! RPCSEC_GSS: both directions, the bytes of a call that was recorded by hand from RFC 2203, and hostile lengths.

use howdah_wire::limits::{GSS_HANDLE_MAX, GSS_TOKEN_MAX, PROTECTED_MAX};
use howdah_wire::rpc::{
    Accepted, AuthStatus, Denied, GssCredential, GssInit, GssInitResult, GssProcedure, GssService,
    ReplyHeader, SealedBody, SignedBody, SignedCall,
};
use howdah_wire::xdr::{Decode, DecodeProblem, Decoder, Encoder};
use proptest::prelude::*;

const PROCEDURES: [GssProcedure; 4] =
    [GssProcedure::Data, GssProcedure::Init, GssProcedure::ContinueInit, GssProcedure::Destroy];
const SERVICES: [GssService; 3] = [GssService::None, GssService::Integrity, GssService::Privacy];

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

proptest! {
    #[test]
    fn credentials_come_back(
        procedure in prop::sample::select(&PROCEDURES[..]),
        service in prop::sample::select(&SERVICES[..]),
        sequence in any::<u32>(),
        handle in prop::collection::vec(any::<u8>(), 0..=64),
    ) {
        let credential = GssCredential { procedure, sequence, service, handle: &handle };
        let body = comes_back!(GssCredential<'_>, credential);
        if procedure == GssProcedure::Init && !handle.is_empty() {
            prop_assert!(GssCredential::from_body(&body).is_err(), "a context that cannot be there yet");
        } else {
            prop_assert_eq!(GssCredential::from_body(&body), Ok(credential));
        }
        prop_assert!(GssCredential::from_body(&[&body[..], &[0; 4]].concat()).is_err());
    }

    #[test]
    fn tokens_and_results_come_back(
        handle in prop::collection::vec(any::<u8>(), 0..=16),
        token in prop::collection::vec(any::<u8>(), 0..=300),
        [major, minor, window] in any::<[u32; 3]>(),
    ) {
        comes_back!(GssInit<'_>, GssInit { token: &token });
        comes_back!(GssInitResult<'_>, GssInitResult { handle: &handle, major, minor, window, token: &token });
    }

    #[test]
    fn protected_bodies_come_back(
        sequence in any::<u32>(),
        words in prop::collection::vec(any::<u32>(), 0..100),
        mic in prop::collection::vec(any::<u8>(), 28..=40),
        token in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let body = bytes(&words);
        let framed = [&SignedBody::head(sequence, body.len())[..], &body].concat();
        let signed = SignedBody { signed: &framed[4..], mic: &mic };
        let encoded = comes_back!(SignedBody<'_>, signed);
        prop_assert_eq!(&encoded[..framed.len()], &framed[..]);
        prop_assert_eq!(signed.parts(), Ok((sequence, &body[..])));

        let mut sealed = Vec::new();
        Encoder::new(&mut sealed).opaque(&token);
        let found = SealedBody::find(&sealed).expect("a token");
        prop_assert_eq!(&sealed[found.token], &token[..]);
        for end in 0..sealed.len() {
            prop_assert!(SealedBody::find(&sealed[..end]).is_err());
        }
        prop_assert!(SealedBody::find(&[&sealed[..], &[0; 4]].concat()).is_err());
    }

    #[test]
    fn any_bytes_are_read_without_harm(message in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = SignedCall::of(&message);
        let _ = GssCredential::from_body(&message);
        let _ = GssInit::decode(&mut Decoder::new(&message));
        let _ = GssInitResult::decode(&mut Decoder::new(&message));
        let _ = SignedBody::decode(&mut Decoder::new(&message)).map(|body| body.parts().is_ok());
        let _ = SealedBody::find(&message);
    }
}

#[test]
fn a_call_is_signed_from_its_xid_through_its_credential() {
    // READ (6) of NFSv3 in context "abcde", call 9, integrity; verifier of 8 bytes; arguments of 4.
    let head = bytes(&[7, 0, 2, 100_003, 3, 6, 6, 28, 1, 0, 9, 2, 5]);
    let handle = *b"abcde\0\0\0";
    let message = [&head[..], &handle, &bytes(&[6, 8, 0x0102_0304, 0x0506_0708, 99])].concat();
    let call = SignedCall::of(&message).expect("a call");
    assert_eq!(call.signed, &message[..head.len() + handle.len()]);
    assert_eq!(call.mic, [1, 2, 3, 4, 5, 6, 7, 8]);
    let credential = GssCredential::from_body(call.credential).expect("a credential");
    let wanted = GssCredential {
        procedure: GssProcedure::Data,
        sequence: 9,
        service: GssService::Integrity,
        handle: b"abcde",
    };
    assert_eq!(credential, wanted);
    for end in 0..message.len() - 4 {
        assert!(SignedCall::of(&message[..end]).is_err(), "cut at {end}");
    }
    // A verifier of another flavor is none.
    let other = [&head[..], &handle, &bytes(&[0, 0])].concat();
    assert_eq!(SignedCall::of(&other).map(|call| call.mic), Ok(&[][..]));
    let of_a_user = bytes(&[7, 0, 2, 100_003, 3, 6, 1, 0, 0, 0]);
    assert!(SignedCall::of(&of_a_user).is_err(), "AUTH_SYS");
}

#[test]
fn unknown_versions_procedures_and_services_are_refused() {
    let credential = |words: [u32; 5]| GssCredential::from_body(&bytes(&words)).map(|_| ());
    assert_eq!(credential([1, 0, 1, 1, 0]), Ok(()));
    for words in
        [[0, 0, 1, 1, 0], [2, 0, 1, 1, 0], [3, 0, 1, 1, 0], [1, 4, 1, 1, 0], [1, 0, 1, 0, 0], [1, 0, 1, 4, 0]]
    {
        let error = credential(words).expect_err("refused");
        assert!(matches!(error.problem, DecodeProblem::UnknownValue(_)), "{words:?}: {error:?}");
    }
}

#[test]
fn lengths_beyond_the_limits_are_refused() {
    let too_long = |claimed, limit| Err(DecodeProblem::TooLong { claimed, limit });
    for claimed in [GSS_HANDLE_MAX + 1, u32::MAX] {
        let found = GssCredential::from_body(&bytes(&[1, 0, 1, 1, claimed]))
            .map(|_| ())
            .map_err(|error| error.problem);
        assert_eq!(found, too_long(claimed, GSS_HANDLE_MAX));
    }
    for claimed in [GSS_TOKEN_MAX + 1, u32::MAX] {
        let argument = bytes(&[claimed]);
        let found = GssInit::decode(&mut Decoder::new(&argument)).map(|_| ()).map_err(|error| error.problem);
        assert_eq!(found, too_long(claimed, GSS_TOKEN_MAX));
        let result = bytes(&[0, 0, 0, 2048, claimed]);
        let found =
            GssInitResult::decode(&mut Decoder::new(&result)).map(|_| ()).map_err(|error| error.problem);
        assert_eq!(found, too_long(claimed, GSS_TOKEN_MAX));
    }
    for claimed in [PROTECTED_MAX + 1, u32::MAX] {
        let body = bytes(&[claimed, 1]);
        let found = SignedBody::decode(&mut Decoder::new(&body)).map(|_| ()).map_err(|error| error.problem);
        assert_eq!(found, too_long(claimed, PROTECTED_MAX));
        assert_eq!(
            SealedBody::find(&body).map(|_| ()).map_err(|error| error.problem),
            too_long(claimed, PROTECTED_MAX)
        );
    }
    // Neither a number that is cut short, nor a body that is no whole number of words.
    assert!(SignedBody { signed: &[0, 0, 1], mic: &[] }.parts().is_err());
    assert!(SealedBody::parts(&[0, 0, 1]).is_err());
    let odd = bytes(&[5, 1, 2 << 24, 0]);
    assert!(SignedBody::decode(&mut Decoder::new(&odd)).is_err());
}

#[test]
fn refusals_of_contexts_have_their_numbers() {
    for (status, number) in [(AuthStatus::NoContext, 13), (AuthStatus::ContextEnded, 14)] {
        let header = ReplyHeader { xid: 1, outcome: Err::<Accepted, _>(Denied::Authentication(status)) };
        let encoded = comes_back!(ReplyHeader, header);
        assert_eq!(encoded, bytes(&[1, 1, 1, 1, number]));
    }
}
