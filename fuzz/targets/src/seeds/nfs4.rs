//! Compounds, callbacks and calls of lock managers.

use howdah_wire::nfs3::FileHandle as LockedFile;
use howdah_wire::nfs4::attributes::{Attributes, Principal, Values};
use howdah_wire::nfs4::*;
use howdah_wire::nlm::{CallerName, Cookie, Holder, Lock, LockOwner, share, sm_notify, test};
use howdah_wire::nsm::{Monitor, MonitorName, Monitored, mon, notify};
use howdah_wire::xdr::{Array, Encode, Encoder};

/// A message of operations behind a head, each as its number and its bytes.
fn compound(choice: u8, head: &impl Encode, operations: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut message = super::chosen(choice, head);
    for (operation, bytes) in operations {
        message.extend_from_slice(&operation.to_be_bytes());
        message.extend_from_slice(bytes);
    }
    message
}

/// The same for results that went well.
fn results(choice: u8, bodies: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let head = compound::ReplyHead { status: Status::OK, tag: b"", results: bodies.len() as u32 };
    let bodies: Vec<_> =
        bodies.iter().map(|(number, body)| (*number, [&[0; 4][..], body].concat())).collect();
    compound(choice, &head, &bodies)
}

fn some_attributes() -> Attributes<'static> {
    let mut values = Attributes::default();
    values.identity.kind = Some(FileType::Regular);
    values.content.size = Some(4096);
    values.permissions.mode = Some(0o644);
    values.permissions.owner = Some(Principal(b"1000"));
    values.times.modified = Some(Time { seconds: 1_700_000_000, nanoseconds: 1 });
    values.support.attributes = Some(Attributes::ALL);
    values
}

/// The operations with arguments that most others are like.
fn operations() -> Vec<(u32, Vec<u8>)> {
    let mut buffer = Vec::new();
    let mut new = Attributes::default();
    (new.content.size, new.permissions.mode) = (Some(0), Some(0o600));
    let attributes = Values::of(&new, &mut buffer);
    let (state, session) = (StateId { sequence: 1, other: [7; 12] }, SessionId([9; 16]));
    let owner = Owner { client: ClientId(7), owner: Opaque(b"open id:7") };
    let create = Some(open::How::ExclusiveWith(Verifier([3; 8]), attributes));
    let claim = open::Claim::Name(Name(b"name"));
    let open = open::Arguments { sequence: 0, access: 3, deny: 0, owner, create, claim };
    let locker =
        lock::LockingOwner::First(lock::FirstLock { open_sequence: 0, open: state, lock_sequence: 0, owner });
    let lock =
        lock::Arguments { kind: LockKind::WriteWait, reclaim: false, offset: 0, length: u64::MAX, locker };
    let write = write::Arguments { state, offset: 4096, stability: Stability::FileSync, data: b"howdy" };
    let node = create::NewNode::SymbolicLink(LinkTarget(b"../target"));
    let wanted = Attributes::ALL;
    let readdir =
        readdir::Arguments { cookie: 3, verifier: Verifier([0; 8]), name_count: 99, count: 999, wanted };
    let sequence = sequence::Arguments { session, sequence: 1, slot: 0, highest_slot: 63, keep: true };
    vec![
        (sequence::OPERATION, Encoder::to_vec(&sequence)),
        (putfh::OPERATION, Encoder::to_vec(&putfh::Arguments { node: FileHandle(&[5; 61]) })),
        (open::OPERATION, Encoder::to_vec(&open)),
        (getfh::OPERATION, Vec::new()),
        (getattr::OPERATION, Encoder::to_vec(&getattr::Arguments { wanted })),
        (write::OPERATION, Encoder::to_vec(&write)),
        (setattr::OPERATION, Encoder::to_vec(&setattr::Arguments { state, attributes })),
        (create::OPERATION, Encoder::to_vec(&create::Arguments { node, name: Name(b"link"), attributes })),
        (lock::OPERATION, Encoder::to_vec(&lock)),
        (readdir::OPERATION, Encoder::to_vec(&readdir)),
    ]
}

fn first_call() -> Vec<u8> {
    let arguments = exchange_id::Arguments {
        owner: exchange_id::ClientOwner { verifier: Verifier([1; 8]), owner: Opaque(b"Linux NFSv4.2 host") },
        flags: exchange_id::FOLLOWS_REFERRALS | exchange_id::BIND_PRINCIPAL,
        protection: exchange_id::Protection::None,
        implementation: None,
    };
    let head = compound::Head { tag: b"", minor_version: 2, operations: 1 };
    compound(0, &head, &[(exchange_id::OPERATION, Encoder::to_vec(&arguments))])
}

fn session() -> Vec<u8> {
    let channel = create_session::ChannelSizes {
        header_padding: 0,
        request: 1 << 20,
        response: 1 << 20,
        kept_response: 7584,
        operations: 8,
        slots: 64,
        rdma_reads: None,
    };
    let arguments = create_session::Arguments {
        client: ClientId(7),
        sequence: 1,
        flags: create_session::PERSISTENT | create_session::BACK_CHANNEL,
        fore: channel,
        back: channel,
        callback_program: 0x4000_0000,
        security: Array::of(&[CallbackSecurity::None]),
    };
    let head = compound::Head { tag: b"", minor_version: 1, operations: 1 };
    compound(0, &head, &[(create_session::OPERATION, Encoder::to_vec(&arguments))])
}

fn replies() -> Vec<Vec<u8>> {
    let (mut buffer, mut listing) = (Vec::new(), Vec::new());
    let values = some_attributes();
    let budget = readdir::Budget { whole: 4096, names: 4096 };
    let mut writer = readdir::EntryWriter::new(&mut listing, Verifier([0; 8]), budget);
    for cookie in 3..6 {
        let added = writer.add(cookie, Name(b"name"), |encoder| {
            values.write(encoder, Attributes::ALL);
        });
        assert!(added.is_continue(), "there is room");
    }
    writer.finish(true);
    let delegation = open::Delegation::NoneBecause(open::WhyNone::Contention(false));
    let open = open::Success {
        state: StateId::CURRENT,
        directory: ChangeInfo { atomic: true, before: 1, after: 2 },
        flags: open::POSIX_LOCKS,
        attributes_set: Bitmap::NONE,
        delegation,
    };
    let attributes = Values::of(&values, &mut buffer);
    let bodies = [
        (putfh::OPERATION, Vec::new()),
        (open::OPERATION, Encoder::to_vec(&open)),
        (getattr::OPERATION, Encoder::to_vec(&getattr::Success { attributes })),
        (read::OPERATION, Encoder::to_vec(&read::Success { end: true, data: b"howdy" })),
        (readdir::OPERATION, listing),
    ];
    let mut refused = compound(
        1,
        &compound::ReplyHead { status: Status::DENIED, tag: b"tag", results: 1 },
        &[(lock::OPERATION, Encoder::to_vec(&Status::DENIED))],
    );
    let owner = Owner { client: ClientId(7), owner: Opaque(b"lock id:7") };
    lock::Denied { offset: 0, length: 9, kind: LockKind::Read, owner }
        .encode(&mut Encoder::new(&mut refused));
    vec![results(1, &bodies), refused]
}

fn callbacks() -> Vec<Vec<u8>> {
    let (session, calls) = (SessionId([9; 16]), [callback::sequence::ReferringCall { sequence: 3, slot: 1 }]);
    let referring = [callback::sequence::ReferringCalls { session, calls: Array::of(&calls) }];
    let sequence = callback::sequence::Arguments {
        session,
        sequence: 1,
        slot: 0,
        highest_slot: 0,
        keep: false,
        referring: Array::of(&referring),
    };
    let owner = Owner { client: ClientId(7), owner: Opaque(b"lock id:7") };
    let node = FileHandle(&[5; 61]);
    let operations = [
        (callback::sequence::OPERATION, Encoder::to_vec(&sequence)),
        (
            callback::notify_lock::OPERATION,
            Encoder::to_vec(&callback::notify_lock::Arguments { node, owner }),
        ),
    ];
    let head = callback::compound::Head { tag: b"", minor_version: 1, identifier: 0, operations: 2 };
    let success = callback::sequence::Success {
        session,
        sequence: 1,
        slot: 0,
        highest_slot: 0,
        target_highest_slot: 0,
    };
    let bodies = [(callback::sequence::OPERATION, Encoder::to_vec(&success))];
    vec![compound(2, &head, &operations), results(3, &bodies)]
}

/// Compounds and callbacks, with their replies.
pub fn nfs4_messages() -> Vec<Vec<u8>> {
    let operations = operations();
    let head = compound::Head { tag: b"tag", minor_version: 2, operations: operations.len() as u32 };
    let calls = vec![first_call(), session(), compound(0, &head, &operations)];
    [calls, replies(), callbacks()].concat()
}

/// Calls of NLM and NSM, and replies.
pub fn lock_messages() -> Vec<Vec<u8>> {
    let (cookie, caller, owner) = (Cookie(b"\x01\0\0\0"), CallerName(b"host"), LockOwner(b"7@host"));
    let file = LockedFile(&[5; 61]);
    let lock = Lock { caller, file, owner, process: 7, offset: 0, length: 0 };
    let (exclusive, process, offset, length) = (true, 7, 0, 99);
    let denied = test::Outcome::Denied(Holder { exclusive, process, owner, offset, length });
    let (deny, access) = (share::ShareDeny::Writing, share::ShareAccess::Both);
    let share = share::Share { caller, file, owner, deny, access };
    let by = Monitor { name: MonitorName(b"here"), program: 100_021, version: 4, procedure: 16 };
    let monitored = Monitored { name: MonitorName(b"host"), by };
    let block =
        howdah_wire::nlm::lock::Arguments { cookie, block: true, exclusive, lock, reclaim: false, state: 3 };
    vec![
        super::chosen(0, &block),
        super::chosen(2, &test::Arguments { cookie, exclusive, lock }),
        super::chosen(3, &test::Reply { cookie, outcome: denied }),
        super::chosen(6, &share::Arguments { cookie, share, reclaim: false }),
        super::chosen(9, &sm_notify::Arguments { name: caller, state: 3, private: [1; 16] }),
        super::chosen(12, &mon::Arguments { monitored, private: [1; 16] }),
        super::chosen(16, &notify::Arguments { name: MonitorName(b"host"), state: 3 }),
    ]
}
