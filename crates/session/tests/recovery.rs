//! What a session asks of its owner, in which order, and how often.

use std::time::Duration;

use howdah_rpc::client::envelope::{AfterCall, CallEnd, CallSends, CallSession, CallTicket, TicketNeed};
use howdah_session::{ClientSession, ExchangedId, SessionStanding, UpkeepAction, UpkeepFailure};
use howdah_wire::nfs4::compound::{ReplyPlace, ResultHead};
use howdah_wire::nfs4::{SessionId, Status, sequence};
use howdah_wire::xdr::{Encode, Encoder};

const SECOND: Duration = Duration::from_secs(1);
/// After this time a server is asked again for a further session.
const FURTHER_AGAIN: Duration = Duration::from_secs(30);

/// A session and its owner. The test chooses the answers of the server.
struct Owner {
    session: ClientSession,
    now: Duration,
    next: u8,
}

impl Owner {
    fn new() -> Self {
        Self { session: ClientSession::default(), now: SECOND, next: 0 }
    }

    /// With a session of a client.
    fn ready() -> Self {
        let mut owner = Self::new();
        owner.expect(UpkeepAction::ExchangeId { incarnation: 0 });
        assert!(owner.exchanged(1, false));
        owner.expect(UpkeepAction::CreateSession { client: 1, sequence: 7 });
        owner.created();
        owner.expect(UpkeepAction::ReclaimComplete);
        owner.session.on_done(Ok(()), owner.now);
        assert_eq!(owner.session.standing(), SessionStanding::Ready);
        owner
    }

    fn poll(&mut self) -> Option<UpkeepAction> {
        self.session.poll(self.now)
    }

    #[track_caller]
    fn expect(&mut self, action: UpkeepAction) {
        assert_eq!(self.poll(), Some(action));
        assert_eq!(self.poll(), None, "one at a time");
        let may_go = self.session.has_ticket(TicketNeed::Usual);
        let is_beside = matches!(
            action,
            UpkeepAction::Renew | UpkeepAction::CheckStates | UpkeepAction::DestroySession(_)
        );
        assert!(!may_go || is_beside);
    }

    fn exchanged(&mut self, client: u64, is_confirmed: bool) -> bool {
        self.session.on_exchanged(Ok(ExchangedId { client, sequence: 7, is_confirmed }), self.now)
    }

    fn created(&mut self) {
        self.next += 1;
        self.session.on_created(Ok((SessionId([self.next; 16]), 4)), self.now);
    }

    fn refused(&mut self, status: Status) {
        let failure = Err(UpkeepFailure::Refused(status));
        self.session.on_created(failure, self.now);
    }

    fn call(&mut self) -> CallTicket {
        assert!(self.session.has_ticket(TicketNeed::Usual));
        self.session.take(TicketNeed::Usual, self.now)
    }

    fn answer(&mut self, ticket: &CallTicket, status: Status, flags: u32) -> AfterCall {
        self.answer_to((ticket, self.now), status, flags)
    }

    /// The answer to a call that was sent then.
    fn answer_to(
        &mut self,
        (ticket, sent): (&CallTicket, Duration),
        status: Status,
        flags: u32,
    ) -> AfterCall {
        let mut results = Vec::new();
        let mut encoder = Encoder::new(&mut results);
        let place = ReplyPlace::begin(&mut encoder, b"");
        ResultHead { operation: sequence::OPERATION, status }.encode(&mut encoder);
        if status == Status::OK {
            let (session, sequence, slot) = (SessionId(ticket.session), ticket.number, ticket.slot);
            sequence::Success { session, sequence, slot, highest_slot: 3, target_highest_slot: 3, flags }
                .encode(&mut encoder);
        }
        place.finish(&mut encoder, status, 1);
        let sends = CallSends { count: 1, last: sent };
        self.session.release(ticket, CallEnd::Ran(&results), sends, self.now)
    }

    /// A call of an action that is answered with flags.
    fn called_for_upkeep(&mut self, flags: u32) {
        let ticket = self.session.take(TicketNeed::Upkeep, self.now);
        self.answer(&ticket, Status::OK, flags);
    }

    /// A call that is answered so.
    fn called(&mut self, status: Status, flags: u32) {
        let ticket = self.call();
        self.answer(&ticket, status, flags);
    }
}

#[test]
fn a_session_that_is_gone_is_made_again_once_for_all_who_notice() {
    let mut owner = Owner::ready();
    let tickets = [owner.call(), owner.call(), owner.call()];
    owner.answer(&tickets[0], Status::BADSESSION, 0);
    assert!(owner.session.wants_owner() && !owner.session.wants_owner());
    owner.expect(UpkeepAction::CreateSession { client: 1, sequence: 8 });
    owner.answer(&tickets[1], Status::DEADSESSION, 0);
    owner.created();
    owner.answer(&tickets[2], Status::BADSESSION, 0);
    assert_eq!((owner.poll(), owner.session.standing()), (None, SessionStanding::Ready));
    assert_eq!((owner.call().session, owner.call().slot), ([2; 16], 1));
}

#[test]
fn a_server_that_forgot_the_client_gets_its_states_again() {
    let mut owner = Owner::ready();
    owner.session.set_holds_states(true);
    owner.called(Status::BADSESSION, 0);
    owner.expect(UpkeepAction::CreateSession { client: 1, sequence: 8 });
    owner.refused(Status::STALE_CLIENTID);
    owner.expect(UpkeepAction::ExchangeId { incarnation: 0 });
    assert!(owner.exchanged(2, false));
    owner.expect(UpkeepAction::CreateSession { client: 2, sequence: 7 });
    owner.created();
    owner.expect(UpkeepAction::Reclaim);
    assert!(owner.session.has_ticket(TicketNeed::Upkeep));
    owner.session.on_done(Ok(()), owner.now);
    owner.expect(UpkeepAction::ReclaimComplete);
    owner.session.on_done(Err(UpkeepFailure::Refused(Status::COMPLETE_ALREADY)), owner.now);
    assert_eq!(owner.session.standing(), SessionStanding::Ready);
}

#[test]
fn a_server_without_reclaim_complete_is_ready_after_a_restart() {
    for status in [Status::NOTSUPP, Status::OP_ILLEGAL] {
        let mut owner = Owner::ready();
        owner.called(Status::BADSESSION, 0);
        owner.expect(UpkeepAction::CreateSession { client: 1, sequence: 8 });
        owner.refused(Status::STALE_CLIENTID);
        owner.expect(UpkeepAction::ExchangeId { incarnation: 0 });
        assert!(owner.exchanged(2, false));
        owner.expect(UpkeepAction::CreateSession { client: 2, sequence: 7 });
        owner.created();
        owner.expect(UpkeepAction::ReclaimComplete);
        owner.session.on_done(Err(UpkeepFailure::Refused(status)), owner.now);
        assert_eq!((owner.poll(), owner.session.standing()), (None, SessionStanding::Ready));
    }
}

#[test]
fn a_client_whose_sessions_end_after_some_calls_stays_the_same_client() {
    let mut owner = Owner::ready();
    for round in 0..20 {
        owner.called(Status::OK, 0);
        owner.called(Status::BADSESSION, 0);
        if round >= 2 {
            assert_eq!(owner.poll(), None, "the server gets a second");
            owner.now += SECOND;
            owner.expect(UpkeepAction::ExchangeId { incarnation: 0 });
            assert!(!owner.exchanged(1, true));
        }
        owner.expect(UpkeepAction::CreateSession { client: 1, sequence: 8 + round });
        owner.created();
        assert_eq!((owner.poll(), owner.session.standing()), (None, SessionStanding::Ready));
    }
}

#[test]
fn a_client_that_the_server_still_knows_keeps_its_states_and_numbers() {
    let mut owner = Owner::ready();
    owner.session.set_holds_states(true);
    owner.called(Status::BADSESSION, 0);
    owner.expect(UpkeepAction::CreateSession { client: 1, sequence: 8 });
    owner.refused(Status::NOSPC);
    owner.expect(UpkeepAction::ExchangeId { incarnation: 0 });
    assert!(!owner.exchanged(1, true));
    owner.expect(UpkeepAction::CreateSession { client: 1, sequence: 9 });
    owner.created();
    assert_eq!((owner.poll(), owner.session.standing()), (None, SessionStanding::Ready));
}

#[test]
fn a_number_of_create_session_that_does_not_fit_is_replaced_by_the_servers() {
    let mut owner = Owner::ready();
    owner.called(Status::BADSESSION, 0);
    owner.expect(UpkeepAction::CreateSession { client: 1, sequence: 8 });
    owner.refused(Status::SEQ_MISORDERED);
    owner.expect(UpkeepAction::ExchangeId { incarnation: 0 });
    assert!(!owner.exchanged(1, true));
    owner.expect(UpkeepAction::CreateSession { client: 1, sequence: 7 });
}

#[test]
fn a_server_that_asks_for_patience_is_asked_ever_more_rarely() {
    let mut owner = Owner::new();
    let mut asked = 0;
    while owner.now < 61 * SECOND {
        if let Some(action) = owner.poll() {
            assert_eq!(action, UpkeepAction::ExchangeId { incarnation: 0 });
            asked += 1;
            owner.session.on_exchanged(Err(UpkeepFailure::Refused(Status::DELAY)), owner.now);
        }
        owner.now = owner.session.wake_at().expect("it is to be tried again");
    }
    assert_eq!(asked, 17);
}

#[test]
fn a_session_that_fails_at_once_is_made_ever_more_rarely_and_in_the_end_as_another_client() {
    let mut owner = Owner::ready();
    let mut calls = 0;
    let end = owner.now + 600 * SECOND;
    let mut incarnations = 0;
    while owner.now < end {
        if owner.session.has_ticket(TicketNeed::Usual) {
            calls += 1;
            owner.called(Status::BADSESSION, 0);
        }
        match owner.poll() {
            Some(UpkeepAction::ExchangeId { incarnation }) => {
                calls += 1;
                let is_known = incarnation == incarnations;
                incarnations = incarnation;
                owner.exchanged(u64::from(incarnation) + 1, is_known);
            }
            Some(UpkeepAction::CreateSession { .. }) => {
                calls += 1;
                owner.created();
            }
            Some(UpkeepAction::ReclaimComplete) => {
                calls += 1;
                owner.session.on_done(Ok(()), owner.now);
            }
            Some(other) => panic!("{other:?}"),
            None => owner.now = owner.session.wake_at().expect("it is tried again").max(owner.now),
        }
    }
    assert!((80..130).contains(&calls), "{calls}");
    assert!(incarnations > 10);
    let SessionStanding::Recovering { troubles } = owner.session.standing() else { panic!("it recovers") };
    assert!(troubles > 10);
}

#[test]
fn the_server_hears_of_an_idle_client_three_times_in_a_lease() {
    let mut owner = Owner::ready();
    owner.session.set_lease(90 * SECOND);
    owner.called(Status::OK, 0);
    let mut renewed = Vec::new();
    while owner.now < 100 * SECOND {
        owner.now = owner.session.wake_at().expect("the lease is to be renewed");
        owner.expect(UpkeepAction::Renew);
        renewed.push(owner.now.as_secs());
        let ticket = owner.session.take(TicketNeed::Upkeep, owner.now);
        owner.answer(&ticket, Status::OK, 0);
        owner.session.on_done(Ok(()), owner.now);
        assert!(owner.session.is_lease_certain(owner.now + 89 * SECOND));
    }
    assert_eq!(renewed, [31, 61, 91, 121]);
    // Calls renew it, too.
    owner.now += 20 * SECOND;
    owner.called(Status::OK, 0);
    owner.now += 20 * SECOND;
    assert_eq!(owner.poll(), None);
}

#[test]
fn a_flag_is_acted_upon_again_if_it_is_set_after_that() {
    let mut owner = Owner::ready();
    owner.session.set_holds_states(true);
    let flag = sequence::ADMIN_STATE_REVOKED;
    owner.called(Status::OK, flag);
    assert!(owner.session.wants_owner());
    owner.expect(UpkeepAction::CheckStates);
    // Something else is revoked while states are tested. What was sent before the end says nothing of what is set then.
    let (ticket, sent) = (owner.call(), owner.now);
    owner.now += SECOND;
    owner.session.on_done(Ok(()), owner.now);
    owner.answer_to((&ticket, sent), Status::OK, flag);
    assert_eq!((owner.session.wants_owner(), owner.poll()), (false, None));
    owner.now += SECOND;
    owner.called(Status::OK, flag);
    assert!(owner.session.wants_owner());
    owner.expect(UpkeepAction::CheckStates);
    owner.session.on_done(Ok(()), owner.now);
    owner.now += SECOND;
    owner.called(Status::OK, 0);
    assert_eq!(owner.poll(), None);
    owner.called(Status::OK, flag);
    owner.expect(UpkeepAction::CheckStates);
    owner.session.on_done(Ok(()), owner.now);
    owner.called(Status::OK, 0);
    owner.now += SECOND;
    owner.called(Status::OK, sequence::RECLAIM_NEEDED);
    owner.expect(UpkeepAction::Reclaim);
    owner.called_for_upkeep(sequence::RECLAIM_NEEDED);
    owner.session.on_done(Ok(()), owner.now);
    owner.expect(UpkeepAction::ReclaimComplete);
    owner.called_for_upkeep(sequence::RECLAIM_NEEDED);
    owner.session.on_done(Ok(()), owner.now);
    assert_eq!(owner.poll(), None);
    // The server restarted once more.
    owner.now += SECOND;
    owner.called(Status::OK, sequence::RECLAIM_NEEDED);
    owner.expect(UpkeepAction::Reclaim);
}

/// Such as a call without an answer while states are tested: its file may have been looked at already.
#[test]
fn a_check_that_is_asked_for_during_a_check_is_made_after_it() {
    let mut owner = Owner::ready();
    owner.session.set_holds_states(true);
    owner.session.check_states();
    owner.expect(UpkeepAction::CheckStates);
    owner.session.check_states();
    // The flag says nothing that this check does not find out.
    owner.called_for_upkeep(sequence::ADMIN_STATE_REVOKED);
    owner.session.on_done(Ok(()), owner.now);
    owner.expect(UpkeepAction::CheckStates);
    owner.called_for_upkeep(sequence::ADMIN_STATE_REVOKED);
    owner.session.on_done(Ok(()), owner.now);
    assert_eq!(owner.poll(), None);
    // One that failed is made again.
    owner.session.check_states();
    owner.expect(UpkeepAction::CheckStates);
    owner.session.on_done(Err(UpkeepFailure::NoAnswer), owner.now);
    owner.now += SECOND;
    owner.expect(UpkeepAction::CheckStates);
}

#[test]
fn a_flag_that_stays_set_is_acted_upon_ever_more_rarely() {
    let mut owner = Owner::ready();
    owner.session.set_holds_states(true);
    let mut checks = 0;
    for _ in 0..600 {
        owner.now += SECOND;
        owner.called(Status::OK, sequence::ADMIN_STATE_REVOKED);
        if owner.poll() == Some(UpkeepAction::CheckStates) {
            checks += 1;
            owner.session.on_done(Ok(()), owner.now);
        }
    }
    assert!((12..=20).contains(&checks), "{checks}");
}

#[test]
fn connections_are_bound_again_and_slots_in_doubt_end_a_session() {
    let mut owner = Owner::ready();
    let ticket = owner.call();
    let again = owner.answer(&ticket, Status::CONN_NOT_BOUND_TO_SESSION, 0);
    assert_eq!(again, AfterCall::SendAgain(SECOND / 10));
    owner.expect(UpkeepAction::Bind(SessionId([1; 16])));
    owner.session.on_done(Ok(()), owner.now);
    assert_eq!(owner.answer(&ticket, Status::OK, 0), AfterCall::Over);
    // Also in the middle of a recovery.
    owner.called(Status::OK, sequence::RECLAIM_NEEDED);
    owner.expect(UpkeepAction::ReclaimComplete);
    let ticket = owner.session.take(TicketNeed::Upkeep, owner.now);
    assert_eq!(owner.answer(&ticket, Status::CONN_NOT_BOUND_TO_SESSION, 0), AfterCall::Over);
    owner.session.on_done(Err(UpkeepFailure::Refused(Status::CONN_NOT_BOUND_TO_SESSION)), owner.now);
    owner.expect(UpkeepAction::Bind(SessionId([1; 16])));
    owner.session.on_done(Ok(()), owner.now);
    owner.expect(UpkeepAction::ReclaimComplete);
    owner.session.on_done(Ok(()), owner.now);
    owner.now += 100 * SECOND;
    for _ in 0..2 {
        owner.called(Status::SEQ_MISORDERED, 0);
        assert_eq!(owner.poll(), None);
    }
    owner.called(Status::SEQ_MISORDERED, 0);
    owner.expect(UpkeepAction::DestroySession(SessionId([1; 16])));
    owner.session.on_done(Err(UpkeepFailure::Refused(Status::BADSESSION)), owner.now);
    owner.expect(UpkeepAction::CreateSession { client: 1, sequence: 8 });
    owner.created();
    assert!(owner.session.slots().all(|slots| slots.spoilt() == 0));
}

/// All slots are in use, and the server grants another session.
fn with_further() -> (Owner, Vec<CallTicket>) {
    let mut owner = Owner::ready();
    let tickets = (0..4).map(|_| owner.call()).collect();
    assert!(owner.session.wants_owner());
    owner.expect(UpkeepAction::AddSession { client: 1, sequence: 8 });
    owner.next += 1;
    owner.session.on_added(Ok((SessionId([owner.next; 16]), 4)), owner.now);
    (owner, tickets)
}

#[test]
fn a_client_that_uses_all_slots_has_further_sessions() {
    let (mut owner, tickets) = with_further();
    let further = owner.call();
    assert_eq!((further.session, further.slot), ([2; 16], 0));
    assert_eq!(owner.poll(), None, "there are free slots");
    // The first one is used where it has a slot, and upkeep has no other.
    owner.answer(&tickets[2], Status::OK, 0);
    assert!(owner.session.has_ticket(TicketNeed::Upkeep));
    assert_eq!((owner.call().session, owner.call().session), ([1; 16], [2; 16]));
    assert!(!owner.session.has_ticket(TicketNeed::Upkeep) && owner.session.has_ticket(TicketNeed::Usual));
    // A further session has no back channel, and none is missed.
    owner.session.set_uses_callbacks(true);
    owner.answer(&further, Status::OK, sequence::SESSION_CALLBACK_PATH_DOWN);
    assert_eq!(owner.poll(), None);
    owner.session.end();
    for session in [1, 2] {
        owner.expect(UpkeepAction::DestroySession(SessionId([session; 16])));
        owner.session.on_done(Ok(()), owner.now);
    }
    owner.expect(UpkeepAction::DestroyClient(1));
}

#[test]
fn a_server_that_refuses_a_further_session_is_asked_again_after_a_while() {
    let mut owner = Owner::ready();
    let tickets: Vec<_> = (0..4).map(|_| owner.call()).collect();
    owner.expect(UpkeepAction::AddSession { client: 1, sequence: 8 });
    // It was busy, and is asked again later.
    owner.session.on_added(Err(UpkeepFailure::Refused(Status::DELAY)), owner.now);
    owner.now += SECOND;
    owner.answer(&tickets[0], Status::OK, 0);
    owner.call();
    owner.expect(UpkeepAction::AddSession { client: 1, sequence: 8 });
    owner.session.on_added(Err(UpkeepFailure::Refused(Status::NOSPC)), owner.now);
    for ticket in &tickets[1..] {
        owner.answer(ticket, Status::OK, 0);
        owner.call();
        assert_eq!(owner.poll(), None);
    }
    assert_eq!(owner.session.standing(), SessionStanding::Ready);
    owner.now += FURTHER_AGAIN;
    owner.expect(UpkeepAction::AddSession { client: 1, sequence: 9 });
}

/// All slots were taken meanwhile, and no call ends that would show it.
#[test]
fn a_further_session_is_wanted_after_what_was_in_its_way() {
    let mut owner = Owner::ready();
    owner.session.set_holds_states(true);
    owner.session.check_states();
    owner.expect(UpkeepAction::CheckStates);
    (0..4).for_each(|_| _ = owner.call());
    owner.session.on_done(Ok(()), owner.now);
    owner.expect(UpkeepAction::AddSession { client: 1, sequence: 8 });
    owner.session.on_added(Err(UpkeepFailure::NoAnswer), owner.now);
    assert_eq!(owner.poll(), None);
    assert_eq!(owner.session.wake_at(), Some(owner.now + SECOND / 10));
    owner.now += SECOND / 10;
    owner.expect(UpkeepAction::AddSession { client: 1, sequence: 8 });
}

#[test]
fn slots_that_a_server_takes_back_and_a_single_lane_forbid_no_further_session_for_good() {
    let mut owner = Owner::ready();
    owner.session.keep_to_one_lane();
    owner.session.on_slots_recalled(1, owner.now);
    let tickets = [owner.call(), owner.call()];
    assert_eq!((owner.session.has_ticket(TicketNeed::Usual), owner.poll()), (false, None));
    owner.now += FURTHER_AGAIN;
    owner.answer(&tickets[0], Status::OK, 0);
    (0..3).for_each(|_| _ = owner.call());
    owner.expect(UpkeepAction::AddSession { client: 1, sequence: 8 });
}

#[test]
fn a_further_session_that_is_gone_says_that_all_are() {
    let (mut owner, tickets) = with_further();
    let further = [owner.call(), owner.call()];
    owner.answer(&further[0], Status::BADSESSION, 0);
    owner.expect(UpkeepAction::CreateSession { client: 1, sequence: 9 });
    owner.answer(&further[1], Status::BADSESSION, 0);
    owner.answer(&tickets[0], Status::BADSESSION, 0);
    owner.created();
    assert_eq!((owner.poll(), owner.call().session), (None, [3; 16]));
}

#[test]
fn a_further_session_that_takes_no_connection_is_given_up_alone() {
    let (mut owner, _tickets) = with_further();
    let further = owner.call();
    owner.answer(&further, Status::CONN_NOT_BOUND_TO_SESSION, 0);
    owner.expect(UpkeepAction::DestroySession(SessionId([2; 16])));
    owner.session.on_done(Ok(()), owner.now);
    assert_eq!((owner.poll(), owner.session.standing()), (None, SessionStanding::Ready));
    owner.now += FURTHER_AGAIN;
    owner.expect(UpkeepAction::AddSession { client: 1, sequence: 9 });
}

#[test]
fn calls_that_must_not_run_any_more_are_ended_with_all_sessions() {
    let (mut owner, _tickets) = with_further();
    owner.call();
    owner.session.give_up_calls(owner.now);
    for session in [1, 2] {
        owner.expect(UpkeepAction::DestroySession(SessionId([session; 16])));
        owner.session.on_done(Ok(()), owner.now);
    }
    owner.expect(UpkeepAction::CreateSession { client: 1, sequence: 9 });
}

#[test]
fn a_client_that_leaves_destroys_its_session_and_its_id() {
    let mut owner = Owner::ready();
    owner.session.end();
    owner.expect(UpkeepAction::DestroySession(SessionId([1; 16])));
    owner.session.on_done(Ok(()), owner.now);
    owner.expect(UpkeepAction::DestroyClient(1));
    owner.session.on_done(Err(UpkeepFailure::Refused(Status::CLIENTID_BUSY)), owner.now);
    assert_eq!((owner.poll(), owner.session.wake_at()), (None, None));
    assert!(!owner.session.has_ticket(TicketNeed::Usual));
}

#[test]
fn a_back_channel_that_is_cut_is_made_again_while_calls_go_out() {
    let mut owner = Owner::ready();
    owner.session.on_callbacks_cut();
    assert_eq!(owner.poll(), None, "the server does not call");
    owner.session.set_uses_callbacks(true);
    owner.session.on_callbacks_cut();
    assert!(owner.session.wants_owner());
    assert_eq!(owner.poll(), Some(UpkeepAction::RepairCallbacks));
    assert!(owner.session.has_ticket(TicketNeed::Usual));
    // Without an answer it is tried again, after a while.
    owner.session.on_done(Err(UpkeepFailure::NoAnswer), owner.now);
    assert_eq!(owner.poll(), None);
    owner.now += SECOND;
    assert_eq!(owner.poll(), Some(UpkeepAction::RepairCallbacks));
    owner.session.on_done(Ok(()), owner.now);
    assert_eq!(owner.poll(), None);
    // A server that takes no connection for it is left alone.
    owner.session.on_callbacks_cut();
    assert_eq!(owner.poll(), Some(UpkeepAction::RepairCallbacks));
    owner.session.on_done(Err(UpkeepFailure::Refused(Status::NOTSUPP)), owner.now);
    assert_eq!(owner.poll(), None);
}

#[test]
fn a_lease_is_certain_from_when_a_call_was_sent_that_the_server_took() {
    let mut owner = Owner::ready();
    owner.session.set_lease(90 * SECOND);
    let ticket = owner.call();
    owner.answer(&ticket, Status::OK, sequence::CALLBACK_PATH_DOWN);
    assert!(owner.session.are_callbacks_down() && !owner.session.are_states_revoked());
    let until = owner.session.lease_until(owner.now).expect("certain");
    assert_eq!(until, owner.now + 90 * SECOND);
    assert_eq!(owner.session.lease_until(until), None);
    let ticket = owner.call();
    owner.answer(&ticket, Status::OK, sequence::RECALLABLE_STATE_REVOKED);
    assert!(!owner.session.are_callbacks_down() && owner.session.are_states_revoked());
}
