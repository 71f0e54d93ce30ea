//! Odd names: whatever bytes are allowed come back as they went in.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, refused};
use crate::conformance::verdict::Verdict;
use crate::{FsError, Name};

cases! { "names":
    odd_names_are_names,
    every_byte_may_be_in_a_name [AnyBytesInNames],
    the_longest_name_is_a_name,
    names_are_not_paths,
    names_are_bytes_not_text,
}

/// Makes, finds, lists, renames and removes a file of that name.
fn round_trip(bench: &Bench<'_>, name: &[u8]) -> Verdict {
    let what = format!("\"{}\"", name.escape_ascii());
    let file = bench.me.create(&bench.home, name, 0o644)?;
    equal(&what, bench.me.look(&bench.home, name)?.handle, file.handle)?;
    equal(&what, bench.me.names(&bench.home)?, vec![name.to_vec()])?;
    bench.me.rename((&bench.home, name), (&bench.home, "plain"))?;
    bench.me.rename((&bench.home, "plain"), (&bench.home, name))?;
    bench.me.remove(&bench.home, name)?;
    refused(&what, bench.me.look(&bench.home, name), &[FsError::NotFound])
}

fn odd_names_are_names(bench: &Bench<'_>) -> Verdict {
    let names =
        ["...", " ", "-rf", "a\nb", "*", "\\", "~", "a:b", "\u{1f40e}", "e\u{301}", ".nfs0001", "\u{7f}"];
    names.iter().try_for_each(|name| round_trip(bench, name.as_bytes()))
}

fn every_byte_may_be_in_a_name(bench: &Bench<'_>) -> Verdict {
    let bytes = (1..=u8::MAX).filter(|&byte| byte != b'/');
    for byte in bytes.clone().filter(|&byte| byte != b'.') {
        round_trip(bench, &[byte])?;
    }
    round_trip(bench, &bytes.collect::<Vec<_>>())
}

fn the_longest_name_is_a_name(bench: &Bench<'_>) -> Verdict {
    let longest = Name::MAX.min(bench.limits()?.longest_name as usize);
    round_trip(bench, &vec![b'x'; longest])?;
    round_trip(bench, &vec![b'x'; longest - 1])
}

/// A name that starts like another one, or that a careless server would take for a path or a pattern.
fn names_are_not_paths(bench: &Bench<'_>) -> Verdict {
    let directory = bench.directory("d")?;
    bench.me.create(&directory, "f", 0o644)?;
    for name in ["d\\f", "*", "?", "d%2ff", "..\\d", "....", "d "] {
        refused(name, bench.me.look(&bench.home, name), &[FsError::NotFound])?;
    }
    Ok(())
}

/// The same letter, composed and decomposed, with and without a dot or a blank at its end.
fn names_are_bytes_not_text(bench: &Bench<'_>) -> Verdict {
    let names = ["\u{e9}", "e\u{301}", "e", "e.", "e ", "\u{ff45}"];
    for name in names {
        bench.file(name)?;
    }
    equal("names", bench.me.names(&bench.home)?.len(), names.len())
}
