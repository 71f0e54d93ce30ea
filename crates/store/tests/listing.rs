//! A long listing takes time in proportion to its length.

mod common;

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use common::{Place, is_root, myself};
use howdah_store::local::LocalFileSystem;
use howdah_vfs::{Caller, Detail, FileSystem, Handle, ListDirectory, Name};
use rustix::time::{ClockId, clock_gettime};

fn me() -> Caller {
    if is_root() { Caller::ROOT } else { myself() }
}

/// The names in a directory, by pages of `most`.
fn list(fs: &LocalFileSystem, directory: &Handle, most: usize, detail: Detail) -> usize {
    let (mut cookie, mut count) = (0, 0);
    loop {
        let mut page = 0;
        let listing = fs
            .read_directory(&me(), ListDirectory { directory, cookie, detail }, &mut |entry| {
                if page == most {
                    return ControlFlow::Break(());
                }
                assert!(detail == Detail::Names || entry.node.is_some());
                page += 1;
                cookie = entry.cookie;
                ControlFlow::Continue(())
            })
            .expect("READDIR");
        count += page;
        if listing.end {
            return count;
        }
    }
}

fn fill(directory: &Path, count: usize) {
    std::fs::create_dir(directory).expect("a directory");
    for number in 0..count {
        std::fs::File::create(directory.join(format!("entry-{number:06}"))).expect("a file");
    }
}

/// The processor time of this thread: what other programs do meanwhile is not in it.
fn own_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("not negative")
}

#[test]
fn listing_is_linear() {
    // A tenth of a hundred thousand, and a hundred thousand.
    const SMALL: usize = 10_000;
    const LARGE: usize = 100_000;
    const ATTEMPTS: usize = 5;
    let under = common::places().pop().expect("a place");
    let place = Place::under(&under);
    fill(&place.export().join("small"), SMALL);
    fill(&place.export().join("large"), LARGE);
    let fs = place.open();
    let time = |text: &str, count: usize, detail| {
        let directory =
            fs.lookup(&me(), &fs.root(), Name::parse(text.as_bytes()).expect("a name")).expect("LOOKUP");
        let once = || {
            let start = own_time();
            assert_eq!(list(&fs, &directory.node.handle, 200, detail), count + 2);
            own_time() - start
        };
        (0..2).map(|_| once()).min().unwrap_or(Duration::MAX)
    };
    for detail in [Detail::Names, Detail::Nodes] {
        // Ten times the entries; quadratic would be a hundred times the time, each time. Once it may be, on a processor that others slow down.
        let mut seen = Vec::new();
        let is_linear = (0..ATTEMPTS).any(|_| {
            let (small, large) = (time("small", SMALL, detail), time("large", LARGE, detail));
            seen.push((small, large));
            large < small * 40
        });
        assert!(is_linear, "{detail:?}: for {SMALL} and {LARGE} {seen:?}");
    }
}
