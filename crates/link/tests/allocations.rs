//! A path in its stride allocates nothing. Counts what this whole program allocates, so it is alone in it.
#![allow(unsafe_code)]
#![allow(clippy::disallowed_methods)] // Some instant is needed to start from.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};

use howdah_link::{Element, Packet, Path, PathSpec, Random, Segments};

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

#[derive(Debug, Clone)]
struct Body;

impl Segments for Body {
    fn split_first(&mut self, _: u32) -> Self {
        Self
    }

    fn corrupt(&mut self, _: &mut Random) {}
}

/// 90 % of a gigabit, half of it in super-packets, for so long.
fn drive(path: &mut Path<Body>, start: Instant, time: Duration) {
    let mut now = start;
    while now < start + time {
        for segments in [1, 40] {
            path.push(now, Packet::of_segments(1538 * segments as usize, segments, 1538, Body));
            while path.poll(now).is_some() {}
        }
        now += Duration::from_micros(561);
    }
}

#[test]
fn a_path_in_its_stride_allocates_nothing() {
    for queue in ["1bdp", "codel"] {
        let text = format!(
            "rtt = \"20ms\"\nrate = \"1Gbit\"\nqueue = \"{queue}\"\nloss = \"1%\"\ncorrupt = \"1%\"\nduplicate = \"1%\"
             jitter = \"1ms\"\nreorder = \"1%\"\nmtu = 1500\nschedule = \"down 10ms every 1s\"\n
             bursts = {{ loss = \"1%\", length = 3 }}"
        );
        let spec: PathSpec = toml::from_str(&text).expect("a path");
        let (mut path, _) = spec.build(1);
        let start = Instant::now();
        drive(&mut path, start, Duration::from_secs(5));
        let before = ALLOCATIONS.get();
        drive(&mut path, start + Duration::from_secs(5), Duration::from_secs(1));
        assert_eq!(ALLOCATIONS.get() - before, 0);
    }
}
