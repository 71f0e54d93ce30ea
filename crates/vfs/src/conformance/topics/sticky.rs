//! Sticky directories: everybody makes files there, only owners take them away.

use crate::conformance::actor::Actor;
use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, refused};
use crate::conformance::verdict::Verdict;
use crate::{FsError, NewAttributes, Node};

cases! { "sticky directories":
    a_stranger_does_not_remove [ActsAsCaller],
    owners_remove [ActsAsCaller],
    a_stranger_does_not_rename [ActsAsCaller],
}

/// Both say that one may not; POSIX allows either.
const NOT_HIS: [FsError; 2] = [FsError::NotPermitted, FsError::AccessDenied];

/// A directory like /tmp that alice owns, and in it a file and a directory of bob.
fn sticky(bench: &Bench<'_>) -> Verdict<Node> {
    let directory = bench.alice().make_directory(&bench.home, "tmp", 0o777)?;
    bench.alice().set(&directory, NewAttributes::with_mode(0o1777))?;
    fill(bench, &directory)?;
    Ok(directory)
}

fn fill(bench: &Bench<'_>, directory: &Node) -> Verdict {
    bench.bob().create(directory, "f", 0o666)?;
    bench.bob().make_directory(directory, "d", 0o777)?;
    Ok(())
}

fn empty(actor: &Actor<'_>, directory: &Node) -> Verdict {
    actor.remove(directory, "f")?;
    Ok(actor.remove_directory(directory, "d")?)
}

fn a_stranger_does_not_remove(bench: &Bench<'_>) -> Verdict {
    let directory = sticky(bench)?;
    refused("REMOVE", bench.carol().remove(&directory, "f"), &NOT_HIS)?;
    refused("RMDIR", bench.carol().remove_directory(&directory, "d"), &NOT_HIS)?;
    equal("names", bench.me.names(&directory)?.len(), 2)
}

fn owners_remove(bench: &Bench<'_>) -> Verdict {
    let directory = sticky(bench)?;
    empty(&bench.bob(), &directory)?;
    fill(bench, &directory)?;
    empty(&bench.alice(), &directory)?;
    fill(bench, &directory)?;
    empty(&bench.me, &directory)
}

fn a_stranger_does_not_rename(bench: &Bench<'_>) -> Verdict {
    let directory = sticky(bench)?;
    let carol = bench.carol();
    carol.create(&directory, "hers", 0o600)?;
    refused("away", carol.rename((&directory, "f"), (&directory, "g")), &NOT_HIS)?;
    refused("out", carol.rename((&directory, "f"), (&bench.home, "g")), &NOT_HIS)?;
    refused("over it", carol.rename((&directory, "hers"), (&directory, "f")), &NOT_HIS)?;
    carol.rename((&directory, "hers"), (&directory, "still-hers"))?;
    bench.bob().rename((&directory, "f"), (&directory, "g"))?;
    equal("names", bench.me.names(&directory)?.len(), 3)
}
