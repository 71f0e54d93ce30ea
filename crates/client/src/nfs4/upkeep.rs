//! Looks after a session on a thread of its own: makes it again when the server has lost it, and renews the lease. What is to be done,
//! and when, `howdah_session` decides.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Weak};
use std::time::Duration;

use howdah_session::{ClientSession, ExchangedId, UPKEEP_STAMP, UpkeepAction, UpkeepFailure};
use howdah_wire::nfs4::bind_conn_to_session::{self, GrantedUse, WantedUse};
use howdah_wire::nfs4::{ClientId, destroy_clientid, destroy_session, reclaim_complete};
use howdah_wire::xdr::Encode;

use super::callbacks::CallbackChannel;
use super::client_name::{ClientName, Identified, StepError};
use super::compound::{Alone, Compound, InSession};
use super::delegations::ClientDelegations;
use super::handles::Handles;
use super::open_states::OpenStates;
use super::operation::Operation;
use super::results::{ResultReader, Results, Stopped};
use crate::channel::{Answer, CallError, Channel, Class, Pending, Request};

/// The shortest sleep: a session that is due says so at once.
const SLEEP_MIN: Duration = Duration::from_millis(1);

/// What the thread is called for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UpkeepCall {
    /// To look at the session.
    Attend,
    /// To end.
    End,
}

/// What the thread needs.
pub(super) struct Upkeep {
    pub(super) name: ClientName,
    pub(super) minor_version: u32,
    pub(super) back: Arc<CallbackChannel>,
    pub(super) opens: Arc<OpenStates>,
    pub(super) delegations: Arc<ClientDelegations>,
    pub(super) handles: Arc<Handles>,
}

impl Upkeep {
    /// Looks after the session until it is called to end, or the channel is gone.
    pub(super) fn run(&self, channel: &Weak<Channel>, calls: &Receiver<UpkeepCall>) {
        while let Some(channel) = channel.upgrade() {
            self.look_at_back_channel(&channel);
            while let Some(action) = show(&channel, ClientSession::poll).flatten() {
                self.act(&channel, action);
            }
            let sleep =
                show(&channel, |session, now| session.wake_at().map(|at| at.saturating_sub(now))).flatten();
            drop(channel);
            let called = match sleep {
                Some(sleep) => calls.recv_timeout(sleep.max(SLEEP_MIN)),
                None => calls.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            if matches!(called, Ok(UpkeepCall::End) | Err(RecvTimeoutError::Disconnected)) {
                return;
            }
        }
    }

    /// Does something, and passes the outcome to the session.
    fn act(&self, channel: &Channel, action: UpkeepAction) {
        tracing::debug!(?action, "looking after the session");
        match action {
            UpkeepAction::ExchangeId { incarnation } => {
                let known = self.name.exchange_id(channel, (self.minor_version, incarnation), None);
                let known = known.map(|server| server.known.exchanged).map_err(|error| failure(&error));
                if show(channel, |session, now| session.on_exchanged(known, now)) == Some(true) {
                    self.forget_states();
                }
            }
            UpkeepAction::CreateSession { client, sequence } => {
                let known = self.identified(client, sequence);
                let made = self.name.create_session((channel, &self.back), known, None);
                if made.is_ok() {
                    tracing::info!("the server lost the session, and has another one now");
                }
                let made = made.map(|made| (made.session, made.fore.slots)).map_err(|error| failure(&error));
                show(channel, |session, now| {
                    session.set_uses_callbacks(self.back.is_up());
                    session.on_created(made, now);
                });
            }
            UpkeepAction::AddSession { client, sequence } => {
                let made = self.name.add_session((channel, 0), self.identified(client, sequence), None);
                tracing::debug!(is_made = made.is_ok(), "all slots are in use: a further session");
                let made = made.map(|made| (made.session, made.fore.slots)).map_err(|error| failure(&error));
                show(channel, |session, now| session.on_added(made, now));
            }
            action => {
                let ended = match action {
                    UpkeepAction::Reclaim => self.reclaim(channel),
                    UpkeepAction::CheckStates => {
                        if show(channel, |session, _| session.are_states_revoked()) == Some(true) {
                            self.delegations.give_up(0);
                        }
                        self.check_states(channel)
                    }
                    UpkeepAction::RepairCallbacks => self.repair_callbacks(channel),
                    action => self.start(channel, action).map_or(Ok(()), |ended| done(action, ended.wait())),
                };
                show(channel, |session, now| session.on_done(ended, now));
                if action == UpkeepAction::ReclaimComplete && self.has_more_to_do() {
                    show(channel, |session, _| session.check_states());
                }
            }
        }
    }

    /// Passes on to the session what callbacks said, and that their connection is gone.
    fn look_at_back_channel(&self, channel: &Channel) {
        let (is_cut, target) = (self.back.take_cut(), self.back.take_slot_target());
        if is_cut {
            self.delegations.give_up(0);
            show(channel, |session, _| session.on_callbacks_cut());
        }
        if let Some(target) = target {
            show(channel, |session, now| session.on_slots_recalled(target, now));
        }
    }

    /// Has a connection carry callbacks again: that of this call.
    fn repair_callbacks(&self, channel: &Channel) -> Result<(), UpkeepFailure> {
        self.back.on_down();
        // What was recalled meanwhile is not known.
        self.delegations.give_up(0);
        let Some(session) = show(channel, |session, _| session.session()).flatten() else { return Ok(()) };
        let arguments =
            bind_conn_to_session::Arguments { session, direction: WantedUse::CallsOrBoth, rdma: false };
        let (minor_version, operation) = (self.minor_version, bind_conn_to_session::OPERATION);
        let alone = Alone { minor_version, operation, arguments: &arguments };
        let request = Request { arguments: &alone, invites_calls: true, ..self.name.request() };
        let answer = channel.call(request).map_err(|_| UpkeepFailure::NoAnswer)?;
        let bound = ResultReader::begin("BIND_CONN_TO_SESSION", &answer.results)
            .and_then(|mut reader| reader.take::<bind_conn_to_session::Success>(operation));
        match bound {
            Ok(bound) if bound.direction != GrantedUse::Calls => {
                self.back.on_repaired();
                tracing::debug!("the server can call back again");
                Ok(())
            }
            bound => {
                channel.expect_no_calls();
                Ok(bound.map(drop)?)
            }
        }
    }

    fn identified(&self, client: u64, sequence: u32) -> Identified {
        let exchanged = ExchangedId { client, sequence, is_confirmed: false };
        Identified { minor_version: self.minor_version, exchanged }
    }

    /// Starts what is done by one call that returns nothing. None for what is not.
    pub(super) fn start(&self, channel: &Channel, action: UpkeepAction) -> Option<Pending> {
        match action {
            UpkeepAction::DestroySession(session) => {
                let arguments = destroy_session::Arguments { session };
                Some(self.start_alone(channel, destroy_session::OPERATION, &arguments))
            }
            UpkeepAction::DestroyClient(client) => {
                let arguments = destroy_clientid::Arguments { client: ClientId(client) };
                Some(self.start_alone(channel, destroy_clientid::OPERATION, &arguments))
            }
            UpkeepAction::Bind(session) => {
                let arguments =
                    bind_conn_to_session::Arguments { session, direction: WantedUse::Calls, rdma: false };
                Some(self.start_alone(channel, bind_conn_to_session::OPERATION, &arguments))
            }
            UpkeepAction::Renew => Some(self.start_in_session(channel, self.name.request(), &[])),
            UpkeepAction::ReclaimComplete => {
                Some(self.start_in_session(channel, self.name.request(), &[Operation::ReclaimComplete]))
            }
            UpkeepAction::Reclaim
            | UpkeepAction::CheckStates
            | UpkeepAction::RepairCallbacks
            | UpkeepAction::ExchangeId { .. }
            | UpkeepAction::CreateSession { .. }
            | UpkeepAction::AddSession { .. } => None,
        }
    }

    fn start_alone(&self, channel: &Channel, operation: u32, arguments: &impl Encode) -> Pending {
        let alone = Alone { minor_version: self.minor_version, operation, arguments };
        channel.start(Request { arguments: &alone, ..self.name.request() })
    }

    /// Starts a compound in the session, with the credentials of `request`.
    pub(super) fn start_in_session(
        &self,
        channel: &Channel,
        request: Request<'_>,
        operations: &[Operation<'_>],
    ) -> Pending {
        let compound = Compound::new("SEQUENCE", Class::Attributes, operations);
        let arguments = InSession { minor_version: self.minor_version, compound: &compound, keep: false };
        channel.start(Request { arguments: &arguments, stamp: Some(UPKEEP_STAMP), ..request })
    }
}

/// Shows the session of a channel.
pub(super) fn show<T>(channel: &Channel, look: impl FnOnce(&mut ClientSession, Duration) -> T) -> Option<T> {
    channel.with_session(look)
}

/// How what was done ended.
fn done(action: UpkeepAction, answer: Result<Answer, CallError>) -> Result<(), UpkeepFailure> {
    let answer = answer.map_err(|_| UpkeepFailure::NoAnswer)?;
    let results = Results { name: "SEQUENCE", bytes: answer.results, repeated: false };
    let ended = match action {
        UpkeepAction::DestroySession(_) => alone(&results, destroy_session::OPERATION),
        UpkeepAction::DestroyClient(_) => alone(&results, destroy_clientid::OPERATION),
        UpkeepAction::Bind(_) => alone(&results, bind_conn_to_session::OPERATION),
        UpkeepAction::ReclaimComplete => {
            results.read().and_then(|mut reader| reader.skip(reclaim_complete::OPERATION))
        }
        _ => results.read().map(drop),
    };
    ended.map_err(UpkeepFailure::from)
}

fn alone(results: &Results, operation: u32) -> Result<(), Stopped> {
    ResultReader::begin(results.name, &results.bytes)?.skip(operation)
}

fn failure(error: &StepError) -> UpkeepFailure {
    match error {
        StepError::Refused(status) => UpkeepFailure::Refused(*status),
        StepError::Call(_) | StepError::Silent(_) | StepError::Malformed => UpkeepFailure::NoAnswer,
    }
}
