//! What callbacks act on, and whether they arrive.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use howdah_session::CallbackSlots;
use howdah_vfs::LockFreed;
use howdah_wire::nfs4::callback::{recall, recall_any};
use howdah_wire::nfs4::create_session::{self, ChannelSizes};
use howdah_wire::nfs4::{Opaque, Status};
use parking_lot::Mutex;

use super::answer::{CallbackActions, answer};
use crate::nfs4::delegations::ClientDelegations;
use crate::nfs4::lock_owner::lock_owner_number;

/// The program of callbacks: any of the range for such (RFC 5531 8.4).
pub(in crate::nfs4) const CALLBACK_PROGRAM: u32 = 0x4000_0000;
/// What a session offers its server for callbacks: each is small, and few come at the same time.
pub(in crate::nfs4) const OFFERED: ChannelSizes = ChannelSizes {
    header_padding: 0,
    request: 4 << 10,
    response: 4 << 10,
    kept_response: 4 << 10,
    operations: 8,
    slots: 16,
    rdma_reads: None,
};

/// The back channel of a client.
pub(in crate::nfs4) struct CallbackChannel {
    slots: Mutex<CallbackSlots>,
    /// A connection carries it.
    is_up: AtomicBool,
    /// The connection that carried it is gone, and nobody has seen to that.
    is_cut: AtomicBool,
    /// The highest slot that the server wants to be used for calls of the client.
    slot_target: Mutex<Option<u32>>,
    lock_freed: OnceLock<LockFreed>,
    delegations: OnceLock<Arc<ClientDelegations>>,
    /// Has the owner of the session look at what is here.
    attend: Box<dyn Fn() + Send + Sync>,
}

impl CallbackChannel {
    /// One that no connection carries. `attend` is called from threads of the channel, and must not wait.
    pub(in crate::nfs4) fn new(attend: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            slots: Mutex::default(),
            is_up: AtomicBool::new(false),
            is_cut: AtomicBool::new(false),
            slot_target: Mutex::default(),
            lock_freed: OnceLock::new(),
            delegations: OnceLock::new(),
            attend: Box::new(attend),
        })
    }

    /// A call of the server came. Gives its reply.
    pub(in crate::nfs4) fn answer(&self, call: &[u8]) -> Option<Vec<u8>> {
        answer(call, (CALLBACK_PROGRAM, &OFFERED), &mut self.slots.lock(), self)
    }

    /// A session is asked for, which may be called in before the client knows of it.
    pub(in crate::nfs4) fn expect_session(&self) {
        self.slots.lock().expect_session();
    }

    /// No session was made.
    pub(in crate::nfs4) fn on_no_session(&self) {
        self.slots.lock().on_no_session();
    }

    /// There is a session. Gives whether its server calls.
    pub(in crate::nfs4) fn begin(&self, made: &create_session::Success) -> bool {
        self.slots.lock().begin(made.session, made.back.slots.min(OFFERED.slots));
        let is_granted = made.flags & create_session::BACK_CHANNEL != 0;
        self.is_up.store(is_granted, Ordering::SeqCst);
        is_granted
    }

    /// The connection that carries it is gone.
    pub(in crate::nfs4) fn on_cut(&self) {
        self.is_up.store(false, Ordering::SeqCst);
        self.is_cut.store(true, Ordering::SeqCst);
        (self.attend)();
    }

    /// Callbacks do not arrive, as the server says.
    pub(in crate::nfs4) fn on_down(&self) {
        self.is_up.store(false, Ordering::SeqCst);
    }

    /// A connection carries it again.
    pub(in crate::nfs4) fn on_repaired(&self) {
        self.is_up.store(true, Ordering::SeqCst);
    }

    /// Whether a connection carries it.
    pub(in crate::nfs4) fn is_up(&self) -> bool {
        self.is_up.load(Ordering::SeqCst)
    }

    /// Whether its connection went since this was last asked.
    pub(in crate::nfs4) fn take_cut(&self) -> bool {
        self.is_cut.swap(false, Ordering::SeqCst)
    }

    /// What CB_RECALL_SLOT asked for since this was last asked.
    pub(in crate::nfs4) fn take_slot_target(&self) -> Option<u32> {
        self.slot_target.lock().take()
    }

    /// The delegations that may be recalled.
    pub(in crate::nfs4) fn set_delegations(&self, delegations: Arc<ClientDelegations>) {
        let _ = self.delegations.set(delegations);
    }

    /// Who wants to know of locks that may be free. The first one counts.
    pub(in crate::nfs4) fn watch_locks(&self, freed: LockFreed) {
        let _ = self.lock_freed.set(freed);
    }
}

impl CallbackActions for CallbackChannel {
    fn recall(&self, recall: &recall::Arguments<'_>) -> Status {
        match self.delegations.get() {
            None => Status::BAD_STATEID,
            Some(delegations) if delegations.on_recall(recall.node, recall.state) => Status::OK,
            Some(_) => Status::DELAY,
        }
    }

    fn recall_any(&self, recall: &recall_any::Arguments) {
        if recall.kinds.contains(recall_any::DIRECTORY_DELEGATIONS)
            && let Some(delegations) = self.delegations.get()
        {
            delegations.give_up(recall.keep as usize);
        }
    }

    fn notify_lock(&self, owner: Opaque<'_>) {
        if let (Some(owner), Some(freed)) = (lock_owner_number(owner.0), self.lock_freed.get()) {
            freed(owner);
        }
    }

    fn recall_slot(&self, target_highest: u32) {
        *self.slot_target.lock() = Some(target_highest);
        (self.attend)();
    }
}
