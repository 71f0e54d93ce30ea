//! LOOKUP, of names and of parents.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, refused};
use crate::conformance::verdict::Verdict;
use crate::{Access, FsError};

cases! { "lookup":
    a_name_leads_to_its_node,
    an_unknown_name_is_not_found,
    only_a_directory_is_looked_in,
    case_matters_unless_the_file_system_says_otherwise,
    the_parent_of_a_directory_is_where_it_lies,
    the_parent_of_the_root_is_the_root,
    access_tells_no_more_than_was_asked,
}

fn a_name_leads_to_its_node(bench: &Bench<'_>) -> Verdict {
    let (file, directory) = (bench.file("f")?, bench.directory("d")?);
    let inner = bench.me.create(&directory, "f", 0o600)?;
    equal("f", bench.me.look(&bench.home, "f")?.handle, file.handle)?;
    equal("d", bench.me.look(&bench.home, "d")?.handle, directory.handle)?;
    equal("d/f", bench.me.look(&directory, "f")?.handle, inner.handle)?;
    equal("file number of d/f", bench.me.look(&directory, "f")?.attributes.file, inner.attributes.file)
}

fn an_unknown_name_is_not_found(bench: &Bench<'_>) -> Verdict {
    bench.file("f")?;
    refused("g", bench.me.look(&bench.home, "g"), &[FsError::NotFound])?;
    refused("ff", bench.me.look(&bench.home, "ff"), &[FsError::NotFound])
}

fn only_a_directory_is_looked_in(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    let link = bench.me.make_link(&bench.home, "l", ".")?;
    refused("in a file", bench.me.look(&file, "x"), &[FsError::NotDirectory])?;
    refused("in a link", bench.me.look(&link, "f"), &[FsError::NotDirectory])?;
    refused("parent of a file", bench.me.parent(&file), &[FsError::NotDirectory])
}

fn case_matters_unless_the_file_system_says_otherwise(bench: &Bench<'_>) -> Verdict {
    let small = bench.file("name")?;
    if bench.limits()?.case_insensitive {
        return equal("NAME", bench.me.look(&bench.home, "NAME")?.handle, small.handle);
    }
    refused("NAME", bench.me.look(&bench.home, "NAME"), &[FsError::NotFound])
}

fn the_parent_of_a_directory_is_where_it_lies(bench: &Bench<'_>) -> Verdict {
    let outer = bench.directory("outer")?;
    let inner = bench.me.make_directory(&outer, "inner", 0o755)?;
    equal("parent of inner", bench.me.parent(&inner)?.handle, outer.handle)?;
    equal("parent of outer", bench.me.parent(&outer)?.handle, bench.home.handle)
}

fn the_parent_of_the_root_is_the_root(bench: &Bench<'_>) -> Verdict {
    let root = bench.root()?;
    equal("parent of the case's directory", bench.me.parent(&bench.home)?.handle, root.handle)?;
    equal("parent of the root", bench.me.parent(&root)?.handle, root.handle)
}

fn access_tells_no_more_than_was_asked(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create(&bench.home, "f", 0o700)?;
    equal("READ of READ", bench.me.access(&file, Access::READ)?, Access::READ)?;
    equal("READ of all", bench.me.access(&file, Access::ALL)? & Access::READ, Access::READ)?;
    equal("nothing of nothing", bench.me.access(&file, Access::NONE)?, Access::NONE)?;
    let wanted = Access::LOOKUP | Access::READ;
    equal("LOOKUP and READ of a directory", bench.me.access(&bench.home, wanted)?, wanted)
}
