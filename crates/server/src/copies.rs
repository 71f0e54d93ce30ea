//! A value that every call reads and hardly anybody replaces: threads read copies of their own, and no lock that all of them share.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::locks::{Mutex, RwLock};

/// As many as there are usually workers, and more.
const COPIES: usize = 64;

/// A value, of which each thread reads a copy of its own.
#[derive(Debug)]
pub struct Copies<T> {
    copies: Box<[Copy<T>]>,
    /// Taken to replace them, so that they end up equal.
    replacing: Mutex<()>,
}

/// By itself in its cache lines.
#[derive(Debug)]
#[repr(align(128))]
struct Copy<T>(RwLock<T>);

thread_local! {
    static PLACE: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed) % COPIES
    };
}

impl<T: Clone> Copies<T> {
    /// Of this value.
    pub fn new(value: T) -> Self {
        let copies = (0..COPIES).map(|_| Copy(RwLock::new(value.clone()))).collect();
        Self { copies, replacing: Mutex::default() }
    }

    /// Looks at the value.
    #[inline]
    pub fn look<R>(&self, at: impl FnOnce(&T) -> R) -> R {
        at(&self.copies[PLACE.with(|place| *place)].0.read())
    }

    /// Replaces it: readers see this one from then on.
    pub fn replace(&self, value: &T) {
        let _turn = self.replacing.lock();
        self.copies.iter().for_each(|copy| *copy.0.write() = value.clone());
    }
}
