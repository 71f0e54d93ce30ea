//! Clients, sessions, slots.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use howdah_state::{DurableRecord, IoKind, IoPermit, Serial, StateId};
use howdah_vfs::Handle;
use howdah_vfs::memory::MemoryFileSystem;
use howdah_wire::nfs4::attributes::Values;
use howdah_wire::nfs4::create_session::{self, ChannelSizes};
use howdah_wire::nfs4::open::{ACCESS_BOTH, DENY_NONE, How};
use howdah_wire::nfs4::sequence;
use howdah_wire::nfs4::{
    SessionId, Status, destroy_clientid, destroy_session, exchange_id, getattr, operation, putrootfh, remove,
};

use super::client::{Client, SIZES, bare, put, service, step, walk};
use crate::exports::{ClientRule, Export, Exports};
use crate::service::Service;
use crate::states::{FileKey, RecordLog, StateOptions};

fn remove(name: &str) -> Vec<u8> {
    step(remove::OPERATION, &remove::Arguments { name: howdah_wire::nfs4::Name(name.as_bytes()) })
}

#[test]
fn minor_version_0_is_not_served() {
    let mut client = Client::new(&service(&["/"]), "client");
    client.minor_version = 0;
    let answer = client.send(&[bare(putrootfh::OPERATION)]);
    assert_eq!((answer.status, answer.results), (Status::MINOR_VERS_MISMATCH, 0));
    client.minor_version = 3;
    assert_eq!(client.send(&[]).status, Status::MINOR_VERS_MISMATCH);
}

#[test]
fn what_does_not_begin_with_sequence_is_refused() {
    let client = Client::new(&service(&["/"]), "client");
    let mut answer = client.send(&[bare(putrootfh::OPERATION)]);
    assert_eq!(answer.status, Status::OP_NOT_IN_SESSION);
    assert_eq!(answer.status_of(putrootfh::OPERATION), Status::OP_NOT_IN_SESSION);
    let arguments = destroy_session::Arguments { session: client.session };
    let destroy = step(destroy_session::OPERATION, &arguments);
    assert_eq!(client.send(&[destroy, bare(putrootfh::OPERATION)]).status, Status::NOT_ONLY_OP);
    let mut answer = client.send(&[bare(9999)]);
    assert_eq!(answer.status_of(operation::ILLEGAL), Status::OP_ILLEGAL);
}

#[test]
fn nothing_comes_after_the_end_of_its_own_session() {
    let service = service(&["/"]);
    let (mut client, other) = (Client::new(&service, "client"), Client::new(&service, "other"));
    let destroy = |session| step(destroy_session::OPERATION, &destroy_session::Arguments { session });
    let mut answer = client.call(&[destroy(client.session), bare(putrootfh::OPERATION)]);
    assert_eq!(answer.status_of(destroy_session::OPERATION), Status::NOT_ONLY_OP);
    let ends_other = client.call(&[destroy(other.session), bare(putrootfh::OPERATION)]);
    assert_eq!((ends_other.status, ends_other.results), (Status::OK, 3));
    assert_eq!(client.call(&[bare(putrootfh::OPERATION), destroy(client.session)]).status, Status::OK);
}

#[test]
fn a_second_sequence_is_out_of_place() {
    let mut client = Client::new(&service(&["/"]), "client");
    let second = client.sequence_step(1, 1);
    let mut answer = client.call(&[second]);
    assert_eq!(answer.status_of(sequence::OPERATION), Status::SEQUENCE_POS);
}

#[test]
fn a_retry_is_answered_from_memory_and_runs_once() {
    let mut client = Client::new(&service(&["/"]), "client");
    let root = client.handle(&[]).expect("the root");
    let how = howdah_wire::nfs4::open::How::Guarded(Default::default());
    client.open(&root, "file", "owner", (3, 0), Some(how)).expect("made");
    let steps = [put(&root), remove("file")];
    let first = client.call(&steps);
    assert_eq!(first.status, Status::OK);
    let retry = client.again(&steps);
    assert_eq!((retry.status, retry.results), (Status::OK, 3), "it would not be there the second time");
    assert_eq!(client.call(&steps).status, Status::NOENT);
    let other = client.again(&[put(&root), remove("other")]);
    assert_eq!(other.status, Status::SEQ_FALSE_RETRY);
}

#[test]
fn numbers_and_slots_are_checked_and_nothing_moves() {
    let mut client = Client::new(&service(&["/"]), "client");
    let root = [bare(putrootfh::OPERATION)];
    client.sequence += 5;
    assert_eq!(client.again(&root).status, Status::SEQ_MISORDERED);
    client.sequence -= 5;
    assert_eq!(client.send(&[client.sequence_step(SIZES.slots, 1)]).status, Status::BADSLOT);
    assert_eq!(client.call(&root).status, Status::OK);
    client.session = SessionId([9; 16]);
    assert_eq!(client.call(&root).status, Status::BADSESSION);
}

#[test]
fn a_compound_that_is_too_large_moves_no_slot() {
    let mut client = Client::new(&service(&["/"]), "client");
    let many = vec![bare(putrootfh::OPERATION); SIZES.operations as usize];
    assert_eq!(client.call(&many).status, Status::TOO_MANY_OPS);
    client.sequence -= 1;
    assert_eq!(client.call(&many[1..]).status, Status::OK);
}

#[test]
fn a_session_ends_and_then_its_client() {
    let client = Client::new(&service(&["/"]), "client");
    let end_client = step(destroy_clientid::OPERATION, &destroy_clientid::Arguments { client: client.id });
    let end_session =
        step(destroy_session::OPERATION, &destroy_session::Arguments { session: client.session });
    assert_eq!(client.send(std::slice::from_ref(&end_client)).status, Status::CLIENTID_BUSY);
    assert_eq!(client.send(std::slice::from_ref(&end_session)).status, Status::OK);
    assert_eq!(client.send(&[end_session]).status, Status::BADSESSION);
    assert_eq!(client.send(std::slice::from_ref(&end_client)).status, Status::OK);
    assert_eq!(client.send(&[end_client]).status, Status::STALE_CLIENTID);
}

#[test]
fn a_client_ends_although_it_had_a_file_open_that_is_gone() {
    let service = service(&["/"]);
    let [mut client, mut other] = ["one", "the other"].map(|name| Client::new(&service, name));
    let root = client.handle(&[]).expect("the root");
    let how = || Some(How::Unchecked(Values::default()));
    client.open(&root, "file", "owner", (ACCESS_BOTH, DENY_NONE), how()).expect("opened");
    let end_session =
        step(destroy_session::OPERATION, &destroy_session::Arguments { session: client.session });
    assert_eq!(client.send(&[end_session]).status, Status::OK);
    let end_client = step(destroy_clientid::OPERATION, &destroy_clientid::Arguments { client: client.id });
    assert_eq!(client.send(std::slice::from_ref(&end_client)).status, Status::CLIENTID_BUSY);
    assert_eq!(other.call(&[put(&root), remove("file")]).status, Status::OK);
    assert_eq!(client.send(&[end_client]).status, Status::OK);
}

#[test]
fn create_session_is_answered_twice_with_the_same() {
    let service = service(&["/"]);
    let mut client = Client::unconfirmed(&service, "client");
    let found = client.exchange("client", 1);
    client.id = found.client;
    let first = client.create_session(found.sequence).expect("made");
    assert_eq!(client.create_session(found.sequence).expect("again"), first);
    assert_eq!(client.create_session(found.sequence + 2), Err(Status::SEQ_MISORDERED));
    assert_eq!(first.fore.slots, SIZES.slots);
}

#[test]
fn sizes_that_nothing_fits_are_refused() {
    let service = service(&["/"]);
    let mut client = Client::unconfirmed(&service, "client");
    let found = client.exchange("client", 1);
    client.id = found.client;
    let small = ChannelSizes { response: 100, ..SIZES };
    let arguments = create_session::Arguments {
        client: client.id,
        sequence: found.sequence,
        flags: 0,
        fore: small,
        back: SIZES,
        callback_program: 0,
        security: howdah_wire::xdr::Array::of(&[]),
    };
    let answer = client.send(&[step(create_session::OPERATION, &arguments)]);
    assert_eq!(answer.status, Status::TOOSMALL);
    assert!(client.create_session(found.sequence).is_ok(), "its number has not moved");
}

#[test]
fn a_reply_that_does_not_fit_is_refused() {
    let mut client = Client::new(&service(&["/"]), "client");
    let all = howdah_wire::nfs4::attributes::Attributes::ALL;
    let mut steps = walk(&[]);
    steps.extend(vec![step(getattr::OPERATION, &getattr::Arguments { wanted: all }); 14]);
    assert_eq!(client.call(&steps).status, Status::REP_TOO_BIG_TO_CACHE);
}

#[test]
fn the_client_knows_the_server_again() {
    let service = service(&["/"]);
    let client = Client::unconfirmed(&service, "client");
    let flags = client.exchange("client", 1).flags;
    assert_eq!(flags & exchange_id::CONFIRMED, 0);
    assert_ne!(flags & exchange_id::WITHOUT_PNFS, 0);
    let client = Client::new(&service, "client");
    assert_ne!(client.exchange("client", 1).flags & exchange_id::CONFIRMED, 0);
}

/// A log that cannot be written while `is_full`.
struct Full(Arc<AtomicBool>);

impl RecordLog for Full {
    fn append(&self, _: Serial, _: &DurableRecord) {}

    fn wait(&self, _: Serial, _: Serial) -> io::Result<()> {
        if self.0.load(Ordering::SeqCst) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

/// A server with such a log.
fn service_that_logs(is_full: &Arc<AtomicBool>) -> Arc<Service> {
    let export = Export::new("/", 1, Arc::new(MemoryFileSystem::new()), vec![ClientRule::default()]);
    let exports = Exports::new(vec![export], [7; 16]).expect("one");
    let states = StateOptions { log: Box::new(Full(Arc::clone(is_full))), ..StateOptions::forgetful() };
    Arc::new(Service::with(exports, Some(states), Vec::new()))
}

#[test]
fn io_without_an_open_waits_until_what_it_rests_on_is_durable() {
    let is_full = Arc::<AtomicBool>::default();
    let service = service_that_logs(&is_full);
    let client = howdah_state::ClientId(Client::new(&service, "client").id.0);
    let file = FileKey { export: 1, node: Handle::new(&[7; 32]).expect("a handle") };
    let states = service.states.as_ref().expect("NFSv4");
    let write = || states.check_io(client, StateId::ANONYMOUS, &file, IoKind::Write);
    assert_eq!(write(), Ok(IoPermit::Special));
    is_full.store(true, Ordering::SeqCst);
    assert_eq!(write(), Err(Status::DELAY));
}

#[test]
fn a_client_that_restarts_while_the_disk_is_full_gets_its_session_when_there_is_room() {
    let is_full = Arc::<AtomicBool>::default();
    let service = service_that_logs(&is_full);
    Client::new(&service, "client");
    let mut restarted = Client::unconfirmed(&service, "client");
    let found = restarted.exchange("client", 2);
    restarted.id = found.client;
    is_full.store(true, Ordering::SeqCst);
    assert_eq!(restarted.create_session(found.sequence).err(), Some(Status::DELAY));
    is_full.store(false, Ordering::SeqCst);
    restarted.session = restarted.create_session(found.sequence).expect("a session").session;
    assert_eq!(restarted.call(&[bare(putrootfh::OPERATION)]).status, Status::OK);
    assert_eq!(service.states.as_ref().expect("NFSv4").sessions().count(), 1, "none is left over");
}
