//! Calls as servers make them, and as they should not.

use std::cell::RefCell;

use howdah_wire::nfs4::compound::ReplyHead;
use howdah_wire::nfs4::{Bitmap, ClientId, FileHandle, Owner, SessionId, StateId};
use howdah_wire::xdr::Array;

use super::super::back_channel::{CALLBACK_PROGRAM, OFFERED};
use super::*;

const SESSION: SessionId = SessionId([7; 16]);
const XID: u32 = 9;

/// What was done, in words.
#[derive(Default)]
struct Done(RefCell<Vec<String>>);

impl CallbackActions for Done {
    fn recall(&self, recall: &recall::Arguments<'_>) -> Status {
        self.0.borrow_mut().push(format!("recall {:?}", recall.node.0));
        if recall.node.0 == [1] { Status::OK } else { Status::BADHANDLE }
    }

    fn recall_any(&self, recall: &recall_any::Arguments) {
        self.0.borrow_mut().push(format!("keep {}", recall.keep));
    }

    fn notify_lock(&self, owner: Opaque<'_>) {
        self.0.borrow_mut().push(format!("unlocked {}", String::from_utf8_lossy(owner.0)));
    }

    fn recall_slot(&self, target_highest: u32) {
        self.0.borrow_mut().push(format!("slots up to {target_highest}"));
    }
}

fn header(program: u32, version: u32, procedure: u32) -> Vec<u8> {
    Encoder::to_vec(&CallHeader { xid: XID, program, version, procedure, credentials: Credentials::None })
}

fn begin(number: u32) -> (u32, Vec<u8>) {
    let referring = Array::of(&[]);
    let (session, slot) = (SESSION, 0);
    let arguments =
        sequence::Arguments { session, sequence: number, slot, highest_slot: 0, keep: false, referring };
    (sequence::OPERATION, Encoder::to_vec(&arguments))
}

fn recalled(node: &[u8]) -> (u32, Vec<u8>) {
    let arguments = recall::Arguments { state: StateId::ANONYMOUS, truncate: false, node: FileHandle(node) };
    (recall::OPERATION, Encoder::to_vec(&arguments))
}

fn compound(minor_version: u32, operations: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut message = header(CALLBACK_PROGRAM, VERSION, COMPOUND);
    let mut encoder = Encoder::new(&mut message);
    let count = operations.len() as u32;
    Head { tag: b"tag", minor_version, identifier: 0, operations: count }.encode(&mut encoder);
    for (operation, arguments) in operations {
        encoder.u32(*operation);
        encoder.output().extend_from_slice(arguments);
    }
    message
}

/// A client with a session, and what it did.
struct Scene {
    slots: CallbackSlots,
    done: Done,
}

impl Scene {
    fn new() -> Self {
        let mut slots = CallbackSlots::default();
        slots.begin(SESSION, 1);
        Self { slots, done: Done::default() }
    }

    fn answer(&mut self, message: &[u8]) -> Option<Vec<u8>> {
        answer(message, (CALLBACK_PROGRAM, &OFFERED), &mut self.slots, &self.done)
    }

    /// The results of a compound: each operation and its status.
    fn run(&mut self, minor_version: u32, operations: &[(u32, Vec<u8>)]) -> Vec<(u32, Status)> {
        let reply = self.answer(&compound(minor_version, operations)).expect("a reply");
        results(&reply)
    }

    fn done(&self) -> Vec<String> {
        self.done.0.take()
    }
}

fn results(reply: &[u8]) -> Vec<(u32, Status)> {
    let mut decoder = Decoder::new(reply);
    let header = ReplyHeader::decode(&mut decoder).expect("a reply");
    assert_eq!(header, ReplyHeader { xid: XID, outcome: Ok(Accepted::Success) });
    let head = ReplyHead::decode(&mut decoder).expect("a compound");
    assert_eq!(head.tag, b"tag");
    let mut results = Vec::new();
    for _ in 0..head.results {
        let ResultHead { operation, status } = ResultHead::decode(&mut decoder).expect("a result");
        if (operation, status) == (sequence::OPERATION, Status::OK) {
            sequence::Success::decode(&mut decoder).expect("CB_SEQUENCE");
        }
        results.push((operation, status));
    }
    decoder.finish("reply").expect("nothing follows");
    assert_eq!(head.status, results.last().map_or(head.status, |last| last.1));
    results
}

#[test]
fn operations_run_in_order_until_one_is_refused() {
    let mut scene = Scene::new();
    let owner = Owner { client: ClientId(1), owner: Opaque(b"lock:1") };
    let notice = notify_lock::Arguments { node: FileHandle(&[3]), owner };
    let any = recall_any::Arguments { keep: 5, kinds: Bitmap::of(&[recall_any::DIRECTORY_DELEGATIONS]) };
    let slot = recall_slot::Arguments { target_highest_slot: 3 };
    let operations = [
        begin(1),
        recalled(&[1]),
        (notify_lock::OPERATION, Encoder::to_vec(&notice)),
        (recall_any::OPERATION, Encoder::to_vec(&any)),
        (recall_slot::OPERATION, Encoder::to_vec(&slot)),
        recalled(&[2]),
        recalled(&[1]),
    ];
    let numbers = [11, 4, 13, 8, 10].map(|number| (number, Status::OK));
    let expected = [&numbers[..], &[(4, Status::BADHANDLE)]].concat();
    assert_eq!(scene.run(1, &operations), expected);
    assert_eq!(scene.done(), ["recall [1]", "unlocked lock:1", "keep 5", "slots up to 3", "recall [2]"]);
    // The same call again runs nothing, and has the same reply.
    assert_eq!(scene.run(1, &operations), expected);
    assert!(scene.done().is_empty());
}

#[test]
fn what_this_client_does_not_do_is_refused() {
    for (minor_version, operation, status) in [
        (1, 3, Status::BADHANDLE),
        (1, 5, Status::NOMATCHING_LAYOUT),
        (1, 6, Status::NOTSUPP),
        (1, 7, Status::NOTSUPP),
        (1, 9, Status::NOTSUPP),
        (1, 12, Status::NOTSUPP),
        (1, 14, Status::NOTSUPP),
        (2, 15, Status::NOTSUPP),
        (2, 11, Status::SEQUENCE_POS),
    ] {
        let mut scene = Scene::new();
        let results = scene.run(minor_version, &[begin(1), (operation, Vec::new()), recalled(&[1])]);
        let expected = [(sequence::OPERATION, Status::OK), (operation, status)];
        assert_eq!(results, expected, "{minor_version} {operation}");
        assert!(scene.done().is_empty());
    }
    for (minor_version, operation) in [(1, 15), (2, 16), (1, 0), (1, 20_000)] {
        let results = Scene::new().run(minor_version, &[begin(1), (operation, Vec::new())]);
        assert_eq!(results[1], (ILLEGAL, Status::OP_ILLEGAL), "{operation}");
    }
    let results = Scene::new().run(1, &[begin(1), (recall::OPERATION, Vec::new())]);
    assert_eq!(results[1], (recall::OPERATION, Status::BADXDR));
}

#[test]
fn a_compound_outside_of_the_session_does_nothing() {
    let mut scene = Scene::new();
    assert_eq!(scene.run(1, &[recalled(&[1])]), [(recall::OPERATION, Status::OP_NOT_IN_SESSION)]);
    assert_eq!(scene.run(1, &[(99, Vec::new())]), [(ILLEGAL, Status::OP_ILLEGAL)]);
    assert_eq!(scene.run(1, &[begin(2), recalled(&[1])]), [(sequence::OPERATION, Status::SEQ_MISORDERED)]);
    let mut other = begin(1);
    other.1[..16].fill(8);
    assert_eq!(scene.run(1, &[other, recalled(&[1])]), [(sequence::OPERATION, Status::BADSESSION)]);
    assert_eq!(scene.run(0, &[begin(1), recalled(&[1])]), []);
    assert_eq!(scene.run(1, &[]), []);
    let many = vec![begin(1); OFFERED.operations as usize + 1];
    assert_eq!(scene.run(1, &many), [(sequence::OPERATION, Status::TOO_MANY_OPS)]);
    let long = (recall::OPERATION, vec![0; OFFERED.request as usize]);
    assert_eq!(scene.run(1, &[begin(1), long]), [(sequence::OPERATION, Status::REQ_TOO_BIG)]);
    assert!(scene.done().is_empty());
    assert_eq!(scene.run(1, &[begin(1), recalled(&[1])]).len(), 2, "its number was not used up");
}

#[test]
fn other_calls_are_answered_as_rpc_says() {
    let mut scene = Scene::new();
    let outcome = |scene: &mut Scene, message: &[u8]| {
        let reply = scene.answer(message)?;
        Some(ReplyHeader::decode(&mut Decoder::new(&reply)).expect("a reply").outcome)
    };
    for (program, version, procedure, expected) in [
        (CALLBACK_PROGRAM, VERSION, NULL, Accepted::Success),
        (CALLBACK_PROGRAM, VERSION, 2, Accepted::ProcedureUnavailable),
        (CALLBACK_PROGRAM, 4, COMPOUND, Accepted::ProgramMismatch { low: VERSION, high: VERSION }),
        (100_003, 4, COMPOUND, Accepted::ProgramUnavailable),
        (CALLBACK_PROGRAM, VERSION, COMPOUND, Accepted::GarbageArguments),
    ] {
        let message = header(program, version, procedure);
        assert_eq!(outcome(&mut scene, &message), Some(Ok(expected)), "{program} {version} {procedure}");
    }
    let whole = compound(1, &[begin(1), recalled(&[1])]);
    for length in 0..whole.len() {
        // Whatever is missing, nothing breaks.
        scene.answer(&whole[..length]);
    }
    let mut other = header(CALLBACK_PROGRAM, VERSION, NULL);
    other[11] = 3;
    assert_eq!(outcome(&mut scene, &other), Some(Err(Denied::RpcMismatch)));
    assert_eq!(outcome(&mut scene, &head(XID, Ok(Accepted::Success))), None, "a reply");
}
