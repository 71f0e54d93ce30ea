//! One reply while it comes in: its header, its results, and the data that goes beside them.

use howdah_wire::rpc::{Accepted, Denied, ReplyHeader};
use howdah_wire::xdr::{Decode, DecodeError, DecodeProblem, Decoder, padding};

use super::claim::Claim;
use super::error::PeerError;
use super::receive::{Locate, ReceiveInto};
use crate::limits::SERVER_CALL_MAX;

/// The longest header of a reply: a verifier of 400 bytes and eight words, in bytes.
const HEADER_MAX: usize = 432;
/// How much is taken at a time while it is not known where bulk data starts, in bytes.
const TASTE: usize = 512;

/// `msg_type` of a call, behind the xid (RFC 5531 9).
const CALL: u32 = 0;

/// A whole reply.
#[derive(Debug)]
pub struct Reply {
    /// That of the call.
    pub xid: u32,
    /// What became of the call.
    pub outcome: Result<Accepted, Denied>,
    /// What follows the header, without received data and its padding.
    pub results: Vec<u8>,
    /// The caller's buffer, and how many bytes were appended to it.
    pub received: Option<(Vec<u8>, usize)>,
    /// The data is not what its length says, or is more than was asked for: there are no results then.
    pub problem: Option<DecodeError>,
}

/// A whole record.
#[derive(Debug)]
pub enum StreamRecord {
    /// A reply to a call of ours.
    Reply(Reply),
    /// A call: the peer calls back on this stream. From the xid on.
    Call(Vec<u8>),
}

/// How far it is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Stage {
    #[default]
    Header,
    /// The results have begun, and may say where data is.
    Locating,
    /// So many bytes of data are missing, and so many of padding after them.
    Data {
        left: usize,
        padding: usize,
    },
    Padding(usize),
    /// Results only, from here to the end.
    Results,
    /// It is no reply but a call.
    Call,
    /// To be dropped.
    Skip,
}

/// A reply that is not whole.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    stage: Stage,
    header: Option<ReplyHeader>,
    /// Length of the header in bytes.
    results_at: usize,
    /// Header and results.
    head: Vec<u8>,
    receive: Option<ReceiveInto>,
    /// What the caller's buffer held before.
    base: usize,
    /// How long the place that is received into was when last looked at.
    seen: usize,
    problem: Option<DecodeError>,
}

impl Incoming {
    /// The place that bytes can be received into directly, and how many at most, of `left` that the fragment has.
    pub(super) fn sink(&mut self, left: usize, direct: usize) -> Option<(&mut Vec<u8>, usize)> {
        match self.stage {
            Stage::Data { left, .. } => {
                let buffer = &mut self.receive.as_mut()?.buffer;
                self.seen = buffer.len();
                Some((buffer, left))
            }
            Stage::Results if left >= direct => {
                self.seen = self.head.len();
                // Room is made for what is received at a time, however much is claimed.
                Some((&mut self.head, left.min(64 << 10)))
            }
            _ => None,
        }
    }

    /// How many bytes were received into the sink since it was given.
    pub(super) fn arrived(&mut self) -> usize {
        let now = match self.stage {
            Stage::Data { .. } => self.receive.as_ref().map_or(0, |receive| receive.buffer.len()),
            Stage::Results => self.head.len(),
            _ => return 0,
        };
        let arrived = now - self.seen;
        self.seen = now;
        if let Stage::Data { left, .. } = &mut self.stage {
            *left -= arrived;
        }
        arrived
    }

    /// Takes bytes as far as it is known where they belong, and says how many.
    pub(super) fn take(&mut self, bytes: &[u8], copied: &mut u64) -> usize {
        let bytes = match self.stage {
            Stage::Header | Stage::Locating => &bytes[..bytes.len().min(TASTE)],
            Stage::Data { left, .. } => &bytes[..bytes.len().min(left)],
            Stage::Padding(left) => &bytes[..bytes.len().min(left)],
            Stage::Results | Stage::Call | Stage::Skip => bytes,
        };
        match &mut self.stage {
            Stage::Header | Stage::Locating | Stage::Results | Stage::Call => {
                self.head.extend_from_slice(bytes);
                self.seen = self.head.len();
            }
            Stage::Data { left, .. } => {
                let buffer = &mut self.receive.as_mut().expect("data has a place").buffer;
                buffer.extend_from_slice(bytes);
                self.seen = buffer.len();
                *left -= bytes.len();
                *copied += bytes.len() as u64;
            }
            Stage::Padding(left) => *left -= bytes.len(),
            Stage::Skip => {}
        }
        bytes.len()
    }

    /// Goes on to the next stage as far as the bytes at hand allow.
    pub(super) fn proceed(
        &mut self,
        claim: &mut impl FnMut(u32) -> Claim,
        peek: &mut usize,
        copied: &mut u64,
    ) -> Result<(), PeerError> {
        if self.stage == Stage::Header && !self.read_header(claim)? {
            return Ok(());
        }
        if self.stage == Stage::Call && self.head.len() > SERVER_CALL_MAX {
            return Err(PeerError::TooLong { claimed: self.head.len(), limit: SERVER_CALL_MAX });
        }
        if self.stage == Stage::Locating {
            self.locate(peek, copied);
        }
        if let Stage::Data { left: 0, padding } = self.stage {
            self.stage = Stage::Padding(padding);
        }
        if self.stage == Stage::Padding(0) {
            self.stage = Stage::Results;
            self.seen = self.head.len();
        }
        Ok(())
    }

    /// Length in bytes of header and results so far.
    pub(super) fn head_length(&self) -> usize {
        self.head.len()
    }

    /// Whether bulk data may still turn up in what comes next.
    pub(super) fn may_have_data(&self) -> bool {
        matches!(self.stage, Stage::Header | Stage::Locating)
    }

    /// The record is over: what it is, unless it is a reply that nobody waits for.
    pub(super) fn finish(mut self) -> Result<Option<StreamRecord>, PeerError> {
        if self.stage == Stage::Call {
            return Ok(Some(StreamRecord::Call(self.head)));
        }
        let Some(ReplyHeader { xid, outcome }) = self.header else {
            return match self.stage {
                Stage::Skip => Ok(None),
                _ => Err(PeerError::NotAReply(self.truncated("header of a reply"))),
            };
        };
        if let Stage::Data { left: 1.., .. } = self.stage {
            self.problem = Some(self.truncated("received data"));
        }
        let is_whole = self.problem.is_none();
        let received = self.receive.map(|mut receive| {
            if !is_whole {
                receive.buffer.truncate(self.base);
            }
            let count = receive.buffer.len() - self.base;
            (receive.buffer, count)
        });
        if is_whole {
            self.head.drain(..self.results_at);
        } else {
            // How much was kept of them depends on how they came.
            self.head.clear();
        }
        let reply = Reply { xid, outcome, results: self.head, received, problem: self.problem };
        Ok(Some(StreamRecord::Reply(reply)))
    }

    /// The buffer as it was given, and the xid of its call.
    pub(super) fn abandon(self) -> Option<(u32, ReceiveInto)> {
        let (header, mut receive) = (self.header?, self.receive?);
        receive.buffer.truncate(self.base);
        Some((header.xid, receive))
    }

    /// Whether the header is there now.
    fn read_header(&mut self, claim: &mut impl FnMut(u32) -> Claim) -> Result<bool, PeerError> {
        if self.head.get(4..8) == Some(&CALL.to_be_bytes()) {
            self.stage = Stage::Call;
            return Ok(true);
        }
        let mut decoder = Decoder::new(&self.head);
        let header = match ReplyHeader::decode(&mut decoder) {
            Ok(header) => header,
            Err(error) if error.problem == DecodeProblem::Truncated && self.head.len() < HEADER_MAX => {
                return Ok(false);
            }
            Err(error) => return Err(PeerError::NotAReply(error)),
        };
        self.results_at = decoder.position();
        self.stage = match claim(header.xid) {
            Claim::Unknown => {
                self.head = Vec::new();
                Stage::Skip
            }
            Claim::Call(receive) => {
                self.header = Some(header);
                self.base = receive.as_ref().map_or(0, |receive| receive.buffer.len());
                self.receive = receive;
                let may_have_data = self.receive.is_some() && header.outcome == Ok(Accepted::Success);
                if may_have_data { Stage::Locating } else { Stage::Results }
            }
        };
        Ok(true)
    }

    /// Looks for the data, and moves what came of it where it belongs.
    fn locate(&mut self, peek: &mut usize, copied: &mut u64) {
        let receive = self.receive.as_mut().expect("only a call with a buffer has data");
        let (at, length) = match (receive.locate)(&self.head[self.results_at..]) {
            Locate::NeedMore => return,
            Locate::NoData => {
                self.stage = Stage::Results;
                return;
            }
            Locate::Data { at, length } => (self.results_at.saturating_add(at), length),
        };
        if length > receive.most {
            self.problem = Some(too_long(at - self.results_at, length, receive.most));
            self.stage = Stage::Skip;
            return;
        }
        let Some(early) = self.head.get(at..) else { return };
        *peek = howdah_wire::rpc::RecordMark::SIZE + at;
        receive.buffer.reserve(length);
        let data = &early[..early.len().min(length)];
        receive.buffer.extend_from_slice(data);
        *copied += data.len() as u64;
        let (came, left) = (data.len(), length - data.len());
        let dropped = (early.len() - came).min(padding(length));
        self.head.drain(at..at + came + dropped);
        self.seen = receive.buffer.len();
        self.stage = Stage::Data { left, padding: padding(length) - dropped };
    }

    fn truncated(&self, what: &'static str) -> DecodeError {
        DecodeError { what, at: self.head.len(), problem: DecodeProblem::Truncated }
    }
}

fn too_long(at: usize, length: usize, most: usize) -> DecodeError {
    let [claimed, limit] = [length, most].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    DecodeError { what: "received data", at, problem: DecodeProblem::TooLong { claimed, limit } }
}
