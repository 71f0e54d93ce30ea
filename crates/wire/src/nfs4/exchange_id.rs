//! EXCHANGE_ID (RFC 8881 18.35): client and server get to know each other.

use super::{Bitmap, ClientId, Opaque, Time, Verifier};
use crate::limits::ITEMS4_MAX;
use crate::message::message;
use crate::xdr::{Array, Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

/// Number of the operation.
pub const OPERATION: u32 = 42;

/// Flag: the client follows referrals (`EXCHGID4_FLAG_SUPP_MOVED_REFER`).
pub const FOLLOWS_REFERRALS: u32 = 0x0000_0001;
/// Flag: the client follows file systems that move (`EXCHGID4_FLAG_SUPP_MOVED_MIGR`).
pub const FOLLOWS_MIGRATION: u32 = 0x0000_0002;
/// Flag: fencing operations (`EXCHGID4_FLAG_SUPP_FENCE_OPS`, RFC 7862 14.1).
pub const FENCING: u32 = 0x0000_0004;
/// Flag: states are bound to the principal (`EXCHGID4_FLAG_BIND_PRINC_STATEID`).
pub const BIND_PRINCIPAL: u32 = 0x0000_0100;
/// Flag: no pNFS (`EXCHGID4_FLAG_USE_NON_PNFS`).
pub const WITHOUT_PNFS: u32 = 0x0001_0000;
/// Flag: metadata server of pNFS (`EXCHGID4_FLAG_USE_PNFS_MDS`).
pub const PNFS_METADATA: u32 = 0x0002_0000;
/// Flag: data server of pNFS (`EXCHGID4_FLAG_USE_PNFS_DS`).
pub const PNFS_DATA: u32 = 0x0004_0000;
/// Flag of a call: a confirmed record is to be updated (`EXCHGID4_FLAG_UPD_CONFIRMED_REC_A`).
pub const UPDATE: u32 = 0x4000_0000;
/// Flag of a result: the record is confirmed (`EXCHGID4_FLAG_CONFIRMED_R`).
pub const CONFIRMED: u32 = 0x8000_0000;
/// The flags that a call may have; others are NFS4ERR_INVAL.
pub const OF_CALLS: u32 = FOLLOWS_REFERRALS
    | FOLLOWS_MIGRATION
    | FENCING
    | BIND_PRINCIPAL
    | WITHOUT_PNFS
    | PNFS_METADATA
    | PNFS_DATA
    | UPDATE;

message! {
    /// The program on one side (`nfs_impl_id4`): for people to read.
    pub struct Implementation<'a> {
        /// The domain of who made it.
        pub domain: Opaque<'a>,
        /// Name and version.
        pub name: Opaque<'a>,
        /// When it was made.
        pub date: Time,
    }
}

message! {
    /// Who the client is (`client_owner4`).
    pub struct ClientOwner<'a> {
        /// Another one after the client restarted.
        pub verifier: Verifier,
        /// Stays the same.
        pub owner: Opaque<'a>,
    }
}

message! {
    /// Who the server is (`server_owner4`): connections to the same major and minor are to one server and can share a session.
    pub struct ServerOwner<'a> {
        /// `so_minor_id`
        pub minor: u64,
        /// `so_major_id`
        pub major: Opaque<'a>,
    }
}

message! {
    /// Operations, as sets of their numbers (`state_protect_ops4`).
    #[derive(Default)]
    pub struct ProtectedOperations {
        /// Those that must come with the protecting credentials.
        pub enforced: Bitmap,
        /// Those that may.
        pub allowed: Bitmap,
    }
}

message! {
    /// What a client wants of a secret state verifier (`ssv_sp_parms4`).
    pub struct SecretParameters<'a> {
        /// Which operations it protects.
        pub operations: ProtectedOperations,
        /// Hash algorithms, as object identifiers.
        pub hashes: Array<'a, Opaque<'a>, ITEMS4_MAX>,
        /// Encryption algorithms, as object identifiers.
        pub ciphers: Array<'a, Opaque<'a>, ITEMS4_MAX>,
        /// How many versions of the verifier are kept.
        pub window: u32,
        /// How many contexts of RPCSEC_GSS.
        pub contexts: u32,
    }
}

message! {
    /// What a server grants of it (`ssv_prot_info4`).
    pub struct SecretGrant<'a> {
        /// Which operations it protects.
        pub operations: ProtectedOperations,
        /// Index of the hash algorithm.
        pub hash: u32,
        /// Index of the encryption algorithm.
        pub cipher: u32,
        /// Length of the verifier in bytes.
        pub length: u32,
        /// How many versions of the verifier are kept.
        pub window: u32,
        /// Contexts of RPCSEC_GSS.
        pub contexts: Array<'a, Opaque<'a>, ITEMS4_MAX>,
    }
}

/// How the client's states are protected (`state_protect4_a` with `S` = [`SecretParameters`], `state_protect4_r` with
/// [`SecretGrant`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection<S> {
    /// `SP4_NONE`
    None,
    /// `SP4_MACH_CRED`: by the credentials of this call.
    Machine(ProtectedOperations),
    /// `SP4_SSV`: by a secret.
    Secret(S),
}

message! {
    /// Arguments of EXCHANGE_ID (`EXCHANGE_ID4args`).
    pub struct Arguments<'a> {
        /// Who the client is.
        pub owner: ClientOwner<'a>,
        /// A set of the flags above.
        pub flags: u32,
        /// How its states are to be protected.
        pub protection: Protection<SecretParameters<'a>>,
        /// Which program it is.
        pub implementation: Option<Implementation<'a>>,
    }
}

message! {
    /// Result of an EXCHANGE_ID that went well (`EXCHANGE_ID4resok`).
    pub struct Success<'a> {
        /// The client, from now on.
        pub client: ClientId,
        /// For its first CREATE_SESSION.
        pub sequence: u32,
        /// A set of the flags above.
        pub flags: u32,
        /// How its states are protected.
        pub protection: Protection<SecretGrant<'a>>,
        /// Who the server is.
        pub owner: ServerOwner<'a>,
        /// Servers of one scope know each other's clients and states.
        pub scope: Opaque<'a>,
        /// Which program it is.
        pub implementation: Option<Implementation<'a>>,
    }
}

impl<'a, S: Decode<'a>> Decode<'a> for Protection<S> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(match decoder.u32("state protection")? {
            0 => Self::None,
            1 => Self::Machine(ProtectedOperations::decode(decoder)?),
            2 => Self::Secret(S::decode(decoder)?),
            other => return Err(decoder.refuse("state protection", 4, DecodeProblem::UnknownValue(other))),
        })
    }
}

impl<S: Encode> Encode for Protection<S> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match self {
            Self::None => encoder.u32(0),
            Self::Machine(operations) => {
                encoder.u32(1);
                operations.encode(encoder);
            }
            Self::Secret(secret) => {
                encoder.u32(2);
                secret.encode(encoder);
            }
        }
    }
}
