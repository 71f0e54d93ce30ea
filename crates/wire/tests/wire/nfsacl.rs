//! NFSACL: both directions of every message.

use howdah_wire::nfs3::FileHandle;
use howdah_wire::nfsacl::{ACL_ENTRIES_MAX, AclEntryOnWire, AclOnWire, AclSelection, getacl, setacl};
use howdah_wire::xdr::{Array, Decode, Decoder, Encoder};
use proptest::prelude::*;

const ENTRY: AclEntryOnWire = AclEntryOnWire { tag: 2, id: 1001, rights: 6 };

fn acl(entries: &[AclEntryOnWire]) -> AclOnWire<'_> {
    AclOnWire { count: entries.len() as u32, entries: Array::of(entries) }
}

proptest! {
    #[test]
    fn messages_of_nfsacl(
        handle in prop::collection::vec(any::<u8>(), 0..64),
        numbers in prop::collection::vec(any::<[u32; 3]>(), 0..9),
        selection: u32,
    ) {
        let entry = |&[tag, id, rights]: &[u32; 3]| AclEntryOnWire { tag, id, rights };
        let entries: Vec<_> = numbers.iter().map(entry).collect();
        let (node, selection) = (FileHandle(&handle), AclSelection(selection));
        let (access, default) = (acl(&entries), acl(&entries[..entries.len() / 2]));
        comes_back!(getacl::Arguments<'_>, getacl::Arguments { node, selection });
        comes_back!(setacl::Arguments<'_>, setacl::Arguments { node, selection, access, default });
        comes_back!(
            getacl::Reply<'_>,
            Ok(getacl::Success { attributes: None, selection, access, default })
        );
        comes_back!(setacl::Reply, Ok(setacl::Success { attributes: None }));
    }

    #[test]
    fn random_bytes_are_decoded_or_refused(
        bytes in prop::collection::vec(prop_oneof![Just(0), 0..4_u8, any::<u8>()], 0..200)
    ) {
        let _ = getacl::Arguments::decode(&mut Decoder::new(&bytes));
        let _ = getacl::Reply::decode(&mut Decoder::new(&bytes));
        let _ = setacl::Arguments::decode(&mut Decoder::new(&bytes));
        let _ = setacl::Reply::decode(&mut Decoder::new(&bytes));
    }
}

/// A SETACL, laid out as a Linux client's.
#[test]
fn a_setacl_byte_by_byte() {
    let entries = [ENTRY, AclEntryOnWire { tag: 0x10, id: 0, rights: 7 }];
    let node = FileHandle(b"file");
    let (access, default) = (acl(&entries), AclOnWire { count: 0, entries: Array::default() });
    let arguments = setacl::Arguments { node, selection: AclSelection::ACCESS, access, default };
    let bytes =
        b"\0\0\0\x04file\0\0\0\x01\0\0\0\x02\0\0\0\x02\0\0\0\x02\0\0\x03\xe9\0\0\0\x06\0\0\0\x10\0\0\0\0\
                  \0\0\0\x07\0\0\0\0\0\0\0\0";
    assert_eq!(Encoder::to_vec(&arguments), bytes);
}

#[test]
fn an_acl_is_bounded() {
    let entries = vec![ENTRY; ACL_ENTRIES_MAX as usize];
    let mut bytes = Encoder::to_vec(&acl(&entries));
    assert!(AclOnWire::decode(&mut Decoder::new(&bytes)).is_ok());
    bytes[4..8].copy_from_slice(&(ACL_ENTRIES_MAX + 1).to_be_bytes());
    bytes.extend([0; 12]);
    assert!(AclOnWire::decode(&mut Decoder::new(&bytes)).is_err());
}
