//! Calls at the same time: where each takes a round trip, all take one.

use std::panic::resume_unwind;
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;

/// Runs both and waits for both. Where the system gives no thread, one runs after the other.
pub(super) fn at_once<A: Send, B>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    let one = Mutex::new(Some(one));
    let run = || {
        let one = one.lock().expect("it is held for no longer than this line").take();
        one.map(|one| one())
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("copy-beside".to_owned()).spawn_scoped(scope, run);
        let other = other();
        let one = match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => run(),
        };
        (one.expect("it runs once"), other)
    })
}

/// A result that another thread works out. The first caller waits for that thread.
pub(super) type Later<T> = LazyLock<T, Box<dyn FnOnce() -> T + Send>>;

/// Begins to find something. Where the system gives no thread, it is found when it is asked for.
pub(super) fn later<T: Send + 'static>(find: impl Fn() -> T + Send + Sync + 'static) -> Later<T> {
    let find = Arc::new(find);
    let its = Arc::clone(&find);
    let thread = thread::Builder::new().name("copy-later".to_owned()).spawn(move || its());
    LazyLock::new(Box::new(move || match thread {
        Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
        Err(_) => find(),
    }))
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn both_run_at_the_same_time() {
        let both = Barrier::new(2);
        let meet = |number: u32| {
            both.wait();
            number
        };
        assert_eq!(at_once(|| meet(1), || meet(2)), (1, 2));
    }

    #[test]
    fn what_is_found_later_is_waited_for_only_when_it_is_asked_for() {
        let begun = Arc::new(Barrier::new(2));
        let its = Arc::clone(&begun);
        let found = later(move || {
            its.wait();
            7
        });
        begun.wait();
        assert_eq!((*found, *found), (7, 7));
    }
}
