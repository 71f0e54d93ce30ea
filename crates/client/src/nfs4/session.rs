//! The session of a client, as callers see it, and its end.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use howdah_session::{ClientSession, UpkeepAction, UpkeepFailure};
use howdah_wire::nfs4::Status;
use howdah_wire::nfs4::create_session::ChannelSizes;

use super::callbacks::CallbackChannel;
use super::lane_probe::{LaneProbe, ProbeOwner};
use super::upkeep::{Upkeep, UpkeepCall};
use crate::channel::{Channel, ChannelProtocol, Pending};
use crate::waiting::wait_at_most;

/// How long the calls that end sessions, and then that which ends the client, may take. A far server answers later: they have been sent,
/// and nobody waits.
const LINGER: Duration = Duration::from_millis(20);

/// How long the end of a session waits for delegations to be given back. Others wait for those that are not.
const RETURN_PATIENCE: Duration = Duration::from_secs(2);

/// Both ends of what calls the thread that looks after a session, and the back channel, which does so, too.
pub(crate) struct UpkeepCalls {
    sender: SyncSender<UpkeepCall>,
    receiver: Receiver<UpkeepCall>,
    pub(super) back: Arc<CallbackChannel>,
    probe: ProbeOwner,
}

/// What a channel is opened with to carry a session, and how it says that there is something to do for that.
pub(crate) fn session_protocol() -> (ChannelProtocol, UpkeepCalls) {
    let (sender, receiver) = sync_channel(1);
    let [attend, attend_back] = [sender.clone(), sender.clone()];
    let back = CallbackChannel::new(move || _ = attend_back.try_send(UpkeepCall::Attend));
    let [answering, cut] = [Arc::clone(&back), Arc::clone(&back)];
    let probe = Arc::<LaneProbe>::default();
    let protocol = ChannelProtocol {
        steps: vec![Arc::clone(&probe) as _],
        session: Some(Box::new(ClientSession::default())),
        // It may have been called already.
        attend_session: Some(Arc::new(move || {
            let _ = attend.try_send(UpkeepCall::Attend);
        })),
        answer_call: Some(Arc::new(move |call| answering.answer(call))),
        on_calls_cut: Some(Arc::new(move || cut.on_cut())),
    };
    (protocol, UpkeepCalls { sender, receiver, back, probe: ProbeOwner::new(probe) })
}

/// The session of a client.
pub(super) struct Session {
    upkeep: Arc<Upkeep>,
    channel: Arc<Channel>,
    sizes: ChannelSizes,
    sender: SyncSender<UpkeepCall>,
    _probe: ProbeOwner,
}

impl Session {
    /// One that was made, and is looked after from now on.
    pub(super) fn new(
        upkeep: Upkeep,
        channel: Arc<Channel>,
        sizes: ChannelSizes,
        calls: UpkeepCalls,
    ) -> Self {
        let (upkeep, UpkeepCalls { sender, receiver, probe, .. }) = (Arc::new(upkeep), calls);
        probe.begin(&channel, &upkeep);
        let (its, weak) = (Arc::clone(&upkeep), Arc::downgrade(&channel));
        let begun =
            thread::Builder::new().name("session".to_owned()).spawn(move || its.run(&weak, &receiver));
        if let Err(error) = begun {
            tracing::warn!(%error, "a session that the server loses is not made again");
        }
        Self { upkeep, channel, sizes, sender, _probe: probe }
    }

    /// The minor version of all compounds.
    pub(super) fn minor_version(&self) -> u32 {
        self.upkeep.minor_version
    }

    /// What the server granted.
    pub(super) fn sizes(&self) -> ChannelSizes {
        self.sizes
    }

    /// The way on which the server calls.
    pub(super) fn back(&self) -> &Arc<CallbackChannel> {
        &self.upkeep.back
    }

    /// What looks after it.
    pub(super) fn upkeep(&self) -> &Arc<Upkeep> {
        &self.upkeep
    }

    /// What the server says of the lease, which is renewed from now on.
    pub(super) fn set_lease(&self, lease: Duration) {
        self.channel.with_session(|session: &mut ClientSession, _| session.set_lease(lease));
        let _ = self.sender.try_send(UpkeepCall::Attend);
    }

    /// All stateids are to be tested.
    pub(super) fn check_states(&self) {
        self.channel.with_session(|session: &mut ClientSession, _| session.check_states());
        let _ = self.sender.try_send(UpkeepCall::Attend);
    }

    /// A call that changes opens or locks got no answer: it is not to run any more, and what the server has is to be set right.
    pub(super) fn give_up_calls(&self) {
        self.channel.with_session(ClientSession::give_up_calls);
        let _ = self.sender.try_send(UpkeepCall::Attend);
    }

    /// RECLAIM_COMPLETE was sent with other operations, and is done.
    pub(super) fn on_complete(&self) {
        self.channel.with_session(|session: &mut ClientSession, now| session.on_done(Ok(()), now));
    }

    /// The session was lost before RECLAIM_COMPLETE: all that is left to the thread.
    pub(super) fn on_lost(&self) {
        let lost = UpkeepFailure::Refused(Status::BADSESSION);
        self.channel.with_session(|session: &mut ClientSession, now| session.on_done(Err(lost), now));
        let _ = self.sender.try_send(UpkeepCall::Attend);
    }

    /// Ends the session, and the client at the server. No call goes out any more.
    pub(super) fn end(&self) {
        self.upkeep.delegations.end(RETURN_PATIENCE);
        // The thread may be busy, and looks at it then.
        let _ = self.sender.try_send(UpkeepCall::End);
        self.channel.with_session(|session: &mut ClientSession, _| session.end());
        let mut under_way = Vec::new();
        while let Some(action) = self.channel.with_session(ClientSession::poll).flatten() {
            // A client with sessions is not destroyed.
            if matches!(action, UpkeepAction::DestroyClient(_)) {
                linger(under_way.drain(..));
            }
            under_way.extend(self.upkeep.start(&self.channel, action));
            self.on_complete();
        }
        linger(under_way.drain(..));
    }
}

/// Waits for calls, together as long as for one.
fn linger(calls: impl Iterator<Item = Pending>) {
    let deadline = Instant::now() + LINGER;
    calls.for_each(|call| _ = wait_at_most(call, deadline.saturating_duration_since(Instant::now())));
}

/// The server need not wait until the lease is over.
impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}
