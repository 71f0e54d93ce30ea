//! A channel over lanes: its decisions, and what is done about them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use howdah_rpc::client::core::{Core, CoreOutput};
use parking_lot::Mutex;

use super::call::Call;
use super::connecting::Connector;
use super::driver::{Driver, error_of, log};
use super::lane::Lane;
use super::link::Link;
use super::review::Review;
use super::sizes::Sizes;
use super::{AnswerCall, Request};

/// A channel over lanes.
pub(super) struct Shared {
    pub(super) driver: Driver,
    pub(super) connector: Connector,
    /// All lanes; the first ones are in use. The last one may be the lane for small calls.
    pub(super) lanes: Vec<Arc<Lane>>,
    pub(super) sizes: Sizes,
    pub(super) review: Mutex<Review>,
    /// Answers calls of the server.
    pub(super) answer_call: Option<AnswerCall>,
    /// Learns that the server cannot call any more over a connection that it was invited to.
    pub(super) on_calls_cut: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Learns that the session has something to do for its owner.
    pub(super) attend_session: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Starts the thread of a lane.
    pub(super) start_thread: fn(&Arc<Shared>, usize) -> io::Result<()>,
}

impl Shared {
    /// Decides something, and does what follows from it.
    pub(super) fn decide<R>(self: &Arc<Self>, decision: impl FnOnce(&mut Core<Arc<Call>>) -> R) -> R {
        let mut core = self.driver.core();
        let result = decision(&mut core);
        while let Some(output) = core.poll() {
            drop(core);
            self.act(output);
            core = self.driver.core();
        }
        result
    }

    /// Makes a call; gives the lane that carries it. It is to be flushed.
    pub(super) fn start(self: &Arc<Self>, request: Request<'_>, now: Instant) -> (Arc<Call>, Option<usize>) {
        let facts = self.driver.prepare(request, now);
        let call = Arc::clone(&facts.call);
        let lane = self.decide(|core| core.start(facts, self.driver.time_at(now)));
        call.made_for(lane);
        (call, lane)
    }

    /// A lane's connection is of no use any more.
    pub(super) fn break_off(&self, lane: &Lane, link: &Link) {
        self.driver.core().on_broken(lane.index, link.number);
        link.break_off();
        lane.wakeup.wake();
    }

    /// Calls that a lane carries.
    pub(super) fn load(&self, lane: &Lane) -> usize {
        self.driver.core().load(lane.index)
    }

    /// Whether something waits to be sent on a lane.
    pub(super) fn has_unsent(&self, lane: &Lane) -> bool {
        self.driver.core().has_unsent(lane.index) || !lane.replies.lock().is_empty()
    }

    /// The channel's time.
    pub(super) fn time(&self) -> Duration {
        self.driver.time()
    }

    fn act(self: &Arc<Self>, output: CoreOutput<Arc<Call>>) {
        match output {
            CoreOutput::Failed { call, why } => call.finish(Err(error_of(why))),
            CoreOutput::Admitted(_) => unreachable!("lanes carry all calls here"),
            CoreOutput::Moved(call) => call.follow(|| self.driver.core().lane_of(call.xid)),
            CoreOutput::Wake(lane) => self.wake(&self.lanes[lane]),
            CoreOutput::Receive(lane) => {
                let lane = &self.lanes[lane];
                if lane.lacks_leader() {
                    lane.hurry();
                }
            }
            CoreOutput::Ask { lane, program, version } => self.ask(lane, Request::null(program, version)),
            CoreOutput::Cut { lane, link, turn_away } => {
                let lane = &self.lanes[lane];
                if let Some(link) = lane.link().filter(|its| its.number == link) {
                    if turn_away {
                        lane.turn_away();
                    }
                    link.break_off();
                }
                lane.wakeup.wake();
            }
            CoreOutput::AttendSession => {
                if let Some(attend) = &self.attend_session {
                    attend();
                }
            }
            CoreOutput::Notice(notice) => log(notice, |lane| self.lanes[lane.unwrap_or(0)].address()),
        }
    }

    /// Sends a question. No caller waits for its answer, so the lane's thread sends and receives.
    fn ask(&self, lane: usize, question: Request<'_>) {
        let now = Instant::now();
        let facts = self.driver.prepare(question, now);
        facts.call.made_for(Some(lane));
        self.driver.core().start_question(facts, Some(lane), self.driver.time_at(now));
        self.lanes[lane].wakeup.wake();
    }

    fn wake(self: &Arc<Self>, lane: &Lane) {
        lane.wakeup.wake();
        if lane.has_thread.load(Ordering::SeqCst) || !self.driver.core().uses(lane.index) {
            return;
        }
        if !lane.has_thread.swap(true, Ordering::SeqCst)
            && let Err(error) = (self.start_thread)(self, lane.index)
        {
            tracing::warn!(%error, "starting a thread for a lane");
            lane.has_thread.store(false, Ordering::SeqCst);
            self.decide(|core| core.on_no_thread(lane.index, self.time()));
        }
    }
}
