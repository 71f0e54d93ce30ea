//! Exclusive CREATE: a repeated request finds what its first try made, and only that.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, refused};
use crate::conformance::verdict::Verdict;
use crate::{Create, FileKind, FsError, NewAttributes};

cases! { "exclusive create":
    it_makes_a_file,
    the_same_request_again_finds_the_same_file,
    another_request_is_refused,
    a_file_made_otherwise_is_refused,
    the_verifier_does_not_show_in_what_is_set_afterwards,
}

const VERIFIER: [u8; 8] = [0xff, 0, 0x80, 1, 0x7f, 2, 0xfe, 3];

fn it_makes_a_file(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_how(&bench.home, "f", Create::Exclusive(VERIFIER))?;
    equal("kind", file.attributes.kind, FileKind::Regular)?;
    equal("size", file.attributes.size, 0)?;
    equal("handle", bench.me.look(&bench.home, "f")?.handle, file.handle)
}

fn the_same_request_again_finds_the_same_file(bench: &Bench<'_>) -> Verdict {
    for (name, verifier) in [("a", VERIFIER), ("b", [0; 8]), ("c", [0xff; 8])] {
        let first = bench.me.create_how(&bench.home, name, Create::Exclusive(verifier))?;
        let again = bench.me.create_how(&bench.home, name, Create::Exclusive(verifier))?;
        equal("handle", again.handle, first.handle)?;
    }
    Ok(())
}

fn another_request_is_refused(bench: &Bench<'_>) -> Verdict {
    bench.me.create_how(&bench.home, "f", Create::Exclusive(VERIFIER))?;
    for byte in 0..VERIFIER.len() {
        let mut other = VERIFIER;
        other[byte] ^= 1;
        let how = Create::Exclusive(other);
        refused("another verifier", bench.me.create_how(&bench.home, "f", how), &[FsError::Exists])?;
    }
    refused("guarded", bench.me.create(&bench.home, "f", 0o600), &[FsError::Exists])
}

fn a_file_made_otherwise_is_refused(bench: &Bench<'_>) -> Verdict {
    bench.file("f")?;
    bench.directory("d")?;
    bench.me.make_link(&bench.home, "l", "nowhere")?;
    for name in ["f", "d", "l"] {
        let how = Create::Exclusive(VERIFIER);
        refused(name, bench.me.create_how(&bench.home, name, how), &[FsError::Exists])?;
    }
    Ok(())
}

/// A client that made a file exclusively sets its attributes next (RFC 1813 3.3.8).
fn the_verifier_does_not_show_in_what_is_set_afterwards(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_how(&bench.home, "f", Create::Exclusive(VERIFIER))?;
    bench.me.set(&file, NewAttributes::with_mode(0o640))?;
    bench.me.write_all(&file, 0, b"data")?;
    let attributes = bench.me.attributes(&file)?;
    equal("mode", attributes.mode, 0o640)?;
    equal("size", attributes.size, 4)
}
