//! Calls by contexts of RPCSEC_GSS, to a server that has one: a caller without a key gets no result, and one with a key may
//! send anything. Tokens of all kinds are read as well.

use std::sync::Arc;

use howdah_gss::{ContextSide, Enctype, GssContext, InitialToken, LucidContext, SessionKey, WRAP_HEAD};
use howdah_server::exports::{ClientRule, Export, Exports, SecurityFlavor, SecurityFlavors, Squash};
use howdah_server::gss::{AcceptedToken, GssDoor, TokenAcceptor, TokenRefusal};
use howdah_server::{Ends, Peer, Service, ServiceOptions, Transport};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_wire::rpc::{
    Accepted, CallHeader, Credentials, GssCredential, GssInit, GssInitResult, GssProcedure, GssService,
    GssVerifier, SignedBody, SignedReply,
};
use howdah_wire::xdr::{Decode, Decoder, Encode, Encoder};

/// Programs and versions that are called.
const CALLED: [(u32, u32); 4] = [(100_003, 3), (100_003, 4), (100_005, 3), (100_021, 4)];

/// The first bytes say what is called and how it is protected, the rest is arguments, a token, or a body without a key.
pub fn run(input: &[u8]) {
    let Some((&[kind, what, procedure, enctype], rest)) = input.split_first_chunk() else { return };
    let enctype = Enctype::ALL[usize::from(enctype) % Enctype::ALL.len()];
    let keys = GssContext::new(&lucid(enctype, ContextSide::Initiator));
    read_tokens(&keys, rest);
    let site = Site::new(enctype);
    let service = [GssService::None, GssService::Integrity, GssService::Privacy][usize::from(kind) % 3];
    let (program, version) = CALLED[usize::from(what) % CALLED.len()];
    let header = |sequence, handle| CallHeader {
        xid: 5,
        program,
        version,
        procedure: procedure.into(),
        credentials: Credentials::Gss(GssCredential {
            procedure: GssProcedure::Data,
            sequence,
            service,
            handle,
        }),
    };
    let signed = |sequence| {
        let mut message = Vec::new();
        header(sequence, &site.handle).encode_unsigned(&mut Encoder::new(&mut message));
        let mic = keys.sign(&[&message]);
        GssVerifier { mic: mic.bytes() }.encode(&mut Encoder::new(&mut message));
        message
    };
    // With the key, and arguments that may be anything.
    let message = [signed(1), protected(&keys, service, 1, rest)].concat();
    let answer = site.answer(&message);
    assert_eq!(site.answer(&message), None, "it came twice");
    if let Some(answer) = answer {
        let reply = SignedReply::decode(&mut Decoder::new(&answer)).expect("a reply");
        assert!(reply.header.outcome.is_err() || keys.verify(&[&1_u32.to_be_bytes()], reply.mic).is_ok());
    }
    // The header with the key, and a body that nobody signed.
    if service != GssService::None {
        let answer = site.answer(&[&signed(2)[..], rest].concat()).expect("an answer");
        let reply = SignedReply::decode(&mut Decoder::new(&answer)).expect("a reply");
        assert_eq!(reply.header.outcome, Ok(Accepted::GarbageArguments));
    }
    // Without the key: the header is what the input has in the place of one.
    let mut forged = Vec::new();
    header(3, &site.handle).encode_unsigned(&mut Encoder::new(&mut forged));
    if let Some(answer) = site.answer(&[&forged[..], rest].concat()) {
        let reply = SignedReply::decode(&mut Decoder::new(&answer)).expect("a reply");
        assert_ne!(reply.header.outcome, Ok(Accepted::Success), "a call without a key is carried out");
    }
    site.answer(rest);
}

fn read_tokens(keys: &GssContext, token: &[u8]) {
    let _ = InitialToken::of(token);
    assert!(keys.verify(&[b"a message"], token).is_err());
    assert!(keys.unwrap(&mut token.to_vec()).is_err());
}

fn protected(keys: &GssContext, service: GssService, sequence: u32, arguments: &[u8]) -> Vec<u8> {
    let mut numbered = [&sequence.to_be_bytes()[..], arguments].concat();
    let mut body = Vec::new();
    match service {
        GssService::None => return arguments.to_vec(),
        GssService::Integrity => {
            numbered.resize(numbered.len().next_multiple_of(4), 0);
            let mic = keys.sign(&[&numbered]);
            SignedBody { signed: &numbered, mic: mic.bytes() }.encode(&mut Encoder::new(&mut body));
        }
        GssService::Privacy => {
            let mut token = [&[0; WRAP_HEAD][..], &numbered].concat();
            token.resize(token.len() + keys.wrap_tail(), 0);
            keys.wrap(&mut token);
            Encoder::new(&mut body).opaque(&token);
        }
    }
    body
}

fn lucid(enctype: Enctype, side: ContextSide) -> LucidContext {
    let key = SessionKey::new(enctype.number(), &vec![7; enctype.key_length()]).expect("a key");
    LucidContext { side, key, acceptor_subkey: true, send_sequence: 1, expiry: u64::MAX }
}

/// Everybody is alice.
struct Alice(Enctype);

impl TokenAcceptor for Alice {
    fn accept(&self, _: &[u8]) -> Result<AcceptedToken, TokenRefusal> {
        let (client, service) = ("alice@R".to_owned(), "nfs/server@R".to_owned());
        Ok(AcceptedToken { reply: Vec::new(), client, service, lucid: lucid(self.0, ContextSide::Acceptor) })
    }

    fn width(&self) -> usize {
        1
    }
}

/// A server with one context.
struct Site {
    service: Service,
    peer: Peer,
    handle: Vec<u8>,
}

impl Site {
    fn new(enctype: Enctype) -> Self {
        let sec = SecurityFlavors::new(SecurityFlavor::ALL).expect("all");
        let rule = ClientRule { squash: Squash::None, sec, ..ClientRule::default() };
        let export = Export::new("/", 1, Arc::new(MemoryFileSystem::new()), vec![rule]);
        let exports = Exports::new(vec![export], [7; 16]).expect("one export");
        let gss = Some(GssDoor::new(Box::new(Alice(enctype))));
        let service = Service::with_options(exports, ServiceOptions { gss, ..ServiceOptions::default() });
        let address = |last| ([192, 0, 2, last], 2049).into();
        let peer = Peer::plain(Ends { client: address(9), server: address(1) }, Transport::Tcp);
        let mut site = Self { service, peer, handle: Vec::new() };
        let (procedure, sequence, service) = (GssProcedure::Init, 0, GssService::None);
        let credentials = Credentials::Gss(GssCredential { procedure, sequence, service, handle: &[] });
        let header = CallHeader { xid: 1, program: 100_003, version: 3, procedure: 0, credentials };
        let mut message = Encoder::to_vec(&header);
        GssInit { token: b"any" }.encode(&mut Encoder::new(&mut message));
        let reply = site.answer(&message).expect("an answer");
        let mut decoder = Decoder::new(&reply);
        SignedReply::decode(&mut decoder).expect("a reply");
        site.handle = GssInitResult::decode(&mut decoder).expect("a context").handle.to_vec();
        site
    }

    fn answer(&self, message: &[u8]) -> Option<Vec<u8>> {
        self.service.answer(&self.peer, message)
    }
}
