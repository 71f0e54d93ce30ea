//! Names written behind: the layer is judged as any file system is, and what it answered early gets to the server.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use howdah_layers::{BehindOptions, Cached, CachingOptions, NamesBehind};

use howdah_vfs::conformance::operations::run_operations;
use howdah_vfs::conformance::{self, Abilities, Subject};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use howdah_vfs::{FileSystem, Timestamp};

fn behind(inner: Arc<dyn FileSystem>) -> Arc<NamesBehind> {
    let cached = Arc::new(Cached::around(inner, CachingOptions::default()));
    let start = Instant::now();
    let stopwatch = Arc::new(move || start.elapsed());
    let layer =
        NamesBehind::around(Arc::clone(&cached) as _, cached, BehindOptions::default(), [7; 16], stopwatch);
    Arc::new(layer.expect("threads"))
}

fn memory() -> MemoryFileSystem {
    let clock = Arc::new(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
        Timestamp { seconds: now.as_secs().cast_signed(), nanoseconds: now.subsec_nanos() }
    });
    MemoryFileSystem::with_options(MemoryOptions { clock, ..MemoryOptions::default() })
}

/// What the suite asks and this layer does otherwise, on purpose.
fn is_excepted(topic: &str, name: &str) -> bool {
    // Attributes before a change: the server says them later, when nobody waits.
    topic == "change data"
        // The time of access, and what a node takes, are the server's when it is there: while that happens, a listing and a lookup differ.
        || name == "details_are_those_of_lookup"
        // Two listings of a directory in which names are pending have cookies of their own.
        || name == "a_listing_goes_on_at_any_cookie"
}

#[test]
fn it_conforms() {
    let subject = || Subject::new(behind(Arc::new(memory())), Abilities::default());
    let report = conformance::run(&subject);
    let failures = report.failures().filter(|(case, _)| !is_excepted(case.topic, case.name));
    let failures: Vec<_> =
        failures.map(|(case, why)| format!("{}: {}: {why}", case.topic, case.name)).collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn lists_of_operations_end_as_on_the_server() {
    for seed in 0..20 {
        let subject = || Subject::new(behind(Arc::new(memory())), Abilities::default());
        run_operations(seed, 300, &subject).unwrap_or_else(|difference| panic!("{difference}"));
    }
}
