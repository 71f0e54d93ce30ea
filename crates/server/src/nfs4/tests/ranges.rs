//! Ranges of files: sought, reserved, given back, copied, cloned.

use howdah_wire::nfs4::attributes::{CLONE_BLKSIZE, SIZE, SPACE_USED, SUPPORTED_ATTRS, Values};
use howdah_wire::nfs4::copy::{NetworkLocation, Requirements};
use howdah_wire::nfs4::open::{ACCESS_BOTH, ACCESS_READ, DENY_NONE, How};
use howdah_wire::nfs4::{
    Bitmap, Opaque, Stability, StateId, Status, allocate, clone, commit, copy, deallocate, getattr, putfh,
    read, savefh, seek, write,
};
use howdah_wire::xdr::Array;

use super::client::{Answer, Client, Step, bare, put, service, step};

/// A file that is open for both, and holds these bytes.
fn made(client: &mut Client, name: &str, data: &[u8]) -> (StateId, Vec<u8>) {
    let root = client.handle(&[]).expect("the root");
    let how = Some(How::Unchecked(Values::default()));
    let (state, file) = client.open(&root, name, "owner", (ACCESS_BOTH, DENY_NONE), how).expect("made");
    let arguments = write::Arguments { state, offset: 0, stability: Stability::FileSync, data };
    assert_eq!(client.call(&[put(&file), step(write::OPERATION, &arguments)]).status, Status::OK);
    (state, file)
}

fn on(client: &mut Client, file: &[u8], operation: Step) -> Answer {
    let mut answer = client.call(&[put(file), operation]);
    answer.skip(putfh::OPERATION).expect("put");
    answer
}

fn seek(client: &mut Client, file: &[u8], (offset, what): (u64, u32)) -> Result<seek::Success, Status> {
    let arguments = seek::Arguments { state: StateId::ANONYMOUS, offset, what };
    on(client, file, step(seek::OPERATION, &arguments)).result(seek::OPERATION)
}

fn allocate(state: StateId, offset: u64, length: u64) -> Step {
    step(allocate::OPERATION, &allocate::Arguments { state, offset, length })
}

fn deallocate(state: StateId, offset: u64, length: u64) -> Step {
    step(deallocate::OPERATION, &deallocate::Arguments { state, offset, length })
}

fn size_and_used(client: &mut Client, file: &[u8]) -> (Option<u64>, Option<u64>) {
    let wanted = Bitmap::of(&[SIZE, SPACE_USED]);
    let mut answer = on(client, file, step(getattr::OPERATION, &getattr::Arguments { wanted }));
    let values = answer.take::<getattr::Success<'_>>(getattr::OPERATION).attributes;
    let content = values.decode_all().expect("attributes").content;
    (content.size, content.used)
}

/// Up to 100 bytes from an offset on.
fn content(client: &mut Client, file: &[u8], offset: u64) -> Vec<u8> {
    let arguments = read::Arguments { state: StateId::ANONYMOUS, offset, count: 100 };
    let mut answer = on(client, file, step(read::OPERATION, &arguments));
    answer.take::<read::Success<'_>>(read::OPERATION).data.to_vec()
}

/// What stands before COPY and CLONE.
fn between(source: &[u8], target: &[u8], operation: Step) -> [Step; 4] {
    [put(source), bare(savefh::OPERATION), put(target), operation]
}

fn skip_between(answer: &mut Answer) {
    for operation in [putfh::OPERATION, savefh::OPERATION, putfh::OPERATION] {
        answer.skip(operation).expect("well");
    }
}

#[test]
fn data_and_holes_are_found() {
    let mut client = Client::new(&service(&["/"]), "client");
    let (state, file) = made(&mut client, "file", &[7; 100]);
    let arguments = write::Arguments { state, offset: 20_000, stability: Stability::Unstable, data: b"x" };
    on(&mut client, &file, step(write::OPERATION, &arguments)).skip(write::OPERATION).expect("written");
    let found = |offset, end| Ok(seek::Success { end, offset });
    assert_eq!(seek(&mut client, &file, (5, seek::DATA)), found(5, false));
    assert_eq!(seek(&mut client, &file, (5, seek::HOLE)), found(4096, false));
    assert_eq!(seek(&mut client, &file, (5000, seek::DATA)), found(16_384, false));
    assert_eq!(seek(&mut client, &file, (20_000, seek::HOLE)), found(20_001, true));
    assert_eq!(seek(&mut client, &file, (20_001, seek::DATA)), Err(Status::NXIO));
    assert_eq!(seek(&mut client, &file, (0, 2)), Err(Status::UNION_NOTSUPP));
    let root = client.handle(&[]).expect("the root");
    assert_eq!(seek(&mut client, &root, (0, seek::DATA)), Err(Status::ISDIR));
}

#[test]
fn space_is_reserved_and_given_back() {
    let mut client = Client::new(&service(&["/"]), "client");
    let (state, file) = made(&mut client, "file", &[7; 10_000]);
    assert_eq!(on(&mut client, &file, allocate(state, 0, 20_000)).status, Status::OK);
    assert_eq!(size_and_used(&mut client, &file), (Some(20_000), Some(20_480)));
    assert_eq!(on(&mut client, &file, deallocate(state, 4096, 8192)).status, Status::OK);
    assert_eq!(size_and_used(&mut client, &file), (Some(20_000), Some(12_288)));
    let (data, hole) = (vec![7; 50], vec![0; 50]);
    assert_eq!(content(&mut client, &file, 4046), [data, hole].concat());
    assert_eq!(on(&mut client, &file, allocate(state, 0, 0)).status, Status::INVAL);
    assert_eq!(on(&mut client, &file, allocate(state, u64::MAX, 2)).status, Status::FBIG);
    // Any stateid that may write does.
    for any in [StateId::ANONYMOUS, StateId::READ_BYPASS] {
        assert_eq!(on(&mut client, &file, allocate(any, 0, 1)).status, Status::OK);
    }
    let root = client.handle(&[]).expect("the root");
    let reads = (ACCESS_READ, DENY_NONE);
    let (reader, _) = client.open(&root, "file", "reader", reads, None).expect("opened");
    assert_eq!(on(&mut client, &file, allocate(reader, 0, 1)).status, Status::OPENMODE);
    assert_eq!(on(&mut client, &file, deallocate(reader, 0, 1)).status, Status::OPENMODE);
    assert_eq!(on(&mut client, &root, allocate(StateId::ANONYMOUS, 0, 1)).status, Status::ISDIR);
}

#[test]
fn a_range_is_copied_at_once() {
    let mut client = Client::new(&service(&["/"]), "client");
    let (source, from) = made(&mut client, "from", b"0123456789");
    let (destination, to) = made(&mut client, "to", b"");
    let arguments = copy::Arguments {
        source,
        destination,
        source_offset: 2,
        destination_offset: 1,
        count: 0,
        consecutive: false,
        synchronous: false,
        servers: Array::of(&[]),
    };
    let copied = |client: &mut Client, arguments: &copy::Arguments<'_>| {
        let operation = step(copy::OPERATION, arguments);
        let mut answer = client.call(&between(&from, &to, operation));
        skip_between(&mut answer);
        answer.result::<copy::Success>(copy::OPERATION)
    };
    let success = copied(&mut client, &arguments).expect("copied");
    assert_eq!((success.state, success.count, success.committed), (None, 8, Stability::Unstable));
    assert_eq!(success.requirements, Requirements { consecutive: true, synchronous: true });
    assert_eq!(content(&mut client, &to, 0), b"\x0023456789");
    let whole = commit::Arguments { offset: 0, count: 0 };
    let mut answer = on(&mut client, &to, step(commit::OPERATION, &whole));
    assert_eq!(answer.take::<commit::Success>(commit::OPERATION).verifier, success.verifier);
    for (source_offset, count) in [(11, 0), (2, 9), (u64::MAX, 1)] {
        let beyond = copy::Arguments { source_offset, count, ..arguments };
        assert_eq!(copied(&mut client, &beyond), Err(Status::INVAL));
    }
    let location = NetworkLocation::Name(Opaque(b"elsewhere"));
    let far = copy::Arguments { servers: Array::of(std::slice::from_ref(&location)), ..arguments };
    assert_eq!(copied(&mut client, &far), Err(Status::NOTSUPP));
    let alone = step(copy::OPERATION, &arguments);
    assert_eq!(on(&mut client, &to, alone).status, Status::NOFILEHANDLE);
}

#[test]
fn opens_decide_what_is_copied() {
    let mut client = Client::new(&service(&["/"]), "client");
    let (_, from) = made(&mut client, "from", b"0123456789");
    let (_, to) = made(&mut client, "to", b"");
    let root = client.handle(&[]).expect("the root");
    let reads = (ACCESS_READ, DENY_NONE);
    let [of_from, of_to] =
        ["from", "to"].map(|name| client.open(&root, name, "reader", reads, None).expect("opened").0);
    let mut cloned = |source, destination| {
        let arguments =
            clone::Arguments { source, destination, source_offset: 0, destination_offset: 0, count: 0 };
        client.call(&between(&from, &to, step(clone::OPERATION, &arguments))).status
    };
    assert_eq!(cloned(of_from, StateId::ANONYMOUS), Status::OK);
    assert_eq!(cloned(of_from, of_to), Status::OPENMODE);
    assert_eq!(cloned(of_to, StateId::ANONYMOUS), Status::BAD_STATEID, "it is the other file's");
    assert_eq!(cloned(StateId::CURRENT, StateId::ANONYMOUS), Status::BAD_STATEID, "none was saved");
}

#[test]
fn a_clone_shares_blocks() {
    let mut client = Client::new(&service(&["/", "/other"]), "client");
    let (source, from) = made(&mut client, "from", &[7; 10_000]);
    let (destination, to) = made(&mut client, "to", b"");
    let clone = |source_offset, count| {
        let arguments = clone::Arguments { source, destination, source_offset, destination_offset: 0, count };
        step(clone::OPERATION, &arguments)
    };
    assert_eq!(client.call(&between(&from, &to, clone(4096, 0))).status, Status::OK);
    assert_eq!(content(&mut client, &to, 5900), [7; 4]);
    assert_eq!(client.call(&between(&from, &to, clone(1, 4096))).status, Status::INVAL);
    assert_eq!(client.call(&between(&from, &to, clone(0, 20_480))).status, Status::INVAL);
    let other = client.handle(&["other"]).expect("an export");
    assert_eq!(client.call(&between(&from, &other, clone(0, 0))).status, Status::XDEV);
    let root = client.handle(&[]).expect("the root");
    assert_eq!(client.call(&between(&root, &to, clone(0, 0))).status, Status::ISDIR);
}

#[test]
fn what_can_be_cloned_is_told() {
    let mut client = Client::new(&service(&["/"]), "client");
    let root = client.handle(&[]).expect("the root");
    let wanted = Bitmap::of(&[SUPPORTED_ATTRS, CLONE_BLKSIZE]);
    let mut answer = on(&mut client, &root, step(getattr::OPERATION, &getattr::Arguments { wanted }));
    let values =
        answer.take::<getattr::Success<'_>>(getattr::OPERATION).attributes.decode_all().expect("attributes");
    assert_eq!(values.limits.clone_block, Some(4096));
    assert!(values.support.attributes.expect("an answer").contains(CLONE_BLKSIZE));
}

#[test]
fn the_first_minor_version_has_none_of_them() {
    let mut client = Client::new(&service(&["/"]), "client");
    let (state, file) = made(&mut client, "file", b"");
    client.minor_version = 1;
    let mut answer = on(&mut client, &file, allocate(state, 0, 1));
    assert_eq!(answer.status_of(howdah_wire::nfs4::operation::ILLEGAL), Status::OP_ILLEGAL);
}
