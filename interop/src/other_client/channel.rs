//! Calls and their answers: the RPC header around them, and the checks that every answer must pass.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::net::SocketAddr;

use howdah_vfs::Caller;
use nfs3_types::nfs3::{NFS_PROGRAM, PROGRAM, VERSION};
use nfs3_types::rpc::{
    RPC_VERSION_2, accept_stat_data, accepted_reply, auth_flavor, auth_unix, call_body, msg_body,
    opaque_auth, reply_body, rpc_msg,
};
use nfs3_types::xdr_codec::{Opaque, Pack, Unpack};
use parking_lot::Mutex;

use super::Transport;
use super::transport::Line;

/// A program and its version.
pub(super) type Program = (u32, u32);

/// A line to a server, for one call at a time.
pub(super) struct Channel {
    state: Mutex<State>,
    transport: Transport,
}

struct State {
    line: Line,
    xid: u32,
}

impl Channel {
    pub(super) fn open(transport: Transport, server: SocketAddr) -> io::Result<Self> {
        // A server may remember calls by their xid, and this port may have had another client before.
        let xid = RandomState::new().build_hasher().finish() as u32;
        let line = Line::open(transport, server)?;
        Ok(Self { state: Mutex::new(State { line, xid }), transport })
    }

    /// Makes a call and gives its result.
    ///
    /// # Panics
    /// When the server breaks the protocol, or there is none.
    pub(super) fn call<R: Pack + Unpack>(
        &self,
        caller: &Caller,
        program: Program,
        procedure: u32,
        arguments: &impl Pack,
    ) -> R {
        let answer = self.exchange(caller, program, procedure, arguments);
        let what = || format!("procedure {procedure} of program {} over {:?}", program.0, self.transport);
        decode(&answer).unwrap_or_else(|wrong| panic!("{}: {wrong}; the answer is {answer:02x?}", what()))
    }

    fn exchange(&self, caller: &Caller, program: Program, procedure: u32, arguments: &impl Pack) -> Vec<u8> {
        let mut state = self.state.lock();
        state.xid = state.xid.wrapping_add(1);
        let xid = state.xid;
        let mut call = Vec::new();
        header(xid, caller, program, procedure).pack(&mut call).expect("a vector takes all");
        arguments.pack(&mut call).expect("a vector takes all");
        let answer = state.line.exchange(xid, &call, runs_once(program, procedure)).unwrap_or_else(|error| {
            panic!("procedure {procedure} of program {} over {:?}: {error}", program.0, self.transport)
        });
        assert_eq!(answer.get(..4), Some(&xid.to_be_bytes()[..]), "the answer to another call");
        answer
    }
}

fn header(xid: u32, caller: &Caller, (prog, vers): Program, proc: u32) -> rpc_msg<'static, 'static> {
    let credentials = auth_unix {
        stamp: xid,
        machinename: Opaque::borrowed(b"other"),
        uid: caller.user,
        gid: caller.group,
        gids: caller.groups.as_slice().to_vec(),
    };
    let cred = opaque_auth::auth_unix(&credentials);
    let verf = opaque_auth { flavor: auth_flavor::AUTH_NULL, body: Opaque::borrowed(b"") };
    let body = call_body { rpcvers: RPC_VERSION_2, prog, vers, proc, cred, verf };
    rpc_msg { xid, body: msg_body::CALL(body) }
}

/// Whether a call must not run again when it is repeated, since that would end in another way.
fn runs_once(program: Program, procedure: u32) -> bool {
    const ONCE: [NFS_PROGRAM; 9] = [
        NFS_PROGRAM::NFSPROC3_SETATTR,
        NFS_PROGRAM::NFSPROC3_CREATE,
        NFS_PROGRAM::NFSPROC3_MKDIR,
        NFS_PROGRAM::NFSPROC3_SYMLINK,
        NFS_PROGRAM::NFSPROC3_MKNOD,
        NFS_PROGRAM::NFSPROC3_REMOVE,
        NFS_PROGRAM::NFSPROC3_RMDIR,
        NFS_PROGRAM::NFSPROC3_RENAME,
        NFS_PROGRAM::NFSPROC3_LINK,
    ];
    program == (PROGRAM, VERSION) && ONCE.iter().any(|once| *once as u32 == procedure)
}

/// The result in an answer, which must be encoded as it should, and end where the answer does.
fn decode<R: Pack + Unpack>(answer: &[u8]) -> Result<R, String> {
    let mut rest = answer;
    let (message, _) = rpc_msg::unpack(&mut rest).map_err(|error| format!("no RPC message: {error:?}"))?;
    let accepted = accepted_reply { verf: opaque_auth::default(), reply_data: accept_stat_data::SUCCESS };
    let expected = rpc_msg { xid: message.xid, body: msg_body::REPLY(reply_body::MSG_ACCEPTED(accepted)) };
    let header = &answer[..answer.len() - rest.len()];
    if pack(&expected) != header {
        return Err(format!("not a success: {message:?}"));
    }
    let body = rest;
    let (result, _) = R::unpack(&mut rest).map_err(|error| format!("not its result: {error:?}"))?;
    if !rest.is_empty() {
        return Err(format!("{} bytes are left over", rest.len()));
    }
    if pack(&result) != body {
        return Err("not the canonical encoding".to_owned());
    }
    Ok(result)
}

fn pack(value: &impl Pack) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.pack(&mut bytes).expect("a vector takes all");
    bytes
}
