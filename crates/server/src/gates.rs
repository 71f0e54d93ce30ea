//! A gate before each export: while as many calls as may wait for its storage, others wait in line here, where they hold no worker.
//!
//! The watch shuts a gate and opens it. While it is shut, each worker that comes back from the export runs the first of the line
//! in its place, so that a slow file system always has as many calls as it may have, and one that hangs has no more.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::gss::SecuredCall;
use crate::locks::Mutex;
use howdah_net::Datagram;

use crate::connection::Connection;
use crate::counts::{NO_EXPORT, PLACES, Timing};
use crate::limits::{GATE_CALLS_MAX, GATE_MEMORY_MAX, GATE_RESERVED_MAX};
use crate::room::one_client;
use crate::turns::Turns;
use crate::udp::Port;

/// So many calls of one client are few.
const FEW: usize = 16;

/// A call that waits in line.
pub struct QueuedCall {
    /// Its message.
    pub message: Box<[u8]>,
    /// How it came through a context, if it did.
    pub secured: Option<SecuredCall>,
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

    /// Who waits.
    fn client(&self) -> IpAddr;
}

impl Weighed for QueuedCall {
    fn memory(&self) -> usize {
        self.message.len()
    }

    fn client(&self) -> IpAddr {
        one_client(match &self.asker {
            Asker::Connection(connection) => connection.peer().ends.client.ip(),
            Asker::Datagram(_, datagram) => datagram.ends.client.ip(),
        })
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
    waiting: Turns<C>,
    /// Clients of calls that went in besides: each had none in line.
    reserved: Vec<IpAddr>,
    /// So many may go in besides those whose place one takes that comes back.
    permits: usize,
    /// So many more are in than may be: who comes back lets nobody in.
    excess: usize,
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
            line: Mutex::new(Line { waiting: Turns::default(), reserved: Vec::new(), permits: 0, excess: 0 }),
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

    /// Lets a call in though the gate is shut: of a client that has none in line, as many as its weight, while such places are free. They
    /// are what clients with many calls cannot take from others. Who is let in says when it leaves.
    pub fn reserve(&self, export: u16, client: IpAddr, weight: u32) -> bool {
        let mut line = self.gates[usize::from(export)].line.lock();
        let inside = line.reserved.iter().filter(|other| **other == client).count();
        let may_enter = line.waiting.of(client) == 0
            && inside < weight as usize
            && line.reserved.len() < GATE_RESERVED_MAX;
        if may_enter {
            line.reserved.push(client);
        }
        may_enter
    }

    /// A call that was let in besides is done.
    pub fn leave_reserved(&self, export: u16, client: IpAddr) {
        let mut line = self.gates[usize::from(export)].line.lock();
        if let Some(place) = line.reserved.iter().position(|other| *other == client) {
            line.reserved.swap_remove(place);
        }
    }

    /// A call waits in line. It is given back if the gate is open meanwhile, or if too many wait.
    pub fn wait(&self, export: u16, call: C, weight: u32) -> Result<(), Refused<C>> {
        let gate = &self.gates[usize::from(export)];
        let mut line = gate.line.lock();
        if !gate.is_shut.load(Ordering::Relaxed) {
            return Err(Refused::Open(call));
        }
        let (memory, client) = (call.memory(), call.client());
        // Who has few in line has room where others fill it.
        let bounds = if line.waiting.of(client) < FEW { 2 } else { 1 };
        if self.calls.load(Ordering::Relaxed) >= bounds * GATE_CALLS_MAX
            || self.memory.load(Ordering::Relaxed) + memory > bounds * GATE_MEMORY_MAX
        {
            return Err(Refused::Full(call));
        }
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.memory.fetch_add(memory, Ordering::Relaxed);
        line.waiting.push(client, weight, call);
        Ok(())
    }

    /// A worker came back from this export: the call that goes in for its own.
    pub fn next_of(&self, export: u16) -> Option<C> {
        let mut line = self.gates[usize::from(export)].line.lock();
        if line.excess > 0 {
            line.excess -= 1;
            return None;
        }
        let call = line.waiting.pop();
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
                && let Some(call) = line.waiting.pop()
            {
                line.permits -= 1;
                self.forget(&call);
                return Some(call);
            }
        }
        None
    }

    /// Forgets calls of a client that nobody waits for any more.
    pub fn drop_calls(&self, client: IpAddr, is_gone: impl Fn(&C) -> bool) {
        for gate in &self.gates {
            gate.line.lock().waiting.forget(client, |call| {
                let gone = is_gone(call);
                if gone {
                    self.forget(call);
                }
                gone
            });
        }
    }

    /// So many workers wait in each export, of so many that are inside it; `share` says how many may. Shuts and opens gates,
    /// calls `turned` with each and with that number, and returns whether any call may go in besides.
    pub fn look(
        &self,
        held: &[usize; PLACES],
        inside: &[usize; PLACES],
        share: impl Fn(u16) -> usize,
        mut turned: impl FnMut(u16, Turned, usize),
    ) -> bool {
        let mut may_go_in = false;
        for (gate, export) in self.gates.iter().zip(0..) {
            let (held, inside) = (held[usize::from(export)], inside[usize::from(export)]);
            let is_shut = gate.is_shut.load(Ordering::Relaxed);
            let most = share(export);
            if export == NO_EXPORT || (!is_shut && held < most) {
                continue;
            }
            let mut line = gate.line.lock();
            if !is_shut {
                gate.is_shut.store(true, Ordering::Relaxed);
                self.shut.fetch_add(1, Ordering::Relaxed);
                turned(export, Turned::Shut, most);
            } else if line.waiting.is_empty() && held < most {
                gate.is_shut.store(false, Ordering::Relaxed);
                self.shut.fetch_sub(1, Ordering::Relaxed);
                turned(export, Turned::Opened, most);
            }
            line.permits = most.saturating_sub(inside);
            line.excess = inside.saturating_sub(most);
            may_go_in |= line.permits > 0 && !line.waiting.is_empty();
        }
        may_go_in
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
            let is_its = |call: &QueuedCall| matches!(&call.asker, Asker::Connection(of) if of.token() == connection.token());
            self.drop_calls(one_client(connection.peer().ends.client.ip()), is_its);
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

    /// Of a client that is its number.
    impl Weighed for Bytes {
        fn memory(&self) -> usize {
            self.0
        }

        fn client(&self) -> IpAddr {
            [192, 0, 2, if self.0 > 1000 { 1 } else { self.0 as u8 }].into()
        }
    }

    fn held(export: u16, count: usize) -> [usize; PLACES] {
        let mut held = [0; PLACES];
        held[usize::from(export)] = count;
        held
    }

    fn look(gates: &Gates<Bytes>, count: usize) -> (bool, Vec<(u16, Turned)>) {
        let mut turned = Vec::new();
        let turn = |export, how, _| turned.push((export, how));
        let permitted = gates.look(&held(3, count), &held(3, count), |_| 4, turn);
        (permitted, turned)
    }

    #[test]
    fn a_gate_is_shut_at_the_bound_and_opened_when_nobody_waits() {
        let gates = Gates::new();
        assert_eq!(look(&gates, 3), (false, vec![]));
        assert_eq!(gates.wait(3, Bytes(1), 1), Err(Refused::Open(Bytes(1))));
        assert_eq!(look(&gates, 4), (false, vec![(3, Turned::Shut)]));
        assert!(gates.any_shut() && gates.is_shut(3) && !gates.is_shut(2));
        assert_eq!(gates.wait(3, Bytes(1), 1), Ok(()));
        assert_eq!(look(&gates, 4), (false, vec![]));
        assert_eq!(gates.next_permitted(), None, "as many are in as may be");
        assert_eq!(look(&gates, 2), (true, vec![]), "one waits");
        assert_eq!(gates.next_permitted(), Some(Bytes(1)));
        assert_eq!(look(&gates, 3), (false, vec![(3, Turned::Opened)]));
        assert!(!gates.any_shut());
    }

    #[test]
    fn a_client_that_has_none_in_line_goes_in_besides_as_long_as_few_do() {
        let gates = Gates::new();
        look(&gates, 4);
        let client = |number: usize| Bytes(number).client();
        assert_eq!(gates.wait(3, Bytes(1), 1), Ok(()));
        assert!(!gates.reserve(3, client(1), 9), "it has one in line");
        assert!(gates.reserve(3, client(2), 2) && gates.reserve(3, client(2), 2));
        assert!(!gates.reserve(3, client(2), 2), "as many as its weight are in");
        (2..GATE_RESERVED_MAX).for_each(|number| assert!(gates.reserve(3, client(number + 1), 1)));
        assert!(!gates.reserve(3, client(99), 1), "all places are taken");
        gates.leave_reserved(3, client(2));
        assert!(gates.reserve(3, client(99), 1));
    }

    #[test]
    fn who_comes_back_lets_the_first_of_its_own_line_in() {
        let gates = Gates::new();
        look(&gates, 4);
        (1..3).for_each(|number| assert_eq!(gates.wait(3, Bytes(number), 1), Ok(())));
        assert_eq!(gates.next_of(2), None);
        assert_eq!(gates.next_of(3), Some(Bytes(1)));
        assert_eq!(gates.waiting(), 1);
        gates.drop_calls(Bytes(2).client(), |call| call.0 == 2);
        assert_eq!((gates.waiting(), gates.next_of(3)), (0, None));
    }

    #[test]
    fn who_comes_back_where_too_many_are_in_lets_nobody_in() {
        let gates = Gates::new();
        look(&gates, 5);
        (1..3).for_each(|number| assert_eq!(gates.wait(3, Bytes(number), 1), Ok(())));
        assert_eq!(gates.next_of(3), None);
        assert_eq!(gates.next_of(3), Some(Bytes(1)));
    }

    #[test]
    fn what_no_longer_fits_is_given_back() {
        let gates = Gates::new();
        look(&gates, 4);
        (0..FEW).for_each(|_| assert_eq!(gates.wait(3, Bytes(0), 1), Ok(())));
        (0..FEW).for_each(|_| assert_eq!(gates.wait(3, Bytes(1), 1), Ok(())));
        let rest = Bytes(GATE_MEMORY_MAX - FEW);
        assert_eq!(gates.wait(3, Bytes(rest.0 + 1), 1), Err(Refused::Full(Bytes(rest.0 + 1))));
        assert_eq!(gates.wait(3, Bytes(rest.0), 1), Ok(()));
        assert_eq!(gates.wait(3, Bytes(1), 1), Err(Refused::Full(Bytes(1))));
        (2 * FEW + 1..GATE_CALLS_MAX).for_each(|_| assert_eq!(gates.wait(3, Bytes(0), 1), Ok(())));
        assert_eq!(gates.wait(3, Bytes(0), 1), Err(Refused::Full(Bytes(0))));
        assert_eq!(gates.wait(3, Bytes(2), 1), Ok(()), "somebody who has few in line");
    }
}
