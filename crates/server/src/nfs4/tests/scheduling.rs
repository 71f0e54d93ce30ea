//! What the door makes of compounds: each is read once, and runs where it keeps nobody waiting.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use howdah_net::probe_host;
use howdah_tune::budget::HostMemory;
use howdah_tune::{Settings, Tuner};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{FileSystem, Result};
use howdah_wire::nfs4::attributes::Values;
use howdah_wire::nfs4::open::{self, ACCESS_BOTH, DENY_NONE, How};
use howdah_wire::nfs4::{
    Bitmap, Name, Opaque, Owner, Stability, StateId, Status, close, commit, copy, destroy_session, getattr,
    lookup, putrootfh, readdir, savefh, seek, write,
};
use howdah_wire::rpc::RecordMark;
use howdah_wire::xdr::Array;
use parking_lot::{Condvar, Mutex};

use super::client::{Answer, Client, Step, bare, put, service, service_of, step};
use crate::Transport;
use crate::connection::tests::connected;
use crate::counts::Moment;
use crate::dispatch::Work;
use crate::nfs4::opening;
use crate::outline::ReplyPace;
use crate::service::Service;
use crate::shared::Shared;
use crate::worker::Worker;

/// Storage whose WRITEs hang until it is let go.
#[derive(Default)]
struct Hanging {
    inner: MemoryFileSystem,
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Layer for Hanging {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if call == Call::Write {
            self.opened.wait_while(&mut self.is_open.lock(), |is_open| !*is_open);
        }
        run(&self.inner)
    }
}

fn open_file(client: &Client) -> Step {
    let arguments = open::Arguments {
        sequence: 0,
        access: ACCESS_BOTH,
        deny: DENY_NONE,
        owner: Owner { client: client.id, owner: Opaque(b"owner") },
        create: Some(How::Unchecked(Values::default())),
        claim: open::Claim::Name(Name(b"file")),
    };
    step(open::OPERATION, &arguments)
}

fn write(length: usize, stability: Stability) -> Step {
    let data = vec![7; length];
    step(write::OPERATION, &write::Arguments { state: StateId::CURRENT, offset: 0, stability, data: &data })
}

fn attributes() -> Step {
    step(getattr::OPERATION, &getattr::Arguments { wanted: Bitmap::NONE })
}

fn close_file() -> Step {
    step(close::OPERATION, &close::Arguments { sequence: 0, state: StateId::CURRENT })
}

fn read_directory() -> Step {
    let (cookie, verifier, count) = (0, Default::default(), 4096);
    let wanted = Bitmap::NONE;
    step(readdir::OPERATION, &readdir::Arguments { cookie, verifier, name_count: count, count, wanted })
}

/// How demanding a call is, and whether it is dear.
fn pace(service: &Service, message: &[u8]) -> (ReplyPace, bool) {
    match service.dispatcher.read(message, None, Transport::Tcp) {
        Work::Run(job) => (job.outline.pace, job.outline.is_dear),
        _ => panic!("it is a call"),
    }
}

#[test]
fn a_compound_is_as_demanding_as_its_most_demanding_operation() {
    let service = service(&["/"]);
    let client = Client::new(&service, "client");
    let commit = step(commit::OPERATION, &commit::Arguments { offset: 0, count: 0 });
    let lookup = step(lookup::OPERATION, &lookup::Arguments { name: Name(b"name") });
    let state = StateId::ANONYMOUS;
    let copy = copy::Arguments {
        source: state,
        destination: state,
        source_offset: 0,
        destination_offset: 0,
        count: 7,
        consecutive: true,
        synchronous: true,
        servers: Array::of(&[]),
    };
    let seek = step(seek::OPERATION, &seek::Arguments { state, offset: 0, what: 0 });
    let (put, save) = (put(b"handle"), bare(savefh::OPERATION));
    let destroy = step(destroy_session::OPERATION, &destroy_session::Arguments { session: client.session });
    let copy = step(copy::OPERATION, &copy);
    let durable = write(7, Stability::FileSync);
    for (expected, steps) in [
        (ReplyPace::Quick, vec![put.clone(), attributes()]),
        (ReplyPace::Quick, vec![put.clone(), seek]),
        (
            ReplyPace::Quick,
            vec![put.clone(), open_file(&client), write(7, Stability::Unstable), close_file()],
        ),
        (ReplyPace::Quick, vec![]),
        (ReplyPace::Dear, vec![put.clone(), attributes(), lookup, read_directory()]),
        (
            ReplyPace::Long,
            vec![put.clone(), open_file(&client), write(1 << 20, Stability::Unstable), attributes()],
        ),
        (ReplyPace::Slow, vec![put.clone(), open_file(&client), durable, close_file()]),
        (ReplyPace::Slow, vec![put.clone(), attributes(), commit.clone()]),
        (ReplyPace::Slow, vec![put.clone(), read_directory(), commit.clone()]),
        (ReplyPace::Slow, vec![put.clone(), read_directory(), bare(commit::OPERATION)]),
        (ReplyPace::Slow, vec![put.clone(), destroy, commit.clone()]),
        (
            ReplyPace::Long,
            vec![put.clone(), read_directory(), put.clone(), write(1 << 20, Stability::Unstable)],
        ),
        (ReplyPace::Slow, vec![put.clone(), write(1 << 20, Stability::Unstable), commit]),
        (ReplyPace::Slow, vec![put.clone(), save, put.clone(), copy.clone()]),
        (ReplyPace::Slow, vec![put, attributes(), copy]),
    ] {
        let message = client.message(&[&[client.sequence_step(0, 1)], &steps[..]].concat());
        let is_dear = steps.contains(&read_directory());
        assert_eq!(pace(&service, &message), (expected, is_dear), "{} operations", steps.len());
    }
}

#[test]
fn a_compound_of_fifty_operations_is_read_once() {
    let mut client = Client::new(&service(&["/"]), "client");
    let root = client.handle(&[]).expect("the root");
    let steps: Vec<Step> = (0..49).map(|at| if at % 2 == 0 { put(&root) } else { attributes() }).collect();
    let before = opening::tests::counts();
    let answer = client.call(&steps);
    assert_eq!((answer.status, answer.results), (Status::OK, 50));
    let after = opening::tests::counts();
    assert_eq!((after.0 - before.0, after.1 - before.1), (1, 49), "compounds and operations that were read");
}

/// What workers share who serve this, which nobody else has.
pub fn shared(service: Arc<Service>) -> Arc<Shared> {
    let memory = HostMemory { total: 8 << 30, tcp: [1 << 30; 3], group: None };
    let settings = Settings::automatic(probe_host().expect("a socket"), memory);
    let service = Arc::into_inner(service).expect("nobody else has it");
    let shared = Shared::new(service, Vec::new(), Tuner::new(settings)).expect("descriptors");
    shared.open().expect("a poller");
    Arc::new(shared)
}

/// A call as it goes over a stream.
pub fn record(message: &[u8]) -> Vec<u8> {
    [&RecordMark { length: message.len() as u32, last: true }.to_bytes()[..], message].concat()
}

/// The next reply of a stream.
pub fn reply(stream: &mut TcpStream) -> Vec<u8> {
    let mut mark = [0; RecordMark::SIZE];
    stream.read_exact(&mut mark).expect("a reply");
    let mut reply = vec![0; RecordMark::from_bytes(mark).length as usize];
    stream.read_exact(&mut reply).expect("a reply");
    reply
}

/// Nobody watches these workers: what is not handed on before it hangs has its connection until it is done.
#[test]
fn a_durable_write_behind_an_open_lets_the_next_call_of_its_connection_run() {
    let storage = Arc::new(Hanging::default());
    let service = service_of(storage.clone());
    let mut client = Client::new(&service, "client");
    client.user = 0;
    let root = client.handle(&[]).expect("the root");
    let first = [
        client.sequence_step(0, client.sequence + 1),
        put(&root),
        open_file(&client),
        write(7, Stability::FileSync),
        close_file(),
    ];
    let second = [client.sequence_step(1, 1), put(&root), attributes()];
    let calls = [record(&client.message(&first)), record(&client.message(&second))].concat();
    drop(client);
    let shared = shared(service);
    let (stream, mut socket) = connected();
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    socket.write_all(&calls).expect("sending");
    while stream.waiting().expect("a socket") < calls.len() {}
    shared.add(stream).expect("taken in");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| Worker::new(Arc::clone(&shared)).run());
        }
        let answer = Answer::of(&reply(&mut socket));
        assert_eq!((answer.status, answer.results), (Status::OK, 3), "the second, while the first hangs");
        *storage.is_open.lock() = true;
        storage.opened.notify_all();
        let answer = Answer::of(&reply(&mut socket));
        assert_eq!((answer.status, answer.results), (Status::OK, 5));
        shared.stopping.store(true, Ordering::SeqCst);
        shared.waker.wake();
    });
}

#[test]
fn a_dear_call_that_cannot_wait_is_put_off_for_who_has_had_more_than_its_share() {
    let service = service(&["/"]);
    let mut client = Client::new(&service, "client");
    let root = client.handle(&[]).expect("the root");
    let commit = step(commit::OPERATION, &commit::Arguments { offset: 0, count: 0 });
    let call = |at: Step, number| {
        let first = client.sequence_step(0, client.sequence + number);
        record(&client.message(&[first, at, read_directory(), commit.clone()]))
    };
    let calls = [call(put(&root), 1), call(bare(putrootfh::OPERATION), 2)];
    drop(client);
    let shared = shared(service);
    let (stream, mut socket) = connected();
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let cost = Duration::from_secs(9 * shared.processors as u64);
    shared.shares.charge(stream.peer().ends.client.ip(), cost, Moment::now());
    shared.add(stream).expect("taken in");
    std::thread::scope(|scope| {
        scope.spawn(|| Worker::new(Arc::clone(&shared)).run());
        for call in calls {
            socket.write_all(&call).expect("sending");
            let answer = Answer::of(&reply(&mut socket));
            assert_eq!((answer.status, answer.results), (Status::DELAY, 2));
        }
        shared.stopping.store(true, Ordering::SeqCst);
        shared.waker.wake();
    });
}
