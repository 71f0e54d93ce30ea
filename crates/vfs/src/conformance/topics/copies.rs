//! Ranges copied and cloned from file to file.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, equal_bytes, holds, refused};
use crate::conformance::verdict::Verdict;
use crate::{FsError, Node};

cases! { "copies":
    a_copied_range_is_the_same [Ranges],
    a_copy_ends_where_its_source_does [Ranges],
    a_copy_within_a_file_may_not_overlap [Ranges],
    copies_from_and_to_others_are_refused [Ranges, ActsAsCaller],
    only_regular_files_are_copied [Ranges],
    a_clone_is_the_same_and_stays [Ranges],
    a_clone_ends_where_its_source_does [Ranges],
    clones_that_fit_no_blocks_are_refused [Ranges],
}

/// Bytes that differ from place to place.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

/// Copies in as many calls as it takes.
fn copy_all(bench: &Bench<'_>, from: (&Node, u64), to: (&Node, u64), count: u64) -> Verdict {
    let mut done = 0;
    while done < count {
        let copied = bench.me.copy_range((from.0, from.1 + done), (to.0, to.1 + done), count - done)?.count;
        holds(
            "something is copied, and no more than asked for",
            copied > 0 && copied as u64 <= count - done,
        )?;
        done += copied as u64;
    }
    Ok(())
}

fn a_copied_range_is_the_same(bench: &Bench<'_>) -> Verdict {
    let data = pattern(300_000);
    let (from, to) = (bench.me.create_holding(&bench.home, "f", &data)?, bench.file("t")?);
    copy_all(bench, (&from, 1_001), (&to, 77), 250_000)?;
    let after = bench.me.attributes(&to)?;
    equal("size", after.size, 250_077)?;
    holds("the file has changed", after.changed > to.attributes.changed)?;
    let seen = bench.me.read_all(&to, 0, 300_000)?;
    equal_bytes("before it", &seen[..77], &[0; 77])?;
    equal_bytes("the copy", &seen[77..], &data[1_001..251_001])?;
    let verifier = bench.me.copy_range((&from, 0), (&to, 0), 10)?.verifier;
    equal("the verifier of COMMIT", bench.me.commit(&to, 0, 0)?.verifier, verifier)
}

fn a_copy_ends_where_its_source_does(bench: &Bench<'_>) -> Verdict {
    let (from, to) = (bench.me.create_holding(&bench.home, "f", b"0123456789")?, bench.file("t")?);
    equal("to the end", bench.me.copy_range((&from, 4), (&to, 0), 0)?.count, 6)?;
    equal("beyond it", bench.me.copy_range((&from, 7), (&to, 6), 100)?.count, 3)?;
    equal("from the end", bench.me.copy_range((&from, 10), (&to, 9), 5)?.count, 0)?;
    equal("from behind it", bench.me.copy_range((&from, 99), (&to, 9), 5)?.count, 0)?;
    equal_bytes("content", &bench.me.read_all(&to, 0, 99)?, b"456789789")
}

fn a_copy_within_a_file_may_not_overlap(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"0123456789")?;
    for to in [0, 1, 3] {
        let outcome = bench.me.copy_range((&file, 1), (&file, to), 4);
        refused("an overlap", outcome, &[FsError::Invalid])?;
    }
    equal("beside it", bench.me.copy_range((&file, 0), (&file, 5), 3)?.count, 3)?;
    equal_bytes("content", &bench.me.read_all(&file, 0, 99)?, b"0123401289")
}

fn copies_from_and_to_others_are_refused(bench: &Bench<'_>) -> Verdict {
    let file = bench.alices_file("f", 0o640)?;
    bench.alice().write_all(&file, 0, b"data")?;
    let (bob, carol, wrong) = (bench.bob(), bench.carol(), [FsError::AccessDenied]);
    let [bobs, carols] =
        [(&bob, "b"), (&carol, "c")].map(|(actor, name)| actor.create(&bench.home, name, 0o600));
    let (bobs, carols) = (bobs?, carols?);
    equal("a reader's copy", bob.copy_range((&file, 0), (&bobs, 0), 4)?.count, 4)?;
    refused("a stranger's", carol.copy_range((&file, 0), (&carols, 0), 4), &wrong)?;
    refused("a reader's into it", bob.copy_range((&bobs, 0), (&file, 0), 4), &wrong)?;
    refused(
        "a reader's clone into it",
        bob.clone_range((&bobs, 0), (&file, 0), 4),
        &[FsError::AccessDenied, FsError::NotSupported],
    )?;
    equal("size", bench.me.attributes(&carols)?.size, 0)
}

fn only_regular_files_are_copied(bench: &Bench<'_>) -> Verdict {
    let (file, link) = (bench.file("f")?, bench.me.make_link(&bench.home, "l", "f")?);
    for (node, wrong) in [(&bench.home, FsError::IsDirectory), (&link, FsError::Invalid)] {
        refused("from", bench.me.copy_range((node, 0), (&file, 0), 1), &[wrong])?;
        refused("to", bench.me.copy_range((&file, 0), (node, 0), 1), &[wrong])?;
    }
    Ok(())
}

fn a_clone_is_the_same_and_stays(bench: &Bench<'_>) -> Verdict {
    let Some(block) = bench.limits()?.clone_block.map(u64::from) else {
        let (from, to) = (bench.me.create_holding(&bench.home, "f", &[7; 8192])?, bench.file("t")?);
        return refused("a clone", bench.me.clone_range((&from, 0), (&to, 0), 0), &[FsError::NotSupported]);
    };
    let data = pattern(4 * block as usize);
    let (from, to) = (bench.me.create_holding(&bench.home, "f", &data)?, bench.file("t")?);
    bench.me.clone_range((&from, block), (&to, 2 * block), 2 * block)?;
    bench.me.write_all(&from, block, b"changed")?;
    equal("size", bench.me.attributes(&to)?.size, 4 * block)?;
    let seen = bench.me.read_all(&to, 0, usize::MAX >> 1)?;
    let (hole, clone) = seen.split_at(2 * block as usize);
    equal_bytes("before it", hole, &vec![0; hole.len()])?;
    equal_bytes("the clone", clone, &data[block as usize..3 * block as usize])
}

fn a_clone_ends_where_its_source_does(bench: &Bench<'_>) -> Verdict {
    let Some(block) = bench.limits()?.clone_block.map(u64::from) else { return Ok(()) };
    let data = pattern(2 * block as usize + 5);
    let (from, to) = (bench.me.create_holding(&bench.home, "f", &data)?, bench.file("t")?);
    bench.me.clone_range((&from, block), (&to, 0), 0)?;
    equal_bytes("content", &bench.me.read_all(&to, 0, 3 * block as usize)?, &data[block as usize..])?;
    bench.me.clone_range((&from, 0), (&to, 0), 2 * block + 5)?;
    equal_bytes("content", &bench.me.read_all(&to, 0, 3 * block as usize)?, &data)
}

fn clones_that_fit_no_blocks_are_refused(bench: &Bench<'_>) -> Verdict {
    let Some(block) = bench.limits()?.clone_block.map(u64::from) else { return Ok(()) };
    let from = bench.me.create_holding(&bench.home, "f", &pattern(2 * block as usize))?;
    let to = bench.me.create_holding(&bench.home, "t", b"kept")?;
    for (source, target, count) in
        [(1, 0, block), (0, 1, block), (0, 0, 5), (0, 0, 3 * block), (3 * block, 0, 0)]
    {
        let outcome = bench.me.clone_range((&from, source), (&to, target), count);
        refused(&format!("{source}, {target}, {count}"), outcome, &[FsError::Invalid])?;
    }
    equal_bytes("content", &bench.me.read_all(&to, 0, 99)?, b"kept")?;
    refused("an overlap", bench.me.clone_range((&from, 0), (&from, block), 2 * block), &[FsError::Invalid])
}
