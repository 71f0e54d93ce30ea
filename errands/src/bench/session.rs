//! The calls before a measurement, one at a time: mounts the export and finds handles.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use anyhow::{Context, anyhow, bail, ensure};
use howdah_wire::mount::{self, mnt};
use howdah_wire::nfs3::{self, DirectoryName, FileHandle, lookup};
use howdah_wire::nfs4::compound::{Head, ReplyHead, ResultHead};
use howdah_wire::nfs4::create_session::{self, ChannelSizes};
use howdah_wire::nfs4::exchange_id::{self, ClientOwner, Protection};
use howdah_wire::nfs4::{self, Opaque, SessionId, Status, Verifier};
use howdah_wire::rpc::{Accepted, RecordMark, ReplyHeader};
use howdah_wire::xdr::{Array, Decode, DecodeError, Decoder, Encode, Encoder};

use super::{generator, load};

/// The longest reply that is read here.
const LONGEST: u32 = 64 << 10;

/// A compound of one operation.
struct Compound<'a, A> {
    operation: u32,
    arguments: &'a A,
}

impl<A: Encode> Encode for Compound<'_, A> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        Head { tag: b"", minor_version: 1, operations: 1 }.encode(encoder);
        encoder.u32(self.operation);
        self.arguments.encode(encoder);
    }
}

/// A connection with the export mounted.
#[derive(Debug)]
pub struct Session {
    stream: TcpStream,
    root: Vec<u8>,
}

impl Session {
    /// Mounts the export.
    pub fn mount(address: SocketAddr, export: &str) -> anyhow::Result<Self> {
        let (stream, _) = generator::connect(address)?;
        let mut session = Self { stream, root: Vec::new() };
        let arguments = mnt::Arguments { path: mount::DirectoryPath(export.as_bytes()) };
        session.root = session
            .call(mount::PROGRAM, mount::VERSION_3, mnt::PROCEDURE, &arguments, |decoder| {
                Ok(mnt::Reply::decode(decoder)?.map(|success| success.handle.0.to_vec()))
            })?
            .map_err(|status| anyhow!("mounting {export}: refused with {status:?}"))?;
        Ok(session)
    }

    /// The handle of a path below the export.
    pub fn handle(&mut self, path: &Path) -> anyhow::Result<Vec<u8>> {
        let mut handle = self.root.clone();
        for component in path.components() {
            let Component::Normal(name) = component else {
                bail!("{} is not below the export", path.display())
            };
            let object = DirectoryName { directory: FileHandle(&handle), name: name.as_bytes() };
            handle = self
                .call(
                    nfs3::PROGRAM,
                    nfs3::VERSION,
                    lookup::PROCEDURE,
                    &lookup::Arguments { object },
                    |decoder| Ok(lookup::Reply::decode(decoder)?.map(|success| success.node.0.to_vec())),
                )?
                .map_err(|refused| {
                    anyhow!("looking up {}: refused with {:?}", path.display(), refused.status)
                })?;
        }
        Ok(handle)
    }

    /// A session of NFSv4.1 with as many slots as a load has calls in flight.
    pub fn nfs4_session(&mut self) -> anyhow::Result<SessionId> {
        let owner = ClientOwner { verifier: Verifier([1; 8]), owner: Opaque(b"bench") };
        let (flags, protection, implementation) = (0, Protection::None, None);
        let arguments = exchange_id::Arguments { owner, flags, protection, implementation };
        let (client, sequence) = self.compound(exchange_id::OPERATION, &arguments, |decoder| {
            let found: exchange_id::Success<'_> = Decode::decode(decoder)?;
            Ok((found.client, found.sequence))
        })?;
        let sizes = ChannelSizes {
            header_padding: 0,
            request: 2 << 20,
            response: 2 << 20,
            kept_response: 4 << 10,
            operations: 8,
            slots: 256,
            rdma_reads: None,
        };
        let arguments = create_session::Arguments {
            client,
            sequence,
            flags: 0,
            fore: sizes,
            back: sizes,
            callback_program: 0,
            security: Array::of(&[]),
        };
        self.compound(create_session::OPERATION, &arguments, |decoder| {
            Ok(create_session::Success::decode(decoder)?.session)
        })
    }

    /// A compound of one operation.
    fn compound<T>(
        &mut self,
        operation: u32,
        arguments: &impl Encode,
        decode: impl FnOnce(&mut Decoder<'_>) -> Result<T, DecodeError>,
    ) -> anyhow::Result<T> {
        let arguments = Compound { operation, arguments };
        let answer = self.call(nfs4::PROGRAM, nfs4::VERSION, nfs4::COMPOUND, &arguments, |decoder| {
            let head = ReplyHead::decode(decoder)?;
            if head.status != Status::OK {
                return Ok(Err(head.status));
            }
            ResultHead::decode(decoder)?;
            decode(decoder).map(Ok)
        })?;
        answer.map_err(|status| anyhow!("making a session of NFSv4.1: refused with {status}"))
    }

    fn call<T>(
        &mut self,
        program: u32,
        version: u32,
        procedure: u32,
        arguments: &impl Encode,
        decode: impl FnOnce(&mut Decoder<'_>) -> Result<T, DecodeError>,
    ) -> anyhow::Result<T> {
        let step = || format!("calling procedure {procedure} of program {program}");
        self.stream.write_all(&load::encode(program, version, procedure, arguments, 0)).with_context(step)?;
        let mut mark = [0; RecordMark::SIZE];
        self.stream.read_exact(&mut mark).with_context(step)?;
        let mark = RecordMark::from_bytes(mark);
        ensure!(mark.last && mark.length <= LONGEST, "{}: a reply of unlikely length", step());
        let mut reply = vec![0; mark.length as usize];
        self.stream.read_exact(&mut reply).with_context(step)?;
        let mut decoder = Decoder::new(&reply);
        let read = || -> Result<_, DecodeError> {
            let header = ReplyHeader::decode(&mut decoder)?;
            Ok(match header.outcome {
                Ok(Accepted::Success) => Ok(decode(&mut decoder)?),
                outcome => Err(anyhow!("{}: answered with {outcome:?}", step())),
            })
        };
        read().map_err(|error| anyhow!("{}: reading the reply: {error}", step()))?
    }
}
