//! What the calls of the layer and the threads that send share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use howdah_vfs::layer::Stopwatch;
use howdah_vfs::{Attributes, Caller, Consistency, FileSystem, FsError, Handle, Node, Result};
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::change::RefusedLater;
use super::keeping::KeptChanges;
use super::log::Log;
use super::order::{ChangeNumber, NodeNumber, TouchedPlace};
use super::tree::Whereabouts;
use super::{BehindOptions, BehindReport};

/// The server counts as answering if it did so within this.
const ANSWERS: Duration = Duration::from_secs(2);
/// So much of the space is not promised to anybody: a twentieth of it, and a gibibyte at most.
const KEPT_BACK_MAX: u64 = 1 << 30;
const KEPT_BACK_PART: u64 = 20;
/// How often a caller that waits looks whether it may go on.
const LOOK: Duration = Duration::from_millis(100);

/// What is shared.
pub struct BehindShared {
    pub inner: Arc<dyn FileSystem>,
    pub consistency: Arc<dyn Consistency>,
    pub options: BehindOptions,
    stopwatch: Stopwatch,
    pub log: Mutex<Log>,
    /// Where changes are kept on this host's disk.
    pub kept: Option<KeptChanges>,
    /// A change is over.
    pub over: Condvar,
    /// There may be something to send.
    pub work: Condvar,
    /// No more is sent.
    pub ends: AtomicBool,
}

/// Where a node is to be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeSide {
    /// Here: the server does not have it, or not all of it.
    Here(NodeNumber),
    /// At the server, by this handle.
    There(Handle),
}

impl BehindShared {
    /// Nothing is pending. The key must be another one for each.
    pub fn new(
        (inner, consistency): (Arc<dyn FileSystem>, Arc<dyn Consistency>),
        options: BehindOptions,
        (mut log, kept): (Log, Option<KeptChanges>),
        stopwatch: Stopwatch,
    ) -> Self {
        if let Some(kept) = &kept {
            kept.keep(&mut log);
        }
        let (over, work, ends) = Default::default();
        let log = Mutex::new(log);
        if let Some(kept) = &kept {
            kept.put_refused(&log);
        }
        Self { inner, consistency, options, stopwatch, log, kept, over, work, ends }
    }

    /// Puts what was refused into the store of the journal.
    pub fn put_refused(&self) {
        if let Some(kept) = &self.kept {
            kept.put_refused(&self.log);
        }
    }

    /// A change was answered by the log: when this returns, a program may be answered. If the journal has no room for it, the server has it.
    pub fn keep(&self, mut log: MutexGuard<'_, Log>, number: Option<ChangeNumber>) {
        let is_kept = self.kept.as_ref().is_none_or(|kept| kept.keep(&mut log));
        if !is_kept && let Some(number) = number {
            self.wait_for(&mut log, &[number]);
        }
        drop(log);
        self.work.notify_one();
    }

    /// Hands what changed in the log to the journal.
    pub fn keep_only(&self, log: &mut Log) {
        if let Some(kept) = &self.kept {
            kept.keep(log);
        }
    }

    /// Waits until the journal's disk has all that was answered, and knows what the server has.
    pub fn sync_journal(&self) {
        if let Some(kept) = &self.kept
            && let Err(error) = kept.sync()
        {
            kept.give_up(&mut self.log.lock(), &error);
        }
    }

    /// Since the layer was made.
    pub fn now(&self) -> Duration {
        (self.stopwatch)()
    }

    /// What waits, and what became of the rest.
    pub fn report(&self) -> BehindReport {
        let (now, log) = (self.now(), self.log.lock());
        let silent = now.saturating_sub(log.last_answer());
        BehindReport {
            waiting: log.order.len() as u64,
            waiting_bytes: log.bytes() as u64,
            oldest: log.oldest().map(|at| now.saturating_sub(at)),
            joined: log.joined(),
            refused: log.refused.len() as u64,
            conflicts: log.conflicts(),
            careful: log.careful_directories() as u64,
            is_synchronous: log.is_synchronous,
            journal: self.kept.as_ref().map(|kept| kept.counts()),
            silent: (log.order.running() > 0 && silent >= ANSWERS).then_some(silent),
        }
    }

    /// What the server refused.
    pub fn refused(&self) -> Vec<RefusedLater> {
        self.log.lock().refused.clone()
    }

    /// Where a node is to be asked for.
    ///
    /// # Errors
    /// It was never made.
    pub fn side(&self, log: &Log, shown: &Handle) -> Result<NodeSide> {
        let Some(id) = log.tree.find(shown) else {
            return if log.tree.is_own(shown) { Err(FsError::Stale) } else { Ok(NodeSide::There(*shown)) };
        };
        let known = log.tree.get(id).ok_or(FsError::Stale)?;
        match known.at {
            _ if known.gone.is_some() => Err(FsError::Stale),
            _ if known.coming.is_some() => Ok(NodeSide::Here(id)),
            Whereabouts::There(real) => Ok(NodeSide::There(real)),
            Whereabouts::Nowhere(error) => Err(error),
            Whereabouts::Here => Err(FsError::Stale),
        }
    }

    /// The server's handle of a node; waits until it has one.
    ///
    /// # Errors
    /// It was refused there.
    pub fn real(&self, shown: &Handle) -> Result<Handle> {
        let mut log = self.log.lock();
        loop {
            let Some(id) = log.tree.find(shown) else {
                return if log.tree.is_own(shown) { Err(FsError::Stale) } else { Ok(*shown) };
            };
            let known = log.tree.get(id).filter(|known| known.gone.is_none()).ok_or(FsError::Stale)?;
            match known.at {
                Whereabouts::There(real) => return Ok(real),
                Whereabouts::Nowhere(error) => return Err(error),
                Whereabouts::Here => {}
            }
            let make = known.coming.as_ref().map(|coming| coming.make).ok_or(FsError::Stale)?;
            if self.has_ended() {
                return Err(FsError::Io);
            }
            log.let_go(make);
            self.work.notify_one();
            self.over.wait(&mut log);
        }
    }

    /// Whether no more is sent: nobody waits for it then.
    pub fn has_ended(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    /// No more is sent, and who waits does not any more.
    pub fn end(&self) {
        self.ends.store(true, Ordering::Relaxed);
        drop(self.log.lock());
        self.work.notify_all();
        self.over.notify_all();
    }

    /// Waits until these changes are over, and lets go what is held back of them.
    pub fn wait_for(&self, log: &mut MutexGuard<'_, Log>, changes: &[ChangeNumber]) {
        changes.iter().for_each(|number| log.let_go(*number));
        self.work.notify_one();
        while !self.has_ended() && changes.iter().any(|number| log.order.is_pending(*number)) {
            self.over.wait(log);
        }
    }

    /// Waits until nothing is pending of these places.
    pub fn settle(&self, nodes: &[&Handle], names: &[(&Handle, &[u8])]) {
        let mut log = self.log.lock();
        let mut places: Vec<TouchedPlace> =
            nodes.iter().filter_map(|node| log.tree.find(node)).map(TouchedPlace::Node).collect();
        let mut changes = Vec::new();
        for id in names.iter().filter_map(|(directory, name)| Some((log.tree.find(directory)?, name))) {
            changes.extend(log.order.last_alone(&TouchedPlace::Node(id.0)));
            places.push(TouchedPlace::Name(id.0, id.1.to_vec()));
        }
        changes.extend(places.iter().flat_map(|place| log.order.touching(place)));
        self.wait_for(&mut log, &changes);
    }

    /// Waits until all that a user made and named before is over: safe, or refused.
    pub fn settle_user(&self, user: u32) {
        let mut log = self.log.lock();
        let changes: Vec<_> = log.order.made_by(user).collect();
        self.wait_for(&mut log, &changes);
    }

    /// Whether data of a node was refused that programs were answered: it must not be given a name then.
    ///
    /// # Errors
    /// Why it was refused.
    pub fn is_whole(&self, shown: &Handle) -> Result<()> {
        let log = self.log.lock();
        let known = log.tree.find(shown).and_then(|id| log.tree.get(id));
        known.and_then(|known| known.broken).map_or(Ok(()), Err)
    }

    /// Waits until all that was changed before is over.
    pub fn settle_all(&self) {
        let mut log = self.log.lock();
        let Some(last) = log.last() else { return };
        log.let_go_all();
        self.work.notify_one();
        while !self.has_ended() && log.order.first().is_some_and(|first| first <= last) {
            self.over.wait(&mut log);
        }
    }

    /// Waits until there is room for one more change with so much data, and the oldest is not too old.
    ///
    /// # Errors
    /// No more is sent.
    pub fn admit(&self, bytes: usize) -> Result<()> {
        let mut log = self.log.lock();
        loop {
            let now = self.now();
            let answers = now.saturating_sub(log.last_answer()) < ANSWERS;
            let is_late =
                answers && log.oldest().is_some_and(|at| now.saturating_sub(at) > self.options.late);
            let is_full = log.order.len() >= self.options.changes || log.bytes() + bytes > self.options.bytes;
            if !is_late && !is_full {
                return Ok(());
            }
            if self.has_ended() {
                return Err(FsError::Io);
            }
            self.over.wait_for(&mut log, LOOK);
        }
    }

    /// Asks the server how much fits.
    pub fn ask_for_room(&self, caller: &Caller) {
        {
            let mut log = self.log.lock();
            (log.wants_space, log.space_is_asked) = (false, true);
        }
        // A server that does not say is believed to have room.
        let available = self.inner.statistics(caller, &self.inner.root()).map_or(u64::MAX, |full| {
            full.available_bytes.saturating_sub(KEPT_BACK_MAX.min(full.total_bytes / KEPT_BACK_PART))
        });
        let now = self.now();
        let mut log = self.log.lock();
        (log.space, log.space_is_asked) = (Some((now, available)), false);
    }

    /// The attributes of a node as programs see them.
    ///
    /// # Errors
    /// As those of GETATTR.
    pub fn attributes(&self, caller: &Caller, shown: &Handle) -> Result<Attributes> {
        loop {
            let (real, version) = {
                let mut log = self.log.lock();
                match self.side(&log, shown)? {
                    NodeSide::Here(id) => return Ok(here(&mut log, id)),
                    NodeSide::There(real) => {
                        let id = log.tree.find(shown);
                        (real, id.and_then(|id| log.tree.get(id)).map(|known| known.version))
                    }
                }
            };
            let attributes = self.inner.attributes(caller, &real)?;
            let log = self.log.lock();
            let id = log.tree.find(shown);
            if id.and_then(|id| log.tree.get(id)).map(|known| known.version) == version {
                return Ok(presented(&log, shown, attributes));
            }
        }
    }

    /// Before the server is asked: what programs see of its answer depends on what ends meanwhile.
    pub fn since(&self) -> u64 {
        self.log.lock().ended()
    }

    /// What programs see of a node of which the server said this. If a change of it ended since it was asked, it is asked once more.
    pub fn presented(
        &self,
        caller: &Caller,
        since: u64,
        shown: &Handle,
        attributes: Attributes,
    ) -> Attributes {
        let seen = {
            let log = self.log.lock();
            (!log.ended_since(since, shown)).then(|| presented(&log, shown, attributes))
        };
        seen.unwrap_or_else(|| self.attributes(caller, shown).unwrap_or(attributes))
    }

    /// A node that the server gave, as programs see it.
    pub fn shown(&self, caller: &Caller, since: u64, node: Node) -> Node {
        let handle = {
            let mut log = self.log.lock();
            match log.tree.find_real(&node.handle) {
                None => node.handle,
                Some(id) => match log.tree.get(id).map(|known| (known.shown, known.coming.is_some())) {
                    None => return node,
                    Some((handle, true)) => return Node { handle, attributes: here(&mut log, id) },
                    Some((handle, false)) => handle,
                },
            }
        };
        Node { handle, attributes: self.presented(caller, since, &handle, node.attributes) }
    }

    /// The same, without asking again.
    pub fn shown_as_was(&self, node: Node) -> Node {
        let log = self.log.lock();
        let known = log.tree.find_real(&node.handle).and_then(|id| log.tree.get(id));
        let handle = known.map_or(node.handle, |known| known.shown);
        Node { handle, attributes: presented(&log, &handle, node.attributes) }
    }

    /// Why an earlier change of a node was refused, once.
    pub fn take_failure(&self, shown: &Handle) -> Result<()> {
        let mut log = self.log.lock();
        let Some(id) = log.tree.find(shown) else { return Ok(()) };
        if let Some(error) = log.tree.get(id).and_then(|known| known.refused()) {
            return Err(error);
        }
        let failure = log.tree.get_mut(id).and_then(|known| known.failure.take());
        log.tree.forget(id);
        failure.map_or(Ok(()), Err)
    }
}

/// What programs see of a node that is not all there yet. They have seen its times then.
fn here(log: &mut Log, id: NodeNumber) -> Attributes {
    let known = log.tree.get_mut(id).expect("it is known");
    let coming = known.coming.as_mut().expect("it is coming");
    coming.was_seen = true;
    let attributes = coming.attributes;
    log.tree.get(id).map_or(attributes, |known| known.pending(attributes, log.tree.names(id)))
}

/// What programs see of a node of which the server says this.
fn presented(log: &Log, shown: &Handle, attributes: Attributes) -> Attributes {
    let Some(id) = log.tree.find(shown) else { return attributes };
    log.tree.get(id).map_or(attributes, |known| known.shown(attributes, log.tree.names(id)))
}
