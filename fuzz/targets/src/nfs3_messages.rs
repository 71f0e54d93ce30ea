//! Every argument and every result of NFSv3, and of NFSACL beside it.

use howdah_wire::nfs3::{
    access, commit, create, fsinfo, fsstat, getattr, link, lookup, mkdir, mknod, pathconf, read, readdir,
    readdirplus, readlink, remove, rename, rmdir, setattr, symlink, write,
};
use howdah_wire::nfsacl::{getacl, setacl};

/// The first byte chooses the message: its lowest bit arguments or result, the others the procedure. The rest is the
/// message's bytes.
pub fn run(input: &[u8]) {
    let Some((choice, message)) = input.split_first() else { return };
    if choice % 2 == 0 { arguments(choice / 2, message) } else { result(choice / 2, message) }
}

fn arguments(procedure: u8, message: &[u8]) {
    match procedure {
        1 => stable!(getattr::Arguments<'_>, message),
        2 => stable!(setattr::Arguments<'_>, message),
        3 => stable!(lookup::Arguments<'_>, message),
        4 => stable!(access::Arguments<'_>, message),
        5 => stable!(readlink::Arguments<'_>, message),
        6 => stable!(read::Arguments<'_>, message),
        7 => {
            stable!(write::Arguments<'_>, message);
            stable!(write::Head<'_>, message);
        }
        8 => stable!(create::Arguments<'_>, message),
        9 => stable!(mkdir::Arguments<'_>, message),
        10 => stable!(symlink::Arguments<'_>, message),
        11 => stable!(mknod::Arguments<'_>, message),
        12 => stable!(remove::Arguments<'_>, message),
        13 => stable!(rmdir::Arguments<'_>, message),
        14 => stable!(rename::Arguments<'_>, message),
        15 => stable!(link::Arguments<'_>, message),
        16 => stable!(readdir::Arguments<'_>, message),
        17 => stable!(readdirplus::Arguments<'_>, message),
        18 => stable!(fsstat::Arguments<'_>, message),
        19 => stable!(fsinfo::Arguments<'_>, message),
        20 => stable!(pathconf::Arguments<'_>, message),
        21 => stable!(commit::Arguments<'_>, message),
        22 => stable!(getacl::Arguments<'_>, message),
        23 => stable!(setacl::Arguments<'_>, message),
        _ => {}
    }
}

fn result(procedure: u8, message: &[u8]) {
    match procedure {
        1 => stable!(getattr::Reply, message),
        2 => stable!(setattr::Reply, message),
        3 => stable!(lookup::Reply<'_>, message),
        4 => stable!(access::Reply, message),
        5 => stable!(readlink::Reply<'_>, message),
        6 => stable!(read::Reply<'_>, message),
        7 => stable!(write::Reply, message),
        8 => stable!(create::Reply<'_>, message),
        9 => stable!(mkdir::Reply<'_>, message),
        10 => stable!(symlink::Reply<'_>, message),
        11 => stable!(mknod::Reply<'_>, message),
        12 => stable!(remove::Reply, message),
        13 => stable!(rmdir::Reply, message),
        14 => stable!(rename::Reply, message),
        15 => stable!(link::Reply, message),
        16 => stable!(readdir::Reply<'_>, message),
        17 => stable!(readdirplus::Reply<'_>, message),
        18 => stable!(fsstat::Reply, message),
        19 => stable!(fsinfo::Reply, message),
        20 => stable!(pathconf::Reply, message),
        21 => stable!(commit::Reply, message),
        22 => stable!(getacl::Reply<'_>, message),
        23 => stable!(setacl::Reply, message),
        _ => {}
    }
}
