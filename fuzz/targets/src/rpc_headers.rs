//! The header of a call and of a reply.

use howdah_wire::rpc::{AuthSys, Call, Credentials, RecordMark, ReplyHeader};
use howdah_wire::xdr::{Decoder, Encoder};

/// Reads any bytes as a call, as a reply, as credentials.
pub fn run(input: &[u8]) {
    if let Call::Call(header, arguments) = Call::parse(input) {
        assert_eq!(arguments.rest(), &input[arguments.position()..]);
        // What we do not take is not kept whole, so it does not come back.
        if matches!(header.credentials, Credentials::None | Credentials::Sys(_)) {
            let bytes = Encoder::to_vec(&header);
            match Call::parse(&bytes) {
                Call::Call(back, rest) => assert_eq!((back, rest.rest()), (header, &[][..])),
                other => panic!("{header:?} became {other:?}"),
            }
        }
    }
    stable!(ReplyHeader, input);
    stable!(AuthSys<'_>, input);
    let mut decoder = Decoder::new(input);
    if let Ok(mark) = decoder.fixed("mark") {
        assert_eq!(RecordMark::from_bytes(mark).to_bytes(), mark);
    }
}
