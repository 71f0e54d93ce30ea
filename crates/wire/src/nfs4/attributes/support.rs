//! What a server and a file system can do.

use super::group::group;
use crate::limits::ITEMS4_MAX;
use crate::message::{enumeration, message, newtype};
use crate::nfs4::Bitmap;
use crate::xdr::Array;

newtype! {
    /// A kind of layout of pNFS (`layouttype4`).
    pub struct LayoutType(pub u32), "layout type";
}

enumeration! {
    /// How the attribute `change` comes about (`change_attr_type4`, RFC 7862 12.2.3).
    pub enum ChangeKind, "kind of change attribute" {
        /// `NFS4_CHANGE_TYPE_IS_MONOTONIC_INCR`
        Monotonic = 0,
        /// `NFS4_CHANGE_TYPE_IS_VERSION_COUNTER`
        Counter = 1,
        /// `NFS4_CHANGE_TYPE_IS_VERSION_COUNTER_NOPNFS`
        CounterWithoutLayouts = 2,
        /// `NFS4_CHANGE_TYPE_IS_TIME_METADATA`
        TimeMetadata = 3,
        /// `NFS4_CHANGE_TYPE_IS_UNDEFINED`
        Undefined = 4,
    }
}

message! {
    /// What a server takes in OPEN (`open_arguments4`, RFC 9754): the set bits of each argument, by their numbers.
    #[derive(Default)]
    pub struct OpenArguments {
        /// `oa_share_access`
        pub access: Bitmap,
        /// `oa_share_deny`
        pub deny: Bitmap,
        /// `oa_share_access_want`
        pub want: Bitmap,
        /// `oa_open_claim`
        pub claim: Bitmap,
        /// `oa_create_mode`
        pub how: Bitmap,
    }
}

group! {
    /// What a server and a file system can do (RFC 8881 5.8).
    pub struct Support<'a> {
        /// The attributes that it has (`supported_attrs`).
        pub attributes: Bitmap = SUPPORTED_ATTRS(0),
        /// When handles expire: 0 for never (`fh_expire_type`).
        pub handle_expiry: u32 = FH_EXPIRE_TYPE(2),
        /// Hard links (`link_support`).
        pub hard_links: bool = LINK_SUPPORT(5),
        /// Symbolic links (`symlink_support`).
        pub symbolic_links: bool = SYMLINK_SUPPORT(6),
        /// Whether the node has named attributes (`named_attr`).
        pub named_attributes: bool = NAMED_ATTR(7),
        /// Whether two handles are never of one node (`unique_handles`).
        pub unique_handles: bool = UNIQUE_HANDLES(9),
        /// Kinds of entries in ACLs (`aclsupport`).
        pub acl_kinds: u32 = ACLSUPPORT(13),
        /// Whether times can be set (`cansettime`).
        pub can_set_time: bool = CANSETTIME(15),
        /// Whether names that differ in case are one name (`case_insensitive`).
        pub case_insensitive: bool = CASE_INSENSITIVE(16),
        /// Whether the case of names is kept (`case_preserving`).
        pub case_preserving: bool = CASE_PRESERVING(17),
        /// Whether only a superuser changes owners (`chown_restricted`).
        pub chown_restricted: bool = CHOWN_RESTRICTED(18),
        /// Whether all nodes of the file system have the same of these (`homogeneous`).
        pub homogeneous: bool = HOMOGENEOUS(26),
        /// Whether too long a name is refused, not cut (`no_trunc`).
        pub no_truncation: bool = NO_TRUNC(34),
        /// Kinds of layouts (`fs_layout_types`).
        pub layouts: Array<'a, LayoutType, ITEMS4_MAX> = FS_LAYOUT_TYPES(62),
        /// The attributes that OPEN with EXCLUSIVE4_1 sets (`suppattr_exclcreat`).
        pub exclusive_attributes: Bitmap = SUPPATTR_EXCLCREAT(75),
        /// What is demanded of the encoding of names (`fs_charset_cap`).
        pub character_sets: u32 = FS_CHARSET_CAP(76),
        /// How `change` comes about (`change_attr_type`).
        pub change_kind: ChangeKind = CHANGE_ATTR_TYPE(79),
        /// Extended attributes (`xattr_support`, RFC 8276).
        pub extended_attributes: bool = XATTR_SUPPORT(82),
        /// What OPEN takes (`open_arguments`, RFC 9754).
        pub open_arguments: OpenArguments = OPEN_ARGUMENTS(86),
    }
}
