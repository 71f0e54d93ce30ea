//! For tests: a call as a client's bytes, answered by the programs as they are served, without a socket.

use std::net::SocketAddr;
use std::sync::Arc;

use howdah_tls::{CertificateFacts, Fingerprint};
use howdah_wire::rpc::{AuthSys, CallHeader, Credentials, ReplyHeader};
use howdah_wire::xdr::{Decoder, Encode, Encoder};

use crate::service::Service;
use crate::{Ends, Peer, Transport, TransportSecurity};

/// A peer of these two addresses.
pub fn peer(client: &str, server: &str, transport: Transport) -> Peer {
    let address = |text: &str| text.parse::<SocketAddr>().expect("an address");
    Peer::plain(Ends { client: address(client), server: address(server) }, transport)
}

/// What a certificate for this name says, and for this user.
pub fn certificate(name: &str, user: Option<&str>) -> CertificateFacts {
    CertificateFacts {
        subject: format!("CN={name}"),
        names: vec![name.to_owned()],
        user: user.map(Into::into),
        fingerprint: Fingerprint([7; 32]),
        not_before: 0,
        not_after: 1 << 40,
    }
}

/// From now on a peer calls over TLS, and shows this certificate or none.
pub fn shows(peer: &mut Peer, shown: Option<CertificateFacts>) {
    peer.security = match shown {
        Some(_) => TransportSecurity::TlsWithCertificate,
        None => TransportSecurity::Tls,
    };
    peer.certificate = shown.map(Arc::new);
}

/// Calls a procedure as user 1000. Gives what the RPC header says and the result's bytes; `None`: no answer at all.
pub fn call(
    service: &Service,
    peer: &Peer,
    (program, version, procedure): (u32, u32, u32),
    arguments: &impl Encode,
) -> Option<(ReplyHeader, Vec<u8>)> {
    let credentials = Credentials::Sys(AuthSys::new(b"client", 1000, 1000, &[]));
    let mut message = Encoder::to_vec(&CallHeader { xid: 7, program, version, procedure, credentials });
    arguments.encode(&mut Encoder::new(&mut message));
    let reply = service.answer(peer, &message)?;
    let mut decoder = Decoder::new(&reply);
    let header = howdah_wire::xdr::Decode::decode(&mut decoder).expect("a reply header");
    Some((header, decoder.rest().to_vec()))
}

/// The same for a call that is answered with a result, whose bytes must all be used.
#[macro_export]
macro_rules! result_of {
    ($type:ty, $service:expr, $peer:expr, $what:expr, $arguments:expr) => {{
        let (header, bytes) = $crate::calling::call($service, $peer, $what, $arguments).expect("an answer");
        assert_eq!(header.outcome, Ok(howdah_wire::rpc::Accepted::Success));
        let bytes: &'static [u8] = bytes.leak();
        let mut decoder = howdah_wire::xdr::Decoder::new(bytes);
        let result = <$type as howdah_wire::xdr::Decode>::decode(&mut decoder).expect("a result");
        decoder.finish("result").expect("nothing more");
        result
    }};
}
