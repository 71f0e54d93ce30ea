//! Read delegations of files and directories: given to readers, and back before anybody changes them, by whichever protocol.

use std::sync::Arc;

use crate::locks::Mutex;
use howdah_net::Token;
use howdah_wire::nfs3;
use howdah_wire::nfs4::attributes::Values;
use howdah_wire::nfs4::callback::{compound::Head, recall, sequence};
use howdah_wire::nfs4::open::{
    ACCESS_READ, ACCESS_WRITE, Arguments, Claim, DENY_NONE, Delegation, How, Success, WANT_NO_DELEGATION,
    WANT_READ_DELEGATION,
};
use howdah_wire::nfs4::{
    Name, Opaque, Owner, StateId, Status, delegreturn, get_dir_delegation, putfh, read, remove,
};
use howdah_wire::rpc::Call;
use howdah_wire::xdr::Decode;

use super::client::{Client, put, service_with, step};
use crate::back_channel::{BackCredentials, BackSession, SendRecord};
use crate::exports::DelegationPolicy;
use crate::service::Service;

/// Handles of files that clients are asked for, with the delegation.
#[derive(Default)]
struct Recalls(Mutex<Vec<(StateId, Vec<u8>)>>);

impl SendRecord for Arc<Recalls> {
    fn send(&self, _: Token, message: &[u8]) {
        let Call::Call(_, mut arguments) = Call::parse(message) else { panic!("no call") };
        Head::decode(&mut arguments).expect("a compound");
        assert_eq!(arguments.u32("operation"), Ok(sequence::OPERATION));
        sequence::Arguments::decode(&mut arguments).expect("CB_SEQUENCE");
        assert_eq!(arguments.u32("operation"), Ok(recall::OPERATION));
        let recall = recall::Arguments::decode(&mut arguments).expect("CB_RECALL");
        self.0.lock().push((recall.state, recall.node.0.to_vec()));
    }
}

/// A client that can be called back, and what the server calls it for.
fn reader(service: &Arc<Service>) -> (Client, Arc<Recalls>) {
    let (client, recalls) = (Client::new(service, "reader"), Arc::new(Recalls::default()));
    let back = service.back_channels.as_ref().expect("NFSv4 is served");
    back.send_over(Box::new(Arc::clone(&recalls)));
    let (id, of) = (howdah_state::SessionId(client.session.0), howdah_state::ClientId(client.id.0));
    let credentials = BackCredentials::None;
    let session = BackSession { id, client: of, minor_version: 2, program: 0x4000_0000, credentials };
    back.begin(session, Some(Token(5)));
    (client, recalls)
}

fn policy(delegates: bool) -> DelegationPolicy {
    if delegates { DelegationPolicy::Always } else { DelegationPolicy::Never }
}

/// OPEN of a file: its status and delegation.
fn open(client: &mut Client, access: u32, claim: Claim<'_>, at: &[u8]) -> Result<Option<StateId>, Status> {
    let owner = Owner { client: client.id, owner: Opaque(b"owner") };
    let arguments = Arguments { sequence: 0, access, deny: DENY_NONE, owner, create: None, claim };
    let mut answer = client.call(&[put(at), step(howdah_wire::nfs4::open::OPERATION, &arguments)]);
    answer.skip(putfh::OPERATION)?;
    let success = answer.result::<Success<'_>>(howdah_wire::nfs4::open::OPERATION)?;
    Ok(match success.delegation {
        Delegation::Read(given, false) => Some(given.state),
        Delegation::None | Delegation::NoneBecause(_) => None,
        other => panic!("{other:?}"),
    })
}

fn give_back(client: &mut Client, file: &[u8], state: StateId) -> Status {
    client.call(&[put(file), step(delegreturn::OPERATION, &delegreturn::Arguments { state })]).status
}

/// An empty file, closed.
fn made(client: &mut Client) -> (Vec<u8>, Vec<u8>) {
    let root = client.handle(&[]).expect("the root");
    let how = Some(How::Unchecked(Values::default()));
    let (state, file) = client.open(&root, "file", "maker", (ACCESS_WRITE, DENY_NONE), how).expect("opened");
    let close = howdah_wire::nfs4::close::Arguments { sequence: 0, state };
    let closed = client.call(&[put(&file), step(howdah_wire::nfs4::close::OPERATION, &close)]);
    assert_eq!(closed.status, Status::OK);
    (root, file)
}

#[test]
fn an_export_gives_them_to_readers_who_can_be_called_and_only_if_it_says_so() {
    for delegates in [false, true] {
        let service = service_with(&["/"], |export| export.with_delegations(policy(delegates)));
        let mut silent = Client::new(&service, "silent");
        let (root, file) = made(&mut silent);
        let name = Claim::Name(Name(b"file"));
        assert_eq!(open(&mut silent, ACCESS_READ | WANT_READ_DELEGATION, name, &root), Ok(None));
        let (mut reader, _) = reader(&service);
        let unwanted = open(&mut reader, ACCESS_READ | WANT_NO_DELEGATION, Claim::Current, &file);
        assert_eq!(unwanted, Ok(None));
        let given = open(&mut reader, ACCESS_READ, Claim::Current, &file).expect("opened");
        assert_eq!(given.is_some(), delegates);
        let Some(state) = given else { continue };
        let read = read::Arguments { state, offset: 0, count: 10 };
        let read = reader.call(&[put(&file), step(read::OPERATION, &read)]);
        assert_eq!(read.status, Status::OK, "it reads by the delegation");
        assert_eq!(give_back(&mut silent, &file, state), Status::BAD_STATEID, "it is another's");
        assert_eq!(give_back(&mut reader, &file, state), Status::OK);
        assert_eq!(give_back(&mut reader, &file, state), Status::BAD_STATEID);
    }
}

#[test]
fn whoever_changes_the_file_waits_until_it_is_back() {
    /// Tries to change the file `file` of a directory; whether it has to wait.
    type Changes = fn(&mut Client, root: &[u8], file: &[u8]) -> bool;
    const DELAY: u32 = 10008;
    const JUKEBOX: u32 = 10008;
    let changes: [(&str, Changes); 6] = [
        ("OPEN for writing", |client, _, file| {
            open(client, ACCESS_WRITE, Claim::Current, file) == Err(Status::DELAY)
        }),
        ("REMOVE", |client, root, _| {
            let arguments = remove::Arguments { name: Name(b"file") };
            client.call(&[put(root), step(remove::OPERATION, &arguments)]).status == Status::DELAY
        }),
        ("WRITE of NFSv3", |client, _, file| {
            let head = nfs3::write::Head {
                node: nfs3::FileHandle(file),
                offset: 0,
                count: 0,
                stability: nfs3::write::Stability::FileSync,
                length: 0,
            };
            client.nfs3_status(nfs3::write::PROCEDURE, &head) == JUKEBOX
        }),
        ("SETATTR of NFSv3", |client, _, file| {
            let arguments = nfs3::setattr::Arguments {
                node: nfs3::FileHandle(file),
                new: nfs3::NewAttributes { mode: Some(0o600), ..Default::default() },
                guard: None,
            };
            client.nfs3_status(nfs3::setattr::PROCEDURE, &arguments) == JUKEBOX
        }),
        ("RENAME of NFSv3", |client, root, _| {
            let place = |name| nfs3::DirectoryName { directory: nfs3::FileHandle(root), name };
            let arguments = nfs3::rename::Arguments { from: place(b"file"), to: place(b"other") };
            client.nfs3_status(nfs3::rename::PROCEDURE, &arguments) == JUKEBOX
        }),
        ("REMOVE of NFSv3", |client, root, _| {
            let object = nfs3::DirectoryName { directory: nfs3::FileHandle(root), name: b"file" };
            client.nfs3_status(nfs3::remove::PROCEDURE, &nfs3::remove::Arguments { object }) == JUKEBOX
        }),
    ];
    assert_eq!(Status::DELAY.0, DELAY);
    for (name, change) in changes {
        let service = service_with(&["/"], |export| export.with_delegations(DelegationPolicy::Always));
        let mut other = Client::new(&service, "other");
        let (root, file) = made(&mut other);
        let (mut reader, recalls) = reader(&service);
        let state =
            open(&mut reader, ACCESS_READ, Claim::Current, &file).expect("opened").expect("a delegation");
        assert!(change(&mut other, &root, &file), "{name}");
        assert_eq!(*recalls.0.lock(), [(state, file.clone())], "{name}");
        assert!(change(&mut other, &root, &file), "{name}");
        // It tells the server what it opened meanwhile, and gives it back.
        let opened = open(&mut reader, ACCESS_READ, Claim::CurrentDelegated(state), &file);
        assert_eq!(opened, Ok(None), "{name}");
        assert_eq!(give_back(&mut reader, &file, state), Status::OK, "{name}");
        assert!(!change(&mut other, &root, &file), "{name}");
    }
}

#[test]
fn a_client_does_not_wait_for_itself() {
    let service = service_with(&["/"], |export| export.with_delegations(DelegationPolicy::Always));
    let (mut reader, recalls) = reader(&service);
    let (root, file) = made(&mut reader);
    let state = open(&mut reader, ACCESS_READ, Claim::Current, &file).expect("opened").expect("a delegation");
    assert_eq!(open(&mut reader, ACCESS_WRITE, Claim::Current, &file), Ok(None));
    let arguments = remove::Arguments { name: Name(b"file") };
    assert_eq!(reader.call(&[put(&root), step(remove::OPERATION, &arguments)]).status, Status::OK);
    assert_eq!(*recalls.0.lock(), []);
    assert_eq!(give_back(&mut reader, &file, state), Status::OK, "though the file is gone");
}

/// GET_DIR_DELEGATION.
fn watch(client: &mut Client, directory: &[u8]) -> Result<Option<StateId>, Status> {
    let arguments = get_dir_delegation::Arguments::WITHOUT_NOTIFICATIONS;
    let mut answer = client.call(&[put(directory), step(get_dir_delegation::OPERATION, &arguments)]);
    answer.skip(putfh::OPERATION)?;
    Ok(match answer.result::<get_dir_delegation::Success>(get_dir_delegation::OPERATION)? {
        get_dir_delegation::Success::Granted(given) => Some(given.state),
        get_dir_delegation::Success::Unavailable { .. } => None,
    })
}

#[test]
fn a_directory_is_delegated_to_who_can_be_called_and_reads_it() {
    for delegates in [false, true] {
        let service = service_with(&["/e"], |export| export.with_delegations(policy(delegates)));
        let mut silent = Client::new(&service, "silent");
        let [pseudo, root] = [&[][..], &["e"]].map(|path| silent.handle(path).expect("a handle"));
        let none = if delegates { Ok(None) } else { Err(Status::NOTSUPP) };
        assert_eq!(watch(&mut silent, &root), none, "it cannot be called");
        let (mut reader, _) = reader(&service);
        assert_eq!(watch(&mut reader, &pseudo), Ok(None));
        let given = watch(&mut reader, &root);
        assert_eq!(given.is_ok_and(|given| given.is_some()), delegates);
        let Ok(Some(state)) = given else { continue };
        assert_eq!(watch(&mut reader, &root), Ok(None), "it has one");
        assert_eq!(give_back(&mut reader, &root, state), Status::OK);
        let how = Some(How::Unchecked(Values::default()));
        let (_, file) = reader.open(&root, "file", "maker", (ACCESS_WRITE, DENY_NONE), how).expect("opened");
        assert_eq!(watch(&mut reader, &file), Err(Status::NOTDIR));
        assert!(watch(&mut reader, &root).is_ok_and(|given| given.is_some()), "it was not asked for back");
    }
}

#[test]
fn a_change_of_a_directory_waits_until_it_is_back() {
    /// Tries to change a directory that has a file `file`; whether it has to wait.
    type Changes = fn(&mut Client, root: &[u8], file: &[u8]) -> bool;
    const JUKEBOX: u32 = 10008;
    let changes: [(&str, Changes); 8] = [
        ("OPEN of a new file", |client, root, _| {
            let how = Some(How::Unchecked(Values::default()));
            client.open(root, "new", "maker", (ACCESS_WRITE, DENY_NONE), how) == Err(Status::DELAY)
        }),
        ("REMOVE", |client, root, _| {
            let arguments = remove::Arguments { name: Name(b"file") };
            client.call(&[put(root), step(remove::OPERATION, &arguments)]).status == Status::DELAY
        }),
        ("CREATE of NFSv3", |client, root, _| {
            let object = nfs3::DirectoryName { directory: nfs3::FileHandle(root), name: b"new" };
            let how = nfs3::create::How::Guarded(nfs3::NewAttributes::default());
            client.nfs3_status(nfs3::create::PROCEDURE, &nfs3::create::Arguments { object, how }) == JUKEBOX
        }),
        ("MKDIR of NFSv3", |client, root, _| {
            let object = nfs3::DirectoryName { directory: nfs3::FileHandle(root), name: b"new" };
            let arguments = nfs3::mkdir::Arguments { object, new: nfs3::NewAttributes::default() };
            client.nfs3_status(nfs3::mkdir::PROCEDURE, &arguments) == JUKEBOX
        }),
        ("LINK of NFSv3", |client, root, file| {
            let link = nfs3::DirectoryName { directory: nfs3::FileHandle(root), name: b"new" };
            let arguments = nfs3::link::Arguments { node: nfs3::FileHandle(file), link };
            client.nfs3_status(nfs3::link::PROCEDURE, &arguments) == JUKEBOX
        }),
        ("RENAME of NFSv3", |client, root, _| {
            let place = |name| nfs3::DirectoryName { directory: nfs3::FileHandle(root), name };
            let arguments = nfs3::rename::Arguments { from: place(b"file"), to: place(b"other") };
            client.nfs3_status(nfs3::rename::PROCEDURE, &arguments) == JUKEBOX
        }),
        ("REMOVE of NFSv3", |client, root, _| {
            let object = nfs3::DirectoryName { directory: nfs3::FileHandle(root), name: b"file" };
            client.nfs3_status(nfs3::remove::PROCEDURE, &nfs3::remove::Arguments { object }) == JUKEBOX
        }),
        ("SETATTR of NFSv3", |client, root, _| {
            let arguments = nfs3::setattr::Arguments {
                node: nfs3::FileHandle(root),
                new: nfs3::NewAttributes { mode: Some(0o775), ..Default::default() },
                guard: None,
            };
            client.nfs3_status(nfs3::setattr::PROCEDURE, &arguments) == JUKEBOX
        }),
    ];
    for (name, change) in changes {
        let service = service_with(&["/"], |export| export.with_delegations(DelegationPolicy::Always));
        let mut other = Client::new(&service, "other");
        let (root, file) = made(&mut other);
        let (mut reader, recalls) = reader(&service);
        let state = watch(&mut reader, &root).expect("an answer").expect("a delegation");
        assert!(change(&mut other, &root, &file), "{name}");
        assert_eq!(*recalls.0.lock(), [(state, root.clone())], "{name}");
        assert!(change(&mut other, &root, &file), "{name}");
        assert_eq!(give_back(&mut reader, &root, state), Status::OK, "{name}");
        assert!(!change(&mut other, &root, &file), "{name}");
        assert_eq!(watch(&mut reader, &root), Ok(None), "{name}: it rests");
    }
}

#[test]
fn what_changes_no_directory_recalls_none() {
    let service = service_with(&["/"], |export| export.with_delegations(DelegationPolicy::Always));
    let mut other = Client::new(&service, "other");
    let (root, file) = made(&mut other);
    let (mut reader, recalls) = reader(&service);
    let state = watch(&mut reader, &root).expect("an answer").expect("a delegation");
    // A file that is there is opened, as by `>>` in a shell.
    let how = Some(How::Unchecked(Values::default()));
    other.open(&root, "file", "maker", (ACCESS_WRITE, DENY_NONE), how).expect("opened");
    let head = nfs3::write::Head {
        node: nfs3::FileHandle(&file),
        offset: 0,
        count: 0,
        stability: nfs3::write::Stability::FileSync,
        length: 0,
    };
    assert_eq!(other.nfs3_status(nfs3::write::PROCEDURE, &head), 0);
    // The client's own changes.
    let arguments = remove::Arguments { name: Name(b"file") };
    assert_eq!(reader.call(&[put(&root), step(remove::OPERATION, &arguments)]).status, Status::OK);
    assert_eq!(*recalls.0.lock(), []);
    assert_eq!(give_back(&mut reader, &root, state), Status::OK);
}
