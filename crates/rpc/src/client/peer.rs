//! The client's side of one stream: bytes in, records out, and bulk data straight into the buffers of those who wait.
//!
//! A loop drives it: `room` says where to receive, `poll` gives the records that are whole. Nothing is kept because a
//! mark claims a length: memory follows the bytes that came, or what the caller asked for.

use howdah_wire::rpc::RecordMark;

use super::claim::Claim;
use super::error::PeerError;
use super::first_bytes::FirstBytes;
use super::incoming::{Incoming, StreamRecord};
use super::receive::ReceiveInto;
use crate::limits::FRAGMENTS_MAX;

/// How much is received at once when only small replies are due: a burst of them comes in one receive.
const BURST: usize = 16 << 10;
/// How much is received first when bulk data may follow, before one such reply has shown how long its head is: that of a
/// READ over NFSv3, its record mark and header included.
const PEEK: usize = 132;
/// From here on the rest of a reply without bulk data is received in its place, in bytes; below it, with the next one.
const DIRECT: usize = 1 << 10;
/// How much room is made at once for results whose length the server claims, in bytes.
const STEP: usize = 64 << 10;

/// Where to receive next: bytes are appended to `first` until `most` came, and only then to `next`.
#[derive(Debug)]
pub struct Room<'a> {
    /// Takes the first bytes.
    pub first: &'a mut Vec<u8>,
    /// How many of them at most; never 0.
    pub most: usize,
    /// Takes the bytes after those, and how many at most.
    pub next: Option<(&'a mut Vec<u8>, usize)>,
    /// Whether all of `first` is sure to come, so that it may be waited for.
    pub is_promised: bool,
}

/// The fragment that is being received.
#[derive(Debug, Clone, Copy)]
struct Fragment {
    left: usize,
    last: bool,
}

/// The bytes of one stream on their way to replies.
#[derive(Debug)]
pub struct Peer {
    record_max: usize,
    /// Bytes that were received and belong to nothing yet, from `at` on.
    input: Vec<u8>,
    at: usize,
    fragment: Option<Fragment>,
    fragments: u32,
    /// Bytes of the current record that its marks have claimed so far.
    claimed: usize,
    /// Nothing but the mark of the first record came.
    is_new: bool,
    incoming: Incoming,
    /// How long the head of a reply with bulk data is, its record mark included: what to receive to have it and no data.
    peek: usize,
    copied: u64,
    unknown: u64,
}

impl Peer {
    /// A stream at its start, whose records are at most `record_max` bytes.
    pub fn new(record_max: usize) -> Self {
        Self {
            record_max,
            input: Vec::new(),
            at: 0,
            fragment: None,
            fragments: 0,
            claimed: 0,
            is_new: true,
            incoming: Incoming::default(),
            peek: PEEK,
            copied: 0,
            unknown: 0,
        }
    }

    /// Where to receive, once `poll` has found nothing whole. `bulk` says that a call with a buffer for its data is out,
    /// so that the next reply may bring some.
    pub fn room(&mut self, bulk: bool) -> Room<'_> {
        self.input.drain(..self.at);
        self.at = 0;
        let held = self.input.len();
        let Some(fragment) = self.fragment else {
            let most = if bulk { self.peek.saturating_sub(held).max(RecordMark::SIZE) } else { BURST };
            return Room { first: &mut self.input, most, next: None, is_promised: false };
        };
        // What may be received beyond this fragment: the next mark, and what follows it.
        let beyond = match (bulk, fragment.last) {
            (true, true) => self.peek,
            (true, false) => RecordMark::SIZE,
            (false, _) => BURST,
        };
        let head = self.peek.saturating_sub(RecordMark::SIZE + self.incoming.head_length());
        let tasted = if self.incoming.may_have_data() {
            fragment.left.min(head.max(64))
        } else {
            fragment.left.min(STEP) + beyond
        };
        match self.incoming.sink(fragment.left, DIRECT) {
            Some((sink, most)) => {
                let most = most.min(fragment.left);
                let after = fragment.left - most + beyond;
                let next = (after <= BURST + STEP).then_some((&mut self.input, after));
                Room { first: sink, most, next, is_promised: true }
            }
            None => Room { first: &mut self.input, most: tasted, next: None, is_promised: false },
        }
    }

    /// The next record that is whole. `claim` is asked once for each reply whose xid is known.
    pub fn poll(&mut self, mut claim: impl FnMut(u32) -> Claim) -> Result<Option<StreamRecord>, PeerError> {
        if let Some(fragment) = &mut self.fragment {
            fragment.left -= self.incoming.arrived();
            self.incoming.proceed(&mut claim, &mut self.peek, &mut self.copied)?;
        }
        loop {
            let Some(fragment) = &mut self.fragment else {
                if !self.next_mark()? {
                    return Ok(None);
                }
                continue;
            };
            let bytes = &self.input[self.at..];
            let taken = self.incoming.take(&bytes[..bytes.len().min(fragment.left)], &mut self.copied);
            self.at += taken;
            fragment.left -= taken;
            self.incoming.proceed(&mut claim, &mut self.peek, &mut self.copied)?;
            if fragment.left == 0 {
                let last = fragment.last;
                self.fragment = None;
                if last && let Some(record) = self.finish()? {
                    return Ok(Some(record));
                }
            } else if self.at == self.input.len() {
                return Ok(None);
            }
        }
    }

    /// The stream is over: gives back the buffer of the call whose reply is not whole, as it was, and its xid.
    pub fn abandon(&mut self) -> Option<(u32, ReceiveInto)> {
        std::mem::take(&mut self.incoming).abandon()
    }

    /// Whether a reply has started and is not whole.
    pub fn is_partial(&self) -> bool {
        self.fragment.is_some() || self.claimed > 0 || self.at < self.input.len()
    }

    /// Bytes of bulk data that came along with other bytes and had to be copied.
    pub fn copied(&self) -> u64 {
        self.copied
    }

    /// Replies that nobody waited for.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }

    /// Reads the next mark, if it is there.
    fn next_mark(&mut self) -> Result<bool, PeerError> {
        let Some(&bytes) = self.input[self.at..].first_chunk() else { return Ok(false) };
        let mark = RecordMark::from_bytes(bytes);
        self.claimed += mark.length as usize;
        if self.claimed > self.record_max {
            if self.is_new {
                return Err(PeerError::NotRpc(FirstBytes::of(&self.input)));
            }
            return Err(PeerError::TooLong { claimed: self.claimed, limit: self.record_max });
        }
        self.is_new = false;
        self.fragments += 1;
        if self.fragments > FRAGMENTS_MAX {
            return Err(PeerError::TooManyFragments { limit: FRAGMENTS_MAX });
        }
        self.at += RecordMark::SIZE;
        self.fragment = Some(Fragment { left: mark.length as usize, last: mark.last });
        Ok(true)
    }

    /// The record is over.
    fn finish(&mut self) -> Result<Option<StreamRecord>, PeerError> {
        (self.claimed, self.fragments) = (0, 0);
        let record = std::mem::take(&mut self.incoming).finish()?;
        self.unknown += u64::from(record.is_none());
        Ok(record)
    }
}
