//! A gate before each export: while as many calls as may wait for its storage, others wait in line here, where they hold no worker.
//!
//! The watch shuts a gate and opens it. While it is shut, each worker that comes back from the export runs the first of the line
//! in its place, so that a slow file system always has as many calls as it may have, and one that hangs has no more.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use howdah_net::Datagram;
use parking_lot::Mutex;

use crate::connection::Connection;
use crate::counts::{NO_EXPORT, PLACES, Timing};
use crate::limits::{GATE_CALLS_MAX, GATE_MEMORY_MAX};
use crate::udp::Port;

/// A call that waits in line.
pub struct QueuedCall {
    /// Its message.
    pub message: Box<[u8]>,
    /// When it came.
    pub timing: Timing,
    /// Who has it answered.
    pub asker: Asker,
}

/// Where a call in line came from.
pub enum Asker {
    /// A connection.
    Connection(Arc<Connection>),
    /// A datagram, and the socket that it came to.
    Datagram(Arc<Port>, Datagram),
}

/// What takes memory while it waits.
pub trait Weighed {
    /// Bytes of memory that it holds.
    fn memory(&self) -> usize;
}

impl Weighed for QueuedCall {
    fn memory(&self) -> usize {
        self.message.len()
    }
}

/// The gates of all exports.
pub struct Gates<C = QueuedCall> {
    /// How many are shut: none, almost always.
    shut: AtomicUsize,
    /// Calls in all lines.
    calls: AtomicUsize,
    /// Memory that they hold.
    memory: AtomicUsize,
    gates: Box<[Gate<C>]>,
}

struct Gate<C> {
    is_shut: AtomicBool,
    line: Mutex<Line<C>>,
}

struct Line<C> {
    waiting: VecDeque<C>,
    /// So many may go in besides those whose place one takes that comes back.
    permits: usize,
}

/// What became of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turned {
    /// It was shut.
    Shut,
    /// It was opened.
    Opened,
}

impl<C: Weighed> Gates<C> {
    /// All open.
    pub fn new() -> Self {
        let gate = || Gate {
            is_shut: AtomicBool::new(false),
            line: Mutex::new(Line { waiting: VecDeque::new(), permits: 0 }),
        };
        let (shut, calls, memory) = Default::default();
        Self { shut, calls, memory, gates: (0..PLACES).map(|_| gate()).collect() }
    }

    /// Whether any is shut.
    #[inline]
    pub fn any_shut(&self) -> bool {
        self.shut.load(Ordering::Relaxed) > 0
    }

    /// Whether that of an export is.
    pub fn is_shut(&self, export: u16) -> bool {
        self.gates[usize::from(export)].is_shut.load(Ordering::Relaxed)
    }

    /// A call waits in line. It is given back if the gate is open meanwhile, or if too many wait.
    pub fn wait(&self, export: u16, call: C) -> Result<(), Refused<C>> {
        let gate = &self.gates[usize::from(export)];
        let mut line = gate.line.lock();
        if !gate.is_shut.load(Ordering::Relaxed) {
            return Err(Refused::Open(call));
        }
        let memory = call.memory();
        if self.calls.load(Ordering::Relaxed) >= GATE_CALLS_MAX
            || self.memory.load(Ordering::Relaxed) + memory > GATE_MEMORY_MAX
        {
            return Err(Refused::Full(call));
        }
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.memory.fetch_add(memory, Ordering::Relaxed);
        line.waiting.push_back(call);
        Ok(())
    }

    /// A worker came back from this export: the call that goes in for its own.
    pub fn next_of(&self, export: u16) -> Option<C> {
        let call = self.gates[usize::from(export)].line.lock().waiting.pop_front();
        call.inspect(|call| self.forget(call))
    }

    /// The next call that may go in besides.
    pub fn next_permitted(&self) -> Option<C> {
        for gate in &self.gates {
            if !gate.is_shut.load(Ordering::Relaxed) {
                continue;
            }
            let mut line = gate.line.lock();
            if line.permits > 0
                && let Some(call) = line.waiting.pop_front()
            {
                line.permits -= 1;
                self.forget(&call);
                return Some(call);
            }
        }
        None
    }

    /// Forgets calls that nobody waits for any more.
    pub fn retain(&self, keep: impl Fn(&C) -> bool) {
        for gate in &self.gates {
            gate.line.lock().waiting.retain(|call| {
                let keeps = keep(call);
                if !keeps {
                    self.forget(call);
                }
                keeps
            });
        }
    }

    /// So many workers wait in each export, where `most` may: shuts and opens gates, tells `turned` of each, and says how many
    /// calls may go in besides.
    pub fn look(&self, held: &[usize; PLACES], most: usize, mut turned: impl FnMut(u16, Turned)) -> usize {
        let mut permitted = 0;
        for ((gate, export), &held) in self.gates.iter().zip(0..).zip(held) {
            let is_shut = gate.is_shut.load(Ordering::Relaxed);
            if export == NO_EXPORT || (!is_shut && held < most) {
                continue;
            }
            let mut line = gate.line.lock();
            if !is_shut {
                gate.is_shut.store(true, Ordering::Relaxed);
                self.shut.fetch_add(1, Ordering::Relaxed);
                turned(export, Turned::Shut);
            } else if line.waiting.is_empty() && held < most {
                gate.is_shut.store(false, Ordering::Relaxed);
                self.shut.fetch_sub(1, Ordering::Relaxed);
                turned(export, Turned::Opened);
            }
            line.permits = most.saturating_sub(held);
            permitted += line.permits.min(line.waiting.len());
        }
        permitted
    }

    /// Calls in all lines.
    pub fn waiting(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    fn forget(&self, call: &C) {
        self.calls.fetch_sub(1, Ordering::Relaxed);
        self.memory.fetch_sub(call.memory(), Ordering::Relaxed);
    }
}

impl Gates {
    /// A connection is gone: its calls in line hold its descriptor.
    pub fn leave(&self, connection: &Connection) {
        if self.waiting() > 0 {
            self.retain(
                |call| !matches!(&call.asker, Asker::Connection(of) if of.token() == connection.token()),
            );
        }
    }
}

/// Why a call does not wait.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused<C> {
    /// The gate is open.
    Open(C),
    /// Too many wait already.
    Full(C),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Eq)]
    struct Bytes(usize);

    impl Weighed for Bytes {
        fn memory(&self) -> usize {
            self.0
        }
    }

    fn held(export: u16, count: usize) -> [usize; PLACES] {
        let mut held = [0; PLACES];
        held[usize::from(export)] = count;
        held
    }

    fn look(gates: &Gates<Bytes>, count: usize) -> (usize, Vec<(u16, Turned)>) {
        let mut turned = Vec::new();
        let permitted = gates.look(&held(3, count), 4, |export, how| turned.push((export, how)));
        (permitted, turned)
    }

    #[test]
    fn a_gate_is_shut_at_the_bound_and_opened_when_nobody_waits() {
        let gates = Gates::new();
        assert_eq!(look(&gates, 3), (0, vec![]));
        assert_eq!(gates.wait(3, Bytes(1)), Err(Refused::Open(Bytes(1))));
        assert_eq!(look(&gates, 4), (0, vec![(3, Turned::Shut)]));
        assert!(gates.any_shut() && gates.is_shut(3) && !gates.is_shut(2));
        assert_eq!(gates.wait(3, Bytes(1)), Ok(()));
        assert_eq!(look(&gates, 4), (0, vec![]));
        assert_eq!(gates.next_permitted(), None, "as many are in as may be");
        assert_eq!(look(&gates, 2), (1, vec![]), "one waits");
        assert_eq!(gates.next_permitted(), Some(Bytes(1)));
        assert_eq!(look(&gates, 3), (0, vec![(3, Turned::Opened)]));
        assert!(!gates.any_shut());
    }

    #[test]
    fn who_comes_back_lets_the_first_of_its_own_line_in() {
        let gates = Gates::new();
        look(&gates, 4);
        (1..3).for_each(|number| assert_eq!(gates.wait(3, Bytes(number)), Ok(())));
        assert_eq!(gates.next_of(2), None);
        assert_eq!(gates.next_of(3), Some(Bytes(1)));
        assert_eq!(gates.waiting(), 1);
        gates.retain(|call| call.0 != 2);
        assert_eq!((gates.waiting(), gates.next_of(3)), (0, None));
    }

    #[test]
    fn what_no_longer_fits_is_given_back() {
        let gates = Gates::new();
        look(&gates, 4);
        assert_eq!(gates.wait(3, Bytes(GATE_MEMORY_MAX - 1)), Ok(()));
        assert_eq!(gates.wait(3, Bytes(2)), Err(Refused::Full(Bytes(2))));
        (1..GATE_CALLS_MAX).for_each(|_| assert_eq!(gates.wait(3, Bytes(0)), Ok(())));
        assert_eq!(gates.wait(3, Bytes(0)), Err(Refused::Full(Bytes(0))));
        assert_eq!(gates.next_of(3), Some(Bytes(GATE_MEMORY_MAX - 1)));
        assert_eq!(gates.wait(3, Bytes(2)), Ok(()));
    }
}
