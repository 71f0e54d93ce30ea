//! The client: its connection, what it knows of the server, and how it makes calls.

use std::io;
use std::net::SocketAddr;

use howdah_vfs::{Attributes, Caller, FileSystem, Found, Handle, Node, Result};
use nfs3_types::nfs3::{
    LOOKUP3args, LOOKUP3res, NFS_PROGRAM, Nfs3Result, PROGRAM, VERSION, diropargs3, filename3, nfsstat3,
    post_op_attr,
};
use nfs3_types::xdr_codec::{Opaque, Pack, Unpack};

use super::Transport;
use super::channel::Channel;
use super::convert::post_attributes;
use super::directory::Verifiers;
use super::handles::Handles;
use super::mount::mount;
use super::status::refusal;

/// The most bytes in one READ or WRITE over datagrams: what surely fits into one.
const LARGEST_TRANSFER_BY_DATAGRAM: u32 = 32 << 10;

/// How often a call is made while the server answers "not now" (NFS3ERR_JUKEBOX).
const MOST_TRIES: usize = 100;

/// An export of a server, as a file system.
pub struct OtherClient {
    pub(super) channel: Channel,
    pub(super) handles: Handles,
    pub(super) verifiers: Verifiers,
    pub(super) root: Handle,
    /// The most bytes in one READ and in one WRITE.
    pub(super) largest: (u32, u32),
}

impl OtherClient {
    /// Mounts an export.
    ///
    /// # Errors
    /// When there is no way to the server.
    ///
    /// # Panics
    /// When it does not let this client mount, or breaks the protocol.
    pub fn mount(transport: Transport, server: SocketAddr, export: &str) -> io::Result<Self> {
        let channel = Channel::open(transport, server)?;
        let handles = Handles::default();
        let root = handles.take(&mount(&channel, server, export));
        let mut client = Self { channel, handles, verifiers: Verifiers::default(), root, largest: (0, 0) };
        let reply = client.file_system_information(&Caller::ROOT, &root).expect("FSINFO of the root");
        let most = if transport == Transport::Tcp { u32::MAX } else { LARGEST_TRANSFER_BY_DATAGRAM };
        client.largest = (reply.rtmax.min(most), reply.wtmax.min(most));
        Ok(client)
    }

    /// Makes a call, again and again while the server says that it cannot just now.
    pub(super) fn call<T, E>(
        &self,
        caller: &Caller,
        procedure: NFS_PROGRAM,
        arguments: &impl Pack,
    ) -> Nfs3Result<T, E>
    where
        T: Pack + Unpack,
        E: Pack + Unpack,
    {
        let call = || self.channel.call(caller, (PROGRAM, VERSION), procedure as u32, arguments);
        let done =
            |result: &Nfs3Result<T, E>| !matches!(result, Nfs3Result::Err((nfsstat3::NFS3ERR_JUKEBOX, _)));
        (1..MOST_TRIES).map(|_| call()).find(done).unwrap_or_else(call)
    }

    pub(super) fn place<'n>(&self, directory: &Handle, name: &'n [u8]) -> diropargs3<'n> {
        diropargs3 { dir: self.handles.give(directory), name: filename3(Opaque::borrowed(name)) }
    }

    /// Attributes that an answer may have left out.
    pub(super) fn told(&self, caller: &Caller, node: &Handle, seen: &post_op_attr) -> Result<Attributes> {
        post_attributes(seen).map_or_else(|| self.attributes(caller, node), Ok)
    }

    pub(super) fn look(&self, caller: &Caller, directory: &Handle, name: &[u8]) -> Result<Found> {
        let arguments = LOOKUP3args { what: self.place(directory, name) };
        let result: LOOKUP3res = self.call(caller, NFS_PROGRAM::NFSPROC3_LOOKUP, &arguments);
        let found = success(result, |_| {})?;
        let handle = self.handles.take(&found.object);
        let attributes = self.told(caller, &handle, &found.obj_attributes)?;
        Ok(Found { node: Node { handle, attributes }, directory: post_attributes(&found.dir_attributes) })
    }
}

/// The success of a result; from a refusal, `on_refusal` takes what it says.
pub(super) fn success<T, E>(result: Nfs3Result<T, E>, on_refusal: impl FnOnce(&E)) -> Result<T> {
    match result {
        Nfs3Result::Ok(success) => Ok(success),
        Nfs3Result::Err((status, reply)) => {
            on_refusal(&reply);
            Err(refusal(status))
        }
    }
}
