//! rquota: both directions of every message, and their bytes.

use howdah_wire::limits::QUOTA_PATH_MAX;
use howdah_wire::rquota::getquota::{Arguments1, Arguments2, GROUP, Reply};
use howdah_wire::rquota::{QuotaPath, RemoteQuota};
use howdah_wire::xdr::{Decode, Decoder, Encoder};
use proptest::prelude::*;

proptest! {
    #[test]
    fn messages_come_back(path in prop::collection::vec(any::<u8>(), 0..40), words: [u32; 9], is_active: bool) {
        let path = QuotaPath(&path);
        let [block_size, block_hard_limit, block_soft_limit, blocks, file_hard_limit, file_soft_limit, files, block_time_left, file_time_left] = words;
        comes_back!(Arguments1<'_>, Arguments1 { path, user: files });
        comes_back!(Arguments2<'_>, Arguments2 { path, kind: blocks, id: files });
        let quota = RemoteQuota {
            block_size, is_active, block_hard_limit, block_soft_limit, blocks,
            file_hard_limit, file_soft_limit, files, block_time_left, file_time_left,
        };
        for reply in [Reply::Quota(quota), Reply::NoQuota, Reply::NotPermitted] {
            comes_back!(Reply, reply);
        }
    }

    #[test]
    fn random_bytes_are_decoded_or_refused(bytes in prop::collection::vec(prop_oneof![Just(0), 0..4_u8, any::<u8>()], 0..80)) {
        let _ = Arguments1::decode(&mut Decoder::new(&bytes));
        let _ = Arguments2::decode(&mut Decoder::new(&bytes));
        let _ = Reply::decode(&mut Decoder::new(&bytes));
    }
}

/// A question of version 2 for group 7 below `/srv`, and the answer of a quota that is not enforced.
#[test]
fn messages_byte_by_byte() {
    let call = b"\0\0\0\x04/srv\0\0\0\x01\0\0\0\x07";
    let arguments = Arguments2 { path: QuotaPath(b"/srv"), kind: GROUP, id: 7 };
    assert_eq!(Arguments2::decode(&mut Decoder::new(call)), Ok(arguments));
    let quota = RemoteQuota {
        block_size: 1024,
        is_active: false,
        block_hard_limit: 2,
        block_soft_limit: 3,
        blocks: 4,
        file_hard_limit: 5,
        file_soft_limit: 6,
        files: 7,
        block_time_left: 8,
        file_time_left: 9,
    };
    let words = [1, 1024, 0, 2, 3, 4, 5, 6, 7, 8, 9_u32];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    assert_eq!(Encoder::to_vec(&Reply::Quota(quota)), bytes);
    assert_eq!(Encoder::to_vec(&Reply::NotPermitted), b"\0\0\0\x03");
}

#[test]
fn a_path_is_bounded() {
    let path = vec![b'p'; QUOTA_PATH_MAX as usize + 1];
    let longest = &path[1..];
    let coded = |path| Encoder::to_vec(&Arguments1 { path: QuotaPath(path), user: 1 });
    assert!(Arguments1::decode(&mut Decoder::new(&coded(longest))).is_ok());
    assert!(Arguments1::decode(&mut Decoder::new(&coded(&path))).is_err());
}
