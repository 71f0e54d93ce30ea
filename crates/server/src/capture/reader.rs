//! Reads calls out of the queue that workers fill: from bytes to what a capture reports.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;

use howdah_capture::{Call, CallReader, CompoundBytes, Names, Pseudonyms, read_compound, read_result};
use howdah_wire::nfs3;

use super::kept::{Kept, NfsCall};
use super::limits::{CAPTURE_ANSWER_MAX, CAPTURE_CLIENTS_MAX};
use crate::counts::Moment;
use crate::programs::Listed;

/// Who reads one capture.
pub struct CaptureReader {
    /// All that are served, NFS among them.
    procedures: Arc<[Listed]>,
    waiting: Receiver<Kept>,
    pseudonyms: Pseudonyms,
    began: Moment,
    clients: HashMap<IpAddr, u32>,
    connections: HashMap<(SocketAddr, bool), u32>,
    /// Calls that were read and may be asked for once more.
    unread: VecDeque<Call>,
    /// Calls before those.
    before: u64,
}

impl CaptureReader {
    /// Of this queue.
    pub fn new(waiting: Receiver<Kept>, names: Names, began: Moment, procedures: Arc<[Listed]>) -> Self {
        Self {
            procedures,
            waiting,
            pseudonyms: Pseudonyms::new(names),
            began,
            clients: HashMap::new(),
            connections: HashMap::new(),
            unread: VecDeque::new(),
            before: 0,
        }
    }

    /// Calls after the first `after` ones, and the number of the last of them; those before are forgotten. An answer that was lost can
    /// be asked for once more.
    pub fn calls(&mut self, after: u64, left_out: &AtomicU64) -> (u64, Vec<Call>) {
        let had = usize::try_from(after.saturating_sub(self.before)).unwrap_or(usize::MAX);
        let had = had.min(self.unread.len());
        self.unread.drain(..had);
        self.before += had as u64;
        while self.unread.len() < CAPTURE_ANSWER_MAX
            && let Ok(kept) = self.waiting.try_recv()
        {
            match self.tell(&kept) {
                Some(calls) => self.unread.extend(calls),
                None => drop(left_out.fetch_add(1, Ordering::Relaxed)),
            }
        }
        (self.before + self.unread.len() as u64, self.unread.iter().cloned().collect())
    }

    fn name(&self, procedure: u32) -> Option<&'static str> {
        let mut nfs = self
            .procedures
            .iter()
            .filter(|listed| listed.program == "nfs" && listed.version == nfs3::VERSION);
        nfs.nth(procedure as usize).map(|listed| listed.procedure.name)
    }

    /// The lines of a call: one, or several of a compound that does several things. None if it makes no sense.
    fn tell(&mut self, kept: &Kept) -> Option<Vec<Call>> {
        let udp = kept.transport.is_datagrams();
        let mut call = Call {
            at: rounded(kept.arrived.since(self.began)),
            took: rounded(kept.ready.since(kept.arrived)),
            client: numbered(&mut self.clients, kept.client.ip()),
            connection: numbered(&mut self.connections, (kept.client, udp)),
            udp,
            received: kept.received,
            sent: kept.sent,
            ..Call::default()
        };
        let mut calls = match kept.called {
            NfsCall::Procedure(procedure) => {
                call.procedure = Cow::Borrowed(self.name(procedure)?);
                let arguments = CallReader { pseudonyms: &self.pseudonyms };
                arguments.read(procedure, &kept.arguments, &mut call).ok()?;
                read_result(&self.pseudonyms, procedure, &kept.result, &mut call).ok()?;
                vec![call]
            }
            NfsCall::NothingOf4 => {
                call.procedure = Cow::Borrowed("NULL");
                vec![call]
            }
            NfsCall::Compound => {
                let bytes = CompoundBytes {
                    arguments: &kept.arguments,
                    end: &kept.arguments_end,
                    length: kept.arguments_length,
                    result: &kept.result,
                };
                read_compound(&self.pseudonyms, &bytes, call).ok()?
            }
        };
        if let (Some((entries, at_end)), Some(last)) = (kept.listed, calls.last_mut()) {
            (last.entries, last.at_end) = (Some(entries), at_end);
        }
        Some(calls)
    }
}

/// Seconds, to a tenth of a microsecond: what is beyond is noise, and makes files long.
fn rounded(nanoseconds: u64) -> f64 {
    (nanoseconds as f64 / 100.0).round() / 1e7
}

fn numbered<K: Eq + Hash>(known: &mut HashMap<K, u32>, key: K) -> u32 {
    let next = known.len() + 1;
    if next > CAPTURE_CLIENTS_MAX {
        return known.get(&key).copied().unwrap_or_default();
    }
    *known.entry(key).or_insert(next as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_past_the_last_that_is_told_apart_are_called_0() {
        let mut known = HashMap::new();
        let last = CAPTURE_CLIENTS_MAX as u32;
        assert!((1..=last).all(|client| numbered(&mut known, client) == client));
        assert_eq!((numbered(&mut known, last + 1), numbered(&mut known, last)), (0, last));
    }
}
