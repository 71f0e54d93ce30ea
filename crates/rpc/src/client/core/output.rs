//! What a channel's decisions ask of those who have its sockets and threads.

use std::time::Duration;

use super::calls::ProcedureId;
use super::counters::MovedBulk;
use crate::client::PeerError;
use crate::client::envelope::CallTicket;
use crate::client::lanes::{GrowthReason, LaneMeter};

/// Something to do. Lanes are named by their number.
#[derive(Debug)]
pub enum CoreOutput<T> {
    /// A call is over without an answer.
    Failed {
        /// The call.
        call: T,
        /// Why.
        why: Failure,
    },
    /// A call may be in flight that no lane carries: it travels by datagrams.
    Admitted(T),
    /// Another lane carries a call now, which [`Core::lane_of`](super::Core::lane_of) names: who waits for it waits there.
    Moved(T),
    /// A lane has something to do that its own thread does: to send, to connect, to end.
    Wake(usize),
    /// A lane carries calls that others wait for: its thread receives unless another does.
    Receive(usize),
    /// A NULL is to be called over a lane, as a question for a sign of life.
    Ask {
        /// The lane.
        lane: usize,
        /// The program to call, and its version.
        program: u32,
        /// See `program`.
        version: u32,
    },
    /// The connection of a lane is to be cut.
    Cut {
        /// The lane.
        lane: usize,
        /// The number of the connection.
        link: u64,
        /// Whether the next connection goes to another address of the server.
        turn_away: bool,
    },
    /// The session has something to do for its owner: see [`Core::with_session`](super::Core::with_session).
    AttendSession,
    /// Something that a person may want to know.
    Notice(ChannelNotice),
}

/// What a person may want to know, once each time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ChannelNotice {
    /// The server has not responded for long; calls wait on.
    NotResponding(Option<usize>),
    /// The server has not responded for long; calls are refused.
    Refusing(Option<usize>),
    /// It responds again.
    Responding(Option<usize>),
    /// What is sent on this lane does not arrive.
    PathLost(usize),
    /// It does again.
    PathBack(usize),
    /// This lane is stuck while others deliver.
    Stuck(usize),
    /// It still is.
    StillStuck(usize),
    /// It delivers, or does again.
    Delivers(usize),
    /// Nothing comes over this lane for long.
    Silent(usize),
    /// There are more lanes or fewer.
    Lanes {
        /// So many were used.
        before: usize,
        /// So many are.
        now: usize,
        /// Why.
        why: GrowthReason,
    },
    /// This lane is used for small calls, which would wait for bulk.
    SmallLane(usize),
}

/// Why a call has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// Its time is over. It may have run.
    TimedOut,
    /// Nothing is heard from the server. It did not run, or changes nothing.
    Away,
    /// The server answers with what is no reply.
    Nonsense(PeerError),
    /// The channel is closed.
    Closed,
}

/// A call to be sent on a lane's connection.
#[derive(Debug)]
pub struct CallToSend<T> {
    /// The call.
    pub call: T,
    /// Which procedure it calls.
    pub procedure: ProcedureId,
    /// How often it was sent before.
    pub before: u32,
    /// What it holds of its session, if the channel has one.
    pub ticket: Option<CallTicket>,
}

/// What an answer does.
#[derive(Debug)]
pub enum AnswerEffect<T> {
    /// A call is over.
    Call(AnsweredCall<T>),
    /// The call is sent again later; its buffer is to be given back at once ([`Core::return_buffer`](super::Core::return_buffer)).
    Again,
    /// A call is over whose caller has given up.
    GivenUp(T),
    /// Nothing: there is no such call.
    Nothing,
}

/// A call that was answered.
#[derive(Debug)]
pub struct AnsweredCall<T> {
    /// The call.
    pub call: T,
    /// Which procedure it called.
    pub procedure: ProcedureId,
    /// How often it was sent.
    pub sends: u32,
    /// How long it took.
    pub took: Duration,
}

/// What a lane's thread does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneWork {
    /// It connects.
    Connect,
    /// It cleans up after its connection, which broke.
    CleanUp,
    /// It looks after its calls.
    Serve,
    /// It ends its connection: the lane is not used any more, and all its calls are answered.
    End,
    /// It waits a moment: no lane is there yet for its calls.
    Wait,
    /// It sleeps until it is woken.
    Sleep,
}

/// What is asked and under way, at a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glance {
    /// Bulk calls in flight on all lanes.
    pub in_flight: usize,
    /// Whether bulk calls wait for a place.
    pub waits: bool,
    /// Whether calls that have a place wait for a slot of the session.
    pub waits_for_slot: bool,
    /// Calls of this lane.
    pub load: usize,
    /// Whether calls of this lane wait to be sent.
    pub has_unsent: bool,
    /// What bulk calls came to.
    pub moved: MovedBulk,
}

/// A lane as it is, for a report.
#[derive(Debug, Clone, Copy)]
pub struct LaneSketch {
    /// What it delivers.
    pub meter: LaneMeter,
    /// Calls that it carries.
    pub load: usize,
    /// Bytes received over all its connections.
    pub received: u64,
    /// How often it was connected.
    pub connections: u64,
    /// Whether it is connected and delivers what it is given.
    pub delivers: bool,
}
