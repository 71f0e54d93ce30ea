//! A load that reads a file: so many READs at a time, in the transfer size of the moment, what is given back in pieces.

use std::collections::HashMap;
use std::time::Duration;

use howdah_link::Ethernet;

use super::{Load, getattr, read};
use crate::client::datagram::{NewCall, Returned};

/// Reads a file from beginning to end.
#[derive(Debug)]
pub struct Reader {
    /// Bytes of the file.
    pub size: usize,
    /// READs at a time.
    pub at_once: usize,
    /// Nothing is asked for that lies so many bytes or more behind the first one missing: a program that reads in order is
    /// ahead of no late answer by more than its read-ahead.
    pub ahead: usize,
    /// A GETATTR beside every so many READs; 0: none.
    pub getattr_every: u32,
    at: usize,
    next: u32,
    /// What is to be read again in smaller pieces.
    again: Vec<(usize, usize)>,
    open: HashMap<u32, (usize, usize)>,
    read: usize,
    /// How often each call was answered.
    pub answered: HashMap<u32, u32>,
    /// When something was last read.
    pub last: Duration,
    /// The longest time in which nothing was.
    pub longest_gap: Duration,
    /// Calls given back, to be made in smaller pieces.
    pub given_back: u32,
}

impl Reader {
    /// A file of that size, so many READs at a time.
    pub fn new(size: usize, at_once: usize) -> Self {
        Self {
            size,
            at_once,
            ahead: usize::MAX,
            getattr_every: 0,
            at: 0,
            next: 0,
            again: Vec::new(),
            open: HashMap::new(),
            read: 0,
            answered: HashMap::new(),
            last: Duration::ZERO,
            longest_gap: Duration::ZERO,
            given_back: 0,
        }
    }

    /// Time of the line for all replies of that size, at a bit rate.
    pub fn ideal(size: usize, transfer: usize, bits_per_second: f64) -> Duration {
        let each = Ethernet { mtu: 1500 }.datagram(read(0, transfer).receives, ()).bytes;
        Duration::from_secs_f64((size / transfer * each) as f64 * 8.0 / bits_per_second)
    }

    /// What a call reads that is open: from where, and how much.
    pub fn reads(&self, xid: u32) -> Option<(usize, usize)> {
        self.open.get(&xid).copied()
    }

    /// From where on something is missing.
    fn missing(&self) -> usize {
        let open = self.open.values().chain(&self.again).map(|(at, _)| *at);
        open.fold(self.at, usize::min)
    }

    fn piece(&mut self, transfer: usize) -> Option<(usize, usize)> {
        let (at, length) = self.again.pop().or_else(|| {
            let at = self.at;
            let ahead = at - self.missing();
            let length = if ahead < self.ahead { transfer.min(self.size - at) } else { 0 };
            self.at += length;
            (length > 0).then_some((at, length))
        })?;
        let taken = length.min(transfer);
        if taken < length {
            self.again.push((at + taken, length - taken));
        }
        Some((at, taken))
    }
}

impl Load for Reader {
    fn start(&mut self, _: Duration, transfer: usize, calls: &mut Vec<NewCall<usize>>) {
        while self.open.len() < self.at_once {
            let Some(piece) = self.piece(transfer) else { break };
            self.next += 1;
            self.open.insert(self.next, piece);
            calls.push(read(self.next, piece.1));
            if self.getattr_every > 0 && self.next.is_multiple_of(self.getattr_every) {
                self.next += 1;
                calls.push(getattr(self.next));
            }
        }
    }

    fn answered(&mut self, now: Duration, xid: u32) {
        *self.answered.entry(xid).or_default() += 1;
        let Some((_, length)) = self.open.remove(&xid) else { return };
        self.read += length;
        self.longest_gap = self.longest_gap.max(now - self.last);
        self.last = now;
    }

    fn returned(&mut self, xid: u32, why: Returned) {
        assert!(matches!(why, Returned::TooLarge { .. }));
        let piece = self.open.remove(&xid).expect("a call that is open");
        self.given_back += 1;
        self.again.push(piece);
    }

    fn is_done(&self) -> bool {
        self.read >= self.size
    }
}
