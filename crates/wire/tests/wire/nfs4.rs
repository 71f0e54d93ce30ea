//! Properties of the messages of NFSv4: what is encoded is decoded again, a message that is cut anywhere is refused, random bytes
//! make no decoder panic, and what is longer than any is refused.

use howdah_wire::limits;
use howdah_wire::nfs4::attributes::{self, Attributes, Values};
use howdah_wire::nfs4::*;
use howdah_wire::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};
use proptest::prelude::*;

use crate::dice::{Dice, Roll};

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

/// For each operation: skipping its arguments ends where decoding them does, and what ends too early is refused.
macro_rules! passed {
    ($dice:ident; $($operation:ident,)*) => {$(
        let encoded = Encoder::to_vec(&$operation::Arguments::roll(&mut $dice));
        for message in [&encoded[..], &encoded[..encoded.len() - 1]] {
            let (mut decoded, mut passed) = (Decoder::new(message), Decoder::new(message));
            let is_whole = $operation::Arguments::decode(&mut decoded).is_ok();
            let is_passed = pass_arguments($operation::OPERATION, &mut passed).is_ok();
            if is_whole {
                prop_assert!(is_passed, "{}", stringify!($operation));
                prop_assert_eq!(passed.position(), decoded.position(), "{}", stringify!($operation));
            } else if message.len() < encoded.len() {
                prop_assert!(!is_passed, "{} is cut", stringify!($operation));
            }
        }
    )*};
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
    fn messages_about_files(bytes in some_bytes()) {
        every! { &bytes;
            close::Arguments, close::Success,
            commit::Arguments, commit::Success,
            create::Arguments<'_>, create::Success,
            link::Arguments<'_>, link::Success,
            nverify::Arguments<'_>,
            open::Arguments<'_>, open::Success<'_>,
            open_downgrade::Arguments, open_downgrade::Success,
            openattr::Arguments,
            read::Arguments, read::Success<'_>, read::Head,
            remove::Arguments<'_>, remove::Success,
            rename::Arguments<'_>, rename::Success,
            setattr::Arguments<'_>, setattr::Success,
            verify::Arguments<'_>,
            write::Arguments<'_>, write::Success,
        }
    }

    #[test]
    fn messages_about_states(bytes in some_bytes()) {
        every! { &bytes;
            backchannel_ctl::Arguments<'_>,
            bind_conn_to_session::Arguments, bind_conn_to_session::Success,
            delegpurge::Arguments, delegreturn::Arguments,
            destroy_clientid::Arguments, destroy_session::Arguments,
            free_stateid::Arguments,
            get_dir_delegation::Arguments, get_dir_delegation::Success,
            lock::Arguments<'_>, lock::Success, lock::Denied<'_>,
            lockt::Arguments<'_>,
            locku::Arguments, locku::Success,
            reclaim_complete::Arguments,
            secinfo::Arguments<'_>, secinfo::Success<'_>,
            secinfo_no_name::Arguments,
            set_ssv::Arguments<'_>, set_ssv::Success<'_>,
            test_stateid::Arguments<'_>, test_stateid::Success<'_>,
            callback::compound::Head<'_>,
            callback::notify_lock::Arguments<'_>,
            callback::recall::Arguments<'_>,
            callback::recall_any::Arguments, callback::recall_slot::Arguments,
            callback::sequence::Arguments<'_>, callback::sequence::Success,
        }
    }

    #[test]
    fn messages_of_minor_version_2(bytes in some_bytes()) {
        every! { &bytes;
            allocate::Arguments, deallocate::Arguments, clone::Arguments,
            copy::Arguments<'_>, copy::Success, copy::Requirements,
            offload_cancel::Arguments,
            seek::Arguments, seek::Success,
            getxattr::Arguments<'_>, getxattr::Success<'_>,
            listxattrs::Arguments, listxattrs::Success<'_>,
            removexattr::Arguments<'_>, removexattr::Success,
            setxattr::Arguments<'_>, setxattr::Success,
        }
    }

    #[test]
    fn arguments_are_passed_up_to_their_end(bytes in some_bytes()) {
        let mut dice = Dice::new(&bytes);
        passed! { dice;
            access, allocate, backchannel_ctl, clone, close, commit, copy, create, create_session, deallocate,
            delegreturn, destroy_clientid, destroy_session, exchange_id, free_stateid, get_dir_delegation, getattr, getxattr, link, listxattrs, lock, lockt, locku, lookup, nverify,
            offload_cancel, open, open_downgrade, openattr, putfh, read, readdir, reclaim_complete, remove,
            removexattr, rename, secinfo, secinfo_no_name, seek, set_ssv, setattr, setxattr,
            test_stateid, verify, write,
        }
        let without = [getfh::OPERATION, lookupp::OPERATION, putpubfh::OPERATION, putrootfh::OPERATION, readlink::OPERATION,
            restorefh::OPERATION, savefh::OPERATION];
        for operation in without {
            let mut arguments = Decoder::new(&bytes);
            prop_assert_eq!(pass_arguments(operation, &mut arguments).map(|()| arguments.position()), Ok(0));
        }
    }

    #[test]
    fn lists_of_names_stay_within_their_limit(bytes in some_bytes(), limit in 16..300_usize) {
        let mut dice = Dice::new(&bytes);
        let mut output = b"before".to_vec();
        let mut writer = listxattrs::NameWriter::new(&mut output, limit);
        let names: Vec<_> = std::iter::from_fn(|| {
            let name = Name::roll(&mut dice);
            writer.add(name).is_continue().then_some(name)
        }).take(20).collect();
        prop_assert_eq!(writer.count() as usize, names.len());
        writer.finish(7, true);
        prop_assert!(output.len() - 6 <= limit);
        let back = listxattrs::Success::decode(&mut Decoder::new(&output[6..])).expect("a list");
        prop_assert_eq!((back.cookie, back.end), (7, true));
        prop_assert_eq!(back.names.iter().collect::<Vec<_>>(), names);
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
    let value = behind(8, limits::XATTR_VALUE_MAX);
    refused(setxattr::Arguments::decode(&mut Decoder::new(&value)), limits::XATTR_VALUE_MAX);
    // A client, a sequence, flags, two channels and a program: then credentials.
    let credentials = behind(8 + 4 + 4 + 2 * 28 + 4, limits::ITEMS4_MAX);
    refused(create_session::Arguments::decode(&mut Decoder::new(&credentials)), limits::ITEMS4_MAX);
}
