//! READ and WRITE: what was written is read, and the end is where it is.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, equal_bytes, holds, refused};
use crate::conformance::verdict::Verdict;
use crate::{FsError, NewAttributes, Stability};

cases! { "data":
    what_was_written_is_read,
    a_write_in_the_middle_leaves_the_rest,
    a_read_says_when_it_reaches_the_end,
    a_read_of_nothing_reads_nothing,
    a_read_may_ask_for_far_more_than_there_is,
    a_write_of_nothing_changes_nothing,
    a_mebibyte_comes_back,
    odd_ranges_come_back,
    truncation_cuts_and_forgets,
    all_names_show_the_same_data,
    only_files_hold_data,
}

/// Bytes that differ from their neighbours and from one page to the next.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8 ^ (at / 4096) as u8).collect()
}

fn what_was_written_is_read(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    equal("count", bench.me.write(&file, 0, b"hello world", Stability::FileSync)?.count, 11)?;
    equal("all", bench.me.read(&file, 0, 11)?, (b"hello world".to_vec(), true))?;
    equal("a part", bench.me.read(&file, 6, 3)?, (b"wor".to_vec(), false))
}

fn a_write_in_the_middle_leaves_the_rest(bench: &Bench<'_>) -> Verdict {
    let mut wanted = pattern(10_000);
    let file = bench.me.create_holding(&bench.home, "f", &wanted)?;
    bench.me.write_all(&file, 4_000, &[0xee; 500])?;
    wanted[4_000..4_500].fill(0xee);
    equal_bytes("content", &bench.me.read_all(&file, 0, 20_000)?, &wanted)?;
    equal("size", bench.me.attributes(&file)?.size, 10_000)
}

fn a_read_says_when_it_reaches_the_end(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"0123456789")?;
    for (offset, count, wanted, end) in [
        (0, 9, &b"012345678"[..], false),
        (0, 10, b"0123456789", true),
        (0, 11, b"0123456789", true),
        (8, 1, b"8", false),
        (9, 1, b"9", true),
        (5, 4096, b"56789", true),
        (10, 1, b"", true),
        (11, 1, b"", true),
        (1 << 40, 4096, b"", true),
    ] {
        let what = format!("{count} bytes at {offset}");
        equal(&what, bench.me.read(&file, offset, count)?, (wanted.to_vec(), end))?;
    }
    let empty = bench.file("empty")?;
    equal("of an empty file", bench.me.read(&empty, 0, 10)?, (Vec::new(), true))
}

fn a_read_of_nothing_reads_nothing(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"0123456789")?;
    equal_bytes("data", &bench.me.read(&file, 3, 0)?.0, b"")
}

/// No memory is taken for what is asked and not there, nor does any sum of offset and count run over.
fn a_read_may_ask_for_far_more_than_there_is(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"0123456789")?;
    equal("a gibibyte", bench.me.read(&file, 4, 1 << 30)?, (b"456789".to_vec(), true))?;
    for offset in [i64::MAX as u64, 1 << 63, u64::MAX - 5, u64::MAX] {
        match bench.me.read(&file, offset, 10) {
            Err(FsError::Invalid | FsError::TooBig) => {}
            outcome => equal(&format!("10 bytes at {offset}"), outcome?, (Vec::new(), true))?,
        }
    }
    Ok(())
}

fn a_write_of_nothing_changes_nothing(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"0123456789")?;
    let before = bench.me.attributes(&file)?;
    equal("count", bench.me.write(&file, 100, b"", Stability::FileSync)?.count, 0)?;
    let after = bench.me.attributes(&file)?;
    equal("size", after.size, before.size)?;
    equal("modified", after.modified, before.modified)
}

fn a_mebibyte_comes_back(bench: &Bench<'_>) -> Verdict {
    let wanted = pattern(1 << 20);
    let file = bench.me.create_holding(&bench.home, "f", &wanted)?;
    equal("size", bench.me.attributes(&file)?.size, 1 << 20)?;
    equal_bytes("content", &bench.me.read_all(&file, 0, 2 << 20)?, &wanted)
}

fn odd_ranges_come_back(bench: &Bench<'_>) -> Verdict {
    let wanted = pattern(3 * 4096 + 17);
    let file = bench.file("f")?;
    let mut at = 0;
    for length in [1, 2, 3, 4, 5, 4090, 4096, 4097].into_iter().cycle() {
        let part = &wanted[at..(at + length).min(wanted.len())];
        bench.me.write_all(&file, at as u64, part)?;
        at += part.len();
        if at == wanted.len() {
            break;
        }
    }
    for (start, end) in [(0, 1), (1, 4), (4095, 4097), (4096, 8192), (1, wanted.len()), (12_288, 12_305)] {
        let seen = bench.me.read_all(&file, start as u64, end - start)?;
        equal_bytes(&format!("bytes {start} to {end}"), &seen, &wanted[start..end])?;
    }
    Ok(())
}

fn truncation_cuts_and_forgets(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", &[7; 9000])?;
    bench.me.set(&file, NewAttributes::with_size(5000))?;
    equal("size", bench.me.attributes(&file)?.size, 5000)?;
    equal_bytes("content", &bench.me.read_all(&file, 0, 9000)?, &[7; 5000])?;
    bench.me.set(&file, NewAttributes::with_size(9000))?;
    equal_bytes("what came back", &bench.me.read_all(&file, 5000, 9000)?, &[0; 4000])?;
    bench.me.set(&file, NewAttributes::with_size(0))?;
    equal("content", bench.me.read(&file, 0, 10)?, (Vec::new(), true))
}

fn all_names_show_the_same_data(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"one")?;
    bench.me.link(&file, &bench.home, "g")?;
    let other = bench.me.look(&bench.home, "g")?;
    bench.me.write_all(&other, 0, b"two")?;
    equal_bytes("by the first name", &bench.me.read_all(&file, 0, 9)?, b"two")
}

fn only_files_hold_data(bench: &Bench<'_>) -> Verdict {
    let link = bench.me.make_link(&bench.home, "l", "target")?;
    let fifo = bench.me.make_special(&bench.home, "p", crate::SpecialKind::Fifo, 0o666)?;
    // RFC 1813 3.3.6 names NFS3ERR_INVAL only; Linux' own server answers NFS3ERR_ISDIR for a directory.
    let wrong = [FsError::Invalid, FsError::IsDirectory, FsError::NoDevice, FsError::BadType];
    for (what, node) in [("a directory", bench.home), ("a link", link), ("a pipe", fifo)] {
        refused(what, bench.me.read(&node, 0, 10), &wrong)?;
        refused(what, bench.me.write(&node, 0, b"x", Stability::Unstable), &wrong)?;
        holds(what, bench.me.attributes(&node)?.kind == node.attributes.kind)?;
    }
    Ok(())
}
