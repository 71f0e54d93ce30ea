//! MOUNT: both directions of every message, against themselves and against another implementation.

use howdah_wire::mount::{DirectoryPath, HostName, Status, dump, export, mnt, umnt};
use howdah_wire::nfs3::FileHandle;
use howdah_wire::rpc::AuthFlavor;
use howdah_wire::xdr::{Decode, DecodeProblem, Decoder};
use nfs3_types::mount as theirs;
use nfs3_types::xdr_codec::{List, Opaque, Pack, Unpack};
use proptest::prelude::*;

fn packed(value: &impl Pack) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.pack(&mut bytes).expect("a vector takes everything");
    bytes
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..=most)
}

fn their_name(bytes: &[u8]) -> theirs::name<'_> {
    theirs::name(Opaque::borrowed(bytes))
}

fn their_path(bytes: &[u8]) -> theirs::dirpath<'_> {
    theirs::dirpath(Opaque::borrowed(bytes))
}

proptest! {
    #[test]
    fn paths(path in bytes(40)) {
        let ours = comes_back!(mnt::Arguments<'_>, mnt::Arguments { path: DirectoryPath(&path) });
        prop_assert_eq!(&ours, &comes_back!(umnt::Arguments<'_>, umnt::Arguments { path: DirectoryPath(&path) }));
        prop_assert_eq!(&ours, &packed(&their_path(&path)));
        prop_assert_eq!(&theirs::dirpath::unpack(&mut &ours[..]).expect("they read ours").0.0[..], &path[..]);
    }

    #[test]
    fn handles(handle in bytes(64), flavors in prop::collection::vec(any::<u32>(), 0..8)) {
        let success =
            mnt::Success { handle: FileHandle(&handle), flavors: flavors.iter().copied().map(AuthFlavor).collect() };
        let ours = comes_back!(mnt::Reply<'_>, Ok(success));
        let same = theirs::mountres3::Ok(theirs::mountres3_ok {
            fhandle: theirs::fhandle3(Opaque::borrowed(&handle)),
            auth_flavors: flavors,
        });
        prop_assert_eq!(ours, packed(&same));
    }

    #[test]
    fn handles_of_version_1(handle in any::<[u8; 32]>()) {
        let ours = comes_back!(mnt::Reply1, Ok(mnt::Success1 { handle }));
        prop_assert_eq!(ours.len(), 36);
        prop_assert_eq!(&ours[4..], &handle);
    }

    #[test]
    fn mounts(list in prop::collection::vec((bytes(12), bytes(20)), 0..5)) {
        let mounts = list.iter().map(|(host, path)| dump::Mount { host: HostName(host), path: DirectoryPath(path) });
        let ours = comes_back!(dump::Reply<'_>, dump::Reply { mounts: mounts.collect() });
        let same = list.iter().map(|(host, path)| theirs::mountbody {
            ml_hostname: their_name(host),
            ml_directory: their_path(path),
        });
        prop_assert_eq!(ours, packed(&List(same.collect())));
    }

    #[test]
    fn exports(list in prop::collection::vec((bytes(12), prop::collection::vec(bytes(9), 0..4)), 0..4)) {
        let exports = list.iter().map(|(path, groups)| export::Export {
            path: DirectoryPath(path),
            groups: groups.iter().map(|group| HostName(group)).collect(),
        });
        let ours = comes_back!(export::Reply<'_>, export::Reply { exports: exports.collect() });
        let same = list.iter().map(|(path, groups)| theirs::export_node {
            ex_dir: their_path(path),
            ex_groups: List(groups.iter().map(|group| their_name(group)).collect()),
        });
        prop_assert_eq!(ours, packed(&List(same.collect())));
    }

    #[test]
    fn noise_is_refused_or_read_but_never_panics(noise in bytes(200)) {
        let decoder = || Decoder::new(&noise);
        let _ = mnt::Arguments::decode(&mut decoder());
        let _ = mnt::Reply::decode(&mut decoder());
        let _ = mnt::Reply1::decode(&mut decoder());
        let _ = dump::Reply::decode(&mut decoder());
        let _ = export::Reply::decode(&mut decoder());
    }
}

#[test]
fn every_status_comes_back_and_is_theirs_too() {
    for &status in Status::ALL {
        let ours = comes_back!(mnt::Reply<'_>, Err(status));
        assert_eq!(ours, comes_back!(mnt::Reply1, Err(status)));
        let theirs = theirs::mountstat3::unpack(&mut &ours[..]).expect("they know it").0;
        assert_eq!(theirs as u32, status as u32);
    }
    let error = mnt::Reply::decode(&mut Decoder::new(&[0, 0, 0, 3])).expect_err("3 is not assigned");
    assert_eq!(error.problem, DecodeProblem::UnknownValue(3));
}

#[test]
fn lengths_stop_at_the_limits_of_the_protocol() {
    let path = [b'/'; 1025];
    comes_back!(umnt::Arguments<'_>, umnt::Arguments { path: DirectoryPath(&path[..1024]) });
    let mut long = packed(&their_path(&path));
    let error = umnt::Arguments::decode(&mut Decoder::new(&long)).expect_err("one byte too long");
    assert_eq!(error.problem, DecodeProblem::TooLong { claimed: 1025, limit: 1024 });

    // A count of flavors that nobody could mean is refused before anything is made for it.
    long = [0u32, 0, u32::MAX].iter().flat_map(|word| word.to_be_bytes()).collect();
    let error = mnt::Reply::decode(&mut Decoder::new(&long)).expect_err("4 billion flavors");
    assert_eq!(error.problem, DecodeProblem::TooLong { claimed: u32::MAX, limit: 64 });
}
