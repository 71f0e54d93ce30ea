//! SETATTR's guard: only if nobody changed the node meanwhile.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, refused};
use crate::conformance::verdict::Verdict;
use crate::{FsError, Guard, NewAttributes, Timestamp};

cases! { "guard":
    the_right_time_lets_through,
    another_time_is_refused_and_nothing_changes,
}

fn the_right_time_lets_through(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    for (mode, with_change) in [(0o600, true), (0o640, false)] {
        let seen = bench.me.attributes(&file)?;
        let guard = if with_change { Guard::from(&seen) } else { seen.changed.into() };
        bench.me.set_guarded(&file, NewAttributes::with_mode(mode), guard)?;
        equal("mode", bench.me.attributes(&file)?.mode, mode)?;
    }
    Ok(())
}

fn another_time_is_refused_and_nothing_changes(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"data")?;
    let before = bench.me.attributes(&file)?;
    let seconds = Timestamp { seconds: before.changed.seconds + 1, ..before.changed };
    let nanoseconds = Timestamp { nanoseconds: before.changed.nanoseconds ^ 1, ..before.changed };
    for guard in [seconds, nanoseconds, Timestamp::default()] {
        let new = NewAttributes { mode: Some(0o600), size: Some(0), ..NewAttributes::default() };
        refused("SETATTR", bench.me.set_guarded(&file, new, guard.into()), &[FsError::NotSynchronised])?;
    }
    equal("attributes", bench.me.attributes(&file)?, before)
}
