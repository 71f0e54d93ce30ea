//! The server: the tables of `howdah_state`, and faults in front of them.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use howdah_random::Random;
use howdah_rpc::client::envelope::CallTicket;
use howdah_session::{ExchangedId, UpkeepAction};
use howdah_state::{
    ClientCaller, ClientId, ClientIdentity, LiveSession, NfsState, Principal, RecoveryRecords,
    SequenceAnswer, SequenceRequest, SessionAnswer, SlotGuard, StateBounds, StateError, StateSettings,
};
use howdah_wire::nfs4::{SessionId, Status, sequence};

use crate::message::{Answer, Body, Message, Reply, refusal, results};
use crate::rows::{Reached, Row};

pub const LEASE: Duration = Duration::from_secs(15);
const SLOTS: u32 = 8;
/// The most sessions that it grants a client.
pub const SESSIONS: usize = 2;
/// Flags that rise now and then.
pub const FLAGS: u32 = sequence::CALLBACK_PATH_DOWN
    | sequence::ALL_STATE_EXPIRED
    | sequence::SOME_STATE_EXPIRED
    | sequence::ADMIN_STATE_REVOKED
    | sequence::RECALLABLE_STATE_REVOKED
    | sequence::RECLAIM_NEEDED
    | sequence::SESSION_CALLBACK_PATH_DOWN
    | sequence::BACK_CHANNEL_FAULT;

type State = NfsState<u8, ()>;

/// A call that runs.
struct Running {
    end: Duration,
    guard: SlotGuard<()>,
    ticket: CallTicket,
    message: Message,
    connection: u64,
}

/// The server.
pub struct Server {
    state: State,
    running: Vec<Running>,
    /// The numbers of changes that ran. Each may once.
    ran: BTreeSet<u32>,
    /// Connections that are not bound to their session.
    unbound: BTreeSet<u64>,
    /// How many slots it wants to be used.
    target: u32,
    /// Whether it compares what is sent again with what was sent first.
    pub compares: bool,
    /// Which of several faults is next.
    turn: usize,
    /// One in so many calls meets a fault; none if 0.
    pub faults: u64,
    pub random: Random,
    pub reached: Reached,
    pub now: Duration,
}

fn start(records: RecoveryRecords, seed: u64) -> State {
    let epoch = records.next_epoch();
    let bounds = StateBounds { sessions_of_client: SESSIONS, ..StateBounds::default() };
    let settings = StateSettings {
        lease: LEASE,
        grace: LEASE,
        courtesy: LEASE,
        bounds,
        ..StateSettings::new(epoch, seed)
    };
    let mut state = State::new(settings, records);
    state.take_effects();
    state
}

fn address() -> IpAddr {
    [192, 0, 2, 1].into()
}

impl Server {
    pub fn new(seed: u64) -> Self {
        Self {
            state: start(RecoveryRecords::default(), seed),
            running: Vec::new(),
            ran: BTreeSet::new(),
            unbound: BTreeSet::new(),
            target: SLOTS,
            compares: true,
            turn: seed as usize,
            faults: 0,
            random: Random::new(seed ^ 0x5e55),
            reached: Reached::default(),
            now: Duration::ZERO,
        }
    }

    /// It starts again: sessions, clients and running calls are gone.
    pub fn restart(&mut self) {
        self.running.clear();
        self.unbound.clear();
        let records = self.state.records().clone();
        let seed = self.random.number();
        self.state = start(records, seed);
    }

    /// An administrator takes all from the client.
    pub fn release_clients(&mut self) {
        let clients: Vec<ClientId> = self.state.clients(self.now).map(|client| client.client).collect();
        for client in clients {
            self.state.release_client(self.now, client);
        }
        self.state.take_effects();
    }

    /// Time passes: calls that ran are answered, over their connections.
    pub fn run(&mut self, now: Duration) -> Vec<(u64, Reply)> {
        self.now = now;
        self.state.expire(now);
        self.state.take_effects();
        let mut replies = Vec::new();
        for running in self.running.extract_if(.., |running| running.end <= now) {
            let Running { guard, ticket, message, connection, .. } = running;
            let success = success(guard.session(), &ticket);
            let results = results(Ok(success), Some(Status::OK), message.body.number());
            let keeps = matches!(message.body, Body::Change { keep: true, .. } | Body::Upkeep(_));
            guard.finish(keeps.then_some(&results[..]));
            replies.push((connection, Reply { xid: message.xid, results, answer: Answer::Done }));
        }
        replies
    }

    /// A call came on a connection. The reply, if it does not run for a while.
    pub fn receive(&mut self, connection: u64, message: Message) -> Option<Reply> {
        let Message { xid, ticket, body } = message;
        let (results, answer) = match ticket {
            None => (Vec::new(), self.alone(body)),
            Some(ticket) => match self.in_session(connection, &ticket, message) {
                Ok(None) => return None,
                Ok(Some(found)) => found,
                Err(status) => {
                    self.reached.add(Row::Sequence(status.0));
                    (results(Err(status), None, 0), Answer::Refused(status))
                }
            },
        };
        Some(Reply { xid, results, answer })
    }

    fn in_session(
        &mut self,
        connection: u64,
        ticket: &CallTicket,
        message: Message,
    ) -> Result<Option<(Vec<u8>, Answer)>, Status> {
        let id = howdah_state::SessionId(ticket.session);
        let session = self.state.sessions().find(id).ok_or(Status::BADSESSION)?;
        session.slots().set_target(self.target);
        if let Some(found) = self.fault(connection, &session, ticket, message)? {
            return Ok(Some(found));
        }
        if self.unbound.contains(&connection) {
            return Err(Status::CONN_NOT_BOUND_TO_SESSION);
        }
        let digest = self.digest(&message);
        let answer = match session.sequence(self.now, request(ticket, digest)) {
            Ok(SequenceAnswer::New(guard)) => {
                let number = message.body.number();
                assert!(number == 0 || self.ran.insert(number), "{message:?} ran twice");
                return self.execute(guard, ticket, message, connection);
            }
            Ok(SequenceAnswer::Replay(reply)) => {
                self.reached.add(Row::Replayed);
                (reply.to_vec(), Answer::Done)
            }
            Ok(SequenceAnswer::Uncached) => {
                self.reached.add(Row::Uncached);
                let status = Status::RETRY_UNCACHED_REP;
                (results(Ok(success(&session, ticket)), Some(status), 0), Answer::Refused(status))
            }
            Err(error) => return Err(status_of(&error)),
        };
        Ok(Some(answer))
    }

    fn execute(
        &mut self,
        guard: SlotGuard<()>,
        ticket: &CallTicket,
        message: Message,
        connection: u64,
    ) -> Result<Option<(Vec<u8>, Answer)>, Status> {
        let takes = if self.random.one_in(40) { 3000 } else { self.random.below(100) };
        let Body::Upkeep(action) = message.body else {
            let end = self.now + Duration::from_millis(takes);
            self.running.push(Running { end, guard, ticket: *ticket, message, connection });
            return Ok(None);
        };
        let client = guard.session().client();
        let status = match action {
            UpkeepAction::ReclaimComplete => {
                guard.session().change_flags(0, sequence::RECLAIM_NEEDED);
                match self.state.reclaim_complete(self.now, client, false) {
                    Ok(()) => Status::OK,
                    Err(error) => status_of(&error),
                }
            }
            UpkeepAction::CheckStates => {
                guard.session().change_flags(0, FLAGS);
                Status::OK
            }
            _ => Status::OK,
        };
        self.state.take_effects();
        let results = results(Ok(success(guard.session(), ticket)), Some(status), 0);
        guard.finish(Some(&results));
        let answer = if status == Status::OK { Answer::Done } else { Answer::Refused(status) };
        Ok(Some((results, answer)))
    }

    /// Something that goes wrong, if it does.
    fn fault(
        &mut self,
        connection: u64,
        session: &Arc<LiveSession<()>>,
        ticket: &CallTicket,
        message: Message,
    ) -> Result<Option<(Vec<u8>, Answer)>, Status> {
        if self.faults == 0 || !self.random.one_in(self.faults) {
            return Ok(None);
        }
        let digest = self.digest(&message);
        let consume = |digest: u64| {
            if let Ok(SequenceAnswer::New(guard)) = session.sequence(self.now, request(ticket, digest)) {
                guard.finish(None);
            }
        };
        match self.random.below(18) {
            0 => {
                let _ = self.state.destroy_session(session.id());
                return Err(Status::DEADSESSION);
            }
            1 => drop(self.state.destroy_session(session.id())),
            2 => drop(self.unbound.insert(connection)),
            3 => return Err(Status::BADSLOT),
            4 => return Err(Status::BAD_HIGH_SLOT),
            5 => return Err(Status::SEQ_MISORDERED),
            6 => return Err(Status::DELAY),
            7 => {
                let statuses = [
                    Status::REQ_TOO_BIG,
                    Status::REP_TOO_BIG,
                    Status::REP_TOO_BIG_TO_CACHE,
                    Status::TOO_MANY_OPS,
                ];
                self.turn += 1;
                return Err(statuses[self.turn % 4]);
            }
            8 => return Ok(Some((refusal(Status::BADXDR), Answer::Refused(Status::BADXDR)))),
            9 => {
                self.reached.add(Row::Foreign);
                let other = CallTicket { slot: ticket.slot + 1, ..*ticket };
                return Ok(Some((results(Ok(success(session, &other)), None, 0), Answer::Done)));
            }
            // The slot was used for another call, or for this one by a server that forgot what it did.
            10 => consume(!digest),
            11 => consume(digest),
            12 | 13 => {
                let bits = [0, 3, 4, 5, 6, 8, 9, 10];
                self.turn += 1;
                let flag = 1 << bits[self.turn % 8];
                self.reached.add(Row::Flag(flag));
                session.change_flags(flag, 0);
            }
            14 => session.change_flags(0, FLAGS),
            _ => {
                let before = std::mem::replace(&mut self.target, 1 + self.random.below(SLOTS.into()) as u32);
                self.reached.add(if self.target < before { Row::FewerSlots } else { Row::MoreSlots });
            }
        }
        Ok(None)
    }

    /// What distinguishes calls. Some servers believe the slot's number alone.
    fn digest(&self, message: &Message) -> u64 {
        if self.compares { u64::from(message.xid) } else { 0 }
    }

    /// The most sessions that a client has.
    pub fn sessions(&self) -> usize {
        self.state.clients(self.now).map(|client| client.sessions).max().unwrap_or(0)
    }

    /// All slots may be used again.
    pub fn calm_down(&mut self) {
        self.faults = 0;
        let clients: Vec<_> = self.state.clients(self.now).collect();
        assert!(clients.len() <= 2, "{clients:?}");
        self.target = SLOTS;
    }

    /// A call without SEQUENCE.
    fn alone(&mut self, body: Body) -> Answer {
        let Body::Upkeep(action) = body else { panic!("a change needs a session") };
        let is_faulty = self.faults > 0 && self.random.one_in(self.faults.div_ceil(16));
        let principal = Principal(b"host".as_slice().into());
        let caller = ClientCaller { principal: &principal, network: address() };
        let answer = match action {
            UpkeepAction::ExchangeId { incarnation } => {
                if is_faulty {
                    self.reached.add(Row::Exchange(Status::DELAY.0));
                    return Answer::Refused(Status::DELAY);
                }
                let verifier = u64::from(incarnation).to_be_bytes();
                let (owner, peer, network) = (b"client".as_slice(), address(), address());
                let server = [192, 0, 2, 9].into();
                let identity =
                    ClientIdentity { owner, verifier, principal: &principal, peer, network, server };
                match self.state.exchange_id(self.now, identity, false) {
                    Ok(found) => {
                        if found.is_confirmed {
                            self.reached.add(Row::ExchangedAgain);
                        }
                        Answer::Exchanged(ExchangedId {
                            client: found.client.0,
                            sequence: found.sequence,
                            is_confirmed: found.is_confirmed,
                        })
                    }
                    Err(error) => Answer::Refused(status_of(&error)),
                }
            }
            UpkeepAction::CreateSession { client, sequence }
            | UpkeepAction::AddSession { client, sequence } => {
                let answer = self.create(client, sequence, (caller, is_faulty));
                if let Answer::Refused(status) = answer {
                    self.reached.add(Row::Create(status.0));
                }
                answer
            }
            UpkeepAction::DestroySession(SessionId(session)) => {
                self.state.destroy_session(howdah_state::SessionId(session)).into_answer()
            }
            UpkeepAction::Bind(SessionId(session)) => {
                self.unbound.clear();
                match self.state.sessions().find(howdah_state::SessionId(session)) {
                    Some(_) => Answer::Done,
                    None => Answer::Refused(Status::BADSESSION),
                }
            }
            UpkeepAction::DestroyClient(client) => {
                self.state.destroy_client_id(self.now, ClientId(client), caller).into_answer()
            }
            _ => panic!("{action:?} needs a session"),
        };
        self.state.take_effects();
        answer
    }

    fn create(
        &mut self,
        client: u64,
        sequence: u32,
        (caller, is_faulty): (ClientCaller<'_>, bool),
    ) -> Answer {
        if is_faulty && self.random.one_in(2) {
            return Answer::Refused(Status::DELAY);
        }
        let client = ClientId(client);
        if is_faulty {
            // The client cannot know whether its number was used.
            if self.random.one_in(2) {
                return Answer::Refused(Status::SERVERFAULT);
            }
            let _ = self.state.create_session(self.now, client, sequence, caller, SLOTS, ());
            return Answer::Refused(Status::SERVERFAULT);
        }
        match self.state.create_session(self.now, client, sequence, caller, SLOTS, ()) {
            Ok(SessionAnswer::Created(session)) => {
                let id = session.id().0;
                let slots = session.slots().granted();
                self.state.answer_created(client, sequence, Some(&[&id[..], &slots.to_be_bytes()].concat()));
                Answer::Created(SessionId(id), slots)
            }
            Ok(SessionAnswer::Replay(bytes)) => {
                let id: [u8; 16] = bytes[..16].try_into().expect("an id");
                let slots: [u8; 4] = bytes[16..].try_into().expect("a number");
                Answer::Created(SessionId(id), u32::from_be_bytes(slots))
            }
            Err(error) => Answer::Refused(status_of(&error)),
        }
    }
}

trait IntoAnswer {
    fn into_answer(self) -> Answer;
}

impl IntoAnswer for Result<(), StateError> {
    fn into_answer(self) -> Answer {
        self.map_or_else(|error| Answer::Refused(status_of(&error)), |()| Answer::Done)
    }
}

fn request(ticket: &CallTicket, digest: u64) -> SequenceRequest {
    let CallTicket { slot, number, highest_slot, .. } = *ticket;
    SequenceRequest { sequence: number, slot, highest_slot, digest }
}

fn success(session: &LiveSession<()>, ticket: &CallTicket) -> sequence::Success {
    sequence::Success {
        session: SessionId(ticket.session),
        sequence: ticket.number,
        slot: ticket.slot,
        highest_slot: session.slots().granted() - 1,
        target_highest_slot: session.slots().target() - 1,
        flags: session.flags(),
    }
}

fn status_of(error: &StateError) -> Status {
    match error {
        StateError::BadSession => Status::BADSESSION,
        StateError::BadSlot => Status::BADSLOT,
        StateError::BadHighSlot => Status::BAD_HIGH_SLOT,
        StateError::SequenceMisordered => Status::SEQ_MISORDERED,
        StateError::SequenceFalseRetry => Status::SEQ_FALSE_RETRY,
        StateError::StaleClientId => Status::STALE_CLIENTID,
        StateError::ClientIdBusy => Status::CLIENTID_BUSY,
        StateError::Delay => Status::DELAY,
        StateError::NoSpace => Status::NOSPC,
        StateError::Grace => Status::GRACE,
        StateError::CompleteAlready => Status::COMPLETE_ALREADY,
        StateError::Expired => Status::EXPIRED,
        other => panic!("{other:?}"),
    }
}
