//! The locks of this crate. Its unit tests count which of them a call takes, each by the function that takes it.

#[cfg(not(test))]
pub use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard};

#[cfg(test)]
pub use counted::{Mutex, MutexGuard, RwLock, RwLockReadGuard, taken_by};

#[cfg(test)]
mod counted {
    use std::backtrace::Backtrace;
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    use parking_lot::lock_api;
    use parking_lot::lock_api::{RawMutex, RawRwLock};

    pub type Mutex<T> = lock_api::Mutex<CountedLock<parking_lot::RawMutex>, T>;
    pub type MutexGuard<'l, T> = lock_api::MutexGuard<'l, CountedLock<parking_lot::RawMutex>, T>;
    pub type RwLock<T> = lock_api::RwLock<CountedLock<parking_lot::RawRwLock>, T>;
    pub type RwLockReadGuard<'l, T> = lock_api::RwLockReadGuard<'l, CountedLock<parking_lot::RawRwLock>, T>;

    thread_local! {
        static TAKEN: RefCell<Option<BTreeMap<String, usize>>> = const { RefCell::new(None) };
    }

    /// How often each function took a lock while this thread did something.
    pub fn taken_by(act: impl FnOnce()) -> BTreeMap<String, usize> {
        TAKEN.set(Some(BTreeMap::new()));
        act();
        TAKEN.take().expect("it counts")
    }

    /// A lock is taken: by the first function of this crate above it, which is named with its file.
    fn count() {
        TAKEN.with_borrow_mut(|taken| {
            let Some(taken) = taken else { return };
            let trace = Backtrace::force_capture().to_string();
            let mut frames = trace.lines().zip(trace.lines().skip(1));
            let name = frames.find_map(|(function, place)| {
                let is_ours = place.contains("at ./src/") || place.contains("/server/src/");
                let file = place.rsplit_once("src/").filter(|_| is_ours)?.1.split(':').next()?;
                let function = function.split(": ").nth(1)?.split('<').next()?;
                (file != "locks.rs").then(|| format!("{file} {function}"))
            });
            let name = name.unwrap_or_else(|| "unknown".to_owned());
            *taken.entry(name).or_default() += 1;
        });
    }

    /// A lock that counts who takes it.
    pub struct CountedLock<L>(L);

    // SAFETY: each call goes to the lock inside.
    #[allow(unsafe_code, reason = "the trait of locks is unsafe")]
    unsafe impl<L: RawMutex> RawMutex for CountedLock<L> {
        #[allow(clippy::declare_interior_mutable_const, reason = "the trait has it so")]
        const INIT: Self = Self(L::INIT);
        type GuardMarker = L::GuardMarker;

        fn lock(&self) {
            count();
            self.0.lock();
        }

        fn try_lock(&self) -> bool {
            count();
            self.0.try_lock()
        }

        unsafe fn unlock(&self) {
            // SAFETY: as the caller says.
            unsafe { self.0.unlock() }
        }
    }

    // SAFETY: each call goes to the lock inside.
    #[allow(unsafe_code, reason = "the trait of locks is unsafe")]
    unsafe impl<L: RawRwLock> RawRwLock for CountedLock<L> {
        #[allow(clippy::declare_interior_mutable_const, reason = "the trait has it so")]
        const INIT: Self = Self(L::INIT);
        type GuardMarker = L::GuardMarker;

        fn lock_shared(&self) {
            count();
            self.0.lock_shared();
        }

        fn try_lock_shared(&self) -> bool {
            count();
            self.0.try_lock_shared()
        }

        unsafe fn unlock_shared(&self) {
            // SAFETY: as the caller says.
            unsafe { self.0.unlock_shared() }
        }

        fn lock_exclusive(&self) {
            count();
            self.0.lock_exclusive();
        }

        fn try_lock_exclusive(&self) -> bool {
            count();
            self.0.try_lock_exclusive()
        }

        unsafe fn unlock_exclusive(&self) {
            // SAFETY: as the caller says.
            unsafe { self.0.unlock_exclusive() }
        }
    }
}
