//! What the pieces are made of here: `shuttle`'s, with the face of `parking_lot`'s.

use std::time::Duration;

pub use shuttle::sync::MutexGuard;
pub use shuttle::sync::atomic;

/// A lock that nobody poisons.
#[derive(Default)]
pub struct Mutex<T>(shuttle::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Takes it.
    pub fn lock(&self) -> Guard<'_, T> {
        Guard(Some(self.0.lock().expect("nobody panics")))
    }
}

/// Who has the lock. It is empty while its owner waits.
pub struct Guard<'m, T>(Option<MutexGuard<'m, T>>);

impl<T> std::ops::Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("its owner does not wait")
    }
}

impl<T> std::ops::DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("its owner does not wait")
    }
}

/// Wakes who waits.
#[derive(Default)]
pub struct Condvar(shuttle::sync::Condvar);

impl Condvar {
    /// Wakes one.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Waits to be woken, however long that takes.
    pub fn wait_for<T>(&self, guard: &mut Guard<'_, T>, _most: Duration) {
        let inner = guard.0.take().expect("its owner does not wait");
        guard.0 = Some(self.0.wait(inner).expect("nobody panics"));
    }
}
