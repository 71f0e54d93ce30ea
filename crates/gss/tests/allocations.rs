//! A token allocates nothing. Counts what each thread of this program allocates.
#![allow(unsafe_code)] // An allocator is unsafe.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use howdah_gss::{ContextSide, Enctype, GssContext, LucidContext, SequenceWindow, SessionKey, WRAP_HEAD};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: what the caller promises is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn a_token_allocates_nothing() {
    for enctype in Enctype::ALL {
        let key = SessionKey::new(enctype.number(), &[5; 32][..enctype.key_length()]).expect("a key");
        let side = |side| {
            let key = key.clone();
            GssContext::new(&LucidContext { side, key, acceptor_subkey: true, send_sequence: 0, expiry: 0 })
        };
        let (initiator, acceptor) = (side(ContextSide::Initiator), side(ContextSide::Acceptor));
        let window = SequenceWindow::new();
        let mut token = vec![0; WRAP_HEAD + 100_000 + initiator.wrap_tail()];
        let mut all = |number| {
            let mic = initiator.sign(&[&token]);
            acceptor.verify(&[&token], mic.bytes()).expect("a good MIC");
            initiator.wrap(&mut token);
            acceptor.unwrap(&mut token).expect("a good token");
            window.take(number).expect("a new number");
        };
        // The keys that seal are derived when they are first needed, and the random numbers of a thread are seeded.
        all(1);
        let before = ALLOCATIONS.get();
        all(2);
        assert_eq!(ALLOCATIONS.get() - before, 0, "{enctype}");
    }
}
