//! Compounds of NFSv4 as clients send them, and their results, byte by byte.

use howdah_wire::nfs4::attributes::{self, Attributes, Values};
use howdah_wire::nfs4::*;
use howdah_wire::xdr::{Decode, DecodeProblem, Decoder, Encoder};

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

/// PUTFH, OPEN, GETFH, ACCESS: how Linux opens a file that it makes (without SEQUENCE and GETATTR, which stand above).
#[test]
fn an_open_byte_by_byte() {
    let call = bytes(
        "00000012 00000000 00000003 00000000
         0011223344556677 00000018 6f70656e2069643a 0000002f00000000 0123456789abcdef
         00000001 00000000 00000002 00000010 00000002 0000000c 0000000000000000 000001a4
         00000000 00000004 66696c65
         0000000a
         00000003 0000002d",
    );
    let mut decoder = Decoder::new(&call);
    assert_eq!(decoder.u32("operation"), Ok(open::OPERATION));
    let open = open::Arguments::decode(&mut decoder).expect("OPEN");
    assert_eq!((open.access, open.deny), (open::ACCESS_BOTH, open::DENY_NONE));
    assert_eq!((open.owner.client, open.owner.owner.0.len()), (ClientId(0x0011_2233_4455_6677), 24));
    assert_eq!(open.claim, open::Claim::Name(Name(b"file")));
    let Some(open::How::Unchecked(attributes)) = open.create else { panic!("{:?}", open.create) };
    let attributes = attributes.decode_all().expect("attributes");
    assert_eq!((attributes.content.size, attributes.permissions.mode), (Some(0), Some(0o644)));
    assert_eq!(decoder.u32("operation"), Ok(getfh::OPERATION));
    assert_eq!(decoder.u32("operation"), Ok(access::OPERATION));
    let wanted = access::READ | access::MODIFY | access::EXTEND | access::EXECUTE;
    assert_eq!(access::Arguments::decode(&mut decoder), Ok(access::Arguments { wanted }));
    assert_eq!(decoder.finish("compound"), Ok(()));
}

/// The result of the OPEN, without a delegation.
#[test]
fn an_opened_file_byte_by_byte() {
    let result = open::Success {
        state: StateId { sequence: 1, other: *b"twelve bytes" },
        directory: ChangeInfo { atomic: false, before: 6, after: 7 },
        flags: open::POSIX_LOCKS,
        attributes_set: Bitmap::of(&[attributes::SIZE, attributes::MODE]),
        delegation: open::Delegation::NoneBecause(open::WhyNone::Resource(false)),
    };
    let expected = bytes(
        "00000001 7477656c7665206279746573 00000000 0000000000000006 0000000000000007 00000004
         00000002 00000010 00000002 00000003 00000002 00000000",
    );
    assert_eq!(Encoder::to_vec(&result), expected);
}

#[test]
fn the_payload_is_found_in_a_write_byte_by_byte() {
    let call =
        bytes("00000026 00000001 0102030405060708 090a0b0c 0000000000001000 00000002 00000003 616263ff");
    let mut decoder = Decoder::new(&call);
    assert_eq!(decoder.u32("operation"), Ok(write::OPERATION));
    let write = write::Arguments::decode(&mut decoder).expect("WRITE");
    assert_eq!((write.offset, write.stability, write.data), (4096, Stability::FileSync, &b"abc"[..]));
}

#[test]
fn special_stateids_are_as_the_rfc_has_them() {
    assert_eq!(Encoder::to_vec(&StateId::ANONYMOUS), [0; 16]);
    assert_eq!(Encoder::to_vec(&StateId::READ_BYPASS), [0xff; 16]);
    assert_eq!(Encoder::to_vec(&StateId::CURRENT), [&[0, 0, 0, 1][..], &[0; 12]].concat());
    assert_eq!(Encoder::to_vec(&StateId::INVALID), [&[0xff; 4][..], &[0; 12]].concat());
}

/// Values behind bits that no set keeps are left over, and not believed.
#[test]
fn attributes_without_a_place_are_told() {
    let call = bytes("00000004 00000010 00000000 00000000 00000001 0000000c 0000000000000007 00000001");
    let values = Values::decode(&mut Decoder::new(&call)).expect("values");
    assert!(values.has_unknown && values.attributes == Bitmap::of(&[attributes::SIZE]));
    assert_eq!(values.decode_all().expect_err("four bytes").problem, DecodeProblem::Trailing(4));
    let again = Encoder::to_vec(&values);
    assert_eq!(Values::decode(&mut Decoder::new(&again)), Ok(values));
    let acl = Values { attributes: Bitmap::of(&[attributes::ACL]), has_unknown: false, bytes: &[0; 4] };
    assert_eq!(acl.decode_all().expect_err("an ACL").problem, DecodeProblem::UnknownValue(attributes::ACL));
}
