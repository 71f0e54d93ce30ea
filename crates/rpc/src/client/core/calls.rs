//! The calls that are under way, by their xids.

use std::collections::HashMap;
use std::time::Duration;

use crate::client::envelope::{CallSends, CallTicket, ResultsCover, TicketNeed};
use crate::client::lanes::Place;
use crate::client::{Class, Locate, ReceiveInto};

/// Which procedure is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcedureId {
    /// The program.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// The procedure.
    pub procedure: u32,
}

/// A call as its channel must know it. `T` is the caller's own word for it.
#[derive(Debug)]
pub struct CallFacts<T> {
    /// Unlike that of any other call under way.
    pub xid: u32,
    /// Which procedure it calls.
    pub procedure: ProcedureId,
    /// What kind of call it is.
    pub class: Class,
    /// Bytes of bulk data that it moves, or may.
    pub volume: usize,
    /// Which ticket of the channel's session it needs. Without a session it does not count.
    pub ticket: TicketNeed,
    /// Where the data of its reply goes.
    pub receive: Option<ReceiveInto>,
    /// What of its reply is protected.
    pub cover: ResultsCover,
    /// The caller's own.
    pub call: T,
}

/// How much data a reply may bring, and how that is found.
type DataPlace = (usize, fn(&[u8]) -> Locate);

/// A call under way.
#[derive(Debug)]
pub(super) struct Call<T> {
    pub(super) facts: CallFacts<T>,
    pub(super) wants_data: bool,
    /// Calls are sent in the order in which they were made.
    number: u64,
    pub(super) started: Duration,
    pub(super) deadline: Option<Duration>,
    /// The lane that carries it; none: it travels by datagrams.
    pub(super) lane: Option<usize>,
    /// Its place among the calls in flight, and what it holds of a session, once it may go out.
    pub(super) admitted: Option<(Place, Option<CallTicket>)>,
    pub(super) sends: u32,
    /// The connection that it was last sent on.
    pub(super) sent_on: u64,
    /// When it was last sent.
    pub(super) sent: Duration,
    /// How often what came on its connection was no reply.
    pub(super) nonsense: u32,
    /// Its caller has given up. It holds a ticket, and goes on until the server answers.
    pub(super) is_abandoned: bool,
    /// The data of its reply, while its buffer is in use.
    pub(super) data: Option<DataPlace>,
}

impl<T> Call<T> {
    /// What it holds of the session.
    pub(super) fn ticket(&self) -> Option<CallTicket> {
        self.admitted.and_then(|(_, ticket)| ticket)
    }

    /// How often it was sent.
    pub(super) fn sends(&self) -> CallSends {
        CallSends { count: self.sends, last: self.sent }
    }

    /// Gives the buffer for data out.
    pub(super) fn take_buffer(&mut self) -> Option<ReceiveInto> {
        let receive = self.facts.receive.take();
        self.data = receive.as_ref().map(|receive| (receive.most, receive.locate));
        receive
    }

    /// Takes the buffer back.
    pub(super) fn put_buffer(&mut self, buffer: Option<Vec<u8>>) {
        let (data, buffer) = (self.data.take(), buffer.unwrap_or_default());
        self.facts.receive = data.map(|(most, locate)| ReceiveInto { buffer, most, locate });
    }
}

/// The table.
#[derive(Debug)]
pub(super) struct Calls<T> {
    by_xid: HashMap<u32, Call<T>>,
    next_number: u64,
}

impl<T> Default for Calls<T> {
    fn default() -> Self {
        Self { by_xid: HashMap::new(), next_number: 0 }
    }
}

impl<T> Calls<T> {
    /// A call is made, for this lane.
    pub(super) fn insert(
        &mut self,
        facts: CallFacts<T>,
        lane: Option<usize>,
        started: Duration,
        deadline: Option<Duration>,
    ) {
        let number = self.next_number;
        self.next_number += 1;
        let call = Call {
            wants_data: facts.receive.is_some(),
            number,
            started,
            deadline,
            lane,
            admitted: None,
            sends: 0,
            sent_on: 0,
            sent: started,
            nonsense: 0,
            is_abandoned: false,
            data: None,
            facts,
        };
        let before = self.by_xid.insert(call.facts.xid, call);
        debug_assert!(before.is_none(), "two calls with one xid");
    }

    /// The call of that xid.
    pub(super) fn get(&self, xid: u32) -> Option<&Call<T>> {
        self.by_xid.get(&xid)
    }

    /// The same, to be changed.
    pub(super) fn get_mut(&mut self, xid: u32) -> Option<&mut Call<T>> {
        self.by_xid.get_mut(&xid)
    }

    /// It is over.
    pub(super) fn remove(&mut self, xid: u32) -> Option<Call<T>> {
        self.by_xid.remove(&xid)
    }

    /// A call that was taken out goes on.
    pub(super) fn put_back(&mut self, call: Call<T>) {
        self.by_xid.insert(call.facts.xid, call);
    }

    /// The xids of all calls, in the order in which they were made.
    pub(super) fn all(&self) -> Vec<u32> {
        self.in_order(|_| true)
    }

    /// The same of those that wait for a place.
    pub(super) fn waiting(&self) -> Vec<u32> {
        self.in_order(|call| call.admitted.is_none())
    }

    /// The same of one lane.
    pub(super) fn of_lane(&self, lane: usize) -> Vec<u32> {
        self.in_order(|call| call.lane == Some(lane))
    }

    /// When the call of a lane was sent that was sent first, and how often that was; calls that were not sent do not count.
    pub(super) fn oldest_sent(&self, lane: usize) -> Option<(Duration, u32)> {
        let sent = self.by_xid.values().filter(|call| call.lane == Some(lane) && call.sends > 0);
        sent.map(|call| (call.sent, call.sends)).min_by_key(|(sent, _)| *sent)
    }

    fn in_order(&self, which: impl Fn(&Call<T>) -> bool) -> Vec<u32> {
        let calls = self.by_xid.values().filter(|call| which(call));
        let mut numbers: Vec<_> = calls.map(|call| (call.number, call.facts.xid)).collect();
        numbers.sort_unstable();
        numbers.into_iter().map(|(_, xid)| xid).collect()
    }
}
