//! COMMIT: what was written to a file is made durable, and written again where the server lost it.

use std::sync::Arc;
use std::time::Instant;

use howdah_vfs::{Caller, Change, CommitFile, FsError, Handle, Result, Stability};
use parking_lot::MutexGuard;

use super::file::DirtyPiece;
use super::pools::Pools;
use super::shared::{AGAIN, Shared};
use super::state::{State, Teller};
use crate::file::Lost;

/// How often data is written again because the server lost it before COMMIT said it was safe. A server that restarts
/// more often within one COMMIT is not going to be cured by more of it.
pub const LOSSES_MAX: u32 = 16;

/// The only one who commits a file, until it is dropped.
struct Alone<'s> {
    shared: &'s Shared,
    node: Handle,
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.file(&self.node).committing = false;
        state.forget(&self.node);
        drop(state);
        self.shared.over.notify_all();
    }
}

impl Shared {
    /// Makes all data of a file durable that was written before. What the server lost meanwhile is written again. Says
    /// whether there was any.
    pub fn commit(
        self: &Arc<Self>,
        pools: &Arc<Pools>,
        node: &Handle,
        caller: &Caller,
        teller: Teller,
        change: &mut Change,
    ) -> Result<bool> {
        let started = self.state.lock().committed_ahead;
        let committed = self.commit_held(pools, node, caller, teller, change);
        match teller {
            Teller::User if committed != Err(FsError::Delay) => self.commit_error(node, started, committed),
            _ => committed,
        }
    }

    /// What the program gets that committed a file, with this outcome: a COMMIT that was started before, up to this number, may have
    /// failed where a later one succeeds.
    fn commit_error(&self, node: &Handle, started: u64, committed: Result<bool>) -> Result<bool> {
        let (mut state, began) = (self.state.lock(), Instant::now());
        let is_older = |number: &u64| *number <= started;
        while committed.is_ok()
            && state.files.get(node).is_some_and(|file| file.commits_ahead.iter().any(is_older))
        {
            self.wait_over(&mut state, began)?;
        }
        let error = state.files.get_mut(node).and_then(|file| file.commit_error.take());
        state.forget(node);
        committed.and_then(|was_any| error.map_or(Ok(was_any), Err))
    }

    /// The same, without what earlier COMMITs say.
    fn commit_held(
        self: &Arc<Self>,
        pools: &Arc<Pools>,
        node: &Handle,
        caller: &Caller,
        teller: Teller,
        change: &mut Change,
    ) -> Result<bool> {
        let Some(_alone) = self.commit_alone(node)? else { return Ok(false) };
        if teller == Teller::User {
            self.state.lock().file(node).to_commit = 0;
        }
        if self.commit_by_writing(pools, node, teller, change)? {
            return Ok(true);
        }
        for turn in 0..LOSSES_MAX {
            self.flush(pools, node)?;
            let moment = {
                let mut state = self.state.lock();
                let Some(file) = state.files.get_mut(node) else { return Ok(turn > 0) };
                if let Some(error) = file.failed {
                    if teller == Teller::User {
                        file.failed = None;
                        file.commit_failed = false;
                        state.forget(node);
                    }
                    return Err(error);
                }
                if file.uncommitted.is_empty() {
                    let is_durable = turn > 0 || file.wrote_whole;
                    state.forget(node);
                    return Ok(is_durable);
                }
                file.uncommitted.moment()
            };
            // When that fails, the data is still held: the next COMMIT tries again. Unless the file is gone.
            let since = self.state.lock().known.moment();
            let committed = self.inner.commit(caller, CommitFile::new(node, 0, 0), change);
            let mut state = self.state.lock();
            state.on_answer(&committed);
            if committed == Err(FsError::Stale) {
                state.drop_uncommitted(node, (teller == Teller::Nobody).then_some(FsError::Stale));
                state.forget(node);
            }
            let committed = committed?;
            self.learn(&mut state, node, change, since);
            Self::hide(&mut state, node, change);
            Self::overlay(&mut state, node, change);
            state.file(node).commit_failed = false;
            if state.committed(node, moment, committed.verifier).is_empty() {
                state.forget(node);
                drop(state);
                self.over.notify_all();
                return Ok(true);
            }
            let lost = self.lost(&mut state, pools, node, moment, committed.verifier)?;
            self.write_again(&mut state, pools, node, lost);
        }
        Err(FsError::Io)
    }

    /// Waits until nobody else commits a file. `None`: there is nothing to commit.
    fn commit_alone(&self, node: &Handle) -> Result<Option<Alone<'_>>> {
        let (mut state, began) = (self.state.lock(), Instant::now());
        loop {
            match state.files.get_mut(node) {
                None => return Ok(None),
                Some(file) if !file.committing => {
                    file.committing = true;
                    return Ok(Some(Alone { shared: self, node: *node }));
                }
                Some(_) => self.wait_over(&mut state, began)?,
            }
        }
    }

    /// Where all there is was gathered, one durable write does the work of a write and a COMMIT, in half the time.
    fn commit_by_writing(
        self: &Arc<Self>,
        pools: &Arc<Pools>,
        node: &Handle,
        teller: Teller,
        change: &mut Change,
    ) -> Result<bool> {
        let piece = {
            let mut state = self.state.lock();
            let Some(file) = state.files.get_mut(node).filter(|file| file.is_only_gathered()) else {
                return Ok(false);
            };
            if file.failed.is_some() {
                return Ok(false);
            }
            let Some(piece) = file.take() else { return Ok(false) };
            state.send_off(node, [piece.range()]);
            state.written += 1;
            piece
        };
        let outcome = self.write_as(node, &piece, Stability::FileSync, change);
        let mut state = self.state.lock();
        state.on_answer(&outcome);
        if let Err(FsError::Delay) = outcome {
            // It stays taken, and is on its way.
            self.launch(&mut state, pools, node, piece, None);
            return Err(FsError::Delay);
        }
        state.file(node).arrived(&piece.range());
        state.held -= piece.bytes.len();
        match &outcome {
            Ok(answers) => state.wrote(node, answers.iter().cloned()),
            Err(error) if teller == Teller::Nobody => state.lost(node, *error),
            Err(_) => state.lost_and_told(node),
        }
        Self::hide(&mut state, node, change);
        state.forget(node);
        drop(state);
        self.over.notify_all();
        outcome.map(|_| true)
    }

    /// What a COMMIT that started at `moment` found lost. What is newer is there before it is given, however much comes
    /// meanwhile: the older must not land over it.
    fn lost(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, State>,
        pools: &Arc<Pools>,
        node: &Handle,
        moment: u64,
        verifier: [u8; 8],
    ) -> Result<Vec<DirtyPiece>> {
        let piece =
            |Lost { offset, data, with }: Lost<Caller>| DirtyPiece { caller: with, offset, bytes: data };
        loop {
            let last = self.send(state, pools, node);
            self.wait_sent(state, node, last)?;
            let lost = state.committed(node, moment, verifier).into_iter().map(piece).collect::<Vec<_>>();
            // What was written over is not lost any more: every turn leaves less.
            if !lost.iter().any(|piece| state.overlaps(node, &piece.range())) {
                return Ok(lost);
            }
        }
    }

    /// Commits as who wrote the file last, who may.
    pub fn commit_as_writer(
        self: &Arc<Self>,
        pools: &Arc<Pools>,
        node: &Handle,
        teller: Teller,
    ) -> Result<()> {
        let writer = self.state.lock().files.get(node).and_then(|file| file.writer.clone());
        let caller = writer.unwrap_or(Caller::ROOT);
        self.commit(pools, node, &caller, teller, &mut Change::default()).map(|_| ())
    }

    /// Commits every file. The next write or commit of a file reports its error.
    pub fn commit_all(self: &Arc<Self>, pools: &Arc<Pools>) -> Result<()> {
        let mut outcome = Ok(());
        for node in self.nodes() {
            let committed = loop {
                match self.commit_as_writer(pools, &node, Teller::Nobody) {
                    Err(FsError::Delay) => std::thread::sleep(AGAIN),
                    committed => break committed,
                }
            };
            let untold = self.state.lock().files.get(&node).and_then(|file| file.commit_error);
            outcome = outcome.and(committed).and(untold.map_or(Ok(()), Err));
        }
        outcome
    }
}
