//! Locks that the server keeps: requests for them, and those that wait.

use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use fuser::{INodeNo, Notifier, ReplyEmpty};
use howdah_vfs::FileLock;
use parking_lot::{Condvar, Mutex};

use crate::flight::RequestInProgress;
use crate::lock_order::{LockOrder, OwnerOfNode};
use crate::opens::KernelFile;

/// A request that waits for a lock asks again after this time, then after an eighth of the time that it has waited,
const AGAIN_FIRST: Duration = Duration::from_millis(100);
/// and after this at most.
const AGAIN_LONGEST: Duration = Duration::from_secs(5);
/// How soon the server learns that a program gave up: it lets nobody else have the lock before.
const GIVEN_UP: Duration = Duration::from_millis(200);
/// Calls for locks at the same time. They have threads of their own, since they wait until the kernel has dropped pages, for which it may
/// wait for reads.
const AT_ONCE: usize = 32;

/// A lock that a program asks for.
#[derive(Debug, Clone, Copy)]
pub struct ProgramLock {
    /// The open file.
    pub open: u64,
    /// The number of the lock owner, as the kernel has it.
    pub owner: u64,
    /// The lock.
    pub lock: FileLock,
}

/// The request of a program that waits for its answer.
pub type PendingLockReply = RequestInProgress<ReplyEmpty>;

/// A request that waits for a lock.
struct WaitingLock {
    wish: ProgramLock,
    /// The open file. A program that is killed closes it.
    file: Arc<KernelFile>,
    request: PendingLockReply,
    since: Instant,
    due: Instant,
}

/// The locks of a mount.
pub struct KernelLocks {
    /// Whether the kernel hands locks to this process.
    pub are_shared: bool,
    order: Arc<LockOrder>,
    /// In the order in which they began to wait.
    waiting: Mutex<LockQueue>,
    changed: Condvar,
    notifier: OnceLock<Notifier>,
}

#[derive(Default)]
struct LockQueue {
    requests: Vec<WaitingLock>,
    is_over: bool,
}

impl KernelLocks {
    /// At the beginning of a mount.
    pub fn new(are_shared: bool) -> Self {
        Self {
            are_shared,
            order: LockOrder::new(AT_ONCE),
            waiting: Mutex::default(),
            changed: Condvar::new(),
            notifier: OnceLock::new(),
        }
    }

    /// By which the kernel learns that it must drop pages.
    pub fn set_notifier(&self, notifier: Notifier) {
        let _ = self.notifier.set(notifier);
    }

    /// The kernel drops the pages of a node: they may be older than a lock. Blocks while these pages are read.
    pub fn drop_pages(&self, node: u64) {
        let Some(notifier) = self.notifier.get() else { return };
        if let Err(error) = notifier.inval_inode(INodeNo(node), 0, 0) {
            tracing::debug!(%error, "the kernel did not drop the pages of a file");
        }
    }

    /// Makes a call about locks on a thread of its own, after those that came before it from this lock owner on this node.
    pub fn run(&self, whose: OwnerOfNode, job: impl FnOnce() + Send + 'static) {
        self.order.run(whose, job);
    }

    /// Whether a call of this lock owner on this node is not over.
    pub fn is_busy(&self, whose: OwnerOfNode) -> bool {
        self.order.is_busy(whose)
    }

    /// A request waits until others have unlocked what is in its way. `since`: from when on.
    pub fn wait(&self, wish: ProgramLock, file: Arc<KernelFile>, request: PendingLockReply, since: Instant) {
        let again = (since.elapsed() / 8).clamp(AGAIN_FIRST, AGAIN_LONGEST);
        // Hosts that wait for the same lock do not ask in step for ever.
        let apart = again.mul_f64((request.number() % 16) as f64 / 64.0);
        let due = Instant::now() + again + apart;
        let mut waiting = self.waiting.lock();
        if waiting.is_over {
            return;
        }
        let place = waiting.requests.partition_point(|other| other.since <= since);
        waiting.requests.insert(place, WaitingLock { wish, file, request, since, due });
        self.changed.notify_one();
    }

    /// Something of a node was unlocked: who waited longest for it asks again at once, and those who can have it at the same time.
    pub fn unlocked(&self, node: u64, (first, last): (u64, u64)) {
        let (now, mut waiting, mut is_first) = (Instant::now(), self.waiting.lock(), true);
        let overlaps = |lock: &FileLock| lock.first <= last && lock.last >= first;
        for request in &mut waiting.requests {
            if request.file.node.number != node
                || !overlaps(&request.wish.lock)
                || request.request.is_answered()
            {
                continue;
            }
            if is_first || !request.wish.lock.exclusive {
                request.due = now;
            }
            if request.wish.lock.exclusive {
                break;
            }
            is_first = false;
        }
        self.changed.notify_one();
    }

    /// The server says that a lock may be free which this owner waits for: it asks again at once.
    pub fn freed(&self, owner: u64) {
        let (now, mut waiting) = (Instant::now(), self.waiting.lock());
        for request in waiting.requests.iter_mut().filter(|request| request.wish.owner == owner) {
            request.due = now;
        }
        self.changed.notify_one();
    }

    /// The mount ends: nobody waits any more.
    pub fn stop(&self) {
        let mut waiting = self.waiting.lock();
        waiting.is_over = true;
        waiting.requests.clear();
        self.changed.notify_one();
    }

    /// Lets requests ask again when it is time.
    fn watch<A>(&self, again: &Arc<A>)
    where
        A: Fn(ProgramLock, Arc<KernelFile>, PendingLockReply, Instant) + Send + Sync + 'static,
    {
        let mut waiting = self.waiting.lock();
        while !waiting.is_over {
            let now = Instant::now();
            let is_due = |waiting: &mut WaitingLock| waiting.due <= now || waiting.request.is_answered();
            let due: Vec<WaitingLock> = waiting.requests.extract_if(.., is_due).collect();
            if due.is_empty() {
                match waiting.requests.iter().map(|request| request.due).min() {
                    Some(due) => _ = self.changed.wait_until(&mut waiting, due.min(now + GIVEN_UP)),
                    None => self.changed.wait(&mut waiting),
                }
                continue;
            }
            drop(waiting);
            for WaitingLock { wish, file, request, since, .. } in due {
                let again = Arc::clone(again);
                self.run((file.node.number, wish.owner), move || again(wish, file, request, since));
            }
            waiting = self.waiting.lock();
        }
    }
}

/// Starts the thread by which requests ask again: by `again`, with when they began to wait.
pub fn start_waits<A>(locks: &Arc<KernelLocks>, again: A)
where
    A: Fn(ProgramLock, Arc<KernelFile>, PendingLockReply, Instant) + Send + Sync + 'static,
{
    let (locks, again) = (Arc::clone(locks), Arc::new(again));
    let started = thread::Builder::new().name("mount-locks".into()).spawn(move || locks.watch(&again));
    if let Err(error) = started {
        tracing::warn!(%error, "programs that wait for a lock do not get it");
    }
}
