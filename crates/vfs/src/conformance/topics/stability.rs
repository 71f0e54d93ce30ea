//! How durable writes are, COMMIT, and the write verifier.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, equal_bytes, holds, refused};
use crate::conformance::verdict::Verdict;
use crate::{FsError, Stability};

cases! { "stability":
    a_write_is_as_durable_as_was_asked,
    the_verifier_stays_while_nothing_is_lost,
    commit_takes_any_range,
    unstable_data_is_read_at_once,
    only_files_are_committed,
}

const ALL: [Stability; 3] = [Stability::Unstable, Stability::DataSync, Stability::FileSync];

fn a_write_is_as_durable_as_was_asked(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    for wanted in ALL {
        let written = bench.me.write(&file, 0, b"data", wanted)?;
        holds(&format!("{:?} is at least {wanted:?}", written.stability), written.stability >= wanted)?;
        equal("count", written.count, 4)?;
    }
    Ok(())
}

fn the_verifier_stays_while_nothing_is_lost(bench: &Bench<'_>) -> Verdict {
    let (one, other) = (bench.file("f")?, bench.file("g")?);
    let verifier = bench.me.write(&one, 0, b"data", Stability::Unstable)?.verifier;
    for file in [one, other] {
        for stability in ALL {
            equal("of a write", bench.me.write(&file, 0, b"data", stability)?.verifier, verifier)?;
        }
        equal("of a commit", bench.me.commit(&file, 0, 0)?.verifier, verifier)?;
    }
    Ok(())
}

fn commit_takes_any_range(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    bench.me.write(&file, 0, &[1; 10_000], Stability::Unstable)?;
    for (offset, count) in
        [(0, 0), (0, 10_000), (5_000, 1), (9_999, 100), (20_000, 5), (4_096, 0), (1, u64::MAX)]
    {
        bench.me.commit(&file, offset, count)?;
    }
    equal_bytes("content", &bench.me.read_all(&file, 0, 20_000)?, &[1; 10_000])
}

fn unstable_data_is_read_at_once(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    bench.me.write(&file, 3, b"abc", Stability::Unstable)?;
    equal("content", bench.me.read(&file, 0, 10)?, (b"\0\0\0abc".to_vec(), true))?;
    equal("size", bench.me.attributes(&file)?.size, 6)
}

fn only_files_are_committed(bench: &Bench<'_>) -> Verdict {
    let link = bench.me.make_link(&bench.home, "l", "target")?;
    let wrong = [FsError::Invalid, FsError::IsDirectory, FsError::BadType];
    refused("a directory", bench.me.commit(&bench.home, 0, 0), &wrong)?;
    refused("a link", bench.me.commit(&link, 0, 0), &wrong)
}
