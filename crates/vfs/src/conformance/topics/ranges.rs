//! Where data and holes are, and space reserved and given back.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, equal_bytes, holds, refused};
use crate::conformance::verdict::Verdict;
use crate::{FsError, NewAttributes, SeekTarget};

cases! { "ranges":
    no_data_lies_in_what_is_told_to_be_a_hole [Ranges],
    the_end_is_a_hole [Ranges],
    nothing_is_found_beyond_the_end [Ranges],
    reserved_space_reads_as_zeros_and_makes_a_file_grow [Ranges],
    reserving_changes_no_data [Ranges],
    a_punched_range_reads_as_zeros [Ranges],
    a_punched_range_takes_no_storage [Ranges, SparseFiles],
    punching_beyond_the_end_does_not_make_a_file_grow [Ranges],
    ranges_that_are_none_are_refused [Ranges],
    only_regular_files_have_ranges [Ranges],
    ranges_of_others_are_refused [Ranges, ActsAsCaller],
}

/// Storage decides whether it can do this at all.
fn unless_unsupported(outcome: crate::Result<()>) -> Verdict<bool> {
    match outcome {
        Ok(()) => Ok(true),
        Err(FsError::NotSupported) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A file system may know no holes, but one that it reports must be one: a copy does not read it.
fn no_data_lies_in_what_is_told_to_be_a_hole(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    let places = [3 << 16, (1 << 20) + 5, 4 << 20];
    for at in places {
        bench.me.write_all(&file, at, b"x")?;
    }
    bench.me.set(&file, NewAttributes::with_size(8 << 20))?;
    let mut from = 0;
    for at in places {
        let (next, end) = bench.me.seek(&file, from, SeekTarget::Data)?;
        holds("data is not before where it was looked for", next >= from)?;
        holds("data is not skipped", next <= at && !end)?;
        equal("within data", bench.me.seek(&file, at, SeekTarget::Data)?, (at, false))?;
        holds("data is no hole", bench.me.seek(&file, at, SeekTarget::Hole)?.0 > at)?;
        from = at + 1;
    }
    holds(
        "data is not before where it was looked for",
        bench.me.seek(&file, from, SeekTarget::Data)?.0 >= from,
    )
}

fn the_end_is_a_hole(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", &[7; 5000])?;
    equal("a hole", bench.me.seek(&file, 0, SeekTarget::Hole)?, (5000, true))?;
    equal("data", bench.me.seek(&file, 4999, SeekTarget::Data)?, (4999, false))
}

fn nothing_is_found_beyond_the_end(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"data")?;
    for target in [SeekTarget::Data, SeekTarget::Hole] {
        for offset in [4, 5, 1 << 40] {
            refused("SEEK", bench.me.seek(&file, offset, target), &[FsError::NoDevice])?;
        }
    }
    Ok(())
}

fn reserved_space_reads_as_zeros_and_makes_a_file_grow(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"data")?;
    if !unless_unsupported(bench.me.allocate(&file, 10_000, 20_000))? {
        return Ok(());
    }
    equal("size", bench.me.attributes(&file)?.size, 30_000)?;
    let seen = bench.me.read_all(&file, 0, 40_000)?;
    equal_bytes("data", &seen[..4], b"data")?;
    equal_bytes("the rest", &seen[4..], &[0; 29_996])
}

fn reserving_changes_no_data(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", &[7; 9_000])?;
    unless_unsupported(bench.me.allocate(&file, 100, 5_000))?;
    equal("size", bench.me.attributes(&file)?.size, 9_000)?;
    equal_bytes("content", &bench.me.read_all(&file, 0, 10_000)?, &[7; 9_000])
}

fn a_punched_range_reads_as_zeros(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", &[7; 50_000])?;
    let before = bench.me.attributes(&file)?;
    if !unless_unsupported(bench.me.deallocate(&file, 5_000, 30_001))? {
        return Ok(());
    }
    let after = bench.me.attributes(&file)?;
    equal("size", after.size, 50_000)?;
    holds("the file has changed", after.changed > before.changed)?;
    let seen = bench.me.read_all(&file, 0, 60_000)?;
    equal_bytes("before it", &seen[..5_000], &[7; 5_000])?;
    equal_bytes("in it", &seen[5_000..35_001], &[0; 30_001])?;
    equal_bytes("behind it", &seen[35_001..], &[7; 14_999])
}

fn a_punched_range_takes_no_storage(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", &[7; 1 << 20])?;
    bench.me.commit(&file, 0, 0)?;
    if !unless_unsupported(bench.me.deallocate(&file, 0, 1 << 20))? {
        return Ok(());
    }
    holds("far less than its size is in use", bench.me.attributes(&file)?.used < 1 << 17)?;
    equal("data", bench.me.seek(&file, 0, SeekTarget::Data)?, (1 << 20, true))
}

fn punching_beyond_the_end_does_not_make_a_file_grow(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", &[7; 5_000])?;
    let largest = bench.limits()?.largest_file;
    for length in [10_000, largest - 4_000] {
        unless_unsupported(bench.me.deallocate(&file, 4_000, length))?;
        equal("size", bench.me.attributes(&file)?.size, 5_000)?;
    }
    equal_bytes("what stays", &bench.me.read_all(&file, 0, 4_000)?, &[7; 4_000])
}

fn ranges_that_are_none_are_refused(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"kept")?;
    let wrong = [FsError::Invalid, FsError::TooBig, FsError::NotSupported];
    for (offset, length) in
        [(0, 0), (u64::MAX, 1), (u64::MAX - 1, u64::MAX), (1 << 63, 1), (1, i64::MAX as u64)]
    {
        refused("ALLOCATE", bench.me.allocate(&file, offset, length), &wrong)?;
        refused("DEALLOCATE", bench.me.deallocate(&file, offset, length), &wrong)?;
    }
    equal_bytes("content", &bench.me.read_all(&file, 0, 9)?, b"kept")
}

fn only_regular_files_have_ranges(bench: &Bench<'_>) -> Verdict {
    let link = bench.me.make_link(&bench.home, "l", "f")?;
    for (node, wrong) in [(&bench.home, FsError::IsDirectory), (&link, FsError::Invalid)] {
        refused("SEEK", bench.me.seek(node, 0, SeekTarget::Data), &[wrong])?;
        refused("ALLOCATE", bench.me.allocate(node, 0, 1), &[wrong])?;
        refused("DEALLOCATE", bench.me.deallocate(node, 0, 1), &[wrong])?;
    }
    Ok(())
}

fn ranges_of_others_are_refused(bench: &Bench<'_>) -> Verdict {
    let file = bench.alices_file("f", 0o640)?;
    bench.alice().write_all(&file, 0, b"data")?;
    let (bob, carol, wrong) = (bench.bob(), bench.carol(), [FsError::AccessDenied]);
    equal("a reader's SEEK", bob.seek(&file, 0, SeekTarget::Data)?, (0, false))?;
    refused("a stranger's SEEK", carol.seek(&file, 0, SeekTarget::Data), &wrong)?;
    refused("a reader's ALLOCATE", bob.allocate(&file, 0, 9), &wrong)?;
    refused("a reader's DEALLOCATE", bob.deallocate(&file, 0, 9), &wrong)?;
    equal_bytes("content", &bench.me.read_all(&file, 0, 9)?, b"data")
}
