//! SETATTR: times.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, holds};
use crate::conformance::verdict::Verdict;
use crate::{NewAttributes, Node, SetTime, Timestamp};

cases! { "setting times":
    times_are_set_to_the_step_that_is_told,
    one_time_leaves_the_other,
    now_is_the_file_systems_own,
    every_kind_of_node_has_times,
    the_change_time_cannot_be_set,
    years_beyond_2038_are_kept,
}

const EARLY: Timestamp = Timestamp { seconds: 1_000_000, nanoseconds: 0 };
const LATER: Timestamp = Timestamp { seconds: 2_000_000, nanoseconds: 0 };

fn times(accessed: SetTime, modified: SetTime) -> NewAttributes {
    NewAttributes { accessed, modified, ..NewAttributes::default() }
}

fn seen(bench: &Bench<'_>, node: &Node) -> Verdict<(Timestamp, Timestamp)> {
    let attributes = bench.me.attributes(node)?;
    Ok((attributes.accessed, attributes.modified))
}

fn times_are_set_to_the_step_that_is_told(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    let step = bench.limits()?.time_step_nanoseconds.max(1);
    holds("the step is at most two seconds", step <= 2_000_000_000)?;
    for nanoseconds in [0, 1, 999, 123_456_789, 999_999_999] {
        let time = Timestamp { seconds: 1_500_000_000, nanoseconds };
        bench.me.set(&file, times(SetTime::To(time), SetTime::To(time)))?;
        let kept = Timestamp { nanoseconds: nanoseconds - nanoseconds % step, ..time };
        if step <= 1_000_000_000 {
            equal("times", seen(bench, &file)?, (kept, kept))?;
        }
    }
    Ok(())
}

fn one_time_leaves_the_other(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    bench.me.set(&file, times(SetTime::To(EARLY), SetTime::To(EARLY)))?;
    bench.me.set(&file, times(SetTime::Keep, SetTime::To(LATER)))?;
    equal("after setting the modification", seen(bench, &file)?, (EARLY, LATER))?;
    bench.me.set(&file, times(SetTime::To(LATER), SetTime::Keep))?;
    equal("after setting the access", seen(bench, &file)?, (LATER, LATER))
}

fn now_is_the_file_systems_own(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    bench.me.set(&file, times(SetTime::To(EARLY), SetTime::To(EARLY)))?;
    bench.me.set(&file, times(SetTime::Now, SetTime::Now))?;
    let (accessed, modified) = seen(bench, &file)?;
    holds("the access time is later", accessed > EARLY)?;
    holds("the modification time is later", modified > EARLY)?;
    bench.me.set(&file, times(SetTime::To(EARLY), SetTime::Now))?;
    let (accessed, modified) = seen(bench, &file)?;
    equal("the access time", accessed, EARLY)?;
    holds("the modification time is later", modified > EARLY)
}

fn every_kind_of_node_has_times(bench: &Bench<'_>) -> Verdict {
    let target = bench.file("target")?;
    let link = bench.me.make_link(&bench.home, "l", "target")?;
    let pipe = bench.me.make_special(&bench.home, "p", crate::SpecialKind::Fifo, 0o600)?;
    for node in [bench.directory("d")?, link, pipe] {
        bench.me.set(&node, times(SetTime::To(EARLY), SetTime::To(LATER)))?;
        equal("times", seen(bench, &node)?, (EARLY, LATER))?;
    }
    equal("what the link points to", bench.me.attributes(&target)?.modified, target.attributes.modified)
}

fn the_change_time_cannot_be_set(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    bench.me.set(&file, times(SetTime::To(EARLY), SetTime::To(EARLY)))?;
    let changed = bench.me.attributes(&file)?.changed;
    holds("the change time is the clock's", changed >= file.attributes.changed && changed > EARLY)
}

fn years_beyond_2038_are_kept(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    for seconds in [(1 << 31) - 1, 1 << 31, 4_000_000_000] {
        let time = Timestamp { seconds, nanoseconds: 0 };
        bench.me.set(&file, times(SetTime::To(time), SetTime::To(time)))?;
        equal("times", seen(bench, &file)?, (time, time))?;
    }
    Ok(())
}
