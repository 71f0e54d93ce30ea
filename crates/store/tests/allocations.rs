//! GETATTR and READ allocate nothing once their node is open. Counts what this whole program allocates, so it is alone in it.
#![allow(unsafe_code)]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{Place, is_root, myself};
use howdah_vfs::{Caller, FileSystem, ReadFile};

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
fn getattr_and_read_allocate_nothing() {
    let place = Place::under(&std::env::temp_dir());
    std::fs::write(place.export().join("f"), b"data").expect("writes");
    let fs = place.open();
    let me = if is_root() { Caller::ROOT } else { myself() };
    let name = howdah_vfs::Name::parse(b"f").expect("a name");
    let file = fs.lookup(&me, &fs.root(), name).expect("LOOKUP").node.handle;
    fs.attributes(&me, &file).expect("GETATTR");
    let mut buffer = Vec::with_capacity(4096);
    fs.read(&me, ReadFile::new(&file, 0, 4096), &mut buffer).expect("READ");
    let before = ALLOCATIONS.get();
    for _ in 0..100 {
        fs.attributes(&me, &file).expect("GETATTR");
        buffer.clear();
        fs.read(&me, ReadFile::new(&file, 0, 4096), &mut buffer).expect("READ");
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
}
