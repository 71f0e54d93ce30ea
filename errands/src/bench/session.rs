//! The calls before a measurement, one at a time: mounts the export and finds handles.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use anyhow::{Context, anyhow, bail, ensure};
use howdah_wire::mount::{self, mnt};
use howdah_wire::nfs3::{self, DirectoryName, FileHandle, lookup};
use howdah_wire::rpc::{Accepted, RecordMark, ReplyHeader};
use howdah_wire::xdr::{Decode, DecodeError, Decoder, Encode};

use super::{generator, load};

/// The longest reply that is read here.
const LONGEST: u32 = 64 << 10;

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
