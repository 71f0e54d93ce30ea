//! Who may do what.

use super::group::group;
use crate::limits::{OPAQUE4_MAX, SECURITY_LABEL_MAX};
use crate::message::{message, opaque};

opaque! {
    /// A user or a group (`utf8str_mixed`): `name@domain`, or a number in decimal (RFC 8881 5.9).
    pub struct Principal, OPAQUE4_MAX, "owner";

    /// A label's data (`slai_data`).
    pub struct LabelData, SECURITY_LABEL_MAX, "security label";
}

message! {
    /// A label of mandatory access control (`sec_label4`, RFC 7862 12.2.4).
    pub struct SecurityLabel<'a> {
        /// Its format (`slai_lfs.lfs_lfs`).
        pub format: u32,
        /// Its policy (`slai_lfs.lfs_pi`).
        pub policy: u32,
        /// The label.
        pub label: LabelData<'a>,
    }
}

message! {
    /// Some of the mode bits to set (`mode_masked4`).
    pub struct MaskedMode {
        /// Their values (`mm_value_to_set`).
        pub value: u32,
        /// Which (`mm_mask_bits`).
        pub mask: u32,
    }
}

message! {
    /// A mode for a new node, with the mask that applies where no default ACL does (`mode_umask4`, RFC 8275 4).
    pub struct ModeAndMask {
        /// `mu_mode`
        pub mode: u32,
        /// `mu_umask`
        pub mask: u32,
    }
}

group! {
    /// Who may do what (RFC 8881 5.8, 6.2).
    pub struct Permissions<'a> {
        /// Permission bits (`mode`).
        pub mode: u32 = MODE(33),
        /// Owner (`owner`).
        pub owner: Principal<'a> = OWNER(36),
        /// Group (`owner_group`).
        pub group: Principal<'a> = OWNER_GROUP(37),
        /// Some of the mode bits; only set, never read (`mode_set_masked`).
        pub masked_mode: MaskedMode = MODE_SET_MASKED(74),
        /// Label of mandatory access control (`sec_label`).
        pub label: SecurityLabel<'a> = SEC_LABEL(80),
        /// Mode and mask of a new node; only set, never read (`mode_umask`).
        pub mode_and_mask: ModeAndMask = MODE_UMASK(81),
    }
}
