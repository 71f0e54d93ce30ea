//! What programs and their procedures are called, as `nfsstat` spells them.

/// The number of the NFS program (RFC 1813 2.4).
pub const NFS: u32 = 100_003;

/// The number of the MOUNT program (RFC 1813 5.1).
pub const MOUNT: u32 = 100_005;

/// The number of the port mapper (RFC 1833 3.2).
const PORTMAP: u32 = 100_000;

const NFS_2: &[&str] = &[
    "null", "getattr", "setattr", "root", "lookup", "readlink", "read", "wrcache", "write", "create",
    "remove", "rename", "link", "symlink", "mkdir", "rmdir", "readdir", "fsstat",
];

const NFS_3: &[&str] = &[
    "null",
    "getattr",
    "setattr",
    "lookup",
    "access",
    "readlink",
    "read",
    "write",
    "create",
    "mkdir",
    "symlink",
    "mknod",
    "remove",
    "rmdir",
    "rename",
    "link",
    "readdir",
    "readdirplus",
    "fsstat",
    "fsinfo",
    "pathconf",
    "commit",
];

/// What a compound of version 4 holds is not counted apart.
const NFS_4: &[&str] = &["null", "compound"];

const MOUNT_PROCEDURES: &[&str] = &["null", "mnt", "dump", "umnt", "umntall", "export"];

const PORTMAP_PROCEDURES: &[&str] = &["null", "set", "unset", "getport", "dump", "callit"];

/// The procedures of a version of a program, by their number; none if this version has no names here.
pub fn procedure_names(program: u32, version: u32) -> &'static [&'static str] {
    match (program, version) {
        (NFS, 2) => NFS_2,
        (NFS, 3) => NFS_3,
        (NFS, 4) => NFS_4,
        (MOUNT, _) => MOUNT_PROCEDURES,
        (PORTMAP, _) => PORTMAP_PROCEDURES,
        _ => &[],
    }
}

/// The procedure's name, or its number.
pub fn procedure_name(program: u32, version: u32, procedure: u32) -> String {
    let names = procedure_names(program, version);
    names.get(procedure as usize).map_or_else(|| procedure.to_string(), |name| (*name).to_owned())
}

/// The program's name, or its number.
pub fn program_name(program: u32) -> String {
    match program {
        NFS => "nfs".to_owned(),
        MOUNT => "mount".to_owned(),
        PORTMAP => "portmap".to_owned(),
        other => other.to_string(),
    }
}
