//! Properties of the messages of NFSv4: what is encoded is decoded again, a message that is cut anywhere is refused, random bytes
//! make no decoder panic, and compounds as clients send them are understood byte by byte.

#[macro_use]
mod coding;
#[path = "nfs4/dice.rs"]
mod dice;

use dice::{Dice, Roll};
use howdah_wire::limits;
use howdah_wire::nfs4::attributes::{self, Attributes, Values};
use howdah_wire::nfs4::*;
use howdah_wire::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};
use proptest::prelude::*;

/// For each type: a random value comes back, and random bytes are decoded or refused.
macro_rules! every {
    ($bytes:expr; $($type:ty,)*) => {{
        let mut dice = Dice::new($bytes);
        $(
            comes_back!($type, <$type>::roll(&mut dice));
            let _ = <$type>::decode(&mut Decoder::new($bytes));
        )*
    }};
}

fn some_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop_oneof![Just(0), 0..4_u8, any::<u8>()], 64..1024)
}

proptest! {
    #[test]
    fn messages(bytes in some_bytes()) {
        every! { &bytes;
            compound::Head<'_>, compound::ReplyHead<'_>, compound::ResultHead,
            access::Arguments, access::Success,
            create_session::Arguments<'_>, create_session::Success,
            exchange_id::Arguments<'_>, exchange_id::Success<'_>,
            getattr::Arguments, getattr::Success<'_>,
            getfh::Success<'_>,
            lookup::Arguments<'_>,
            putfh::Arguments<'_>,
            readdir::Arguments, readdir::Success<'_>,
            readlink::Success<'_>,
            sequence::Arguments, sequence::Success,
        }
    }

    #[test]
    fn attributes_come_back_as_they_were(bytes in some_bytes(), words: [u32; 3]) {
        let values = Attributes::roll(&mut Dice::new(&bytes));
        let mut buffer = Vec::new();
        let sent = Values::of(&values, &mut buffer);
        prop_assert_eq!(sent.decode_all(), Ok(values));
        // A server writes those that are wanted, with or without looking before which it has.
        let wanted = Bitmap::from_words(words);
        let mut output = Vec::new();
        let written = values.write(&mut Encoder::new(&mut output), wanted);
        prop_assert_eq!(written, wanted & values.present());
        let back = Values::decode(&mut Decoder::new(&output)).expect("attributes");
        prop_assert_eq!((back.attributes, back.decode_all().map(|values| values.present())), (written, Ok(written)));
        let mut tried = Vec::new();
        let put = |number, encoder: &mut Encoder<'_>| values.put(number, encoder);
        prop_assert_eq!(attributes::write(&mut Encoder::new(&mut tried), wanted, put), written);
        prop_assert_eq!(Values::decode(&mut Decoder::new(&tried)), Ok(back));
        // Random values are refused or decoded.
        let _ = Values { attributes: wanted, has_unknown: false, bytes: &bytes }.decode_all();
    }

    #[test]
    fn listings_stay_within_their_budget(bytes in some_bytes(), whole in 0..600_usize, names in 0..200_usize) {
        let verifier = Verifier([7; 8]);
        let mut dice = Dice::new(&bytes);
        let mut output = b"before".to_vec();
        let mut writer = readdir::EntryWriter::new(&mut output, verifier, readdir::Budget { whole, names });
        let mut written = Vec::new();
        for _ in 0..8 {
            let entry = readdir::Entry::roll(&mut dice);
            if writer.add(entry.cookie, entry.name, |encoder| entry.attributes.encode(encoder)).is_break() {
                break;
            }
            written.push(entry);
        }
        prop_assert_eq!(writer.is_empty(), written.is_empty());
        writer.finish(true);
        prop_assert!(written.is_empty() || output.len() - 6 <= whole);
        let name_bytes = |entry: &readdir::Entry<'_>| 12 + entry.name.0.len().next_multiple_of(4);
        prop_assert!(written.len() < 2 || written.iter().map(name_bytes).sum::<usize>() <= names);
        let back = readdir::Success::decode(&mut Decoder::new(&output[6..])).expect("a listing");
        prop_assert_eq!((back.verifier, back.end), (verifier, true));
        prop_assert_eq!(back.entries.collect::<Vec<_>>(), written);
    }
}

/// Bytes written as hexadecimal digits, with spaces between them.
fn bytes(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hex")).collect()
}

/// SEQUENCE, PUTFH, GETATTR: how Linux asks for attributes.
#[test]
fn a_stat_byte_by_byte() {
    let call = bytes(
        "00000000 00000002 00000003
         00000035 0011223344556677 8899aabbccddeeff 00000009 00000002 00000003 00000000
         00000016 00000004 6e6f6465
         00000009 00000002 0010011a 00b0a23a",
    );
    let mut decoder = Decoder::new(&call);
    let head = compound::Head::decode(&mut decoder).expect("a compound");
    assert_eq!(head, compound::Head { tag: b"", minor_version: 2, operations: 3 });
    assert_eq!(decoder.u32("operation"), Ok(sequence::OPERATION));
    let sequence = sequence::Arguments::decode(&mut decoder).expect("SEQUENCE");
    assert_eq!((sequence.sequence, sequence.slot, sequence.highest_slot, sequence.keep), (9, 2, 3, false));
    assert_eq!(sequence.session.0[14..], [0xee, 0xff]);
    assert_eq!(decoder.u32("operation"), Ok(putfh::OPERATION));
    assert_eq!(putfh::Arguments::decode(&mut decoder), Ok(putfh::Arguments { node: FileHandle(b"node") }));
    assert_eq!(decoder.u32("operation"), Ok(getattr::OPERATION));
    let wanted = getattr::Arguments::decode(&mut decoder).expect("GETATTR").wanted;
    use attributes::*;
    let asked = Bitmap::of(&[
        TYPE,
        CHANGE,
        SIZE,
        FSID,
        FILEID,
        MODE,
        NUMLINKS,
        OWNER,
        OWNER_GROUP,
        RAWDEV,
        SPACE_USED,
        TIME_ACCESS,
        TIME_METADATA,
        TIME_MODIFY,
        MOUNTED_ON_FILEID,
    ]);
    assert_eq!(wanted, asked);
    assert_eq!(decoder.finish("compound"), Ok(()));
}

/// The reply to it.
#[test]
fn attributes_byte_by_byte() {
    let mut values = Attributes::default();
    values.identity.kind = Some(FileType::Directory);
    values.content.size = Some(4096);
    values.permissions.mode = Some(0o755);
    values.permissions.owner = Some(attributes::Principal(b"1000"));
    values.times.modified = Some(Time { seconds: -1, nanoseconds: 5 });
    let mut output = Vec::new();
    values.write(&mut Encoder::new(&mut output), Attributes::ALL);
    let expected = bytes(
        "00000002 00000012 00200012
         00000024 00000002 0000000000001000 000001ed 00000004 31303030 ffffffffffffffff 00000005",
    );
    assert_eq!(output, expected);
}

fn refused<T: std::fmt::Debug>(result: Result<T, DecodeError>, limit: u32) {
    let error = result.expect_err("it is too long");
    assert_eq!(error.problem, DecodeProblem::TooLong { claimed: limit + 1, limit });
}

#[test]
fn what_is_longer_than_any_is_refused() {
    let over = |limit: u32| (limit + 1).to_be_bytes();
    let behind = |zeros: usize, limit: u32| [&vec![0; zeros][..], &over(limit)].concat();
    refused(putfh::Arguments::decode(&mut Decoder::new(&over(limits::HANDLE4_MAX))), limits::HANDLE4_MAX);
    refused(compound::Head::decode(&mut Decoder::new(&over(limits::TAG_MAX))), limits::TAG_MAX);
    let owner = behind(8, limits::OPAQUE4_MAX);
    refused(exchange_id::Arguments::decode(&mut Decoder::new(&owner)), limits::OPAQUE4_MAX);
    let words = over(limits::BITMAP_WORDS_MAX);
    refused(getattr::Arguments::decode(&mut Decoder::new(&words)), limits::BITMAP_WORDS_MAX);
    let values = behind(4, limits::ATTRIBUTES_MAX);
    refused(getattr::Success::decode(&mut Decoder::new(&values)), limits::ATTRIBUTES_MAX);
    let label = behind(8, limits::SECURITY_LABEL_MAX);
    refused(attributes::SecurityLabel::decode(&mut Decoder::new(&label)), limits::SECURITY_LABEL_MAX);
    // A client, a sequence, flags, two channels and a program: then credentials.
    let credentials = behind(8 + 4 + 4 + 2 * 28 + 4, limits::ITEMS4_MAX);
    refused(create_session::Arguments::decode(&mut Decoder::new(&credentials)), limits::ITEMS4_MAX);
}
