//! Files: opened, shared, written, read.

use std::sync::Arc;

use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Caller, Change, Create, CreateFile, FileSystem, NewAttributes};
use howdah_wire::nfs4::attributes::{
    CHANGE, MODE, SIZE, SUPPORTED_ATTRS, TIME_CREATE, TIME_METADATA, Values,
};
use howdah_wire::nfs4::create_session::ChannelSizes;
use howdah_wire::nfs4::open::{ACCESS_BOTH, ACCESS_READ, ACCESS_WRITE, DENY_NONE, DENY_WRITE, How};
use howdah_wire::nfs4::{
    Bitmap, Stability, StateId, Status, close, getattr, nverify, open_downgrade, putfh, read, setattr,
    verify, write,
};

use super::client::{Client, SIZES, Step, put, service, step};
use crate::exports::{ClientRule, Export, Exports};
use crate::service::Service;
use crate::states::StateOptions;

const MAKE: Option<How<'static>> =
    Some(How::Unchecked(Values { attributes: Bitmap::NONE, has_unknown: false, bytes: &[] }));

fn write(state: StateId, data: &[u8]) -> Step {
    step(write::OPERATION, &write::Arguments { state, offset: 0, stability: Stability::FileSync, data })
}

fn read(state: StateId) -> Step {
    step(read::OPERATION, &read::Arguments { state, offset: 0, count: 100 })
}

fn close(state: StateId) -> Step {
    step(close::OPERATION, &close::Arguments { sequence: 0, state })
}

#[test]
fn what_was_written_is_read() {
    let mut client = Client::new(&service(&["/"]), "client");
    let root = client.handle(&[]).expect("the root");
    let (state, file) = client.open(&root, "file", "owner", (ACCESS_BOTH, DENY_NONE), MAKE).expect("made");
    let mut answer = client.call(&[put(&file), write(state, b"howdy"), read(state)]);
    answer.skip(putfh::OPERATION).expect("put");
    assert_eq!(answer.take::<write::Success>(write::OPERATION).count, 5);
    let success: read::Success<'_> = answer.take(read::OPERATION);
    assert_eq!((success.data, success.end), (&b"howdy"[..], true));
    assert_eq!(client.call(&[put(&file), close(state)]).status, Status::OK);
    assert_eq!(client.call(&[put(&file), read(state)]).status, Status::BAD_STATEID);
    assert_eq!(client.call(&[put(&file), read(StateId::ANONYMOUS)]).status, Status::OK);
}

#[test]
fn a_node_has_a_change_attribute_and_a_time_of_creation_where_it_is_known() {
    for (export, is_known) in [("/", true), ("/below", false)] {
        let mut client = Client::new(&service(&[export]), "client");
        let root = client.handle(&[]).expect("the root");
        let wanted = Bitmap::of(&[SUPPORTED_ATTRS, CHANGE, TIME_CREATE, TIME_METADATA]);
        let look = step(getattr::OPERATION, &getattr::Arguments { wanted });
        let mut answer = client.call(&[put(&root), look]);
        answer.skip(putfh::OPERATION).expect("put");
        let success = answer.take::<getattr::Success<'_>>(getattr::OPERATION);
        let values = success.attributes.decode_all().expect("attributes");
        let changed = values.times.changed.expect("an answer");
        let nanoseconds = changed.seconds.cast_unsigned() * 1_000_000_000 + u64::from(changed.nanoseconds);
        assert_eq!(values.content.change, Some(nanoseconds));
        assert_eq!(values.support.attributes.expect("an answer").contains(TIME_CREATE), is_known, "{export}");
        // Its mode was set since.
        let created = values.times.created.map(|created| created.seconds == changed.seconds);
        assert_eq!(created, is_known.then_some(true), "{export}");
    }
}

#[test]
fn a_read_fills_the_largest_reply() {
    let service = service(&["/"]);
    let mut writer = Client::new(&service, "writer");
    let root = writer.handle(&[]).expect("the root");
    let (state, file) = writer.open(&root, "file", "owner", (ACCESS_BOTH, DENY_NONE), MAKE).expect("made");
    assert_eq!(writer.call(&[put(&file), write(state, &[7; 5000])]).status, Status::OK);
    let mut client = Client::unconfirmed(&service, "client");
    let found = client.exchange("client", 1);
    client.id = found.client;
    // What comes before the data: the heads of the reply and of the compound, and the results of SEQUENCE, PUTFH and READ.
    let around = 24 + 16 + 44 + 8 + 16;
    for (number, (wanted, room)) in [(1000, 1000), (1000, 1003), (4000, 1000)].into_iter().enumerate() {
        let fore = ChannelSizes { response: around + room, ..SIZES };
        let made = client.create_session_of(found.sequence + number as u32, fore).expect("a session");
        (client.session, client.sequence) = (made.session, 0);
        let arguments = read::Arguments { state: StateId::ANONYMOUS, offset: 0, count: wanted };
        let mut answer = client.call(&[put(&file), step(read::OPERATION, &arguments)]);
        answer.skip(putfh::OPERATION).expect("put");
        assert_eq!(answer.take::<read::Success<'_>>(read::OPERATION).data.len(), 1000, "{wanted}, {room}");
    }
}

#[test]
fn an_open_is_for_what_it_was_asked_for() {
    let mut client = Client::new(&service(&["/"]), "client");
    let root = client.handle(&[]).expect("the root");
    let (reads, file) = client.open(&root, "file", "reader", (ACCESS_READ, DENY_NONE), MAKE).expect("made");
    assert_eq!(client.call(&[put(&file), write(reads, b"x")]).status, Status::OPENMODE);
    let (writes, _) = client.open(&root, "file", "writer", (ACCESS_WRITE, DENY_NONE), None).expect("opened");
    assert_eq!(client.call(&[put(&file), write(writes, b"x")]).status, Status::OK);
    // The same owner gets more of the open that it has.
    let (both, _) = client.open(&root, "file", "reader", (ACCESS_WRITE, DENY_NONE), None).expect("opened");
    assert_eq!((both.other, both.sequence), (reads.other, reads.sequence + 1));
    assert_eq!(client.call(&[put(&file), write(both, b"y")]).status, Status::OK);
    assert_eq!(client.call(&[put(&file), write(reads, b"y")]).status, Status::OLD_STATEID);
    let less = open_downgrade::Arguments { state: both, sequence: 0, access: ACCESS_READ, deny: DENY_NONE };
    let mut answer = client.call(&[put(&file), step(open_downgrade::OPERATION, &less)]);
    answer.skip(putfh::OPERATION).expect("put");
    let less = answer.take::<open_downgrade::Success>(open_downgrade::OPERATION).state;
    assert_eq!(client.call(&[put(&file), write(less, b"z")]).status, Status::OPENMODE);
}

#[test]
fn a_deny_mode_keeps_others_out() {
    let service = service(&["/"]);
    let [mut one, mut other] = ["one", "the other"].map(|name| Client::new(&service, name));
    let root = one.handle(&[]).expect("the root");
    let (state, file) = one.open(&root, "file", "owner", (ACCESS_READ, DENY_WRITE), MAKE).expect("made");
    assert_eq!(
        other.open(&root, "file", "owner", (ACCESS_WRITE, DENY_NONE), None),
        Err(Status::SHARE_DENIED)
    );
    assert!(other.open(&root, "file", "owner", (ACCESS_READ, DENY_NONE), None).is_ok());
    assert_eq!(other.call(&[put(&file), write(StateId::ANONYMOUS, b"x")]).status, Status::LOCKED);
    assert_eq!(one.call(&[put(&file), close(state)]).status, Status::OK);
    assert!(other.open(&root, "file", "owner", (ACCESS_WRITE, DENY_NONE), None).is_ok());
}

/// OPEN for reading, of a file that is cut to nothing if it is there.
const CUT: Option<How<'static>> =
    Some(How::Unchecked(Values { attributes: Bitmap::of(&[SIZE]), has_unknown: false, bytes: &[0; 8] }));

#[test]
fn a_deny_mode_keeps_others_from_cutting_a_file_that_they_read() {
    let service = service(&["/"]);
    let [mut one, mut other] = ["one", "the other"].map(|name| Client::new(&service, name));
    let root = one.handle(&[]).expect("the root");
    let (writer, file) = one.open(&root, "file", "writer", (ACCESS_BOTH, DENY_NONE), MAKE).expect("made");
    assert_eq!(one.call(&[put(&file), write(writer, b"data")]).status, Status::OK);
    assert_eq!(one.call(&[put(&file), close(writer)]).status, Status::OK);
    let (state, _) = one.open(&root, "file", "owner", (ACCESS_READ, DENY_WRITE), None).expect("opened");
    let cut = other.open(&root, "file", "owner", (ACCESS_READ, DENY_NONE), CUT);
    assert_eq!(cut, Err(Status::SHARE_DENIED));
    assert_eq!(one.call(&[put(&file), close(state)]).status, Status::OK);
    assert!(other.open(&root, "file", "owner", (ACCESS_READ, DENY_NONE), CUT).is_ok());
}

#[test]
fn an_open_whose_file_cannot_be_cut_leaves_nothing_open() {
    let service = service(&["/"]);
    let mut maker = Client::new(&service, "maker");
    let root = maker.handle(&[]).expect("the root");
    let readable = Values { attributes: Bitmap::of(&[MODE]), has_unknown: false, bytes: &[0, 0, 1, 0o244] };
    let make = Some(How::Unchecked(readable));
    let (writer, file) = maker.open(&root, "file", "writer", (ACCESS_BOTH, DENY_NONE), make).expect("made");
    assert_eq!(maker.call(&[put(&file), write(writer, b"data")]).status, Status::OK);
    assert_eq!(maker.call(&[put(&file), close(writer)]).status, Status::OK);
    let mut reader = Client::new(&service, "reader");
    reader.user = 1001;
    assert_eq!(
        reader.open(&root, "file", "owner", (ACCESS_READ, DENY_WRITE), CUT),
        Err(Status::ACCESS),
        "it is another's file, that all may read"
    );
    let again = maker.open(&root, "file", "writer", (ACCESS_WRITE, DENY_NONE), None);
    assert!(again.is_ok(), "{again:?}");
}

#[test]
fn who_may_only_read_a_file_denies_nobody() {
    let service = service(&["/"]);
    let (mut maker, mut reader) = (Client::new(&service, "maker"), Client::new(&service, "reader"));
    reader.user = 4711;
    let root = maker.handle(&[]).expect("the root");
    let mode = 0o644_u32.to_be_bytes();
    let make = How::Unchecked(Values { attributes: Bitmap::of(&[MODE]), has_unknown: false, bytes: &mode });
    maker.open(&root, "file", "owner", (ACCESS_BOTH, DENY_NONE), Some(make)).expect("made");
    for deny in 1..=3 {
        let denied = reader.open(&root, "file", "owner", (ACCESS_READ, deny), None);
        assert_eq!(denied.err(), Some(Status::ACCESS), "{deny}");
    }
    reader.open(&root, "file", "owner", (ACCESS_READ, DENY_NONE), None).expect("it may read");
    maker.open(&root, "file", "owner", (ACCESS_BOTH, DENY_WRITE), None).expect("its own file");
}

#[test]
fn no_deny_mode_is_given_on_an_export_for_reading() {
    let memory = MemoryFileSystem::new();
    let name = howdah_vfs::Name::parse(b"file").expect("a name");
    let create = Create::Guarded(NewAttributes::with_mode(0o666));
    memory
        .create(&Caller::ROOT, CreateFile::new(&memory.root(), name, &create), &mut Change::default())
        .expect("made");
    let rule = ClientRule { read_only: true, ..ClientRule::default() };
    let export = Export::new("/", 1, Arc::new(memory), vec![rule]);
    let exports = Exports::new(vec![export], [7; 16]).expect("one");
    let service = Arc::new(Service::with(exports, Some(StateOptions::forgetful()), Vec::new()));
    let mut client = Client::new(&service, "client");
    let root = client.handle(&[]).expect("the root");
    for deny in 1..=3 {
        let denied = client.open(&root, "file", "owner", (ACCESS_READ, deny), None);
        assert_eq!(denied.err(), Some(Status::ROFS), "{deny}");
    }
    client.open(&root, "file", "owner", (ACCESS_READ, DENY_NONE), None).expect("it may read");
}

#[test]
fn a_deny_mode_keeps_clients_of_nfsv3_out_too() {
    use howdah_wire::nfs3::{self, FileHandle};
    let service = service(&["/"]);
    let mut client = Client::new(&service, "client");
    let root = client.handle(&[]).expect("the root");
    let (open, file) = client.open(&root, "file", "owner", (ACCESS_READ, DENY_WRITE), MAKE).expect("made");
    let arguments = nfs3::write::Arguments {
        node: FileHandle(&file),
        offset: 0,
        count: 5,
        stability: nfs3::write::Stability::FileSync,
        data: b"howdy",
    };
    let denied = client.nfs3_status(nfs3::write::PROCEDURE, &arguments);
    assert_eq!(denied, nfs3::Status::Jukebox as u32);
    let read = nfs3::read::Arguments { node: FileHandle(&file), offset: 0, count: 5 };
    assert_eq!(client.nfs3_status(nfs3::read::PROCEDURE, &read), 0, "reading is denied to nobody");
    let size = nfs3::NewAttributes { size: Some(0), ..Default::default() };
    let object = nfs3::DirectoryName { directory: FileHandle(&root), name: b"file" };
    let cut = nfs3::create::Arguments { object, how: nfs3::create::How::Unchecked(size) };
    assert_eq!(client.nfs3_status(nfs3::create::PROCEDURE, &cut), nfs3::Status::Jukebox as u32);
    assert_eq!(client.call(&[put(&file), close(open)]).status, Status::OK);
    assert_eq!(client.nfs3_status(nfs3::write::PROCEDURE, &arguments), 0);
}

#[test]
fn the_current_stateid_is_the_last_one() {
    use howdah_wire::nfs4::open::{Arguments, Claim, OPERATION};
    use howdah_wire::nfs4::{Name, Opaque, Owner};
    let mut client = Client::new(&service(&["/"]), "client");
    let root = client.handle(&[]).expect("the root");
    let arguments = Arguments {
        sequence: 0,
        access: ACCESS_BOTH,
        deny: DENY_NONE,
        owner: Owner { client: client.id, owner: Opaque(b"owner") },
        create: MAKE,
        claim: Claim::Name(Name(b"file")),
    };
    let open = step(OPERATION, &arguments);
    let current = StateId::CURRENT;
    let steps = [put(&root), open, write(current, b"howdy"), read(current), close(current)];
    assert_eq!(
        client.call(&steps).status,
        Status::OK,
        "a file made, written, read and closed in one round trip"
    );
    assert_eq!(client.call(&[put(&root), read(current)]).status, Status::ISDIR);
}

#[test]
fn an_exclusive_file_is_made_once() {
    use howdah_wire::nfs4::Verifier;
    let mut client = Client::new(&service(&["/"]), "client");
    let root = client.handle(&[]).expect("the root");
    let bytes = 0o600_u32.to_be_bytes();
    let mode = Values { attributes: Bitmap::of(&[MODE]), has_unknown: false, bytes: &bytes };
    let how = |verifier: u8| Some(How::ExclusiveWith(Verifier([verifier; 8]), mode));
    let open = (ACCESS_BOTH, DENY_NONE);
    let (first, file) = client.open(&root, "file", "owner", open, how(1)).expect("made");
    let (again, _) = client.open(&root, "file", "owner", open, how(1)).expect("it is ours");
    assert_eq!(again.other, first.other);
    assert_eq!(client.open(&root, "file", "owner", open, how(2)), Err(Status::EXIST));
    let check = verify::Arguments { attributes: mode };
    assert_eq!(client.call(&[put(&file), step(verify::OPERATION, &check)]).status, Status::OK);
    let check = nverify::Arguments { attributes: mode };
    assert_eq!(client.call(&[put(&file), step(nverify::OPERATION, &check)]).status, Status::SAME);
}

/// Else the file keeps the verifier as its times: Linux sets them only if the reply says so.
#[test]
fn the_client_of_an_exclusive_file_is_told_to_set_its_times() {
    use howdah_wire::nfs4::attributes::{TIME_ACCESS_SET, TIME_MODIFY_SET};
    use howdah_wire::nfs4::open::{self, Claim};
    use howdah_wire::nfs4::{Name, Opaque, Owner, Verifier};
    let mut client = Client::new(&service(&["/"]), "client");
    let root = client.handle(&[]).expect("the root");
    let bytes = 0o600_u32.to_be_bytes();
    let mode = Values { attributes: Bitmap::of(&[MODE]), has_unknown: false, bytes: &bytes };
    let times = Bitmap::of(&[TIME_ACCESS_SET, TIME_MODIFY_SET]);
    let verifier = Verifier([1; 8]);
    for (name, how, wanted) in [
        ("one", How::Exclusive(verifier), times),
        ("two", How::ExclusiveWith(verifier, mode), times | Bitmap::of(&[MODE])),
    ] {
        let arguments = open::Arguments {
            sequence: 0,
            access: ACCESS_BOTH,
            deny: DENY_NONE,
            owner: Owner { client: client.id, owner: Opaque(b"owner") },
            create: Some(how),
            claim: Claim::Name(Name(name.as_bytes())),
        };
        let mut answer = client.call(&[put(&root), step(open::OPERATION, &arguments)]);
        answer.skip(putfh::OPERATION).expect("put");
        assert_eq!(answer.take::<open::Success<'_>>(open::OPERATION).attributes_set, wanted);
    }
}

#[test]
fn bits_of_an_open_that_mean_nothing_are_refused() {
    let mut client = Client::new(&service(&["/"]), "client");
    let root = client.handle(&[]).expect("the root");
    let undefined = [0x4, 0x8, 0x80, 0x600, 0xff00, 0x4_0000, 0x80_0000, 1 << 31];
    for (access, status) in undefined.map(|bits| (bits, Err(Status::INVAL))).into_iter().chain([
        (0x300, Ok(())),
        (0x500, Ok(())),
        (0x3_0000, Ok(())),
    ]) {
        let opened = client.open(&root, "file", "owner", (ACCESS_READ | access, DENY_NONE), MAKE);
        assert_eq!(opened.map(drop), status, "{access:#x}");
    }
}

#[test]
fn a_size_is_set_by_an_open_for_writing() {
    let mut client = Client::new(&service(&["/"]), "client");
    let root = client.handle(&[]).expect("the root");
    let (reads, file) = client.open(&root, "file", "reader", (ACCESS_READ, DENY_NONE), MAKE).expect("made");
    let bytes = 7_u64.to_be_bytes();
    let attributes = Values { attributes: Bitmap::of(&[SIZE]), has_unknown: false, bytes: &bytes };
    let set = |state| step(setattr::OPERATION, &setattr::Arguments { state, attributes });
    let mut answer = client.call(&[put(&file), set(reads)]);
    answer.skip(putfh::OPERATION).expect("put");
    assert_eq!(answer.status_of(setattr::OPERATION), Status::OPENMODE);
    assert!(answer.body::<setattr::Success>().attributes_set.is_empty() && answer.is_read());
    assert_eq!(client.call(&[put(&file), set(StateId::ANONYMOUS)]).status, Status::OK);
    let mut answer = client
        .call(&[put(&file), step(getattr::OPERATION, &getattr::Arguments { wanted: Bitmap::of(&[SIZE]) })]);
    answer.skip(putfh::OPERATION).expect("put");
    let found: getattr::Success<'_> = answer.take(getattr::OPERATION);
    assert_eq!(found.attributes.decode_all().expect("attributes").content.size, Some(7));
}

#[test]
fn what_is_no_file_cannot_be_opened() {
    use howdah_wire::nfs4::{Name, create};
    let mut client = Client::new(&service(&["/"]), "client");
    let root = client.handle(&[]).expect("the root");
    for (node, name, status) in [
        (create::NewNode::Directory, "directory", Status::ISDIR),
        (create::NewNode::SymbolicLink(howdah_wire::nfs4::LinkTarget(b"x")), "link", Status::SYMLINK),
        (create::NewNode::Fifo, "fifo", Status::WRONG_TYPE),
    ] {
        let arguments =
            create::Arguments { node, name: Name(name.as_bytes()), attributes: Values::default() };
        assert_eq!(client.call(&[put(&root), step(create::OPERATION, &arguments)]).status, Status::OK);
        assert_eq!(client.open(&root, name, "owner", (ACCESS_READ, DENY_NONE), None), Err(status));
        let node = client.handle(&[name]).expect("it");
        let answer = client.call(&[put(&node), read(StateId::ANONYMOUS)]);
        assert_eq!(answer.status, status, "{name}");
    }
}
