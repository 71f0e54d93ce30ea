//! What is said to rpcbind and heard from it: SET, UNSET and DUMP, in version 4 where rpcbind sees who asks, and in
//! version 2 of old over loopback.

use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use howdah_net::RpcbindStream;
use howdah_wire::portmap::{self, Mapping};
use howdah_wire::rpc::{Accepted, CallHeader, Credentials, ReplyHeader};
use howdah_wire::rpcbind::{self, Binding, Network, Text, UniversalAddress};
use howdah_wire::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

use super::{RegistrationError, Row};
use crate::outgoing::exchange_record;

/// A conversation with rpcbind.
pub struct Conversation {
    stream: RpcbindStream,
    xid: u32,
}

/// What rpcbind has registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The program.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// How it is reached.
    pub network: Network,
    /// On which port.
    pub port: u16,
    /// At which address; `None` for all, or if rpcbind did not say.
    pub address: Option<IpAddr>,
    /// Who registered it; empty if rpcbind did not say.
    pub owner: String,
}

impl Held {
    /// Whether it stands in the place where this row belongs.
    pub fn is_place_of(&self, row: &Row) -> bool {
        (self.program, self.version, self.network) == (row.program, row.version, row.network)
    }
}

impl Conversation {
    /// Starts one, which ends within `patience`.
    pub fn open(patience: Duration) -> Result<Self, RegistrationError> {
        let stream = RpcbindStream::connect(patience).map_err(RegistrationError::Unreachable)?;
        Ok(Self { stream, xid: std::process::id() })
    }

    /// Everything that is registered on networks we know.
    pub fn list(&mut self) -> Result<Vec<Held>, RegistrationError> {
        const STEP: &str = "reading the registrations of";
        if self.stream.knows_caller() {
            let answer = self.ask(STEP, rpcbind::VERSION_4, rpcbind::dump::PROCEDURE, &())?;
            let list: rpcbind::dump::Reply<'_> = decode(STEP, &answer)?;
            return Ok(list.bindings.iter().filter_map(held_by_binding).collect());
        }
        let answer = self.ask(STEP, portmap::VERSION, portmap::dump::PROCEDURE, &())?;
        let list: portmap::dump::Reply = decode(STEP, &answer)?;
        Ok(list.mappings.iter().filter_map(held_by_mapping).collect())
    }

    /// Registers a row; says whether rpcbind took it.
    pub fn set(&mut self, row: &Row) -> Result<bool, RegistrationError> {
        self.change("registering with", row, rpcbind::set::PROCEDURE, portmap::set::PROCEDURE)
    }

    /// Takes a row's registration back, no matter which program made it; says whether there was one that we may take back.
    pub fn unset(&mut self, row: &Row) -> Result<bool, RegistrationError> {
        self.change("unregistering from", row, rpcbind::unset::PROCEDURE, portmap::unset::PROCEDURE)
    }

    fn change(
        &mut self,
        step: &'static str,
        row: &Row,
        now: u32,
        of_old: u32,
    ) -> Result<bool, RegistrationError> {
        if self.stream.knows_caller() {
            let address = UniversalAddress(row.address).to_string();
            let binding = Binding {
                program: row.program,
                version: row.version,
                network: row.network.id().into(),
                address: address.as_str().into(),
                owner: Text(b""),
            };
            let arguments = rpcbind::set::Arguments { binding };
            let answer = self.ask(step, rpcbind::VERSION_4, now, &arguments)?;
            return Ok(decode::<rpcbind::set::Reply>(step, &answer)?.done);
        }
        if row.network.is_ipv6() {
            return Ok(false);
        }
        let mapping = Mapping {
            program: row.program,
            version: row.version,
            protocol: row.network.protocol(),
            port: row.address.port().into(),
        };
        let answer = self.ask(step, portmap::VERSION, of_old, &portmap::set::Arguments { mapping })?;
        Ok(decode::<portmap::set::Reply>(step, &answer)?.done)
    }

    /// Calls a procedure; gives the bytes of its result.
    fn ask(
        &mut self,
        step: &'static str,
        version: u32,
        procedure: u32,
        arguments: &impl Encode,
    ) -> Result<Vec<u8>, RegistrationError> {
        self.xid = self.xid.wrapping_add(1);
        let (xid, program, credentials) = (self.xid, portmap::PROGRAM, Credentials::None);
        let mut message = Encoder::to_vec(&CallHeader { xid, program, version, procedure, credentials });
        arguments.encode(&mut Encoder::new(&mut message));
        let mut answer = exchange_record(self.stream.socket(), &message)
            .map_err(|cause| RegistrationError::Broken { step, cause })?;
        let mut decoder = Decoder::new(&answer);
        let garbled = |cause| RegistrationError::Garbled { step, cause };
        let header = ReplyHeader::decode(&mut decoder).map_err(garbled)?;
        if header.xid != xid {
            return Err(garbled(DecodeError {
                what: "xid",
                at: 0,
                problem: DecodeProblem::UnknownValue(header.xid),
            }));
        }
        match header.outcome {
            Ok(Accepted::Success) => Ok(answer.split_off(decoder.position())),
            outcome => Err(RegistrationError::Unanswered { step, outcome }),
        }
    }
}

impl AsFd for Conversation {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

fn decode<'a, T: Decode<'a>>(step: &'static str, answer: &'a [u8]) -> Result<T, RegistrationError> {
    T::decode(&mut Decoder::new(answer)).map_err(|cause| RegistrationError::Garbled { step, cause })
}

fn held_by_binding(binding: &Binding<'_>) -> Option<Held> {
    let at = UniversalAddress::parse(binding.address.0)?.0;
    Some(Held {
        program: binding.program,
        version: binding.version,
        network: Network::from_id(binding.network.0)?,
        port: at.port(),
        address: Some(at.ip()).filter(|address| !address.is_unspecified()),
        owner: String::from_utf8_lossy(binding.owner.0).into_owned(),
    })
}

fn held_by_mapping(mapping: &Mapping) -> Option<Held> {
    Some(Held {
        program: mapping.program,
        version: mapping.version,
        network: Network::new(mapping.protocol, false)?,
        port: u16::try_from(mapping.port).ok()?,
        address: None,
        owner: String::new(),
    })
}
