//! A client of RPCSEC_GSS against the programs as they are served, without a socket and without a KDC: a token is a name, and both
//! sides make the same key of it.

use std::cell::Cell;
use std::io;
use std::sync::Arc;

use howdah_gss::{ContextSide, Enctype, GssContext, LucidContext, MAXIMUM_SEQUENCE, SessionKey, WINDOW};
use howdah_random::Random;
use howdah_vfs::GroupList;
use howdah_vfs::memory::MemoryFileSystem;
use howdah_wire::mount::mnt;
use howdah_wire::nfs3::{self, FileHandle, create, getattr, read, write};
use howdah_wire::rpc::{
    Accepted, AuthStatus, CallHeader, Credentials, Denied, GssCredential, GssInit, GssInitResult,
    GssProcedure, GssService, GssVerifier, ReplyHeader, SealedBody, SignedBody, SignedReply,
};
use howdah_wire::xdr::{Decode, Decoder, Encode, Encoder};

use super::{AcceptedToken, GssDoor, TokenAcceptor, TokenRefusal};
use crate::calling::peer;
use crate::exports::{
    ClientRule, Export, Exports, GroupSource, PrincipalMap, PrincipalSettings, SecurityFlavor,
    SecurityFlavors, Squash, UserAccount, UserGroups,
};
use crate::limits::CONTEXTS_OF_ONE_MAX;
use crate::service::{Service, ServiceOptions};
use crate::{Peer, Transport};

const SERVICES: [GssService; 3] = [GssService::None, GssService::Integrity, GssService::Privacy];
const NULL: (u32, u32, u32) = (nfs3::PROGRAM, nfs3::VERSION, 0);

/// The key that a token stands for.
fn lucid(token: &[u8], side: ContextSide, expiry: u64) -> LucidContext {
    let enctype = Enctype::ALL[usize::from(token[0]) % Enctype::ALL.len()];
    let seed = token.iter().fold(1, |seed: u64, byte| seed.wrapping_mul(257) + u64::from(*byte));
    let bytes = Random::new(seed).bytes(enctype.key_length());
    let key = SessionKey::new(enctype.number(), &bytes).expect("a key");
    LucidContext { side, key, acceptor_subkey: true, send_sequence: 1, expiry }
}

/// Accepts every token as its own name's, but for those that begin with `!`.
struct Names {
    expiry: u64,
}

impl TokenAcceptor for Names {
    fn accept(&self, token: &[u8]) -> Result<AcceptedToken, TokenRefusal> {
        if token.first() == Some(&b'!') {
            return Err(TokenRefusal { major: 9 << 16, minor: 5, why: "a test".to_owned() });
        }
        Ok(AcceptedToken {
            reply: b"welcome".to_vec(),
            client: format!("{}@R", String::from_utf8_lossy(token)),
            service: "nfs/server@R".to_owned(),
            lucid: lucid(token, ContextSide::Acceptor, self.expiry),
        })
    }

    fn width(&self) -> usize {
        1
    }
}

/// There are ten thousand users, `u0` to `u9999`.
struct TenThousand;

impl GroupSource for TenThousand {
    fn groups(&self, _: u32) -> io::Result<Option<Vec<u32>>> {
        Ok(None)
    }

    fn user(&self, name: &str) -> io::Result<Option<UserAccount>> {
        let number = name.strip_prefix('u').and_then(|number| number.parse().ok());
        let account = |user: u32| UserAccount { user, group: user, groups: GroupList::new([user]) };
        Ok(number.filter(|number| *number < 10_000).map(account))
    }
}

/// There is no user but root.
struct RootAlone;

impl GroupSource for RootAlone {
    fn groups(&self, _: u32) -> io::Result<Option<Vec<u32>>> {
        Ok(None)
    }

    fn user(&self, name: &str) -> io::Result<Option<UserAccount>> {
        Ok((name == "root").then_some(UserAccount { user: 0, group: 0, groups: GroupList::default() }))
    }
}

/// A server of one directory.
struct Served {
    service: Service,
    peer: Peer,
    root: Vec<u8>,
}

impl Served {
    fn new() -> Self {
        Self::with_expiry(u64::MAX)
    }

    fn with_expiry(expiry: u64) -> Self {
        Self::with(expiry, &SecurityFlavor::ALL)
    }

    fn with(expiry: u64, flavors: &[SecurityFlavor]) -> Self {
        let sec = SecurityFlavors::new(flavors.iter().copied()).expect("some");
        let rules = vec![ClientRule { squash: Squash::None, sec, ..ClientRule::default() }];
        let export = Export::new("/", 1, Arc::new(MemoryFileSystem::new()), rules);
        let is_root = |name: &str| (format!("{name}@R"), "root".to_owned());
        let table = ["17", "28", "39", "40", "alice", "mallory"].map(is_root).into_iter().collect();
        let map = PrincipalMap::new(PrincipalSettings { table, ..PrincipalSettings::default() });
        Self::of(expiry, export, map, UserGroups::new(RootAlone))
    }

    fn of(expiry: u64, export: Export, map: PrincipalMap, users: UserGroups) -> Self {
        let users = Arc::new(users);
        let exports = Exports::new(vec![export], [7; 16]).expect("one").with_principals(map, users);
        let root = exports.find(1).map(|export| exports.seal(export, export.root())).expect("it");
        let gss = Some(GssDoor::new(Box::new(Names { expiry })));
        let service = Service::with_options(exports, ServiceOptions { gss, ..ServiceOptions::default() });
        let root = root.as_wire().0.to_vec();
        Self { service, peer: peer("192.0.2.9:40000", "192.0.2.1:2049", Transport::Tcp), root }
    }

    fn answer(&self, message: &[u8]) -> Option<Vec<u8>> {
        self.service.answer(&self.peer, message)
    }

    /// A context of this name, or why there is none.
    fn context(&self, token: &[u8]) -> Result<Initiator, (u32, u32)> {
        let mut message = header(GssCredential {
            procedure: GssProcedure::Init,
            sequence: 0,
            service: GssService::None,
            handle: &[],
        });
        GssVerifier { mic: &[] }.encode(&mut Encoder::new(&mut message));
        GssInit { token }.encode(&mut Encoder::new(&mut message));
        let reply = self.answer(&message).expect("an answer");
        let mut decoder = Decoder::new(&reply);
        let signed = SignedReply::decode(&mut decoder).expect("a reply");
        assert_eq!(signed.header.outcome, Ok(Accepted::Success));
        let result = GssInitResult::decode(&mut decoder).expect("a result");
        if result.major != 0 {
            assert!(signed.mic.is_empty() && result.handle.is_empty() && result.token.is_empty());
            return Err((result.major, result.minor));
        }
        let keys = GssContext::new(&lucid(token, ContextSide::Initiator, 0));
        keys.verify(&[&WINDOW.to_be_bytes()], signed.mic).expect("the window is signed");
        assert_eq!((result.window, result.token), (WINDOW, &b"welcome"[..]));
        Ok(Initiator { keys, handle: result.handle.to_vec(), next: Cell::new(1) })
    }

    /// Calls, checks the answer's signature, and gives its result.
    fn call(
        &self,
        client: &Initiator,
        what: (u32, u32, u32),
        service: GssService,
        arguments: &impl Encode,
    ) -> (ReplyHeader, Vec<u8>) {
        let sequence = client.next();
        let message = client.message(7, what, (sequence, service), &Encoder::to_vec(arguments));
        client.opened(&self.answer(&message).expect("an answer"), sequence, service)
    }
}

fn header(gss: GssCredential<'_>) -> Vec<u8> {
    header_of(7, NULL, gss)
}

fn header_of(xid: u32, (program, version, procedure): (u32, u32, u32), gss: GssCredential<'_>) -> Vec<u8> {
    let header = CallHeader { xid, program, version, procedure, credentials: Credentials::Gss(gss) };
    let mut message = Vec::new();
    header.encode_unsigned(&mut Encoder::new(&mut message));
    message
}

/// A client's side of a context.
struct Initiator {
    keys: GssContext,
    handle: Vec<u8>,
    next: Cell<u32>,
}

impl Initiator {
    fn next(&self) -> u32 {
        self.next.replace(self.next.get() + 1)
    }

    fn message(
        &self,
        xid: u32,
        what: (u32, u32, u32),
        (sequence, service): (u32, GssService),
        arguments: &[u8],
    ) -> Vec<u8> {
        let procedure = GssProcedure::Data;
        self.message_as(
            xid,
            what,
            GssCredential { procedure, sequence, service, handle: &self.handle },
            arguments,
        )
    }

    fn message_as(
        &self,
        xid: u32,
        what: (u32, u32, u32),
        credential: GssCredential<'_>,
        arguments: &[u8],
    ) -> Vec<u8> {
        let mut message = header_of(xid, what, credential);
        let mic = self.keys.sign(&[&message]);
        GssVerifier { mic: mic.bytes() }.encode(&mut Encoder::new(&mut message));
        let numbered = [&credential.sequence.to_be_bytes()[..], arguments].concat();
        match credential.service {
            GssService::None => message.extend_from_slice(arguments),
            GssService::Integrity => {
                let mic = self.keys.sign(&[&numbered]);
                SignedBody { signed: &numbered, mic: mic.bytes() }.encode(&mut Encoder::new(&mut message));
            }
            GssService::Privacy => {
                let mut token = [&[0; howdah_gss::WRAP_HEAD][..], &numbered].concat();
                token.resize(token.len() + self.keys.wrap_tail(), 0);
                self.keys.wrap(&mut token);
                Encoder::new(&mut message).opaque(&token);
            }
        }
        message
    }

    /// The header and the result of an answer, whose verifier and protection are checked.
    fn opened(&self, reply: &[u8], sequence: u32, service: GssService) -> (ReplyHeader, Vec<u8>) {
        let mut decoder = Decoder::new(reply);
        let SignedReply { header, mic } = SignedReply::decode(&mut decoder).expect("a reply");
        if header.outcome.is_err() {
            assert!(mic.is_empty());
            return (header, Vec::new());
        }
        self.keys.verify(&[&sequence.to_be_bytes()], mic).expect("its number is signed");
        let rest = decoder.rest();
        if header.outcome != Ok(Accepted::Success) {
            assert!(rest.is_empty() || matches!(header.outcome, Ok(Accepted::ProgramMismatch { .. })));
            return (header, Vec::new());
        }
        let (number, result) = match service {
            GssService::None => (sequence, rest.to_vec()),
            GssService::Integrity => {
                let body = SignedBody::decode(&mut decoder).expect("a signed result");
                self.keys.verify(&[body.signed], body.mic).expect("it is signed");
                let (number, result) = body.parts().expect("a number");
                (number, result.to_vec())
            }
            GssService::Privacy => {
                let sealed = SealedBody::find(rest).expect("a sealed result");
                let mut token = rest[sealed.token].to_vec();
                let (number, result) =
                    SealedBody::parts(self.keys.unwrap(&mut token).expect("ours")).expect("a number");
                (number, result.to_vec())
            }
        };
        assert_eq!(number, sequence);
        (header, result)
    }
}

fn denied(status: AuthStatus) -> Result<Accepted, Denied> {
    Err(Denied::Authentication(status))
}

fn outcome(reply: &[u8]) -> Result<Accepted, Denied> {
    ReplyHeader::decode(&mut Decoder::new(reply)).expect("a reply").outcome
}

#[test]
fn files_are_made_written_and_read_in_every_service_and_enctype() {
    let served = Served::new();
    for (name, service) in
        ["17", "28", "39", "40"].iter().flat_map(|name| SERVICES.map(|service| (name, service)))
    {
        let client = served.context(name.as_bytes()).expect("a context");
        let call = |procedure, arguments: &dyn Fn() -> Vec<u8>| {
            let what = (nfs3::PROGRAM, nfs3::VERSION, procedure);
            let (header, result) = served.call(&client, what, service, &Raw(arguments()));
            assert_eq!(header.outcome, Ok(Accepted::Success), "{name} {service:?}");
            result
        };
        let file = format!("{name}-{service:?}");
        let object = nfs3::DirectoryName { directory: FileHandle(&served.root), name: file.as_bytes() };
        let how = create::How::Guarded(nfs3::NewAttributes::default());
        let result = call(create::PROCEDURE, &|| Encoder::to_vec(&create::Arguments { object, how }));
        let made = match create::Reply::decode(&mut Decoder::new(&result)).expect("a result") {
            create::Reply::Ok(made) => made.node.expect("a handle").0.to_vec(),
            create::Reply::Err(refused) => panic!("{:?}", refused.status),
        };
        for length in [0, 1, 3, 4, 5, 4095, 70_001, 1 << 20] {
            let data = Random::new(length as u64).bytes(length);
            let node = FileHandle(&made);
            let stability = write::Stability::Unstable;
            let arguments =
                write::Arguments { node, offset: 0, count: length as u32, stability, data: &data };
            call(write::PROCEDURE, &|| Encoder::to_vec(&arguments));
            let arguments = read::Arguments { node, offset: 0, count: length as u32 };
            let result = call(read::PROCEDURE, &|| Encoder::to_vec(&arguments));
            match read::Reply::decode(&mut Decoder::new(&result)).expect("a result") {
                read::Reply::Ok(read) => assert_eq!(read.data, data, "{name} {service:?} {length}"),
                read::Reply::Err(refused) => panic!("{:?}", refused.status),
            }
        }
    }
}

/// Bytes that are encoded already.
struct Raw(Vec<u8>);

impl Encode for Raw {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.0
            .chunks(4)
            .for_each(|word| encoder.u32(u32::from_be_bytes(word.try_into().expect("whole words"))));
    }
}

#[test]
fn an_export_takes_calls_of_its_flavors_alone() {
    let what = (nfs3::PROGRAM, nfs3::VERSION, getattr::PROCEDURE);
    for flavors in [
        &[SecurityFlavor::Sys][..],
        &[SecurityFlavor::Krb5],
        &[SecurityFlavor::Krb5p, SecurityFlavor::Krb5i],
        &SecurityFlavor::ALL,
    ] {
        let served = Served::with(u64::MAX, flavors);
        let client = served.context(b"alice").expect("a context");
        let arguments = getattr::Arguments { node: FileHandle(&served.root) };
        for service in SERVICES {
            let (header, _) = served.call(&client, what, service, &arguments);
            let is_taken = flavors.contains(&SecurityFlavor::of_service(service));
            let expected = if is_taken { Ok(Accepted::Success) } else { denied(AuthStatus::TooWeak) };
            assert_eq!(header.outcome, expected, "{service:?} of {flavors:?}");
        }
    }
}

/// Sessions are made by the machine of a client, which is no user, with a flavor that the mount may not have.
#[test]
fn a_machine_makes_a_session_whatever_flavors_exports_take() {
    use howdah_wire::nfs4::exchange_id::{self, ClientOwner, Protection};
    use howdah_wire::nfs4::{COMPOUND, Opaque, Verifier, compound};
    let machine = b"host/client.test";
    for flavors in [&[SecurityFlavor::Krb5p][..], &[SecurityFlavor::Sys]] {
        let served = Served::with(u64::MAX, flavors);
        let client = served.context(machine).expect("a context");
        let owner = ClientOwner { verifier: Verifier([1; 8]), owner: Opaque(b"client") };
        let exchange =
            exchange_id::Arguments { owner, flags: 0, protection: Protection::None, implementation: None };
        let head = compound::Head { tag: b"", minor_version: 2, operations: 1 };
        let mut bytes = Encoder::to_vec(&head);
        Encoder::new(&mut bytes).u32(exchange_id::OPERATION);
        exchange.encode(&mut Encoder::new(&mut bytes));
        let what = (howdah_wire::nfs4::PROGRAM, howdah_wire::nfs4::VERSION, COMPOUND);
        let (header, result) = served.call(&client, what, GssService::Integrity, &Raw(bytes));
        assert_eq!(header.outcome, Ok(Accepted::Success), "{flavors:?}");
        assert_eq!(result[..4], [0; 4], "{flavors:?}: the status of EXCHANGE_ID");
    }
}

#[test]
fn no_bit_of_a_call_may_be_changed() {
    let served = Served::new();
    let client = served.context(b"alice").expect("a context");
    let arguments = Encoder::to_vec(&getattr::Arguments { node: FileHandle(&served.root) });
    let what = (nfs3::PROGRAM, nfs3::VERSION, getattr::PROCEDURE);
    for service in SERVICES {
        let make = || client.message(9, what, (client.next(), service), &arguments);
        let length = make().len();
        // Without a service for them, arguments are protected by nothing.
        let protected = if service == GssService::None { length - arguments.len() } else { length };
        for (at, bit) in (0..protected).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut changed = make();
            changed[at] ^= 1 << bit;
            let reply = served.answer(&changed);
            let is_refused = reply.as_ref().is_none_or(|reply| outcome(reply) != Ok(Accepted::Success));
            assert!(is_refused, "{service:?}: bit {bit} of byte {at}: {reply:?}");
        }
        let sequence = client.next();
        let message = client.message(9, what, (sequence, service), &arguments);
        let reply = served.answer(&message).expect("an answer");
        assert_eq!(client.opened(&reply, sequence, service).0.outcome, Ok(Accepted::Success));
        assert_eq!(served.answer(&message), None, "{service:?}: it came twice");
    }
    let report = served.service.dispatcher.gss.as_ref().expect("a door").report();
    assert!(report.forged > 100 && report.damaged > 100 && report.repeated >= 3, "{report:?}");
}

#[test]
fn a_call_that_is_sent_again_with_another_number_is_answered_from_memory() {
    let served = Served::new();
    for service in SERVICES {
        let [first, second] =
            [served.context(b"alice"), served.context(b"alice")].map(|made| made.expect("a context"));
        let stranger = served.context(b"mallory").expect("a context");
        let name = format!("{service:?}");
        let object = nfs3::DirectoryName { directory: FileHandle(&served.root), name: name.as_bytes() };
        let how = create::How::Guarded(nfs3::NewAttributes::default());
        let arguments = Encoder::to_vec(&create::Arguments { object, how });
        let what = (nfs3::PROGRAM, nfs3::VERSION, create::PROCEDURE);
        let call = |client: &Initiator| {
            let sequence = client.next();
            let reply = served.answer(&client.message(11, what, (sequence, service), &arguments));
            let (header, result) = client.opened(&reply.expect("an answer"), sequence, service);
            assert_eq!(header.outcome, Ok(Accepted::Success));
            result
        };
        let made = call(&first);
        assert!(matches!(create::Reply::decode(&mut Decoder::new(&made)), Ok(create::Reply::Ok(_))));
        assert_eq!(call(&first), made, "{service:?}: the same context");
        assert_eq!(call(&second), made, "{service:?}: another one of the same user");
        let other = call(&stranger);
        assert!(matches!(create::Reply::decode(&mut Decoder::new(&other)), Ok(create::Reply::Err(_))));
    }
}

#[test]
fn numbers_are_taken_within_the_window_and_end() {
    let served = Served::new();
    let client = served.context(b"alice").expect("a context");
    let send = |sequence| served.answer(&client.message(1, NULL, (sequence, GssService::None), &[]));
    let is_good = |reply: Option<Vec<u8>>| reply.map(|reply| outcome(&reply));
    assert_eq!(is_good(send(5000)), Some(Ok(Accepted::Success)));
    assert_eq!(send(5000 - WINDOW), None, "too old");
    assert_eq!(is_good(send(5001 - WINDOW)), Some(Ok(Accepted::Success)), "the last of the window");
    assert_eq!(is_good(send(0x8000_0001)), Some(denied(AuthStatus::ContextEnded)));
    assert_eq!(is_good(send(5001)), Some(Ok(Accepted::Success)), "that moved nothing");
    assert_eq!(is_good(send(MAXIMUM_SEQUENCE)), Some(Ok(Accepted::Success)));
    // Forged: signed by another context.
    let other = served.context(b"bob").expect("a context");
    let credential = GssCredential {
        procedure: GssProcedure::Data,
        sequence: 1,
        service: GssService::None,
        handle: &client.handle,
    };
    let forged = other.message_as(1, NULL, credential, &[]);
    assert_eq!(is_good(served.answer(&forged)), Some(denied(AuthStatus::NoContext)));
}

#[test]
fn contexts_end_and_those_that_are_not_there_are_told_so() {
    let served = Served::new();
    let client = served.context(b"alice").expect("a context");
    let sequence = client.next();
    let procedure = GssProcedure::Destroy;
    let credential = GssCredential { procedure, sequence, service: GssService::None, handle: &client.handle };
    let elsewhere = (nfs3::PROGRAM, nfs3::VERSION, getattr::PROCEDURE);
    let reply = served.answer(&client.message_as(1, elsewhere, credential, &[])).expect("an answer");
    assert_eq!(outcome(&reply), denied(AuthStatus::BadCredentials), "only NULL ends a context");
    let end = client.message_as(1, NULL, credential, &[]);
    let reply = served.answer(&end).expect("an answer");
    assert_eq!(client.opened(&reply, sequence, GssService::None).0.outcome, Ok(Accepted::Success));
    let after = client.message(2, NULL, (client.next(), GssService::None), &[]);
    assert_eq!(outcome(&served.answer(&after).expect("an answer")), denied(AuthStatus::NoContext));

    assert_eq!(Served::with_expiry(1).context(b"alice").err(), Some((13 << 16, 0)), "the ticket has ended");
    assert_eq!(served.context(b"!alice").err(), Some((9 << 16, 5)));
    let door = served.service.dispatcher.gss.as_ref().expect("a door");
    assert_eq!(door.refusals().len(), 1);
    assert_eq!((door.report().established, door.report().refused), (1, 1));
    assert_eq!(door.contexts(), 0);
}

#[test]
fn only_a_token_alone_waits_for_a_context() {
    let served = Served::new();
    let (procedure, sequence, service) = (GssProcedure::Init, 0, GssService::None);
    let start = || {
        let mut message = header(GssCredential { procedure, sequence, service, handle: &[] });
        GssVerifier { mic: &[] }.encode(&mut Encoder::new(&mut message));
        message
    };
    let with = |token: &[u8], behind: &[u8]| {
        let mut message = start();
        GssInit { token }.encode(&mut Encoder::new(&mut message));
        [&message[..], behind].concat()
    };
    let most = vec![7; 64 << 10];
    for (message, wanted) in [
        (with(&most, &[]), Accepted::Success),
        (with(&[&most[..], &[7]].concat(), &[]), Accepted::GarbageArguments),
        (with(b"alice", &most), Accepted::GarbageArguments),
        (start(), Accepted::GarbageArguments),
    ] {
        assert_eq!(outcome(&served.answer(&message).expect("an answer")), Ok(wanted), "{}", message.len());
    }
}

#[test]
fn what_is_not_served_is_refused_with_a_signature_and_in_clear() {
    let served = Served::new();
    let client = served.context(b"alice").expect("a context");
    for service in SERVICES {
        let call = |what| served.call(&client, what, service, &()).0.outcome;
        assert_eq!(call((nfs3::PROGRAM, nfs3::VERSION, 99)), Ok(Accepted::ProcedureUnavailable));
        assert_eq!(call((nfs3::PROGRAM, 7, 0)), Ok(Accepted::ProgramMismatch { low: 3, high: 4 }));
        assert_eq!(call((nfs3::PROGRAM, nfs3::VERSION, getattr::PROCEDURE)), Ok(Accepted::GarbageArguments));
        let path = mnt::Arguments { path: howdah_wire::mount::DirectoryPath(b"/") };
        let (header, _) = served.call(&client, (100_005, 3, mnt::PROCEDURE), service, &path);
        assert_eq!(header.outcome, Ok(Accepted::Success));
    }
}

#[test]
fn ten_thousand_users_of_one_client_take_turns() {
    let rules = vec![ClientRule {
        sec: SecurityFlavors::new(SecurityFlavor::ALL.into_iter()).expect("some"),
        ..ClientRule::default()
    }];
    let export = Export::new("/", 1, Arc::new(MemoryFileSystem::new()), rules);
    let map = PrincipalMap::new(PrincipalSettings::default());
    let served = Served::of(u64::MAX, export, map, UserGroups::new(TenThousand));
    let arguments = getattr::Arguments { node: FileHandle(&served.root) };
    let what = (nfs3::PROGRAM, nfs3::VERSION, getattr::PROCEDURE);
    let look = |client: &Initiator| {
        let (header, result) = served.call(client, what, GssService::None, &arguments);
        header.outcome.map(|_| result[..4].to_vec())
    };
    let mut clients = Vec::new();
    for number in 0..10_000 {
        let client = served.context(format!("u{number}").as_bytes()).expect("a context");
        assert_eq!(look(&client), Ok(vec![0; 4]), "u{number}");
        clients.push(client);
    }
    let door = served.service.dispatcher.gss.as_ref().expect("a door");
    assert_eq!(door.contexts(), CONTEXTS_OF_ONE_MAX, "a context takes some KB");
    assert_eq!(look(&clients[9_999]), Ok(vec![0; 4]));
    assert_eq!(look(&clients[0]), Err(Denied::Authentication(AuthStatus::NoContext)));
    let again = served.context(b"u0").expect("another context");
    assert_eq!(look(&again), Ok(vec![0; 4]));
}
