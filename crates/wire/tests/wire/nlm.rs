//! NLM and NSM: both directions of every message.

use howdah_wire::limits::{LOCK_COOKIE_MAX, LOCK_OWNER_MAX, MONITOR_NAME_MAX};
use howdah_wire::nfs3::FileHandle;
use howdah_wire::nlm::{
    CallerName, Cookie, Holder, Lock, LockOwner, Status, cancel, free_all, granted, lock, share, sm_notify,
    test, unlock,
};
use howdah_wire::nsm::{
    Monitor, MonitorName, Monitored, MonitoringResult, mon, notify, stat, unmon, unmon_all,
};
use howdah_wire::xdr::{Decode, Decoder, Encoder};
use proptest::prelude::*;

fn some_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..40)
}

proptest! {
    #[test]
    fn messages_of_nlm(
        texts in [some_bytes(), some_bytes(), some_bytes(), some_bytes()],
        words: [u32; 2],
        longs: [u64; 2],
        flags: [bool; 3],
        private: [u8; 16],
    ) {
        let [cookie, caller, file, owner] = &texts;
        let (cookie, caller, file, owner) =
            (Cookie(cookie), CallerName(caller), FileHandle(file), LockOwner(owner));
        let ([process, state], [offset, length], [block, exclusive, reclaim]) = (words, longs, flags);
        let lock = Lock { caller, file, owner, process, offset, length };
        comes_back!(lock::Arguments<'_>, lock::Arguments { cookie, block, exclusive, lock, reclaim, state });
        comes_back!(test::Arguments<'_>, test::Arguments { cookie, exclusive, lock });
        comes_back!(granted::Arguments<'_>, granted::Arguments { cookie, exclusive, lock });
        comes_back!(cancel::Arguments<'_>, cancel::Arguments { cookie, block, exclusive, lock });
        comes_back!(unlock::Arguments<'_>, unlock::Arguments { cookie, lock });
        for &status in Status::ALL {
            comes_back!(lock::Reply<'_>, lock::Reply { cookie, status });
            comes_back!(share::Reply<'_>, share::Reply { cookie, status, sequence: state });
            if status != Status::Denied {
                comes_back!(test::Reply<'_>, test::Reply { cookie, outcome: test::Outcome::Other(status) });
            }
        }
        let outcome = test::Outcome::Denied(Holder { exclusive, process, owner, offset, length });
        comes_back!(test::Reply<'_>, test::Reply { cookie, outcome });
        for (&deny, &access) in share::ShareDeny::ALL.iter().zip(share::ShareAccess::ALL) {
            let share = share::Share { caller, file, owner, deny, access };
            comes_back!(share::Arguments<'_>, share::Arguments { cookie, share, reclaim });
        }
        comes_back!(free_all::Arguments<'_>, free_all::Arguments { name: caller, state });
        comes_back!(sm_notify::Arguments<'_>, sm_notify::Arguments { name: caller, state, private });
    }

    #[test]
    fn messages_of_nsm(
        texts in [some_bytes(), some_bytes()],
        [program, version, procedure, state]: [u32; 4],
        private: [u8; 16],
    ) {
        let [name, own] = &texts;
        let (name, own) = (MonitorName(name), MonitorName(own));
        let by = Monitor { name: own, program, version, procedure };
        let monitored = Monitored { name, by };
        comes_back!(stat::Arguments<'_>, stat::Arguments { name });
        comes_back!(mon::Arguments<'_>, mon::Arguments { monitored, private });
        comes_back!(unmon::Arguments<'_>, unmon::Arguments { monitored });
        comes_back!(unmon_all::Arguments<'_>, unmon_all::Arguments { by });
        comes_back!(notify::Arguments<'_>, notify::Arguments { name, state });
        comes_back!(unmon::Reply, unmon::Reply { state });
        for &result in MonitoringResult::ALL {
            comes_back!(stat::Reply, stat::Reply { result, state });
        }
    }

    #[test]
    fn random_bytes_are_decoded_or_refused(
        bytes in prop::collection::vec(prop_oneof![Just(0), 0..4_u8, any::<u8>()], 0..200)
    ) {
        macro_rules! decoded {
            ($($type:ty),*) => { $(let _ = <$type>::decode(&mut Decoder::new(&bytes));)* };
        }
        decoded!(lock::Arguments, lock::Reply, test::Arguments, test::Reply, cancel::Arguments, unlock::Arguments);
        decoded!(share::Arguments, share::Reply, free_all::Arguments, sm_notify::Arguments);
        decoded!(stat::Arguments, stat::Reply, mon::Arguments, unmon::Arguments, unmon::Reply);
        decoded!(unmon_all::Arguments, notify::Arguments);
    }
}

/// A LOCK, laid out as a Linux client's, and its refusal: `nlm4_res` with `NLM4_DENIED_NOLOCKS`.
#[test]
fn a_lock_byte_by_byte() {
    let call = b"\0\0\0\x04\x01\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\x04host\0\0\0\x04file\0\0\0\x067@host\0\0\
                 \0\0\0\x07\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x03";
    let mut decoder = Decoder::new(call);
    let lock::Arguments { cookie, block, exclusive, lock, reclaim, state } =
        lock::Arguments::decode(&mut decoder).expect("a call");
    assert_eq!(decoder.finish("call"), Ok(()));
    let (caller, file, owner) = (CallerName(b"host"), FileHandle(b"file"), LockOwner(b"7@host"));
    assert_eq!(lock, Lock { caller, file, owner, process: 7, offset: 4096, length: 0 });
    assert_eq!((block, exclusive, reclaim, state), (true, true, false, 3));
    let reply = Encoder::to_vec(&lock::Reply { cookie, status: Status::NoLocks });
    assert_eq!(reply, b"\0\0\0\x04\x01\0\0\0\0\0\0\x02");
}

/// NOTIFY of a host that started for the second time.
#[test]
fn a_restart_byte_by_byte() {
    let encoded = Encoder::to_vec(&notify::Arguments { name: MonitorName(b"host7"), state: 3 });
    assert_eq!(encoded, b"\0\0\0\x05host7\0\0\0\0\0\0\x03");
}

#[test]
fn a_cookie_is_bounded() {
    let bytes = vec![7; LOCK_COOKIE_MAX as usize + 1];
    let within = Encoder::to_vec(&Cookie(&bytes[1..]));
    assert!(Cookie::decode(&mut Decoder::new(&within)).is_ok());
    let beyond = Encoder::to_vec(&Cookie(&bytes));
    assert!(Cookie::decode(&mut Decoder::new(&beyond)).is_err());
}

#[test]
fn names_and_owners_are_bounded() {
    let owner = vec![7; LOCK_OWNER_MAX as usize + 1];
    assert!(LockOwner::decode(&mut Decoder::new(&Encoder::to_vec(&LockOwner(&owner[1..])))).is_ok());
    assert!(LockOwner::decode(&mut Decoder::new(&Encoder::to_vec(&LockOwner(&owner)))).is_err());
    let name = vec![b'h'; MONITOR_NAME_MAX as usize + 1];
    for (name, fits) in [(&name[1..], true), (&name[..], false)] {
        let caller = Encoder::to_vec(&CallerName(name));
        assert_eq!(CallerName::decode(&mut Decoder::new(&caller)).is_ok(), fits);
        assert_eq!(MonitorName::decode(&mut Decoder::new(&caller)).is_ok(), fits);
    }
}
