//! Extended attributes.

use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, equal_bytes, holds, refused};
use crate::conformance::verdict::Verdict;
use crate::{FsError, SetXattrMode, XattrName};

cases! { "extended attributes":
    what_was_set_is_there [Xattrs],
    how_it_is_set_decides [Xattrs],
    what_was_removed_is_gone [Xattrs],
    all_names_are_listed [Xattrs],
    a_listing_goes_on_where_it_ended [Xattrs],
    a_name_that_is_none_is_refused [Xattrs],
    a_value_that_is_too_large_is_refused [Xattrs],
    a_change_is_a_change_of_the_node [Xattrs],
    files_and_directories_have_them_and_nothing_else [Xattrs],
    they_stay_when_a_name_changes [Xattrs],
    those_of_others_are_refused [Xattrs, ActsAsCaller],
    a_sticky_directory_is_its_owners [Xattrs, ActsAsCaller],
}

use SetXattrMode::{Create, Either, Replace};

fn what_was_set_is_there(bench: &Bench<'_>) -> Verdict {
    for node in [bench.file("f")?, bench.directory("d")?] {
        let values: [(&[u8], &[u8]); 4] = [
            (b"a", b"value"),
            (b"user.a", b""),
            (b"b/c.\xff", b"\0\xff"),
            (&[b'x'; XattrName::MAX], &[7; 1000]),
        ];
        for (name, value) in values {
            bench.me.set_xattr(&node, name, value, Either)?;
        }
        for (name, value) in values {
            equal_bytes("value", &bench.me.get_xattr(&node, name)?, value)?;
        }
        refused("another name", bench.me.get_xattr(&node, "A"), &[FsError::NoXattr])?;
    }
    Ok(())
}

fn how_it_is_set_decides(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    refused("none to replace", bench.me.set_xattr(&file, "a", "1", Replace), &[FsError::NoXattr])?;
    bench.me.set_xattr(&file, "a", "2", Create)?;
    refused("there already", bench.me.set_xattr(&file, "a", "3", Create), &[FsError::Exists])?;
    equal_bytes("value", &bench.me.get_xattr(&file, "a")?, b"2")?;
    bench.me.set_xattr(&file, "a", "longer than before", Replace)?;
    equal_bytes("value", &bench.me.get_xattr(&file, "a")?, b"longer than before")?;
    bench.me.set_xattr(&file, "a", "", Either)?;
    equal_bytes("value", &bench.me.get_xattr(&file, "a")?, b"")
}

fn what_was_removed_is_gone(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    refused("none", bench.me.remove_xattr(&file, "a"), &[FsError::NoXattr])?;
    bench.me.set_xattr(&file, "a", "1", Either)?;
    bench.me.set_xattr(&file, "b", "2", Either)?;
    bench.me.remove_xattr(&file, "a")?;
    refused("gone", bench.me.get_xattr(&file, "a"), &[FsError::NoXattr])?;
    refused("gone", bench.me.remove_xattr(&file, "a"), &[FsError::NoXattr])?;
    equal("names", bench.me.xattr_names(&file)?, vec![b"b".to_vec()])
}

fn all_names_are_listed(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    equal("names", bench.me.xattr_names(&file)?.len(), 0)?;
    let mut names: Vec<Vec<u8>> = (0..30).map(|number| format!("name {number}").into_bytes()).collect();
    for name in &names {
        bench.me.set_xattr(&file, name, "", Create)?;
    }
    names.sort();
    equal("names", bench.me.xattr_names(&file)?, names)
}

/// However it is cut into pages, and whatever else changes meanwhile.
fn a_listing_goes_on_where_it_ended(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    let mut wanted: Vec<Vec<u8>> = (0..20).map(|number| format!("stays {number}").into_bytes()).collect();
    for name in &wanted {
        bench.me.set_xattr(&file, name, "", Create)?;
    }
    for most in [1, 3, 7] {
        let (mut seen, mut cookie, mut page) = (Vec::new(), 0, 0);
        loop {
            let (names, last, end) = bench.me.xattr_page(&file, cookie, most)?;
            holds("a page that is not the last has names", end || names.len() == most)?;
            seen.extend(names);
            if end {
                break;
            }
            holds("cookies are not 0", last != 0)?;
            cookie = last;
            bench.me.set_xattr(&file, format!("comes {page}"), "", Either)?;
            if page > 0 {
                bench.me.remove_xattr(&file, format!("comes {}", page - 1))?;
            }
            page += 1;
        }
        seen.retain(|name| name.starts_with(b"stays"));
        seen.sort();
        wanted.sort();
        equal("names that stayed", &seen, &wanted)?;
        if page > 0 {
            bench.me.remove_xattr(&file, format!("comes {}", page - 1))?;
        }
    }
    Ok(())
}

fn a_name_that_is_none_is_refused(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    refused("no name", bench.me.set_xattr(&file, "", "1", Either), &[FsError::Invalid])?;
    refused("a NUL", bench.me.set_xattr(&file, "a\0b", "1", Either), &[FsError::Invalid])?;
    let long = [b'x'; XattrName::MAX + 1];
    refused("too long", bench.me.set_xattr(&file, long, "1", Either), &[FsError::NameTooLong])?;
    equal("names", bench.me.xattr_names(&file)?.len(), 0)
}

fn a_value_that_is_too_large_is_refused(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    let large = vec![7; XattrName::VALUE_MAX + 1];
    refused("64 KiB and a byte", bench.me.set_xattr(&file, "a", &large, Either), &[FsError::XattrTooBig])?;
    // Some keep all of a node in one block.
    match bench.me.set_xattr(&file, "a", &large[1..], Either) {
        Err(FsError::NoSpace | FsError::XattrTooBig) => Ok(()),
        outcome => {
            outcome?;
            equal_bytes("value", &bench.me.get_xattr(&file, "a")?, &large[1..])
        }
    }
}

fn a_change_is_a_change_of_the_node(bench: &Bench<'_>) -> Verdict {
    for node in [bench.file("f")?, bench.directory("d")?] {
        bench.me.set_xattr(&node, "a", "1", Either)?;
        let set = bench.me.attributes(&node)?;
        holds("it changed when it was set", set.changed > node.attributes.changed)?;
        equal("when its data changed", set.modified, node.attributes.modified)?;
        bench.me.remove_xattr(&node, "a")?;
        holds("it changed when it was removed", bench.me.attributes(&node)?.changed > set.changed)?;
    }
    Ok(())
}

fn files_and_directories_have_them_and_nothing_else(bench: &Bench<'_>) -> Verdict {
    let link = bench.me.make_link(&bench.home, "l", "f")?;
    let fifo = bench.me.make_special(&bench.home, "p", crate::SpecialKind::Fifo, 0o666)?;
    for node in [link, fifo] {
        refused("SETXATTR", bench.me.set_xattr(&node, "a", "1", Either), &[FsError::NotPermitted])?;
        refused("GETXATTR", bench.me.get_xattr(&node, "a"), &[FsError::NoXattr])?;
        equal("names", bench.me.xattr_names(&node)?.len(), 0)?;
    }
    Ok(())
}

fn they_stay_when_a_name_changes(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    bench.me.set_xattr(&file, "a", "1", Either)?;
    bench.me.rename((&bench.home, "f"), (&bench.home, "g"))?;
    let renamed = bench.me.look(&bench.home, "g")?;
    equal_bytes("value", &bench.me.get_xattr(&renamed, "a")?, b"1")?;
    equal("names of another file", bench.me.xattr_names(&bench.file("f")?)?.len(), 0)
}

fn those_of_others_are_refused(bench: &Bench<'_>) -> Verdict {
    let file = bench.alices_file("f", 0o640)?;
    let (alice, bob, carol, wrong) = (bench.alice(), bench.bob(), bench.carol(), [FsError::AccessDenied]);
    alice.set_xattr(&file, "a", "1", Either)?;
    equal_bytes("a reader's", &bob.get_xattr(&file, "a")?, b"1")?;
    equal("a reader's names", bob.xattr_names(&file)?.len(), 1)?;
    refused("a reader's change", bob.set_xattr(&file, "a", "2", Either), &wrong)?;
    refused("a reader's removal", bob.remove_xattr(&file, "a"), &wrong)?;
    refused("a stranger's", carol.get_xattr(&file, "a"), &wrong)?;
    refused("a stranger's names", carol.xattr_names(&file), &wrong)
}

fn a_sticky_directory_is_its_owners(bench: &Bench<'_>) -> Verdict {
    let directory = bench.alice().make_directory(&bench.home, "d", 0o1777)?;
    bench.alice().set_xattr(&directory, "a", "1", Either)?;
    refused("SETXATTR", bench.bob().set_xattr(&directory, "a", "2", Either), &[FsError::NotPermitted])?;
    equal_bytes("value", &bench.bob().get_xattr(&directory, "a")?, b"1")
}
