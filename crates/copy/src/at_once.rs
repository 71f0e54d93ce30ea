//! Two calls at the same time: where each takes a round trip, both take one.

use std::sync::Mutex;
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
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => run(),
        };
        (one.expect("it runs once"), other)
    })
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
}
