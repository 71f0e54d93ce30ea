//! Handles of nodes that are gone name nothing, never another node.

use crate::conformance::actor::Actor;
use crate::conformance::bench::Bench;
use crate::conformance::cases::cases;
use crate::conformance::expect::{equal, failed, holds, refused};
use crate::conformance::verdict::Verdict;
use crate::{Access, Create, Detail, FileKind, FsError, Handle, NewAttributes, Node, Stability};

cases! { "stale handles":
    a_removed_node_is_gone,
    a_replaced_node_is_gone,
    a_new_node_of_the_same_name_is_another_node,
    a_reused_number_is_another_node,
    nothing_is_made_in_a_removed_directory,
    a_handle_of_nobody_is_refused,
    handles_last,
}

/// Every call on the node itself must find it gone.
fn gone(actor: &Actor<'_>, node: &Node) -> Verdict {
    let stale = [FsError::Stale];
    refused("GETATTR", actor.attributes(node), &stale)?;
    refused("ACCESS", actor.access(node, Access::ALL), &stale)?;
    refused("SETATTR", actor.set(node, NewAttributes::with_mode(0o600)), &stale)?;
    match node.attributes.kind {
        FileKind::Regular => {
            refused("READ", actor.read(node, 0, 10), &stale)?;
            refused("WRITE", actor.write(node, 0, b"x", Stability::FileSync), &stale)?;
            refused("COMMIT", actor.commit(node, 0, 0), &stale)
        }
        FileKind::Directory => {
            refused("LOOKUP", actor.look(node, "x"), &stale)?;
            refused("the parent", actor.parent(node), &stale)?;
            refused("READDIR", actor.page(node, 0, 10, Detail::Names), &stale)
        }
        FileKind::SymbolicLink => refused("READLINK", actor.read_link(node), &stale),
        _ => Ok(()),
    }
}

fn a_removed_node_is_gone(bench: &Bench<'_>) -> Verdict {
    let file = bench.me.create_holding(&bench.home, "f", b"data")?;
    let link = bench.me.make_link(&bench.home, "l", "f")?;
    let directory = bench.directory("d")?;
    bench.me.read(&file, 0, 4)?;
    bench.me.names(&directory)?;
    bench.me.remove(&bench.home, "f")?;
    bench.me.remove(&bench.home, "l")?;
    bench.me.remove_directory(&bench.home, "d")?;
    [file, link, directory].iter().try_for_each(|node| gone(&bench.me, node))
}

fn a_replaced_node_is_gone(bench: &Bench<'_>) -> Verdict {
    let (file, directory) = (bench.file("f")?, bench.directory("d")?);
    bench.file("g")?;
    bench.directory("e")?;
    bench.me.rename((&bench.home, "g"), (&bench.home, "f"))?;
    bench.me.rename((&bench.home, "e"), (&bench.home, "d"))?;
    gone(&bench.me, &file)?;
    gone(&bench.me, &directory)
}

fn a_new_node_of_the_same_name_is_another_node(bench: &Bench<'_>) -> Verdict {
    let old = bench.me.create_holding(&bench.home, "f", b"old")?;
    bench.me.remove(&bench.home, "f")?;
    let new = bench.me.create_holding(&bench.home, "f", b"new")?;
    holds("the handles differ", old.handle != new.handle)?;
    gone(&bench.me, &old)?;
    equal("content", bench.me.read(&new, 0, 9)?.0, b"new".to_vec())
}

/// File systems give the number of a removed node to the next one, so a number alone is no handle.
fn a_reused_number_is_another_node(bench: &Bench<'_>) -> Verdict {
    let mut old: Vec<Node> = Vec::new();
    for round in 0..30 {
        let name = format!("f{round}");
        let node = if round % 3 == 2 { bench.directory(&name)? } else { bench.file(&name)? };
        holds("the handle is new", old.iter().all(|old| old.handle != node.handle))?;
        old.iter().try_for_each(|old| refused("GETATTR", bench.me.attributes(old), &[FsError::Stale]))?;
        if round % 3 == 2 {
            bench.me.remove_directory(&bench.home, &name)?;
        } else {
            bench.me.remove(&bench.home, &name)?;
        }
        old.push(node);
    }
    Ok(())
}

fn nothing_is_made_in_a_removed_directory(bench: &Bench<'_>) -> Verdict {
    let (file, directory) = (bench.file("f")?, bench.directory("d")?);
    bench.me.remove_directory(&bench.home, "d")?;
    let stale = [FsError::Stale];
    let exclusive = Create::Exclusive([1; 8]);
    refused("CREATE", bench.me.create(&directory, "x", 0o644), &stale)?;
    refused("CREATE, exclusive", bench.me.create_how(&directory, "x", exclusive), &stale)?;
    refused("MKDIR", bench.me.make_directory(&directory, "x", 0o755), &stale)?;
    refused("SYMLINK", bench.me.make_link(&directory, "x", "y"), &stale)?;
    refused("MKNOD", bench.me.make_special(&directory, "x", crate::SpecialKind::Fifo, 0o600), &stale)?;
    refused("LINK", bench.me.link(&file, &directory, "x"), &stale)?;
    refused("RENAME into it", bench.me.rename((&bench.home, "f"), (&directory, "x")), &stale)?;
    refused("RENAME out of it", bench.me.rename((&directory, "x"), (&bench.home, "y")), &stale)?;
    refused("REMOVE", bench.me.remove(&directory, "x"), &stale)?;
    refused("RMDIR", bench.me.remove_directory(&directory, "x"), &stale)?;
    equal("links", bench.me.attributes(&file)?.links, 1)
}

fn a_handle_of_nobody_is_refused(bench: &Bench<'_>) -> Verdict {
    let file = bench.file("f")?;
    let own = file.handle.as_bytes();
    let longer = [own, b"x"].concat();
    for bytes in [&b""[..], b"x", &[0; 16], &[0xff; 32], &own[..own.len() - 1], &own[1..], &longer] {
        let handle = Handle::new(bytes)
            .or_else(|_| Handle::new(b"long"))
            .map_err(|error| failed(error.to_string()))?;
        let node = Node { handle, ..file };
        let wrong = [FsError::BadHandle, FsError::Stale];
        refused("GETATTR", bench.me.attributes(&node), &wrong)?;
        refused("LOOKUP", bench.me.look(&node, "f"), &wrong)?;
        refused("READ", bench.me.read(&node, 0, 10), &wrong)?;
    }
    Ok(())
}

fn handles_last(bench: &Bench<'_>) -> Verdict {
    let count = bench.abilities().many_entries.min(2_000);
    let directory = bench.directory("d")?;
    let mut nodes = Vec::new();
    for number in 0..count {
        nodes.push(bench.me.create(&directory, format!("f{number}"), 0o644)?);
    }
    for node in &nodes {
        equal("file number", bench.me.attributes(node)?.file, node.attributes.file)?;
    }
    Ok(())
}
