//! Properties of the messages of NFSv3: what is encoded is decoded again, another implementation (the crate
//! `nfs3_types`) reads and writes the same bytes, and a message that is cut anywhere is refused.

#![allow(clippy::unwrap_used)]

use howdah_wire::nfs3::{listing, *};
use howdah_wire::xdr::{Decode, Decoder, Encoder};
use nfs3_types::nfs3 as oracle;
use nfs3_types::xdr_codec::{Pack, Unpack, Void};
use proptest::prelude::*;

use crate::samples;
use crate::samples::Sample;

/// What the other implementation makes of these bytes, written down again.
fn through_the_oracle<T: Pack + Unpack>(bytes: &[u8]) -> Vec<u8> {
    let (value, used) = T::unpack(&mut &bytes[..]).expect("the oracle reads it");
    assert_eq!(used, bytes.len(), "the oracle reads all of it");
    let mut again = Vec::new();
    value.pack(&mut again).expect("the oracle writes it");
    again
}

/// Ours -> bytes -> theirs -> bytes -> ours, and every beginning of the bytes is refused.
macro_rules! agree {
    ($ours:ty, $theirs:ty, $value:expr) => {{
        let value: $ours = $value;
        let bytes = Encoder::to_vec(&value);
        let again = through_the_oracle::<$theirs>(&bytes);
        assert_eq!(bytes, again, "{} and {}", stringify!($ours), stringify!($theirs));
        check!($ours, value, again);
    }};
}

macro_rules! check {
    ($ours:ty, $value:expr, $bytes:expr) => {{
        let mut decoder = Decoder::new(&$bytes);
        assert_eq!(<$ours>::decode(&mut decoder), Ok($value));
        assert_eq!(decoder.finish("message"), Ok(()));
        for length in 0..$bytes.len() {
            let cut = <$ours>::decode(&mut Decoder::new(&$bytes[..length]));
            assert!(cut.is_err(), "{} cut to {length} bytes", stringify!($ours));
        }
    }};
}

/// A reply that went well and one that was refused.
macro_rules! agree_reply {
    ($ours:ty, $theirs:ty, $status:expr, $success:expr, $detail:expr) => {{
        agree!($ours, $theirs, Ok($success));
        agree!($ours, $theirs, Err(Refused { status: $status, detail: $detail }));
    }};
}

proptest! {
    #[test]
    fn arguments(sample in samples::any_sample()) {
        let s: &Sample = &sample;
        let (node, [object, other]) = (s.node(), s.objects());
        agree!(getattr::Arguments, oracle::GETATTR3args, getattr::Arguments { node });
        agree!(setattr::Arguments, oracle::SETATTR3args, setattr::Arguments { node, new: s.new, guard: s.guard });
        agree!(lookup::Arguments, oracle::LOOKUP3args, lookup::Arguments { object });
        agree!(access::Arguments, oracle::ACCESS3args, access::Arguments { node, wanted: s.words[0] });
        agree!(readlink::Arguments, oracle::READLINK3args, readlink::Arguments { link: node });
        let (offset, count) = (s.longs[0], s.words[1]);
        agree!(read::Arguments, oracle::READ3args, read::Arguments { node, offset, count });
        let (stability, data) = (s.stability, &s.data[..]);
        let write = write::Arguments { node, offset, count, stability, data };
        agree!(write::Arguments, oracle::WRITE3args, write);
        let head = write::Head { node, offset, count, stability, length: s.data.len() as u32 };
        let bytes = Encoder::to_vec(&head);
        prop_assert!(Encoder::to_vec(&write).starts_with(&bytes), "the head is how the arguments start");
        check!(write::Head, head, bytes);
        for how in [create::How::Unchecked(s.new), create::How::Guarded(s.new), create::How::Exclusive(s.bytes)] {
            agree!(create::Arguments, oracle::CREATE3args, create::Arguments { object, how });
        }
        agree!(mkdir::Arguments, oracle::MKDIR3args, mkdir::Arguments { object, new: s.new });
        let symlink = symlink::Arguments { object, new: s.new, target: &s.target };
        agree!(symlink::Arguments, oracle::SYMLINK3args, symlink);
        let device = Device { major: s.words[2], minor: s.words[3] };
        for what in [
            mknod::What::CharacterDevice(s.new, device),
            mknod::What::BlockDevice(s.new, device),
            mknod::What::Socket(s.new),
            mknod::What::Fifo(s.new),
        ] {
            agree!(mknod::Arguments, oracle::MKNOD3args, mknod::Arguments { object, what });
        }
        for kind in [FileType::Regular, FileType::Directory, FileType::SymbolicLink] {
            let value = mknod::Arguments { object, what: mknod::What::Other(kind) };
            let bytes = Encoder::to_vec(&value);
            check!(mknod::Arguments, value, bytes);
        }
        agree!(remove::Arguments, oracle::REMOVE3args, remove::Arguments { object });
        agree!(rmdir::Arguments, oracle::RMDIR3args, rmdir::Arguments { object });
        agree!(rename::Arguments, oracle::RENAME3args, rename::Arguments { from: object, to: other });
        agree!(link::Arguments, oracle::LINK3args, link::Arguments { node, link: object });
        let (directory, cookie, verifier) = (node, s.longs[1], s.bytes);
        agree!(readdir::Arguments, oracle::READDIR3args, readdir::Arguments { directory, cookie, verifier, count });
        let plus = readdirplus::Arguments { directory, cookie, verifier, name_count: s.words[4], count };
        agree!(readdirplus::Arguments, oracle::READDIRPLUS3args, plus);
        agree!(fsstat::Arguments, oracle::FSSTAT3args, fsstat::Arguments { node });
        agree!(fsinfo::Arguments, oracle::FSINFO3args, fsinfo::Arguments { node });
        agree!(pathconf::Arguments, oracle::PATHCONF3args, pathconf::Arguments { node });
        agree!(commit::Arguments, oracle::COMMIT3args, commit::Arguments { node, offset, count });
    }

    #[test]
    fn replies(sample in samples::any_sample()) {
        let s: &Sample = &sample;
        let (node, status, [change, other]) = (s.node(), s.status, s.changes);
        let [attributes, directory] = s.optional;
        agree_reply!(getattr::Reply, oracle::GETATTR3res, status, getattr::Success { attributes: s.attributes }, ());
        agree_reply!(setattr::Reply, oracle::SETATTR3res, status, setattr::Success { node: change }, change);
        let lookup = lookup::Success { node, attributes, directory };
        agree_reply!(lookup::Reply, oracle::LOOKUP3res, status, lookup, directory);
        let access = access::Success { attributes, granted: s.words[0] };
        agree_reply!(access::Reply, oracle::ACCESS3res, status, access, attributes);
        let readlink = readlink::Success { attributes, target: &s.target };
        agree_reply!(readlink::Reply, oracle::READLINK3res, status, readlink, attributes);
        let read = read::Success { attributes, end: s.flags[0], data: &s.data };
        agree_reply!(read::Reply, oracle::READ3res, status, read, attributes);
        let (count, committed, verifier) = (s.words[1], s.stability, s.bytes);
        let write = write::Success { file: change, count, committed, verifier };
        agree_reply!(write::Reply, oracle::WRITE3res, status, write, change);
        let made = Made { node: s.flags[1].then_some(node), attributes, directory: change };
        agree_reply!(create::Reply, oracle::CREATE3res, status, made, change);
        agree_reply!(mkdir::Reply, oracle::MKDIR3res, status, made, change);
        agree_reply!(symlink::Reply, oracle::SYMLINK3res, status, made, change);
        agree_reply!(mknod::Reply, oracle::MKNOD3res, status, made, change);
        agree_reply!(remove::Reply, oracle::REMOVE3res, status, remove::Success { directory: change }, change);
        agree_reply!(rmdir::Reply, oracle::RMDIR3res, status, rmdir::Success { directory: change }, change);
        let directories = rename::Directories { from: change, to: other };
        agree_reply!(rename::Reply, oracle::RENAME3res, status, directories, directories);
        let linked = link::Linked { node: attributes, directory: change };
        agree_reply!(link::Reply, oracle::LINK3res, status, linked, linked);
        agree_reply!(fsstat::Reply, oracle::FSSTAT3res, status, s.fsstat(), attributes);
        agree_reply!(fsinfo::Reply, oracle::FSINFO3res, status, s.fsinfo(), attributes);
        agree_reply!(pathconf::Reply, oracle::PATHCONF3res, status, s.pathconf(), attributes);
        let commit = commit::Success { file: change, verifier };
        agree_reply!(commit::Reply, oracle::COMMIT3res, status, commit, change);
        agree!(readdir::Reply, oracle::READDIR3res, Err(Refused { status, detail: attributes }));
        agree!(readdirplus::Reply, oracle::READDIRPLUS3res, Err(Refused { status, detail: attributes }));
        agree!(null::Reply, Void, ());
    }

    #[test]
    fn listings(sample in samples::any_sample(), entries in samples::any_entries(), end: bool) {
        let budget = listing::Budget { whole: usize::MAX, names: usize::MAX };
        let [directory, attributes] = sample.optional;
        let names: Vec<_> = entries.iter().map(|(file, name, cookie)| {
            readdir::Entry { file: *file, name, cookie: *cookie }
        }).collect();
        let mut output = b"before".to_vec();
        let mut writer = listing::Writer::new(&mut output, sample.bytes, budget);
        names.iter().for_each(|entry| assert!(writer.add(entry).is_continue()));
        writer.finish(directory, end);
        let mut decoder = Decoder::new(&output[6..]);
        let reply = readdir::Reply::decode(&mut decoder).unwrap();
        let success = reply.unwrap();
        prop_assert_eq!(success.entries.collect::<Vec<_>>(), names.clone());
        prop_assert_eq!((success.directory, success.verifier, success.end), (directory, sample.bytes, end));
        agree!(readdir::Reply, oracle::READDIR3res, reply);

        let nodes: Vec<_> = names.iter().map(|&name| {
            readdirplus::Entry { name, attributes, node: (name.file % 2 == 0).then(|| sample.node()) }
        }).collect();
        let mut output = Vec::new();
        let mut writer = listing::Writer::new(&mut output, sample.bytes, budget);
        nodes.iter().for_each(|entry| assert!(writer.add(entry).is_continue()));
        writer.finish(directory, end);
        let reply = readdirplus::Reply::decode(&mut Decoder::new(&output)).unwrap();
        prop_assert_eq!(reply.unwrap().entries.collect::<Vec<_>>(), nodes);
        agree!(readdirplus::Reply, oracle::READDIRPLUS3res, reply);
    }

    /// RFC 1813 3.3.16: `count` is the most bytes of `READDIR3resok`, "all XDR overhead" included. As many entries
    /// as fit are given, and not one more.
    #[test]
    fn a_listing_keeps_to_its_budget(
        attributes in samples::any_attributes(),
        entries in samples::any_entries(),
        whole in 0_usize..2000,
        names in 0_usize..500,
    ) {
        let mut output = Vec::new();
        let mut writer = listing::Writer::new(&mut output, [0; 8], listing::Budget { whole, names });
        let mut given = 0;
        let (mut expected_whole, mut expected_names) = (4 + 84 + 8 + 4 + 4, 0);
        for (file, name, cookie) in &entries {
            let size = 8 + 4 + name.len().div_ceil(4) * 4 + 8;
            let fits = expected_whole + 4 + size <= whole && (given == 0 || expected_names + size <= names);
            let answer = writer.add(&readdir::Entry { file: *file, name, cookie: *cookie });
            prop_assert_eq!(answer.is_continue(), fits);
            if !fits {
                break;
            }
            given += 1;
            expected_whole += 4 + size;
            expected_names += size;
        }
        prop_assert_eq!(writer.is_empty(), given == 0);
        writer.finish(Some(attributes), false);
        prop_assert_eq!(output.len(), 4 + expected_whole);
    }

    /// Whatever the bytes, decoding ends, and with no more than an error.
    #[test]
    fn noise_is_no_danger(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let decoder = Decoder::new(&bytes);
        let _ = setattr::Arguments::decode(&mut decoder.clone());
        let _ = write::Arguments::decode(&mut decoder.clone());
        let _ = create::Arguments::decode(&mut decoder.clone());
        let _ = mknod::Arguments::decode(&mut decoder.clone());
        let _ = rename::Arguments::decode(&mut decoder.clone());
        let _ = readdirplus::Reply::decode(&mut decoder.clone());
        let _ = read::Reply::decode(&mut decoder.clone());
    }
}

/// The oracle's fields mean what ours mean: the properties above could not see two neighbours of one type swapped.
#[test]
fn fields_stand_in_their_places() {
    let time = |seconds| Time { seconds, nanoseconds: seconds + 1 };
    let ours = Attributes {
        kind: FileType::CharacterDevice,
        mode: 1,
        links: 2,
        user: 3,
        group: 4,
        size: 5 << 32 | 6,
        used: 7,
        device: Device { major: 8, minor: 9 },
        file_system: 10,
        file: 11,
        accessed: time(12),
        modified: time(14),
        changed: time(16),
    };
    let (theirs, _) = oracle::fattr3::unpack(&mut &Encoder::to_vec(&ours)[..]).unwrap();
    assert_eq!(theirs.type_, oracle::ftype3::NF3CHR);
    assert_eq!((theirs.mode, theirs.nlink, theirs.uid, theirs.gid), (1, 2, 3, 4));
    assert_eq!((theirs.size, theirs.used, theirs.fsid, theirs.fileid), (5 << 32 | 6, 7, 10, 11));
    assert_eq!((theirs.rdev.specdata1, theirs.rdev.specdata2), (8, 9));
    assert_eq!((theirs.atime.seconds, theirs.mtime.seconds, theirs.ctime.nseconds), (12, 14, 17));

    let sample = samples::counted();
    let (theirs, _) = oracle::FSINFO3resok::unpack(&mut &Encoder::to_vec(&sample.fsinfo())[..]).unwrap();
    let ours = sample.fsinfo();
    assert_eq!(
        (theirs.rtmax, theirs.rtpref, theirs.rtmult),
        (ours.read_max, ours.read_preferred, ours.read_multiple)
    );
    assert_eq!(
        (theirs.wtmax, theirs.wtpref, theirs.wtmult),
        (ours.write_max, ours.write_preferred, ours.write_multiple)
    );
    assert_eq!((theirs.dtpref, theirs.properties), (ours.directory_preferred, ours.properties));
    assert_eq!(theirs.maxfilesize, ours.largest_file);
    let (theirs, _) = oracle::FSSTAT3resok::unpack(&mut &Encoder::to_vec(&sample.fsstat())[..]).unwrap();
    let ours = sample.fsstat();
    assert_eq!(
        (theirs.tbytes, theirs.fbytes, theirs.abytes),
        (ours.total_bytes, ours.free_bytes, ours.available_bytes)
    );
    assert_eq!(
        (theirs.tfiles, theirs.ffiles, theirs.afiles),
        (ours.total_files, ours.free_files, ours.available_files)
    );
    let new =
        NewAttributes { mode: Some(1), user: Some(2), group: None, size: Some(3), ..Default::default() };
    let (theirs, _) = oracle::sattr3::unpack(&mut &Encoder::to_vec(&new)[..]).unwrap();
    assert_eq!((theirs.mode.unwrap(), theirs.uid.unwrap(), theirs.gid.is_none()), (1, 2, true));
}

#[test]
fn what_is_longer_than_any_is_refused() {
    use howdah_wire::limits::{DATA_MAX, FILE_NAME_MAX, HANDLE_MAX, LINK_TARGET_MAX};
    use howdah_wire::xdr::{DecodeError, DecodeProblem};
    let refused = |error: DecodeError, limit: u32| {
        assert_eq!(error.problem, DecodeProblem::TooLong { claimed: limit + 1, limit });
    };
    let handle = [&4u32.to_be_bytes()[..], b"node"].concat();
    let message = |parts: &[&[u8]]| parts.concat();
    let over = |limit: u32| (limit + 1).to_be_bytes();
    let most = HANDLE_MAX as u32;
    refused(getattr::Arguments::decode(&mut Decoder::new(&over(most))).expect_err("a handle"), most);
    let bytes = message(&[&handle, &over(FILE_NAME_MAX)]);
    refused(lookup::Arguments::decode(&mut Decoder::new(&bytes)).expect_err("a name"), FILE_NAME_MAX);
    // A name, new attributes that set nothing, and the target.
    let bytes = message(&[&handle, &4u32.to_be_bytes(), b"name", &[0; 24], &over(LINK_TARGET_MAX)]);
    refused(symlink::Arguments::decode(&mut Decoder::new(&bytes)).expect_err("a target"), LINK_TARGET_MAX);
    // An offset, a count, how stable, and the data.
    let bytes = message(&[&handle, &[0; 16], &over(DATA_MAX)]);
    refused(write::Arguments::decode(&mut Decoder::new(&bytes)).expect_err("data"), DATA_MAX);
}
