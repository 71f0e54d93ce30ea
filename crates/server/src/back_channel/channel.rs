//! The back channel of one session, as a pure machine: calls wait in a queue, one is under way.

use std::collections::VecDeque;
use std::time::Duration;

use howdah_net::Token;
use howdah_wire::nfs4::Status;

use super::back_call::BackCall;
use super::message::{self, BackAnswer};
use super::session::{BackCredentials, BackSession};
use crate::limits::BACK_CALLS_MAX;

/// How long a client may take to answer, before another of its connections is tried.
const PATIENCE: Duration = Duration::from_secs(10);
/// After how long a client is called again that asked for it.
const AGAIN: Duration = Duration::from_millis(500);

/// How often a client is asked for a delegation that it says it does not have: the answer that gives it may still be on its way, over
/// another connection.
const RECALLS: u32 = 5;

/// A record to be sent over a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackRecord {
    /// The connection.
    pub line: Token,
    /// The message.
    pub message: Vec<u8>,
}

#[derive(Debug)]
struct UnderWay {
    xid: u32,
    line: Token,
    sent: Duration,
}

/// A call that waits for its turn.
#[derive(Debug)]
struct Waiting {
    call: BackCall,
    /// How often it was refused.
    refused: u32,
    not_before: Duration,
}

/// The back channel of a session.
#[derive(Debug)]
pub struct BackChannel {
    session: BackSession,
    /// Connections that carry it, the one that is used first.
    lines: Vec<Token>,
    /// Whether it ever had one.
    is_wanted: bool,
    /// The first is under way, or the next.
    calls: VecDeque<Waiting>,
    under_way: Option<UnderWay>,
    not_before: Duration,
    /// Of the last call that was answered in the slot.
    sequence: u32,
}

impl BackChannel {
    /// The channel of a session, over no connection yet.
    pub fn new(session: BackSession) -> Self {
        Self {
            session,
            lines: Vec::new(),
            is_wanted: false,
            calls: VecDeque::new(),
            under_way: None,
            not_before: Duration::ZERO,
            sequence: 0,
        }
    }

    /// Its session.
    pub fn session(&self) -> &BackSession {
        &self.session
    }

    /// The client wants other credentials, or calls to another program (BACKCHANNEL_CTL).
    pub fn change(&mut self, program: u32, credentials: BackCredentials) {
        self.session.program = program;
        self.session.credentials = credentials;
    }

    /// Whether it had a connection, and has none now.
    pub fn is_down(&self) -> bool {
        self.is_wanted && self.lines.is_empty()
    }

    /// Whether it has a connection.
    pub fn is_up(&self) -> bool {
        !self.lines.is_empty()
    }

    /// Connections that carry it.
    pub fn lines(&self) -> &[Token] {
        &self.lines
    }

    /// A connection carries it from now on.
    pub fn bind(&mut self, line: Token) {
        self.is_wanted = true;
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }

    /// A connection carries it no longer. What was under way there is sent again over the next one.
    pub fn unbind(&mut self, line: Token) {
        self.lines.retain(|other| *other != line);
        self.under_way.take_if(|call| call.line == line);
    }

    /// Adds a call. If notices of too many locks wait, the oldest of those is forgotten. Delegations are never forgotten: a
    /// change waits for each, and a client has only so many.
    pub fn push(&mut self, call: BackCall) {
        if let BackCall::NotifyLock { .. } = call {
            if self.calls.iter().any(|waiting| waiting.call == call) {
                return;
            }
            if self.calls.len() >= BACK_CALLS_MAX {
                self.forget_a_lock();
            }
        }
        self.calls.push_back(Waiting { call, refused: 0, not_before: Duration::ZERO });
    }

    /// The client has no delegation of this file any more. Removes queued recalls of it, except one that was sent.
    pub fn returned(&mut self, node: &[u8]) {
        let under_way = usize::from(self.under_way.is_some());
        let is_for = |call: &BackCall| matches!(call, BackCall::Recall { node: its, .. } if **its == *node);
        let mut place = 0;
        self.calls.retain(|waiting| {
            place += 1;
            place <= under_way || !is_for(&waiting.call)
        });
    }

    fn forget_a_lock(&mut self) {
        let idle = self.calls.iter().enumerate().skip(usize::from(self.under_way.is_some()));
        let lock = idle.into_iter().find(|(_, waiting)| matches!(waiting.call, BackCall::NotifyLock { .. }));
        if let Some((place, _)) = lock {
            self.calls.remove(place);
        }
    }

    /// What is to be sent now.
    pub fn next(&mut self, now: Duration, xid: impl FnOnce() -> u32) -> Option<BackRecord> {
        if self.under_way.is_some() || now < self.not_before {
            return None;
        }
        let line = *self.lines.first()?;
        let place = self.calls.iter().position(|waiting| now >= waiting.not_before)?;
        let waiting = self.calls.remove(place)?;
        self.calls.push_front(waiting);
        let call = &self.calls.front()?.call;
        let xid = xid();
        // The same number until it is answered: to the client it is one call, over whatever connection it comes.
        let message = message::call(&self.session, xid, self.sequence.wrapping_add(1), call);
        self.under_way = Some(UnderWay { xid, line, sent: now });
        Some(BackRecord { line, message })
    }

    /// Takes an answer. The call that it ends, and how the client took it; `None` if it ends none.
    pub fn answer(
        &mut self,
        now: Duration,
        line: Token,
        answer: &[u8],
    ) -> Option<(BackCall, Option<Status>)> {
        let xid = message::xid(answer)?;
        self.under_way.take_if(|call| (call.xid, call.line) == (xid, line))?;
        match message::answer(answer) {
            BackAnswer::Done(status) => {
                self.sequence = self.sequence.wrapping_add(1);
                let mut waiting = self.calls.pop_front()?;
                let call = waiting.call.clone();
                if let (BackCall::Recall { .. }, true) =
                    (&call, status != Status::OK && waiting.refused + 1 < RECALLS)
                {
                    waiting.refused += 1;
                    waiting.not_before = now + AGAIN;
                    self.calls.push_back(waiting);
                }
                Some((call, Some(status)))
            }
            BackAnswer::Later => {
                self.not_before = now + AGAIN;
                None
            }
            BackAnswer::Refused => {
                // Its slot is in a state that nobody knows, or there is nobody who takes calls: over no connection any more.
                self.lines.clear();
                Some((self.calls.pop_front()?.call, None))
            }
        }
    }

    /// Lets time pass: a connection over which no answer comes is used no more. Whether there was one.
    pub fn expire(&mut self, now: Duration) -> bool {
        let late = self.under_way.as_ref().filter(|call| now.saturating_sub(call.sent) >= PATIENCE);
        let Some(line) = late.map(|call| call.line) else { return false };
        self.unbind(line);
        true
    }
}
