//! Connections that moved something, for a thread that looks at them: workers list each once, and wake the thread if it sleeps.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::thread::Thread;

use crate::locks::Mutex;

use crate::connection::Connection;

/// What one thread is to look at. Connections are not held on to: one that is closed closes its socket at once.
#[derive(Default)]
pub struct Activity {
    /// None while nobody takes them.
    list: Mutex<Option<Vec<Weak<Connection>>>>,
    thread: OnceLock<Thread>,
    sleeps: AtomicBool,
    /// Who else waits until something happens is to be called.
    is_awaited: AtomicBool,
    /// Calls it.
    on_wake: OnceLock<OnWake>,
}

/// Wakes somebody.
pub type OnWake = Box<dyn Fn() + Send + Sync>;

impl Activity {
    /// From now on somebody takes what is listed.
    pub fn open(&self) {
        self.list.lock().get_or_insert_default();
    }

    /// This thread does, and is woken for it.
    pub fn attend(&self) {
        let _ = self.thread.set(std::thread::current());
    }

    /// This is called when something happens, once after each [`Self::waits_too`].
    pub fn on_wake(&self, wake: OnWake) {
        let _ = self.on_wake.set(wake);
    }

    /// A connection moved something that was not listed.
    pub fn add(&self, connection: &Arc<Connection>) {
        if let Some(list) = self.list.lock().as_mut() {
            list.push(Arc::downgrade(connection));
        }
        self.wake();
    }

    /// What was listed since the last time.
    pub fn take(&self) -> Vec<Weak<Connection>> {
        let list = self.list.lock().as_mut().map(std::mem::take).unwrap_or_default();
        if !list.is_empty() {
            self.call();
        }
        list
    }

    /// From now on what happens wakes the thread; false if something is listed already.
    pub fn lie_down(&self) -> bool {
        self.sleeps.store(true, Ordering::SeqCst);
        self.list.lock().as_ref().is_none_or(Vec::is_empty)
    }

    /// The thread is awake and need not be woken; says whether it is so by itself.
    pub fn rise(&self) -> bool {
        self.sleeps.swap(false, Ordering::SeqCst)
    }

    /// Wakes the thread if it sleeps, and who else waits.
    pub fn wake(&self) {
        if self.sleeps.load(Ordering::Relaxed) && self.sleeps.swap(false, Ordering::SeqCst) {
            self.thread.get().inspect(|thread| thread.unpark());
        }
        self.call();
    }

    fn call(&self) {
        if self.is_awaited.load(Ordering::SeqCst) && self.is_awaited.swap(false, Ordering::SeqCst) {
            self.on_wake.get().inspect(|wake| wake());
        }
    }

    /// Whether the thread sleeps until something happens: then another may wait, too, for the call of [`Self::on_wake`]. The thread
    /// may wake by itself meanwhile.
    pub fn waits_too(&self) -> bool {
        self.is_awaited.store(true, Ordering::SeqCst);
        self.sleeps()
    }

    /// Whether it sleeps until something happens.
    pub fn sleeps(&self) -> bool {
        self.sleeps.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn who_else_waits_is_called_though_the_thread_woke_by_itself() {
        let (activity, calls) = (Activity::default(), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&calls);
        activity.on_wake(Box::new(move || {
            count.fetch_add(1, Ordering::SeqCst);
        }));
        activity.open();
        assert!(activity.lie_down() && activity.waits_too());
        assert!(activity.rise(), "its time has come");
        for expected in [1, 1] {
            activity.wake();
            assert_eq!(calls.load(Ordering::SeqCst), expected);
        }
        assert!(!activity.waits_too(), "the thread is awake");
    }
}
