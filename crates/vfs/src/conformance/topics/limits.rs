//! FSSTAT, FSINFO and PATHCONF tell the truth.

use crate::Name;
use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, holds};
use crate::conformance::verdict::Verdict;

cases! { "limits":
    what_is_free_fits_into_what_is_there,
    limits_are_plausible,
    every_node_tells_the_same,
}

fn what_is_free_fits_into_what_is_there(bench: &Bench<'_>) -> Verdict {
    let seen = bench.me.fs.statistics(&bench.me.caller, &bench.home.handle)?;
    holds("there is room", seen.total_bytes > 0)?;
    holds("free bytes fit into all", seen.free_bytes <= seen.total_bytes)?;
    holds("available bytes fit into the free ones", seen.available_bytes <= seen.free_bytes)?;
    // Some file systems make nodes as they go, and count none.
    holds("free files fit into all", seen.free_files <= seen.total_files)?;
    holds("available files fit into the free ones", seen.available_files <= seen.free_files)
}

fn limits_are_plausible(bench: &Bench<'_>) -> Verdict {
    let limits = bench.limits()?;
    holds("files of 2 GiB fit", limits.largest_file >= (1 << 31) - 1)?;
    holds("names of 14 bytes fit", (14..=Name::MAX as u32).contains(&limits.longest_name))?;
    holds("there is one link at least", limits.most_links >= 1)?;
    holds("case is kept where it matters", limits.case_preserving || limits.case_insensitive)?;
    holds("times have a step", limits.time_step_nanoseconds >= 1)
}

fn every_node_tells_the_same(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    let of_file = bench.me.fs.limits(&bench.me.caller, &file.handle)?;
    equal("limits of a file", of_file, bench.limits()?)?;
    bench.me.fs.statistics(&bench.me.caller, &file.handle)?;
    Ok(())
}
