//! A program that reads a file record by record, and the time that each of its reads took, and each call.

use std::collections::HashMap;
use std::time::Duration;

use howdah_rpc::client::datagram::{NewCall, Returned};
use howdah_rpc::simulation::{Load, Reader};

use howdah_workload::measure::Latencies;

/// Reads a file, and keeps times. The client's read-ahead has READs on their way for records that the program has not
/// asked for yet: a record took as long as the program waited for it after the one before.
#[derive(Debug)]
pub struct Records {
    reader: Reader,
    /// Bytes that are missing of each record.
    missing: Vec<usize>,
    record: usize,
    /// The record that the program waits for, and since when.
    current: usize,
    since: Duration,
    sent: HashMap<u32, Duration>,
    /// What each record took.
    pub records: Latencies,
    /// What each call took, from when it was first sent.
    pub calls: Latencies,
}

impl Records {
    /// Of that size, in records of so many bytes, with a read-ahead of so many.
    pub fn new(size: usize, record: usize, ahead: usize) -> Self {
        let mut reader = Reader::new(size, usize::MAX);
        reader.ahead = ahead;
        let missing = (0..size).step_by(record).map(|at| record.min(size - at)).collect();
        Self {
            reader,
            missing,
            record,
            current: 0,
            since: Duration::ZERO,
            sent: HashMap::new(),
            records: Latencies::new(),
            calls: Latencies::new(),
        }
    }

    /// The longest time in which nothing was read.
    pub fn longest_gap(&self) -> Duration {
        self.reader.longest_gap
    }

    /// Bytes from there on are there.
    fn fill(&mut self, mut at: usize, mut length: usize) {
        while length > 0 {
            let part = length.min(self.record - at % self.record);
            self.missing[at / self.record] -= part;
            (at, length) = (at + part, length - part);
        }
    }
}

impl Load for Records {
    fn start(&mut self, now: Duration, transfer: usize, calls: &mut Vec<NewCall<usize>>) {
        self.reader.start(now, transfer, calls);
    }

    fn answered(&mut self, now: Duration, xid: u32) {
        if let Some(sent) = self.sent.remove(&xid) {
            self.calls.record(now - sent);
        }
        if let Some((at, length)) = self.reader.reads(xid) {
            self.fill(at, length);
        }
        self.reader.answered(now, xid);
        while self.missing.get(self.current) == Some(&0) {
            self.records.record(now - self.since);
            (self.current, self.since) = (self.current + 1, now);
        }
    }

    fn sent(&mut self, now: Duration, xid: u32, _: u32) {
        self.sent.entry(xid).or_insert(now);
    }

    fn returned(&mut self, xid: u32, why: Returned) {
        self.sent.remove(&xid);
        self.reader.returned(xid, why);
    }

    fn is_done(&self) -> bool {
        self.reader.is_done()
    }
}
