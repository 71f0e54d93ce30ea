//! One reply while it comes in: its header, its results, and the data that goes beside them.

use howdah_wire::rpc::{Accepted, Denied, REPLY_MIC_AT, ReplyHeader, SignedReply};
use howdah_wire::xdr::{Decode, DecodeError, DecodeProblem, Decoder, padding};

use super::claim::Claim;
use super::envelope::{CallProtection, CoveredReply, ResultsCover};
use super::error::PeerError;
use super::receive::{Locate, ReceiveInto};
use crate::limits::SERVER_CALL_MAX;

/// The longest header of a reply: a verifier of 400 bytes and eight words, in bytes.
const HEADER_MAX: usize = 432;
/// How much is taken at a time while it is not known where bulk data starts, in bytes.
const TASTE: usize = 512;

/// `msg_type` of a call, behind the xid (RFC 5531 9).
const CALL: u32 = 0;

/// How much is taken of data that arrived encrypted, and how it is found in the results.
type SealedData = (usize, fn(&[u8]) -> Locate);

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
    /// What still is to be checked before anything of it is used, by [`Reply::open`].
    pub cover: ResultsCover,
    /// The token of the verifier of a reply that is covered.
    pub mic: Vec<u8>,
    /// Where the received data was in the results.
    data_at: usize,
    /// How to find data that arrived encrypted, and how much of it is taken.
    sealed_data: Option<SealedData>,
}

impl Reply {
    /// One that nothing covers.
    pub fn plain(
        xid: u32,
        outcome: Result<Accepted, Denied>,
        results: Vec<u8>,
        received: Option<(Vec<u8>, usize)>,
        problem: Option<DecodeError>,
    ) -> Self {
        let (cover, mic, data_at, sealed_data) = Default::default();
        Self { xid, outcome, results, received, problem, cover, mic, data_at, sealed_data }
    }

    /// Checks a reply that is covered, and takes the cover off.
    ///
    /// # Errors
    /// It is not genuine. The caller's buffer is as it was, and nothing else of it may be used.
    pub fn open(&mut self, protection: &dyn CallProtection) -> Result<(), PeerError> {
        let cover = std::mem::take(&mut self.cover);
        // A denial has no verifier, and data of a wrong length no results.
        let Ok(accepted) = self.outcome else { return Ok(()) };
        if cover == ResultsCover::None || self.problem.is_some() {
            return Ok(());
        }
        let data = self.received.as_ref().filter(|(_, count)| *count > 0 && cover == ResultsCover::Signed);
        let data = data.map(|(buffer, count)| (self.data_at, &buffer[buffer.len() - count..]));
        let has_results = accepted == Accepted::Success && cover != ResultsCover::Header;
        let results = has_results.then_some(&mut self.results[..]);
        let Some(plain) = protection.open(CoveredReply { mic: &self.mic, results, data }) else {
            if let Some((buffer, count)) = &mut self.received {
                buffer.truncate(buffer.len() - std::mem::take(count));
            }
            self.results.clear();
            return Err(PeerError::NotGenuine);
        };
        if has_results {
            self.results.truncate(plain.end);
            self.results.drain(..plain.start);
            self.place_data();
        }
        Ok(())
    }

    /// Moves data that arrived encrypted where it belongs.
    fn place_data(&mut self) {
        let (Some((most, locate)), Some((buffer, count))) = (self.sealed_data, &mut self.received) else {
            return;
        };
        let Locate::Data { at, length } = locate(&self.results) else { return };
        if length > most {
            self.problem = Some(too_long(at, length, most));
            self.results.clear();
            return;
        }
        let end = at.saturating_add(length);
        let Some(data) = self.results.get(at..end) else {
            let problem = DecodeProblem::Truncated;
            self.problem = Some(DecodeError { what: "received data", at, problem });
            self.results.clear();
            return;
        };
        buffer.extend_from_slice(data);
        *count = length;
        let padded = (end + padding(length)).min(self.results.len());
        self.results.drain(at..padded);
    }
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
    /// What of it is protected.
    cover: ResultsCover,
    /// Length of the token in its verifier.
    mic: usize,
    /// Where its data was in the results.
    data_at: usize,
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
            Stage::Padding(left) => {
                *left -= bytes.len();
                self.see_padding(bytes);
            }
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
            // Nobody answers it. What follows it on the stream is read all the same.
            (self.stage, self.head) = (Stage::Skip, Vec::new());
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
        let is_sealed = self.cover == ResultsCover::Sealed;
        let sealed_data = self.receive.as_ref().filter(|_| is_sealed).map(|its| (its.most, its.locate));
        let received = self.receive.map(|mut receive| {
            if !is_whole {
                receive.buffer.truncate(self.base);
            }
            let count = receive.buffer.len() - self.base;
            (receive.buffer, count)
        });
        let is_covered = self.cover != ResultsCover::None;
        let mic = if is_covered && self.mic > 0 {
            self.head[REPLY_MIC_AT..REPLY_MIC_AT + self.mic].to_vec()
        } else {
            Vec::new()
        };
        if is_whole {
            self.head.drain(..self.results_at);
        } else {
            // How much was kept of them depends on how they came.
            self.head.clear();
        }
        let reply = Reply::plain(xid, outcome, self.head, received, self.problem);
        let (cover, data_at) = (self.cover, self.data_at);
        Ok(Some(StreamRecord::Reply(Reply { cover, mic, data_at, sealed_data, ..reply })))
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
        let header = match SignedReply::decode(&mut decoder) {
            Ok(SignedReply { header, mic }) => {
                self.mic = mic.len();
                header
            }
            Err(error) if error.problem == DecodeProblem::Truncated && self.head.len() < HEADER_MAX => {
                return Ok(false);
            }
            Err(error) => return Err(PeerError::NotAReply(error)),
        };
        self.results_at = decoder.position();
        let (receive, cover) = match claim(header.xid) {
            Claim::Unknown => {
                self.head = Vec::new();
                self.stage = Stage::Skip;
                return Ok(true);
            }
            Claim::Call(receive) => (receive, ResultsCover::None),
            Claim::Covered(receive, cover) => (receive, cover),
        };
        self.header = Some(header);
        self.base = receive.as_ref().map_or(0, |receive| receive.buffer.len());
        (self.receive, self.cover) = (receive, cover);
        // Encrypted data is found once it is decrypted.
        let may_have_data = self.receive.is_some() && cover != ResultsCover::Sealed;
        let is_success = header.outcome == Ok(Accepted::Success);
        self.stage = if may_have_data && is_success { Stage::Locating } else { Stage::Results };
        Ok(true)
    }

    /// Looks for the data, and moves what came of it where it belongs.
    fn locate(&mut self, peek: &mut usize, copied: &mut u64) {
        let receive = self.receive.as_mut().expect("only a call with a buffer has data");
        let skip = self.cover.head();
        let Some(results) = self.head[self.results_at..].get(skip..) else { return };
        let (at, length) = match (receive.locate)(results) {
            Locate::NeedMore => return,
            Locate::NoData => {
                self.stage = Stage::Results;
                return;
            }
            Locate::Data { at, length } => ((self.results_at + skip).saturating_add(at), length),
        };
        if length > receive.most {
            self.problem = Some(too_long(at - self.results_at, length, receive.most));
            self.stage = Stage::Skip;
            return;
        }
        let Some(early) = self.head.get(at..) else { return };
        *peek = howdah_wire::rpc::RecordMark::SIZE + at;
        self.data_at = at - self.results_at;
        receive.buffer.reserve(length);
        let data = &early[..early.len().min(length)];
        receive.buffer.extend_from_slice(data);
        *copied += data.len() as u64;
        let (came, left) = (data.len(), length - data.len());
        let dropped = (early.len() - came).min(padding(length));
        let has_other_padding = early[came..came + dropped].iter().any(|&byte| byte != 0);
        if has_other_padding && self.cover != ResultsCover::None {
            self.problem = Some(changed_padding(at));
        }
        self.head.drain(at..at + came + dropped);
        self.seen = receive.buffer.len();
        self.stage = Stage::Data { left, padding: padding(length) - dropped };
    }

    /// Looks at padding of data.
    fn see_padding(&mut self, bytes: &[u8]) {
        if self.cover != ResultsCover::None && bytes.iter().any(|&byte| byte != 0) {
            self.problem = Some(changed_padding(self.head.len()));
        }
    }

    fn truncated(&self, what: &'static str) -> DecodeError {
        DecodeError { what, at: self.head.len(), problem: DecodeProblem::Truncated }
    }
}

/// The padding of data is not kept, and so not among what is checked later.
fn changed_padding(at: usize) -> DecodeError {
    DecodeError { what: "received data", at, problem: DecodeProblem::Padding }
}

fn too_long(at: usize, length: usize, most: usize) -> DecodeError {
    let [claimed, limit] = [length, most].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    DecodeError { what: "received data", at, problem: DecodeProblem::TooLong { claimed, limit } }
}
