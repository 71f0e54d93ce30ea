//! A session as its channel and its owner have it.

use std::time::Duration;

use howdah_rpc::client::envelope::{AfterCall, CallEnd, CallSends, CallSession, CallTicket, TicketNeed};
use howdah_wire::nfs4::{SessionId, Status, sequence};

use crate::lease::Lease;
use crate::outcome::SequenceWord;
use crate::recovery::{Recovery, UpkeepAction, UpkeepFailure};
use crate::slots::{SlotTable, SlotTrouble};

/// So many slots may be lost before another session takes the place of this one.
const SPOILT_MAX: u32 = 2;

/// A client that has fewer slots than this, and uses all of them, asks for a further session,
const SLOTS_ENOUGH: u32 = 512;
/// up to so many.
const FURTHER_MAX: usize = 15;
/// A server that refuses a further session, or takes slots back, is asked again after this time.
const FURTHER_AGAIN: Duration = Duration::from_secs(30);

/// If the server leaves a flag set, what it asks for is done again at once, then after this time, then after twice as long each time,
const FLAG_WAIT_FIRST: Duration = Duration::from_secs(1);
/// up to this.
const FLAG_WAIT_LONGEST: Duration = Duration::from_secs(60);

/// Flags that say that states were revoked.
const REVOKED: u32 = sequence::ALL_STATE_EXPIRED
    | sequence::SOME_STATE_EXPIRED
    | sequence::ADMIN_STATE_REVOKED
    | sequence::RECALLABLE_STATE_REVOKED;
/// Flags that say that callbacks do not arrive.
const CALLBACKS: u32 = sequence::CALLBACK_PATH_DOWN | OF_BACK_CHANNEL;
/// Those of them that are about the session's own back channel. Further sessions have none.
const OF_BACK_CHANNEL: u32 = sequence::SESSION_CALLBACK_PATH_DOWN | sequence::BACK_CHANNEL_FAULT;

/// What an owner learned by EXCHANGE_ID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangedId {
    /// The client.
    pub client: u64,
    /// `eir_sequenceid`.
    pub sequence: u32,
    /// `EXCHGID4_FLAG_CONFIRMED_R`
    pub is_confirmed: bool,
}

/// How a session is, for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionStanding {
    /// All calls go out.
    Ready,
    /// It is made, or recovered after so many troubles of late. From the third on there is a pause before each attempt.
    Recovering {
        /// Troubles of late.
        troubles: u32,
    },
}

/// The session of a channel with all that belongs to it: client, lease, slots. Times are those of the channel.
#[derive(Debug, Default)]
pub struct ClientSession {
    slots: Option<SlotTable>,
    /// Those of further sessions of the same client, for a server that grants few in each. Upkeep has no use for them.
    further: Vec<SlotTable>,
    /// The server is not asked for more of these before.
    further_from: Duration,
    lease: Lease,
    recovery: Recovery,
    /// When the action was given out that is under way.
    acted: Duration,
    /// The flags that the server set, and when the call was sent with whose answer it did.
    flags: u32,
    flags_of: Duration,
    checks: FlagPatience,
    reclaims: FlagPatience,
    /// Calls whose slot the server did not take.
    bad_slots: u32,
    uses_callbacks: bool,
    has_one_lane: bool,
    wants_owner: bool,
}

impl ClientSession {
    /// The next thing to do for the owner. It does one thing at a time, and reports each before it asks for the next.
    pub fn poll(&mut self, now: Duration) -> Option<UpkeepAction> {
        self.give_up_useless(now);
        if self.wants_further(now) {
            self.recovery.want_further();
        }
        let mut action = self.recovery.poll(self.session(), now);
        if action.is_none() && self.recovery.is_idle() && now >= self.lease.due() {
            let has_slot = self.slots.as_ref().is_some_and(|slots| slots.free().is_some());
            if has_slot {
                action = self.recovery.renew();
            } else {
                // The calls that hold all slots renew the lease.
                self.lease.on_asked(now);
            }
        }
        if action.is_some() {
            self.acted = now;
        }
        action
    }

    /// When to ask [`Self::poll`] again, if the session does not want its owner before.
    pub fn wake_at(&self) -> Option<Duration> {
        let lease = self.recovery.is_idle().then(|| self.lease.due());
        self.recovery.wake_at(self.session()).or(lease)
    }

    /// EXCHANGE_ID ended. Gives whether this is another client than before: the server has none of its states.
    pub fn on_exchanged(&mut self, result: Result<ExchangedId, UpkeepFailure>, now: Duration) -> bool {
        match result {
            Ok(ExchangedId { client, sequence, is_confirmed }) => {
                let is_new = self.recovery.on_exchanged((client, sequence, is_confirmed));
                if is_new {
                    self.further.clear();
                    self.lease.begin(self.acted);
                    (self.flags, self.flags_of) = (0, now);
                    (self.checks, self.reclaims) = Default::default();
                }
                is_new
            }
            Err(failure) => {
                self.recovery.on_failed(failure, now);
                false
            }
        }
    }

    /// CREATE_SESSION ended: the session, and how many slots the server grants.
    pub fn on_created(&mut self, result: Result<(SessionId, u32), UpkeepFailure>, now: Duration) {
        match result {
            Ok((SessionId(session), slots)) => {
                self.recovery.on_created();
                self.give_up_further();
                self.further_from = now;
                self.slots = Some(SlotTable::new(session, slots));
                self.bad_slots = 0;
                self.lease.on_renewed(self.acted);
            }
            Err(failure) => self.recovery.on_failed(failure, now),
        }
    }

    /// CREATE_SESSION of a further session ended.
    pub fn on_added(&mut self, result: Result<(SessionId, u32), UpkeepFailure>, now: Duration) {
        match result {
            Ok((SessionId(session), slots)) => {
                self.recovery.on_added();
                self.further.push(SlotTable::new(session, slots));
                self.lease.on_renewed(self.acted);
            }
            Err(failure) => {
                if !matches!(failure, UpkeepFailure::NoAnswer | UpkeepFailure::Refused(Status::DELAY)) {
                    self.further_from = now + FURTHER_AGAIN;
                }
                self.recovery.on_failed(failure, now);
            }
        }
    }

    /// Another action ended.
    pub fn on_done(&mut self, result: Result<(), UpkeepFailure>, now: Duration) {
        let destroyed = match self.recovery.under_way() {
            Some(UpkeepAction::DestroySession(session)) => Some(session),
            _ => None,
        };
        match self.recovery.under_way() {
            Some(UpkeepAction::CheckStates) if result.is_ok() => self.checks.on_done(now),
            Some(UpkeepAction::ReclaimComplete) => self.reclaims.on_done(now),
            _ => {}
        }
        match result {
            Ok(()) => self.recovery.on_done(),
            Err(failure) => self.recovery.on_failed(failure, now),
        }
        if destroyed.is_some() && destroyed == self.session() && self.recovery.is_ending() {
            self.slots = None;
        }
    }

    /// How long the server's lease is (`lease_time`).
    pub fn set_lease(&mut self, period: Duration) {
        self.lease.set_period(period);
    }

    /// Whether there are opens or locks.
    pub fn set_holds_states(&mut self, holds: bool) {
        self.recovery.set_holds_states(holds);
    }

    /// Whether the client wants callbacks.
    pub fn set_uses_callbacks(&mut self, uses: bool) {
        self.uses_callbacks = uses;
    }

    /// The connection that carried callbacks is gone: another one is to carry them ([`UpkeepAction::RepairCallbacks`]).
    pub fn on_callbacks_cut(&mut self) {
        if self.uses_callbacks && self.slots.is_some() {
            self.recovery.add(false, false, true);
            self.wants_owner = true;
        }
    }

    /// A call was refused for its stateid: all are to be tested ([`UpkeepAction::CheckStates`]).
    pub fn check_states(&mut self) {
        self.recovery.add(false, true, false);
        self.wants_owner = true;
    }

    /// A call that changes states got no answer. It must not run any more when they are set right: another session takes the place of
    /// this one. Then all states are to be tested.
    pub fn give_up_calls(&mut self, now: Duration) {
        self.give_up(now);
        self.check_states();
    }

    /// The server takes slots back: CB_RECALL_SLOT (RFC 8881 20.8).
    pub fn on_slots_recalled(&mut self, target_highest: u32, now: Duration) {
        if let Some(slots) = &mut self.slots {
            slots.on_recall(target_highest);
        }
        (self.further_from, self.wants_owner) = (now + FURTHER_AGAIN, true);
    }

    /// The server takes the session over the first connection only.
    pub fn keep_to_one_lane(&mut self) {
        self.has_one_lane = true;
    }

    /// The client leaves: no call goes out any more but what [`Self::poll`] asks for, until that asks for nothing.
    pub fn end(&mut self) {
        self.give_up_further();
        self.recovery.end();
        self.wants_owner = true;
    }

    /// The session, if there is one.
    pub fn session(&self) -> Option<SessionId> {
        self.slots.as_ref().map(|slots| SessionId(slots.session()))
    }

    /// Its slots, and then those of further sessions.
    pub fn slots(&self) -> impl Iterator<Item = &SlotTable> {
        self.slots.iter().chain(&self.further)
    }

    /// How it is.
    pub fn standing(&self) -> SessionStanding {
        match self.recovery.is_ready() {
            true => SessionStanding::Ready,
            false => SessionStanding::Recovering { troubles: self.recovery.strikes() },
        }
    }

    /// Until when the server is sure to keep all states. None: it may have ended them.
    pub fn lease_until(&self, now: Duration) -> Option<Duration> {
        self.lease.until().filter(|until| now < *until)
    }

    /// Whether the server is sure to have kept all states until now.
    pub fn is_lease_certain(&self, now: Duration) -> bool {
        self.lease_until(now).is_some()
    }

    /// Whether the server says that it took states away.
    pub fn are_states_revoked(&self) -> bool {
        self.flags & REVOKED != 0
    }

    /// Whether the server says that its calls do not arrive.
    pub fn are_callbacks_down(&self) -> bool {
        self.flags & CALLBACKS != 0
    }

    /// The flags that the server set last (`SEQ4_STATUS_*`).
    pub fn flags(&self) -> u32 {
        self.flags
    }

    fn on_trouble(&mut self, trouble: SlotTrouble, now: Duration) {
        let Some(slots) = &self.slots else { return };
        match trouble {
            SlotTrouble::Gone => self.on_gone(now),
            SlotTrouble::NotBound => self.recovery.on_not_bound(now),
            SlotTrouble::Foreign => self.give_up(now),
            SlotTrouble::Misordered | SlotTrouble::BadSlot | SlotTrouble::Lost => {
                self.bad_slots += u32::from(trouble == SlotTrouble::BadSlot);
                if slots.spoilt() + self.bad_slots > SPOILT_MAX {
                    self.give_up(now);
                }
            }
        }
    }

    /// Another session takes the place of one without a slot that can be used.
    fn give_up_useless(&mut self, now: Duration) {
        if self.slots.as_ref().is_some_and(SlotTable::is_useless) {
            self.give_up(now);
        }
    }

    /// Another session takes the place of all that there are.
    fn give_up(&mut self, now: Duration) {
        if let Some(session) = self.session() {
            self.give_up_further();
            self.recovery.give_up_session(session, now);
        }
    }

    fn give_up_further(&mut self) {
        self.further.drain(..).for_each(|slots| self.recovery.doom(SessionId(slots.session())));
    }

    /// A session is gone at the server, and with it most likely all.
    fn on_gone(&mut self, now: Duration) {
        self.further.clear();
        self.recovery.on_session_gone(now);
    }

    fn on_trouble_of_further(&mut self, place: usize, trouble: SlotTrouble, now: Duration) {
        let slots = &self.further[place];
        let session = SessionId(slots.session());
        match trouble {
            SlotTrouble::Gone => return self.on_gone(now),
            SlotTrouble::Misordered | SlotTrouble::BadSlot | SlotTrouble::Lost
                if slots.spoilt() <= SPOILT_MAX && !slots.is_useless() =>
            {
                return;
            }
            _ => {}
        }
        self.recovery.doom(session);
        self.further.remove(place);
        (self.further_from, self.wants_owner) = (now + FURTHER_AGAIN, true);
    }

    /// Whether more slots are of use, and may be had.
    fn wants_further(&self, now: Duration) -> bool {
        self.recovery.is_idle()
            && now >= self.further_from
            && self.further.len() < FURTHER_MAX
            && self.slots().all(|slots| slots.free().is_none())
            && self.slots().map(SlotTable::usable).sum::<u32>() < SLOTS_ENOUGH
    }

    /// The server took a call that was sent then. What it says with the answer to an earlier call does not count any more.
    fn on_word(&mut self, word: SequenceWord, sent: Duration, now: Duration) {
        self.lease.on_renewed(sent);
        self.recovery.on_call_taken();
        if sent < self.flags_of {
            return;
        }
        let risen = word.flags & !self.flags;
        (self.flags, self.flags_of) = (word.flags, sent);
        let callbacks = risen & CALLBACKS != 0 && self.uses_callbacks;
        // While states are tested, what is revoked is still revoked. If it is afterwards, that asks for the next test.
        let is_testing = self.recovery.under_way() == Some(UpkeepAction::CheckStates);
        let revoked = self.checks.asks(word.flags & REVOKED != 0, sent, now) && !is_testing;
        // It is set until RECLAIM_COMPLETE is done.
        let is_forgotten = word.flags & sequence::RECLAIM_NEEDED != 0 && !self.recovery.is_reclaiming();
        let reclaim = self.reclaims.asks(is_forgotten, sent, now);
        self.recovery.add(reclaim, revoked, callbacks);
    }
}

/// When a flag asks for something: as long as it is set, and was so after the last time that it was done. A server that leaves it set is
/// asked seldom.
#[derive(Debug, Default)]
struct FlagPatience {
    /// What was sent before does not count.
    done: Duration,
    /// Nothing is done again before,
    again: Duration,
    /// which is so long after the last time.
    wait: Duration,
}

impl FlagPatience {
    /// It was done.
    fn on_done(&mut self, now: Duration) {
        (self.done, self.again) = (now, now + self.wait);
        self.wait = (2 * self.wait).clamp(FLAG_WAIT_FIRST, FLAG_WAIT_LONGEST);
    }

    /// Whether it is to be done, by the flag in an answer to a call that was sent then.
    fn asks(&mut self, is_set: bool, sent: Duration, now: Duration) -> bool {
        if sent < self.done {
            return false;
        }
        if !is_set {
            self.wait = Duration::ZERO;
        }
        is_set && now >= self.again
    }
}

impl CallSession for ClientSession {
    fn has_ticket(&self, need: TicketNeed) -> bool {
        let is_free = |slots: &SlotTable| slots.free().is_some();
        match need {
            TicketNeed::Upkeep => self.slots.as_ref().is_some_and(is_free),
            _ => self.recovery.is_ready() && self.slots().any(is_free),
        }
    }

    fn take(&mut self, need: TicketNeed, now: Duration) -> CallTicket {
        self.lease.on_asked(now);
        let slots = self.slots.iter_mut().chain(&mut self.further).find(|slots| slots.free().is_some());
        let ticket = slots.expect("a slot is free").take(need == TicketNeed::Upkeep);
        self.wants_owner |= self.wants_further(now);
        ticket
    }

    fn release(
        &mut self,
        ticket: &CallTicket,
        end: CallEnd<'_>,
        sends: CallSends,
        now: Duration,
    ) -> AfterCall {
        let Some(slots) = &mut self.slots else { return AfterCall::Over };
        let place = self.further.iter().position(|slots| slots.session() == ticket.session);
        let slots = place.map_or(slots, |place| &mut self.further[place]);
        let released = slots.release(ticket, end, sends);
        let had_work = self.recovery.has_work();
        if let Some(mut word) = released.word {
            if place.is_some() {
                word.flags = word.flags & !OF_BACK_CHANNEL | self.flags & OF_BACK_CHANNEL;
            }
            self.on_word(word, sends.last, now);
        }
        match (place, released.trouble) {
            (_, None) => {}
            (None, Some(trouble)) => self.on_trouble(trouble, now),
            (Some(place), Some(trouble)) => self.on_trouble_of_further(place, trouble, now),
        }
        self.give_up_useless(now);
        self.wants_owner |= !had_work && self.recovery.has_work();
        released.release
    }

    fn has_one_lane(&self) -> bool {
        self.has_one_lane
    }

    fn wants_owner(&mut self) -> bool {
        std::mem::take(&mut self.wants_owner)
    }
}
