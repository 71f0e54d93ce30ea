//! What a worker copies of a call: its arguments without data, and the beginning of its result.

use std::net::SocketAddr;

use howdah_capture::entries_listed;
use howdah_wire::nfs3::{PROGRAM, Refused, listing, readdir, readdirplus};
use howdah_wire::rpc::{Accepted, CallHeader, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder};
use howdah_wire::{nfs3, nfs4};

use super::limits::{ARGUMENTS_END_MOST, ARGUMENTS_MOST, COMPOUND_RESULT_MOST, RESULT_MOST};
use crate::counts::{Moment, Outcome, Timing};
use crate::{Peer, Reply, Transport};

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NfsCall {
    /// A procedure of NFSv3.
    Procedure(u32),
    /// NULL of NFSv4.
    NothingOf4,
    /// COMPOUND of NFSv4.
    Compound,
}

/// A call before it runs.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'m> {
    called: Option<NfsCall>,
    arguments: &'m [u8],
}

/// A call that was run.
pub struct Kept {
    pub arrived: Moment,
    pub ready: Moment,
    pub client: SocketAddr,
    pub transport: Transport,
    pub called: NfsCall,
    pub received: u32,
    pub sent: u32,
    pub arguments: Box<[u8]>,
    /// The last bytes of a compound's arguments, if its beginning is not all of them.
    pub arguments_end: Box<[u8]>,
    /// How long the arguments are, as far as they were here.
    pub arguments_length: usize,
    pub result: Box<[u8]>,
    /// Of a list: how many entries, and whether they were the last.
    pub listed: Option<(u64, bool)>,
}

impl<'m> Seen<'m> {
    /// A call with this header and these arguments, as far as they are here.
    pub fn new(header: &CallHeader<'_>, arguments: &'m [u8]) -> Self {
        let called = match (header.program, header.version, header.procedure) {
            (PROGRAM, nfs3::VERSION, procedure) => Some(NfsCall::Procedure(procedure)),
            (PROGRAM, nfs4::VERSION, nfs4::NULL) => Some(NfsCall::NothingOf4),
            (PROGRAM, nfs4::VERSION, nfs4::COMPOUND) => Some(NfsCall::Compound),
            _ => None,
        };
        Self { called, arguments }
    }

    /// What is kept of it; none of what is no call of NFS, was answered from memory, or not at all.
    pub fn keep(self, peer: &Peer, timing: &Timing, reply: Option<&Reply>) -> Option<Kept> {
        let called = self.called?;
        let reply = reply.filter(|reply| reply.outcome() != Outcome::Replayed)?;
        let mut result = Decoder::new(reply.message());
        let header = ReplyHeader::decode(&mut result).ok()?;
        if header.outcome != Ok(Accepted::Success) {
            return None;
        }
        Some(Kept {
            arrived: timing.arrived,
            ready: Moment::now(),
            client: peer.ends.client,
            transport: peer.transport,
            called,
            received: length(timing.received),
            sent: length(reply.message_length()),
            arguments: start(self.arguments, ARGUMENTS_MOST),
            arguments_end: end(called, self.arguments),
            arguments_length: self.arguments.len(),
            result: start(result.rest(), called.result_most()),
            listed: called.listed(result),
        })
    }
}

impl NfsCall {
    fn result_most(self) -> usize {
        if self == Self::Compound { COMPOUND_RESULT_MOST } else { RESULT_MOST }
    }

    /// Entries are counted here: what is kept of a result holds no more than the first.
    fn listed(self, mut result: Decoder<'_>) -> Option<(u64, bool)> {
        match self {
            Self::Procedure(readdir::PROCEDURE) => counted::<readdir::Entry<'_>>(&mut result),
            Self::Procedure(readdirplus::PROCEDURE) => counted::<readdirplus::Entry<'_>>(&mut result),
            Self::Compound => entries_listed(result.rest()),
            _ => None,
        }
    }
}

fn counted<'r, E: Decode<'r>>(result: &mut Decoder<'r>) -> Option<(u64, bool)> {
    let page = Result::<listing::EntryList<'r, E>, Refused<()>>::decode(result).ok()?.ok()?;
    Some((page.entries.count() as u64, page.end))
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Behind the data of a WRITE that is not the last operation.
fn end(called: NfsCall, arguments: &[u8]) -> Box<[u8]> {
    let is_cut = called == NfsCall::Compound && arguments.len() > ARGUMENTS_MOST;
    if is_cut { arguments[arguments.len() - ARGUMENTS_END_MOST..].into() } else { Box::default() }
}

fn start(bytes: &[u8], most: usize) -> Box<[u8]> {
    bytes[..bytes.len().min(most)].into()
}
