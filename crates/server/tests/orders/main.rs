//! Models of lock-free pieces that ask less of memory than sequential consistency: the real files, with threads and atomics of `loom`,
//! which tries every interleaving, and every value that a relaxed load may give.

#[path = "../../src/counts/counter.rs"]
#[allow(dead_code, unreachable_pub, reason = "it is the server's")]
mod counter;
#[path = "../../src/worker/slot.rs"]
#[allow(dead_code, unreachable_pub, reason = "it is the server's")]
mod slot;

use counter::Counter;
use howdah_net::Token;
use loom::sync::Arc;
use loom::thread;
use slot::WorkerSlot;

/// What the pieces are made of here.
mod sync {
    pub use loom::sync::atomic;
}

#[test]
fn the_watch_never_takes_a_hang_for_that_of_an_earlier_connection() {
    loom::model(|| {
        let slot = Arc::new(WorkerSlot::default());
        let worker = {
            let slot = Arc::clone(&slot);
            thread::spawn(move || {
                for token in [1, 2] {
                    slot.start(Token(token));
                    slot.end();
                }
            })
        };
        // What is seen of the token is of the turn that was seen, or of a later one.
        let (turns, Token(token)) = (slot.turns(), slot.token());
        let least = turns.div_ceil(2);
        assert!(token >= least, "token {token} after {turns} turns");
        worker.join().expect("no panic");
        assert_eq!((slot.turns(), slot.token()), (4, Token(2)));
    });
}

#[test]
fn who_reads_a_counter_sees_it_grow_and_never_more_than_was_counted() {
    loom::model(|| {
        let counter = Arc::new(Counter::default());
        let clerk = {
            let counter = Arc::clone(&counter);
            thread::spawn(move || [1, 2].into_iter().for_each(|more| counter.add(more)))
        };
        let (first, second) = (counter.get(), counter.get());
        assert!([0, 1, 3].contains(&first) && [0, 1, 3].contains(&second) && first <= second);
        clerk.join().expect("no panic");
        assert_eq!(counter.get(), 3);
    });
}
