//! What a client's id and its session need, in which order, one at a time (RFC 8881 8.4).

use std::time::Duration;

use howdah_wire::nfs4::{SessionId, Status};

use crate::strikes::Strikes;

/// The server asks for patience: the next attempt follows after this time, then after twice as long each time,
const PATIENCE_FIRST: Duration = Duration::from_millis(100);
/// up to this.
const PATIENCE_LONGEST: Duration = Duration::from_secs(5);
/// After so many troubles of late the client gives its id up.
const STRIKES_OF_CLIENT: u32 = 6;

/// Something to do for the owner of a session: a compound of its own each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpkeepAction {
    /// EXCHANGE_ID, without SEQUENCE; answered by [`ClientSession::on_exchanged`](crate::ClientSession::on_exchanged).
    ExchangeId {
        /// The verifier is another one for each of these: the server then forgets the client before.
        incarnation: u32,
    },
    /// CREATE_SESSION, without SEQUENCE; answered by [`ClientSession::on_created`](crate::ClientSession::on_created).
    CreateSession {
        /// The client.
        client: u64,
        /// `csa_sequence`.
        sequence: u32,
    },
    /// The same for a further session of a client that uses all slots, without a back channel; answered by
    /// [`ClientSession::on_added`](crate::ClientSession::on_added).
    AddSession {
        /// The client.
        client: u64,
        /// `csa_sequence`.
        sequence: u32,
    },
    /// DESTROY_SESSION, without SEQUENCE. How it ends does not count. This and all below are answered by
    /// [`ClientSession::on_done`](crate::ClientSession::on_done).
    DestroySession(SessionId),
    /// BIND_CONN_TO_SESSION, without SEQUENCE, on each connection.
    Bind(SessionId),
    /// All opens and locks are to be reclaimed, each with the [`UPKEEP_STAMP`](crate::UPKEEP_STAMP). What the server refuses of them is
    /// their owners' loss, and no failure.
    Reclaim,
    /// RECLAIM_COMPLETE of the whole server, with the same stamp.
    ReclaimComplete,
    /// The server revoked some states: all are to be tested (TEST_STATEID), and revoked ones freed (FREE_STATEID).
    CheckStates,
    /// Callbacks do not arrive: BIND_CONN_TO_SESSION, without SEQUENCE, for a connection that is to carry them.
    RepairCallbacks,
    /// A compound of nothing but SEQUENCE, with the same stamp.
    Renew,
    /// DESTROY_CLIENTID, without SEQUENCE. How it ends does not count.
    DestroyClient(u64),
}

/// Why an [`UpkeepAction`] did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpkeepFailure {
    /// The server refused it; of a compound, the last status.
    Refused(Status),
    /// There is no answer, or one that is not understood.
    NoAnswer,
}

/// What is needed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// A client id.
    pub client: bool,
    /// A session.
    pub session: bool,
    /// Connections that are bound to it.
    pub bind: bool,
    /// Opens and locks of the client before.
    pub reclaim: bool,
    /// RECLAIM_COMPLETE.
    pub complete: bool,
    /// To know which states are revoked.
    pub check: bool,
    /// A back channel.
    pub callbacks: bool,
    /// A further session.
    pub further: bool,
}

/// The client at the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct KnownClient {
    id: u64,
    /// Of its next CREATE_SESSION.
    sequence: u32,
    /// That number was refused.
    is_misordered: bool,
}

/// What is needed, and what is under way of it.
#[derive(Debug)]
pub struct Recovery {
    needs: Needs,
    under_way: Option<UpkeepAction>,
    client: Option<KnownClient>,
    incarnation: u32,
    /// Sessions that were given up, and are to be destroyed.
    doomed: Vec<SessionId>,
    strikes: Strikes,
    /// Nothing is done before.
    resume: Duration,
    /// How often in a row the server asked for patience.
    delays: u32,
    has_states: bool,
    is_ending: bool,
}

impl Default for Recovery {
    fn default() -> Self {
        let needs = Needs { client: true, ..Needs::default() };
        let (under_way, client, incarnation, doomed, strikes) = Default::default();
        let (resume, delays, has_states, is_ending) = Default::default();
        Self { needs, under_way, client, incarnation, doomed, strikes, resume, delays, has_states, is_ending }
    }
}

impl Recovery {
    /// Whether all calls may go out.
    pub fn is_ready(&self) -> bool {
        let Needs { client, session, bind, reclaim, complete, .. } = self.needs;
        !(client || session || bind || reclaim || complete || self.is_ending)
    }

    /// Whether the server is yet to hear that all is reclaimed.
    pub fn is_reclaiming(&self) -> bool {
        self.needs.reclaim || self.needs.complete
    }

    /// How many recoveries there were of late.
    pub fn strikes(&self) -> u32 {
        self.strikes.count()
    }

    /// Whether there are opens or locks to be reclaimed after a restart of the server.
    pub fn set_holds_states(&mut self, holds: bool) {
        self.has_states = holds;
    }

    /// When [`Self::poll`] may have something, apart from what happens meanwhile; `None`: it has nothing.
    pub fn wake_at(&self, session: Option<SessionId>) -> Option<Duration> {
        (self.under_way.is_none() && self.next(session).is_some()).then_some(self.resume)
    }

    /// The next thing to do, unless something is under way.
    pub fn poll(&mut self, session: Option<SessionId>, now: Duration) -> Option<UpkeepAction> {
        if self.under_way.is_some() || now < self.resume {
            return None;
        }
        self.under_way = self.next(session);
        // What is asked for from now on is not what this does: it is done once more.
        match self.under_way {
            Some(UpkeepAction::CheckStates) => self.needs.check = false,
            Some(UpkeepAction::RepairCallbacks) => self.needs.callbacks = false,
            Some(UpkeepAction::AddSession { .. }) => self.needs.further = false,
            _ => {}
        }
        self.under_way
    }

    /// Nothing else is to be done: the lease is renewed, unless something is under way.
    pub fn renew(&mut self) -> Option<UpkeepAction> {
        if self.under_way.is_none() {
            self.under_way = Some(UpkeepAction::Renew);
            return self.under_way;
        }
        None
    }

    /// Whether nothing is under way nor needed.
    pub fn is_idle(&self) -> bool {
        self.under_way.is_none() && !self.has_work() && self.doomed.is_empty() && !self.is_ending
    }

    /// Whether something is needed.
    pub fn has_work(&self) -> bool {
        self.needs != Needs::default()
    }

    /// What is under way.
    pub fn under_way(&self) -> Option<UpkeepAction> {
        self.under_way
    }

    /// Whether the client leaves.
    pub fn is_ending(&self) -> bool {
        self.is_ending
    }

    /// The server took a call.
    pub fn on_call_taken(&mut self) {
        if self.is_ready() {
            self.strikes.on_progress();
        }
    }

    /// The session is gone at the server.
    pub fn on_session_gone(&mut self, now: Duration) {
        if !self.needs.session && !self.needs.client {
            self.needs.session = true;
            self.strike(now);
        }
    }

    /// The session is of no use: another one takes its place.
    pub fn give_up_session(&mut self, session: SessionId, now: Duration) {
        if !self.needs.session && !self.needs.client {
            self.doom(session);
            self.on_session_gone(now);
        }
    }

    /// A session is of no use any more.
    pub fn doom(&mut self, session: SessionId) {
        self.doomed.push(session);
    }

    /// All slots are in use: a further session has more.
    pub fn want_further(&mut self) {
        self.needs.further = true;
    }

    /// A connection is not bound to the session.
    pub fn on_not_bound(&mut self, now: Duration) {
        if !self.needs.bind && !self.needs.session && !self.needs.client {
            self.needs.bind = true;
            self.strike(now);
        }
    }

    /// What the server says needs this, too.
    pub fn add(&mut self, reclaim: bool, check: bool, callbacks: bool) {
        self.needs.reclaim |= reclaim && self.has_states;
        self.needs.complete |= reclaim;
        self.needs.check |= check && self.has_states;
        self.needs.callbacks |= callbacks;
    }

    /// The client leaves: its session and its id are destroyed.
    pub fn end(&mut self) {
        self.is_ending = true;
    }

    /// EXCHANGE_ID was answered: the client's id, the number of its next CREATE_SESSION, and whether the server knew it. Gives whether
    /// it is another client than before, so that nothing of that one counts.
    pub fn on_exchanged(&mut self, (id, sequence, is_confirmed): (u64, u32, bool)) -> bool {
        self.succeed();
        let before = self.client.filter(|client| is_confirmed && client.id == id);
        // A client that is confirmed goes on with its own numbers, unless these do not fit.
        let sequence =
            before.filter(|client| !client.is_misordered).map_or(sequence, |client| client.sequence);
        self.client = Some(KnownClient { id, sequence, is_misordered: false });
        (self.needs.client, self.needs.session) = (false, true);
        if before.is_none() {
            (self.needs.reclaim, self.needs.complete) = (self.has_states, true);
            self.needs.check = false;
        }
        before.is_none()
    }

    /// CREATE_SESSION was answered: there is one.
    pub fn on_created(&mut self) {
        self.succeed();
        (self.needs.session, self.needs.callbacks) = (false, false);
        self.advance(false);
    }

    /// CREATE_SESSION of a further session was answered: there is one.
    pub fn on_added(&mut self) {
        self.succeed();
        self.advance(false);
    }

    /// What was under way is done.
    pub fn on_done(&mut self) {
        match self.under_way {
            Some(UpkeepAction::DestroySession(session)) => self.doomed.retain(|doomed| *doomed != session),
            Some(UpkeepAction::Bind(_)) => self.needs.bind = false,
            Some(UpkeepAction::Reclaim) => self.needs.reclaim = false,
            Some(UpkeepAction::ReclaimComplete) => self.needs.complete = false,
            Some(UpkeepAction::DestroyClient(_)) => self.client = None,
            Some(UpkeepAction::CheckStates | UpkeepAction::RepairCallbacks | UpkeepAction::Renew) => {}
            Some(
                UpkeepAction::ExchangeId { .. }
                | UpkeepAction::CreateSession { .. }
                | UpkeepAction::AddSession { .. },
            )
            | None => return,
        }
        self.succeed();
    }

    /// What was under way failed.
    pub fn on_failed(&mut self, failure: UpkeepFailure, now: Duration) {
        let Some(action) = self.under_way.take() else { return };
        self.needs.check |= action == UpkeepAction::CheckStates;
        self.needs.callbacks |= action == UpkeepAction::RepairCallbacks;
        match (action, failure) {
            (_, UpkeepFailure::NoAnswer | UpkeepFailure::Refused(Status::DELAY | Status::GRACE)) => {
                self.wait(now);
            }
            (UpkeepAction::ExchangeId { .. }, _) => self.strike(now),
            (UpkeepAction::CreateSession { .. }, UpkeepFailure::Refused(Status::STALE_CLIENTID)) => {
                self.needs.client = true;
            }
            (UpkeepAction::CreateSession { .. }, UpkeepFailure::Refused(status)) => {
                self.advance(status == Status::SEQ_MISORDERED);
                self.needs.client = true;
                self.strike(now);
            }
            (UpkeepAction::AddSession { .. }, UpkeepFailure::Refused(status)) => {
                self.advance(status == Status::SEQ_MISORDERED);
            }
            // There is nothing left to destroy, or nothing that can be done about it.
            (UpkeepAction::DestroySession(session), _) => self.doomed.retain(|doomed| *doomed != session),
            (UpkeepAction::DestroyClient(_), _) => self.client = None,
            (
                UpkeepAction::ReclaimComplete,
                // A server without the operation waits for nobody.
                UpkeepFailure::Refused(Status::COMPLETE_ALREADY | Status::NOTSUPP | Status::OP_ILLEGAL),
            ) => {
                self.needs.complete = false;
            }
            // It is done on the next session.
            _ if self.needs.session || self.needs.client => {}
            (UpkeepAction::Bind(_), _) => {
                self.needs.session = true;
                self.strike(now);
            }
            // It is done once connections are bound.
            _ if self.needs.bind => {}
            (UpkeepAction::RepairCallbacks, _) => self.needs.callbacks = false,
            (UpkeepAction::Renew, _) => {}
            (UpkeepAction::Reclaim | UpkeepAction::ReclaimComplete | UpkeepAction::CheckStates, _) => {
                self.strike(now);
            }
        }
    }

    fn next(&self, session: Option<SessionId>) -> Option<UpkeepAction> {
        let needs = self.needs;
        let action = match (self.client, session) {
            (client, session) if self.is_ending => {
                let destroy = session.filter(|_| !needs.session).or(self.doomed.last().copied());
                let destroy = destroy.filter(|_| !needs.client);
                let leave = client.filter(|_| !needs.client);
                return destroy
                    .map(UpkeepAction::DestroySession)
                    .or(leave.map(|client| UpkeepAction::DestroyClient(client.id)));
            }
            _ if let Some(session) = self.doomed.last() => UpkeepAction::DestroySession(*session),
            (Some(client), _) if needs.session && !needs.client => {
                UpkeepAction::CreateSession { client: client.id, sequence: client.sequence }
            }
            (None, _) => UpkeepAction::ExchangeId { incarnation: self.incarnation },
            _ if needs.client => UpkeepAction::ExchangeId { incarnation: self.incarnation },
            (_, Some(session)) if needs.bind => UpkeepAction::Bind(session),
            _ if needs.reclaim => UpkeepAction::Reclaim,
            _ if needs.complete => UpkeepAction::ReclaimComplete,
            _ if needs.check => UpkeepAction::CheckStates,
            _ if needs.callbacks => UpkeepAction::RepairCallbacks,
            (Some(client), _) if needs.further => {
                UpkeepAction::AddSession { client: client.id, sequence: client.sequence }
            }
            _ => return None,
        };
        Some(action)
    }

    /// The number of a CREATE_SESSION was used, or refused.
    fn advance(&mut self, is_misordered: bool) {
        if let Some(client) = &mut self.client {
            (client.is_misordered, client.sequence) = (is_misordered, client.sequence.wrapping_add(1));
        }
    }

    fn succeed(&mut self) {
        (self.under_way, self.delays) = (None, 0);
    }

    fn wait(&mut self, now: Duration) {
        let wait = PATIENCE_FIRST.saturating_mul(1 << self.delays.min(16)).min(PATIENCE_LONGEST);
        (self.delays, self.resume) = (self.delays + 1, now + wait);
    }

    /// Something failed. After the third time in a row it is begun from the client's id, after a while; and after the sixth as another
    /// client, which loses all states, so that nothing at the server that is wrong stays in the way.
    fn strike(&mut self, now: Duration) {
        if let Some(wait) = self.strikes.strike(now) {
            self.resume = now + wait;
            self.needs.client = true;
            self.incarnation += u32::from(self.strikes.count() >= STRIKES_OF_CLIENT);
        }
    }
}
