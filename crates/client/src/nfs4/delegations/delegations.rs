//! What is held, what is to be given back, and who is to hear of it first.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use howdah_session::{GrantedDelegation, HeldDelegations};
use howdah_vfs::{DelegationLoss, DelegationLost, Handle};
use howdah_wire::nfs4::{FileHandle, StateId};
use parking_lot::{Condvar, Mutex};

use crate::nfs4::handles::{Handles, WireHandle};

/// The most delegations of a client. Each costs its server memory, and its return a call.
const HELD_MAX: usize = 8192;
/// So many stay when there are as many: the others make room.
const KEPT_WHEN_FULL: usize = HELD_MAX / 4 * 3;
/// So many may wait to be given back. The server is asked to call again for more.
const RETURNS_MAX: usize = 2 * HELD_MAX;

/// One to be given back.
pub(super) struct ToReturn {
    pub(super) directory: WireHandle,
    pub(super) state: StateId,
}

/// What the thread that gives them back does next.
pub(super) struct ReturnWork {
    /// What is believed no more. This comes first.
    pub(super) losses: Vec<DelegationLoss>,
    pub(super) returns: Vec<ToReturn>,
}

/// The delegations of a client.
pub(in crate::nfs4) struct ClientDelegations {
    handles: Arc<Handles>,
    table: Mutex<Table>,
    changed: Condvar,
    lost: OnceLock<DelegationLost>,
    /// Others who hear of losses.
    more: Mutex<Vec<DelegationLost>>,
    /// The server does not know the operation.
    is_unsupported: AtomicBool,
}

struct Table {
    held: HeldDelegations<Handle>,
    losses: Vec<DelegationLoss>,
    returns: VecDeque<ToReturn>,
    /// The thread is giving some back.
    is_returning: bool,
    is_over: bool,
}

impl ClientDelegations {
    /// None yet.
    pub(in crate::nfs4) fn new(handles: Arc<Handles>) -> Self {
        let table = Table {
            held: HeldDelegations::new(HELD_MAX),
            losses: Vec::new(),
            returns: VecDeque::new(),
            is_returning: false,
            is_over: false,
        };
        Self {
            handles,
            table: Mutex::new(table),
            changed: Condvar::new(),
            lost: OnceLock::new(),
            more: Mutex::default(),
            is_unsupported: AtomicBool::new(false),
        }
    }

    /// Who hears of losses. Gives whether it is the first one.
    pub(super) fn set_watcher(&self, lost: DelegationLost) -> bool {
        self.lost.set(lost).is_ok()
    }

    /// Who else hears of losses.
    pub(super) fn also_tell(&self, lost: DelegationLost) {
        self.more.lock().push(lost);
    }

    /// The server does not know the operation: it is not asked any more.
    pub(super) fn on_unsupported(&self) {
        self.is_unsupported.store(true, Ordering::Relaxed);
    }

    /// Whether a delegation of a directory is to be asked for. Then [`Self::on_answer`] follows.
    pub(super) fn ask(&self, directory: &Handle) -> bool {
        if self.lost.get().is_none() || self.is_unsupported.load(Ordering::Relaxed) {
            return false;
        }
        if self.table.lock().held.is_full() {
            // Some are of directories that are there no more.
            self.give_up(KEPT_WHEN_FULL);
        }
        self.table.lock().held.ask(directory)
    }

    /// The server answered, or did not.
    pub(super) fn on_answer(&self, directory: &Handle, granted: Option<GrantedDelegation>) {
        let mut table = self.table.lock();
        if let Some(state) = table.held.on_answer(directory, granted)
            && let Ok(directory) = self.handles.to_wire(directory)
        {
            table.returns.push_back(ToReturn { directory, state });
            self.changed.notify_all();
        }
    }

    /// Whether one of a directory is held.
    pub(super) fn holds(&self, directory: &Handle) -> bool {
        self.table.lock().held.holds(directory)
    }

    /// Whether one of a directory is held that covers attributes of the files in it.
    pub(super) fn covers_children(&self, directory: &Handle) -> bool {
        self.table.lock().held.covers_children(directory)
    }

    /// How many are held.
    pub(super) fn count(&self) -> usize {
        self.table.lock().held.count()
    }

    /// The server wants one back. It is given back even if nothing is known of it: the answer that gave it may be on its way. `false`:
    /// too many are.
    pub(in crate::nfs4) fn on_recall(&self, node: FileHandle<'_>, state: StateId) -> bool {
        let mut table = self.table.lock();
        if table.returns.len() >= RETURNS_MAX {
            return false;
        }
        if let Some(directory) = self.handles.find(node) {
            table.held.on_recall(&directory);
            table.losses.push(DelegationLoss::Of(directory));
        }
        table.returns.push_back(ToReturn { directory: WireHandle::of(node.0), state });
        self.changed.notify_all();
        true
    }

    /// Gives back all but so many.
    pub(in crate::nfs4) fn give_up(&self, keep: usize) {
        let mut table = self.table.lock();
        let given_up = table.held.give_up(keep);
        if keep == 0 {
            table.losses = vec![DelegationLoss::All];
        }
        for (directory, state) in given_up {
            if keep > 0 {
                table.losses.push(DelegationLoss::Of(directory));
            }
            if let Ok(directory) = self.handles.to_wire(&directory) {
                table.returns.push_back(ToReturn { directory, state });
            }
        }
        self.changed.notify_all();
    }

    /// The server has forgotten all.
    pub(in crate::nfs4) fn forget(&self) {
        let mut table = self.table.lock();
        table.held.forget();
        table.returns.clear();
        table.losses = vec![DelegationLoss::All];
        self.changed.notify_all();
    }

    /// The client leaves: gives all back, and waits no longer than so.
    pub(in crate::nfs4) fn end(&self, patience: Duration) {
        self.give_up(0);
        let mut table = self.table.lock();
        table.is_over = true;
        if self.lost.get().is_some() {
            let is_busy = |table: &mut Table| table.is_returning || !table.returns.is_empty();
            self.changed.wait_while_for(&mut table, is_busy, patience);
        }
    }

    /// Tells the watcher of losses, and then all others.
    pub(super) fn tell(&self, losses: &[DelegationLoss]) {
        let more = self.more.lock().clone();
        for lost in self.lost.get().into_iter().chain(&more) {
            losses.iter().for_each(|loss| lost(*loss));
        }
    }

    /// Waits for work, and takes at most so many returns of it. `None`: the client has ended, and all delegations are given back.
    pub(super) fn wait_for_work(&self, most: usize) -> Option<ReturnWork> {
        let mut table = self.table.lock();
        table.is_returning = false;
        self.changed.notify_all();
        while table.losses.is_empty() && table.returns.is_empty() {
            if table.is_over {
                return None;
            }
            self.changed.wait(&mut table);
        }
        table.is_returning = true;
        let losses = std::mem::take(&mut table.losses);
        let count = table.returns.len().min(most);
        Some(ReturnWork { losses, returns: table.returns.drain(..count).collect() })
    }

    /// The thread that gives them back is no more.
    pub(super) fn on_no_thread(&self) {
        self.on_unsupported();
        let mut table = self.table.lock();
        table.is_returning = false;
        table.returns.clear();
        self.changed.notify_all();
    }
}
