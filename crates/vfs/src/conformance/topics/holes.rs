//! Holes and offsets beyond 32 bits.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, equal_bytes, holds, refused};
use crate::conformance::verdict::Verdict;
use crate::{FsError, NewAttributes, Stability};

cases! { "holes":
    a_hole_reads_as_zeros,
    extending_makes_a_hole,
    offsets_have_64_bits,
    the_edge_of_32_bits_is_no_edge,
    a_hole_takes_no_storage [SparseFiles],
    nothing_is_written_beyond_the_largest_file,
}

fn a_hole_reads_as_zeros(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    bench.me.write_all(&file, 100_000, b"end")?;
    equal("size", bench.me.attributes(&file)?.size, 100_003)?;
    let mut wanted = vec![0; 100_000];
    wanted.extend_from_slice(b"end");
    equal_bytes("content", &bench.me.read_all(&file, 0, 200_000)?, &wanted)
}

fn extending_makes_a_hole(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"start")?;
    bench.me.set(&file, NewAttributes::with_size(10_000))?;
    equal("size", bench.me.attributes(&file)?.size, 10_000)?;
    let seen = bench.me.read_all(&file, 0, 20_000)?;
    equal_bytes("data", &seen[..5], b"start")?;
    equal_bytes("hole", &seen[5..], &[0; 9_995])
}

/// A file of a tebibyte, unless the file system says that it holds none so large.
fn offsets_have_64_bits(bench: &Bench<'_>) -> Verdict {
    let far = (1 << 40_u64).min(bench.limits()?.largest_file - 10);
    let file = bench.file("f")?;
    bench.me.write_all(&file, far, b"far away")?;
    equal("size", bench.me.attributes(&file)?.size, far + 8)?;
    equal("at the end", bench.me.read(&file, far, 100)?, (b"far away".to_vec(), true))?;
    equal("at the start", bench.me.read(&file, 0, 4)?, (vec![0; 4], false))?;
    equal("low bits of the offset", bench.me.read(&file, far & 0xffff_ffff, 4)?, (vec![0; 4], false))
}

fn the_edge_of_32_bits_is_no_edge(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    for edge in [1_u64 << 31, 1 << 32] {
        if edge + 4 > bench.limits()?.largest_file {
            continue;
        }
        bench.me.write_all(&file, edge - 4, b"acrossit")?;
        equal("size", bench.me.attributes(&file)?.size, edge + 4)?;
        equal_bytes("content", &bench.me.read_all(&file, edge - 5, 20)?, b"\0acrossit")?;
    }
    equal_bytes("the start", &bench.me.read_all(&file, 0, 8)?, &[0; 8])
}

fn a_hole_takes_no_storage(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    let size = 1 << 30;
    bench.me.set(&file, NewAttributes::with_size(size))?;
    bench.me.write_all(&file, size - 1, b"x")?;
    bench.me.commit(&file, 0, 0)?;
    holds("far less than its size is in use", bench.me.attributes(&file)?.used < size / 16)
}

fn nothing_is_written_beyond_the_largest_file(bench: &Bench<'_>) -> Verdict {
    let largest = bench.limits()?.largest_file;
    let file = bench.me.create_holding(&bench.home, "f", b"kept")?;
    let wrong = [FsError::TooBig, FsError::Invalid];
    let beyond = if largest == u64::MAX { return Ok(()) } else { largest + 1 };
    refused("SETATTR", bench.me.set(&file, NewAttributes::with_size(beyond)), &wrong)?;
    for offset in [beyond, u64::MAX - 1, u64::MAX] {
        refused("WRITE", bench.me.write(&file, offset, b"xy", Stability::FileSync), &wrong)?;
    }
    equal_bytes("content", &bench.me.read_all(&file, 0, 9)?, b"kept")?;
    equal("size", bench.me.attributes(&file)?.size, 4)
}
