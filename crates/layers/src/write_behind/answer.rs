//! When a write whose data was taken is answered, and with what: at once while a client has little to commit, and as durable beyond that.

use std::ops::Range;
use std::time::Instant;

use howdah_vfs::{Handle, Stability};

use super::shared::Shared;
use super::state::State;

/// Bytes of a file that a client may have to commit before answers wait.
const UNCOMMITTED: usize = 32 << 20;
/// While answers wait, COMMITs are made for parts of what is on its way,
const PARTS: usize = 4;
/// but for no less than this: each makes the server's disk flush.
const PART_MIN: usize = 4 << 20;

/// Data of a write that was taken.
pub struct Taken<'a> {
    pub node: &'a Handle,
    pub range: Range<u64>,
    /// The verifier that its client gets, from before it was taken.
    pub verifier: [u8; 8],
    /// What verifiers of its file began as.
    pub first_verifier: [u8; 8],
}

impl Shared {
    /// How durable data is that was taken, as the client is to hear it. A Linux client with all the dirty pages that it may
    /// have sends nothing more until a COMMIT is answered, and asks for that only when no write is under way: the path would be
    /// empty for two round trips each time. What is answered as durable needs no COMMIT. So answers wait for that, but only
    /// while enough is on its way to fill the path.
    pub fn durability(&self, taken: &Taken<'_>) -> Stability {
        let mut state = self.state.lock();
        if state.may_wait(taken) {
            state.waiting_answers += 1;
            let began = Instant::now();
            let is_durable = loop {
                if state.gave_up(taken) || state.runs_dry() || !state.is_under_way() {
                    break false;
                }
                if state.is_durable(taken) {
                    break true;
                }
                if self.wait_over(&mut state, began).is_err() {
                    break false;
                }
            };
            state.waiting_answers -= 1;
            if is_durable {
                return Stability::FileSync;
            }
            state.let_go += 1;
        }
        state.file(taken.node).to_commit += length(&taken.range);
        state.forget(taken.node);
        Stability::Unstable
    }
}

impl State {
    /// Bytes that are worth a COMMIT while answers wait for it.
    pub fn waited_part(&self) -> Option<usize> {
        let choice = self.flight.explain();
        let part = choice.target.saturating_mul(choice.bytes) / PARTS;
        (self.waiting_answers > 0).then_some(part.max(PART_MIN))
    }

    fn may_wait(&self, taken: &Taken<'_>) -> bool {
        let to_commit = self.files.get(taken.node).map_or(0, |file| file.to_commit);
        self.waiting_answers < self.waiting_answers_max()
            && to_commit + length(&taken.range) > UNCOMMITTED
            && !self.runs_dry()
            && !self.is_silent()
    }

    /// Whether the path is about to be empty: twice what it holds is to be in flight. A client that has got an answer since
    /// then sends more.
    fn runs_dry(&self) -> bool {
        self.flight.in_flight() + self.let_go < self.flight.in_flight_target() / 2
    }

    /// Whether it may be lost: the next COMMIT shows it, by another verifier or an error.
    fn gave_up(&mut self, taken: &Taken<'_>) -> bool {
        self.verifier(taken.node, taken.first_verifier) != taken.verifier
    }

    fn is_durable(&self, taken: &Taken<'_>) -> bool {
        let has_failed = self.files.get(taken.node).is_some_and(|file| file.failed.is_some());
        !has_failed && !self.holds_any(taken.node, &taken.range)
    }
}

fn length(range: &Range<u64>) -> usize {
    usize::try_from(range.end - range.start).unwrap_or(usize::MAX)
}
