//! NLM: both directions of every message.

#[macro_use]
mod coding;

use howdah_wire::limits::LOCK_COOKIE_MAX;
use howdah_wire::nlm::{Cookie, Status, lock, share};
use howdah_wire::xdr::{Decode, Decoder, Encoder};
use proptest::prelude::*;

proptest! {
    #[test]
    fn messages(bytes in prop::collection::vec(any::<u8>(), 0..40), sequence in any::<u32>()) {
        let cookie = Cookie(&bytes);
        comes_back!(lock::Arguments<'_>, lock::Arguments { cookie });
        for status in [Status::Granted, Status::NoLocks] {
            comes_back!(lock::Reply<'_>, lock::Reply { cookie, status });
            comes_back!(share::Reply<'_>, share::Reply { cookie, status, sequence });
        }
    }
}

/// The start of a LOCK as a Linux 6.1 client sent it, and its refusal: `nlm4_res` with `NLM4_DENIED_NOLOCKS`.
#[test]
fn a_refusal_byte_by_byte() {
    let call = b"\0\0\0\x04\x01\0\0\0\0\0\0\x01";
    let lock::Arguments { cookie } = lock::Arguments::decode(&mut Decoder::new(call)).expect("a call");
    let reply = Encoder::to_vec(&lock::Reply { cookie, status: Status::NoLocks });
    assert_eq!(reply, b"\0\0\0\x04\x01\0\0\0\0\0\0\x02");
}

#[test]
fn a_cookie_is_bounded() {
    let bytes = vec![7; LOCK_COOKIE_MAX as usize + 1];
    let within = Encoder::to_vec(&lock::Arguments { cookie: Cookie(&bytes[1..]) });
    assert!(lock::Arguments::decode(&mut Decoder::new(&within)).is_ok());
    let beyond = Encoder::to_vec(&lock::Arguments { cookie: Cookie(&bytes) });
    assert!(lock::Arguments::decode(&mut Decoder::new(&beyond)).is_err());
}
