//! Which attributes there are, and their values for a node (RFC 8881 5).

use howdah_random::spread;
use howdah_vfs::{Attributes, FileKind, FileSystem, Limits, Statistics};
use howdah_wire::nfs4::attributes::{self as wire, *};
use howdah_wire::nfs4::{Bitmap, FileHandle, Status, Time};
use howdah_wire::xdr::Encoder;

use super::compound::Compound;
use super::convert::{self, Decimal};
use super::node::{CurrentNode, ExportedNode};
use super::pseudo::PseudoDirectory;
use crate::SealedHandle;
use crate::limits::TRANSFER_MAX;

/// Attributes that are read from the node itself.
const OF_NODE: Bitmap = Bitmap::of(&[
    TYPE,
    CHANGE,
    SIZE,
    FSID,
    FILEID,
    MODE,
    NUMLINKS,
    OWNER,
    OWNER_GROUP,
    RAWDEV,
    SPACE_USED,
    TIME_ACCESS,
    TIME_CREATE,
    TIME_METADATA,
    TIME_MODIFY,
    MOUNTED_ON_FILEID,
]);
/// Attributes that its file system is asked for.
const OF_LIMITS: Bitmap = Bitmap::of(&[
    SUPPORTED_ATTRS,
    LINK_SUPPORT,
    SYMLINK_SUPPORT,
    CASE_INSENSITIVE,
    CASE_PRESERVING,
    CHOWN_RESTRICTED,
    MAXFILESIZE,
    MAXLINK,
    MAXNAME,
    TIME_DELTA,
]);
/// Attributes that are the same everywhere here.
const OF_SERVER: Bitmap = Bitmap::of(&[
    FH_EXPIRE_TYPE,
    NAMED_ATTR,
    UNIQUE_HANDLES,
    LEASE_TIME,
    RDATTR_ERROR,
    ACLSUPPORT,
    CANSETTIME,
    FILEHANDLE,
    HOMOGENEOUS,
    MAXREAD,
    MAXWRITE,
    NO_TRUNC,
    SUPPATTR_EXCLCREAT,
]);
/// Attributes that can be set and not read.
pub const ONLY_SET: Bitmap = Bitmap::of(&[TIME_ACCESS_SET, TIME_MODIFY_SET, MODE_UMASK]);
/// Attributes that can be set.
pub const SETTABLE: Bitmap = Bitmap::of(&[SIZE, MODE, OWNER, OWNER_GROUP, TIME_ACCESS_SET, TIME_MODIFY_SET]);
/// Attributes that a new node can be made with.
pub const OF_NEW: Bitmap =
    Bitmap::of(&[SIZE, MODE, OWNER, OWNER_GROUP, TIME_ACCESS_SET, TIME_MODIFY_SET, MODE_UMASK]);
/// Attributes that clients send and that nothing here can set, as macOS does: they are left out, and the answer says so.
pub const IGNORED: Bitmap = Bitmap::of(&[TIME_CREATE]);
/// Those that OPEN with EXCLUSIVE4_1 sets: times hold the verifier then.
const EXCLUSIVE: Bitmap = Bitmap::of(&[SIZE, MODE, OWNER, OWNER_GROUP, MODE_UMASK]);
/// Those of minor version 2 (RFC 7862, RFC 8275, RFC 8276).
const OF_MINOR_2: Bitmap = Bitmap::of(&[CHANGE_ATTR_TYPE, XATTR_SUPPORT, CLONE_BLKSIZE, MODE_UMASK]);

/// All attributes that there are in a minor version. A file system may have no CLONE_BLKSIZE.
pub fn supported(minor_version: u32) -> Bitmap {
    let of_all = OF_NODE | Space::ALL | OF_LIMITS | OF_SERVER | ONLY_SET;
    if minor_version >= 2 { of_all | OF_MINOR_2 } else { of_all.without(OF_MINOR_2) }
}

/// Those that OPEN with EXCLUSIVE4_1 sets in a minor version.
pub fn exclusive(minor_version: u32) -> Bitmap {
    EXCLUSIVE & supported(minor_version)
}

/// What is known of a node already.
#[derive(Clone, Copy)]
pub struct ListedNode {
    /// Its attributes.
    pub attributes: Attributes,
    /// Whether it is the root of another file system than the directory above it is on.
    pub is_junction: bool,
}

/// Writes those of the wanted attributes of a node that there are. `known` spares a look at it.
///
/// # Errors
/// Why the node cannot be looked at. Nothing is written then.
pub fn write(
    compound: &Compound<'_>,
    node: &CurrentNode<'_>,
    known: Option<ListedNode>,
    wanted: Bitmap,
    encoder: &mut Encoder<'_>,
) -> Result<Bitmap, Status> {
    let wanted = (wanted & supported(compound.minor_version)).without(ONLY_SET);
    let mut facts = Facts::default();
    // Whether there is a time of creation shows in the node.
    if wanted.intersects(OF_NODE) || wanted.contains(SUPPORTED_ATTRS) {
        facts.node = Some(known.map_or_else(|| of(compound, node), |known| Ok(known.attributes))?);
    }
    if wanted.contains(MOUNTED_ON_FILEID) {
        facts.is_junction = known.map_or_else(|| is_junction(node, &facts.node), |known| known.is_junction);
    }
    if wanted.intersects(Space::ALL) {
        facts.space = Some(space(node)?);
    }
    if wanted.intersects(OF_LIMITS) || wanted.contains(CLONE_BLKSIZE) {
        facts.limits = Some(limits(node)?);
    }
    if wanted.contains(FILEHANDLE) {
        facts.handle = Some(compound.seal(node));
    }
    Ok(facts.write(compound, node, wanted, encoder))
}

/// The attributes of a node.
///
/// # Errors
/// What its file system says.
pub fn of(compound: &Compound<'_>, node: &CurrentNode<'_>) -> Result<Attributes, Status> {
    match node {
        CurrentNode::Exported(object) => object.attributes(),
        CurrentNode::Pseudo(directory) => Ok(of_pseudo(compound, *directory)),
    }
}

/// What had to be asked for.
#[derive(Default)]
struct Facts {
    node: Option<Attributes>,
    is_junction: bool,
    space: Option<Statistics>,
    limits: Option<Limits>,
    handle: Option<SealedHandle>,
}

impl Facts {
    fn write(
        &self,
        compound: &Compound<'_>,
        node: &CurrentNode<'_>,
        wanted: Bitmap,
        encoder: &mut Encoder<'_>,
    ) -> Bitmap {
        let [owner, group] = self.node.map_or([0; 2], |node| [node.user, node.group]).map(Decimal::of);
        let mut values = wire::Attributes::default();
        if wanted.intersects(OF_SERVER | OF_MINOR_2) {
            fill_of_server(&mut values, compound, node);
        }
        if let Some(attributes) = &self.node {
            fill(&mut values, attributes);
            values.permissions.owner = Some(owner.as_wire());
            values.permissions.group = Some(group.as_wire());
            values.identity.file_system = Some(file_system(node, attributes));
            values.identity.mounted_on_file = Some(mounted_on(compound, node, attributes, self.is_junction));
        }
        if let Some(space) = &self.space {
            values.space = told_space(space);
        }
        if let Some(limits) = &self.limits {
            fill_limits(&mut values, limits);
            let lacking = |lacks, attribute| if lacks { Bitmap::of(&[attribute]) } else { Bitmap::default() };
            let no_birth = self.node.is_none_or(|node| node.created.is_none());
            let own = supported(compound.minor_version).without(lacking(no_birth, TIME_CREATE));
            values.support.attributes =
                Some(own.without(lacking(limits.clone_block.is_none(), CLONE_BLKSIZE)));
        }
        values.identity.handle = self.handle.as_ref().map(|sealed| FileHandle(sealed.as_wire().0));
        // What is wanted is there, but for what the file system lacks: no need to count it first.
        wire::write(encoder, wanted, |number, encoder| values.put(number, encoder))
    }
}

fn fill(values: &mut wire::Attributes<'_>, attributes: &Attributes) {
    values.identity.kind = Some(convert::file_type(attributes.kind));
    values.identity.file = Some(attributes.file);
    values.identity.device = Some(convert::device(attributes.device));
    values.content = Content {
        change: Some(attributes.change),
        size: Some(attributes.size),
        links: Some(attributes.links),
        used: Some(attributes.used),
        freed: None,
    };
    values.permissions.mode = Some(attributes.mode);
    values.times.accessed = Some(convert::time(attributes.accessed));
    values.times.changed = Some(convert::time(attributes.changed));
    values.times.modified = Some(convert::time(attributes.modified));
    values.times.created = attributes.created.map(convert::time);
}

fn fill_limits(values: &mut wire::Attributes<'_>, limits: &Limits) {
    values.support.hard_links = Some(limits.hard_links);
    values.support.symbolic_links = Some(limits.symbolic_links);
    values.support.case_insensitive = Some(limits.case_insensitive);
    values.support.case_preserving = Some(limits.case_preserving);
    values.support.chown_restricted = Some(limits.chown_restricted);
    values.limits.file_size = Some(limits.largest_file);
    values.limits.links = Some(limits.most_links);
    values.limits.name = Some(limits.longest_name);
    values.limits.clone_block = limits.clone_block;
    let step = limits.time_step_nanoseconds;
    values.limits.time_step =
        Some(Time { seconds: i64::from(step / 1_000_000_000), nanoseconds: step % 1_000_000_000 });
}

fn fill_of_server(values: &mut wire::Attributes<'_>, compound: &Compound<'_>, node: &CurrentNode<'_>) {
    values.support.handle_expiry = Some(0);
    values.support.named_attributes = Some(false);
    values.support.unique_handles = Some(true);
    values.support.acl_kinds = Some(0);
    values.support.can_set_time = Some(true);
    values.support.homogeneous = Some(true);
    values.support.no_truncation = Some(true);
    values.support.exclusive_attributes = Some(exclusive(compound.minor_version));
    values.support.change_kind = Some(ChangeKind::Undefined);
    let has_xattrs = matches!(node, CurrentNode::Exported(object) if object.xattrs().is_ok());
    values.support.extended_attributes = Some(has_xattrs);
    values.identity.error = Some(Status::OK);
    values.limits.lease_seconds = Some(compound.nfs4.lease_seconds());
    values.limits.read = Some(TRANSFER_MAX as u64);
    values.limits.write = Some(TRANSFER_MAX as u64);
}

fn told_space(space: &Statistics) -> Space {
    Space {
        files_available: Some(space.available_files),
        files_free: Some(space.free_files),
        files_total: Some(space.total_files),
        bytes_available: Some(space.available_bytes),
        bytes_free: Some(space.free_bytes),
        bytes_total: Some(space.total_bytes),
    }
}

fn file_system(node: &CurrentNode<'_>, attributes: &Attributes) -> FileSystemId {
    let major = match node {
        CurrentNode::Exported(object) => object.export().visible_file_system(attributes.file_system),
        CurrentNode::Pseudo(_) => attributes.file_system,
    };
    FileSystemId { major, minor: 0 }
}

/// The number of the node that a root covers, and of the node itself elsewhere.
fn mounted_on(
    compound: &Compound<'_>,
    node: &CurrentNode<'_>,
    attributes: &Attributes,
    is_junction: bool,
) -> u64 {
    let covered = |object: &ExportedNode<'_>| {
        let tree = compound.tree();
        object.is_root().then(|| tree.covered_by(object.export().id())).flatten().map(|at| tree.file(at))
    };
    match node {
        CurrentNode::Exported(object) => covered(object).unwrap_or_else(|| match is_junction {
            true => number_covered(attributes),
            false => attributes.file,
        }),
        CurrentNode::Pseudo(_) => attributes.file,
    }
}

/// The number of what the root of another file system inside of an export covers. Its own is that of other roots, too, of the one
/// above for example, and clients would take the two directories for one. What is really there cannot be looked at, and a subvolume
/// covers nothing: so it is a number that no file system gives to its files, and always the same.
fn number_covered(root: &Attributes) -> u64 {
    spread(root.file_system ^ root.file.rotate_left(32)) | 1 << 63
}

fn is_junction(node: &CurrentNode<'_>, attributes: &Option<Attributes>) -> bool {
    let is_directory = attributes.is_some_and(|attributes| attributes.kind == FileKind::Directory);
    matches!(node, CurrentNode::Exported(object) if is_directory && object.file_system.is_junction(&object.handle))
}

fn space(node: &CurrentNode<'_>) -> Result<Statistics, Status> {
    match node {
        CurrentNode::Exported(object) => {
            object.file_system.statistics(&object.caller, &object.handle).map_err(convert::status)
        }
        CurrentNode::Pseudo(_) => Ok(Statistics {
            total_bytes: 0,
            free_bytes: 0,
            available_bytes: 0,
            total_files: 0,
            free_files: 0,
            available_files: 0,
        }),
    }
}

fn limits(node: &CurrentNode<'_>) -> Result<Limits, Status> {
    match node {
        CurrentNode::Exported(object) => {
            object.file_system.limits(&object.caller, &object.handle).map_err(convert::status)
        }
        CurrentNode::Pseudo(_) => Ok(Limits {
            largest_file: i64::MAX as u64,
            longest_name: 255,
            most_links: 1,
            time_step_nanoseconds: 1,
            hard_links: true,
            symbolic_links: true,
            chown_restricted: true,
            case_insensitive: false,
            case_preserving: true,
            parallel_writes: false,
            passes_files: false,
            clone_block: None,
        }),
    }
}

/// A pseudo directory may be searched and listed by everybody, and is the superuser's.
fn of_pseudo(compound: &Compound<'_>, directory: PseudoDirectory) -> Attributes {
    let tree = compound.tree();
    Attributes {
        change: tree.made().as_change(),
        kind: FileKind::Directory,
        mode: 0o555,
        links: tree.links(directory),
        user: 0,
        group: 0,
        size: 0,
        used: 0,
        device: howdah_vfs::DeviceNumber::default(),
        // Of no export: theirs are made of their ids, which begin with 1.
        file_system: spread(0),
        file: tree.file(directory),
        // A reload changes it, so clients drop their cached listings.
        accessed: tree.made(),
        modified: tree.made(),
        changed: tree.made(),
        created: None,
    }
}
