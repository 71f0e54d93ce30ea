//! Calls that run on a thread of their own. Waiting threads are woken when a call ends, and also when it is dropped.

use std::sync::Arc;
use std::time::Instant;

use howdah_tune::flight::Started;
use howdah_vfs::{Caller, Change, CommitFile, FsError, Handle, Result, Stability};
use parking_lot::MutexGuard;

use super::file::{Answered, DirtyPiece};
use super::pools::Pools;
use super::shared::Shared;
use super::state::{CommitAhead, State, Teller};
use super::with_data::WholeWrite;

/// A piece to be written.
struct WriteJob {
    shared: Arc<Shared>,
    pools: Arc<Pools>,
    node: Handle,
    piece: DirtyPiece,
    /// It is all that is held of the file, and is to be durable.
    whole: Option<Arc<WholeWrite>>,
    /// Until it is made.
    started: Option<Started>,
    outcome: Result<Vec<Answered>>,
}

impl WriteJob {
    fn run(mut self) {
        let how = if self.whole.is_some() { Stability::FileSync } else { Stability::Unstable };
        let (mut change, began) = (Change::default(), Instant::now());
        self.outcome = self.shared.write(&self.node, &self.piece, how, &mut change);
        if let (Some(whole), Ok([_])) = (&self.whole, self.outcome.as_deref()) {
            whole.answered(&change, began.elapsed());
        }
        if let Some(started) = self.started.take() {
            self.shared.finished(started, self.piece.bytes.len());
        }
    }
}

impl Drop for WriteJob {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        if self.started.is_some() {
            state.flight.on_give_up();
        }
        state.on_answer(&self.outcome);
        let (range, size) = (self.piece.range(), self.piece.bytes.len());
        let mut is_given_up = false;
        if let Some(file) = state.files.get_mut(&self.node) {
            is_given_up = file.is_given_up;
            file.arrived(&range);
            if self.whole.is_some() {
                file.whole_write = None;
                file.wrote_whole = self.outcome.is_ok();
            }
        }
        state.held -= size;
        match std::mem::replace(&mut self.outcome, Ok(Vec::new())) {
            // It is not to be written again, and its writer gets an error in any case.
            _ if is_given_up => {}
            Ok(answers) => state.wrote(&self.node, answers),
            Err(error) => {
                tracing::warn!(%error, "buffered data could not be written: the next write or commit of the file fails");
                match error {
                    FsError::Stale => state.drop_uncommitted(&self.node, Some(error)),
                    _ => state.lost(&self.node, error),
                }
            }
        }
        let ahead = state.commit_ahead(&self.node, false);
        let writer = state.files.get(&self.node).and_then(|file| file.writer.clone());
        drop(state);
        if let Some(ahead) = ahead {
            self.shared.start_commit(&self.pools, self.node, writer, ahead);
        }
        self.shared.over.notify_all();
    }
}

/// A COMMIT that nobody asked for, counted in `commits_ahead` already.
struct CommitJob {
    shared: Arc<Shared>,
    pools: Arc<Pools>,
    node: Handle,
    caller: Caller,
    ahead: CommitAhead,
}

impl CommitJob {
    fn run(self) {
        let committed =
            self.shared.inner.commit(&self.caller, CommitFile::new(&self.node, 0, 0), &mut Change::default());
        self.shared.state.lock().on_answer(&committed);
        let committed = match committed {
            Ok(committed) => committed,
            // It is tried again.
            Err(FsError::Delay) => return,
            Err(error) => {
                tracing::warn!(%error, "a COMMIT failed: the next commit of the file reports it");
                self.shared.state.lock().commit_failed(&self.node, error);
                return;
            }
        };
        let lost = self.shared.state.lock().committed(&self.node, self.ahead.moment, committed.verifier);
        if !lost.is_empty() {
            tracing::info!(pieces = lost.len(), "the server restarted: writing again what it lost");
            let change = &mut Change::default();
            let again = self.shared.commit(&self.pools, &self.node, &self.caller, Teller::Nobody, change);
            if let Err(error) = again
                && error != FsError::Delay
            {
                self.shared.state.lock().commit_failed(&self.node, error);
            }
        }
    }
}

impl Drop for CommitJob {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        if let Some(file) = state.files.get_mut(&self.node) {
            file.commits_ahead.retain(|number| *number != self.ahead.number);
            if file.commits_ahead.is_empty() {
                // What failed may be tried again.
                file.committing_until = 0;
            }
        }
        state.forget(&self.node);
        drop(state);
        self.shared.over.notify_all();
    }
}

impl Shared {
    /// Starts the call for what is said to be on its way already, when there is room for one.
    pub fn launch(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, State>,
        pools: &Arc<Pools>,
        node: &Handle,
        piece: DirtyPiece,
        whole: Option<Arc<WholeWrite>>,
    ) {
        let began = Instant::now();
        while state.flight.in_flight() >= state.flight.in_flight_target() && !state.is_silent() {
            // What was taken stays taken, and waits for a thread then.
            if self.wait_over(state, began).is_err() {
                break;
            }
        }
        if state.flight.in_flight() == 0 {
            state.answered = Instant::now();
        }
        state.written += 1;
        let (now, size) = (self.start.elapsed(), piece.bytes.len());
        let started = Some(state.flight.on_start(now, size));
        let outcome = Err(FsError::ServerFault);
        let (shared, pools) = (Arc::clone(self), Arc::clone(pools));
        let job = WriteJob { shared, pools: Arc::clone(&pools), node: *node, piece, whole, started, outcome };
        // A job that is not run takes the lock when it is dropped.
        MutexGuard::unlocked(state, || pools.writes.run(move || job.run()));
    }

    /// Starts a COMMIT that nobody asked for.
    pub fn start_commit(
        self: &Arc<Self>,
        pools: &Arc<Pools>,
        node: Handle,
        writer: Option<Caller>,
        ahead: CommitAhead,
    ) {
        let (shared, its) = (Arc::clone(self), Arc::clone(pools));
        let job = CommitJob { shared, pools: its, node, caller: writer.unwrap_or(Caller::ROOT), ahead };
        pools.commits.run(move || job.run());
    }
}
