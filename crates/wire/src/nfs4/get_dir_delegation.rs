//! GET_DIR_DELEGATION (RFC 8881 18.39): asks for a delegation of the current directory, with notifications of changes or without.

use super::attributes as its;
use super::{Bitmap, StateId, Time, Verifier};
use crate::message::message;
use crate::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

/// Number of the operation.
pub const OPERATION: u32 = 46;

/// `GDD4_OK`
const GRANTED: u32 = 0;
/// `GDD4_UNAVAIL`
const UNAVAILABLE: u32 = 1;

/// Attributes of entries changed (`NOTIFY4_CHANGE_CHILD_ATTRS`). A server that grants this tells of such changes, or recalls the delegation
/// in place of telling.
pub const CHANGE_CHILD_ATTRIBUTES: u32 = 0;

/// What any change of a node changes, as far as it is not read alone.
pub const CHILD_ATTRIBUTES: Bitmap = Bitmap::of(&[
    its::TYPE,
    its::CHANGE,
    its::SIZE,
    its::MODE,
    its::NUMLINKS,
    its::OWNER,
    its::OWNER_GROUP,
    its::SPACE_USED,
    its::TIME_METADATA,
    its::TIME_MODIFY,
]);

message! {
    /// Arguments of GET_DIR_DELEGATION (`GET_DIR_DELEGATION4args`).
    pub struct Arguments {
        /// Whether the server calls when one can be had (CB_RECALLABLE_OBJ_AVAIL).
        pub signal: bool,
        /// Changes that the client wants to hear of. For all others the delegation is recalled.
        pub notifications: Bitmap,
        /// How long changes of attributes of entries may be held back.
        pub child_delay: Time,
        /// And those of the directory itself.
        pub directory_delay: Time,
        /// Attributes of entries that it wants to hear of.
        pub child_attributes: Bitmap,
        /// And of the directory itself.
        pub directory_attributes: Bitmap,
    }
}

impl Arguments {
    /// Any change of the directory is to recall the delegation, and of its entries' attributes, too, or be told.
    pub const WITH_CHILDREN: Self = Self {
        notifications: Bitmap::of(&[CHANGE_CHILD_ATTRIBUTES]),
        child_attributes: CHILD_ATTRIBUTES,
        ..Self::WITHOUT_NOTIFICATIONS
    };

    /// Any change of the directory is to recall the delegation.
    pub const WITHOUT_NOTIFICATIONS: Self = Self {
        signal: false,
        notifications: Bitmap::NONE,
        child_delay: Time { seconds: 0, nanoseconds: 0 },
        directory_delay: Time { seconds: 0, nanoseconds: 0 },
        child_attributes: Bitmap::NONE,
        directory_attributes: Bitmap::NONE,
    };
}

message! {
    /// A delegation of a directory (`GET_DIR_DELEGATION4resok`).
    pub struct DirectoryDelegation {
        /// Of the cookies of its listing.
        pub cookie_verifier: Verifier,
        /// The delegation.
        pub state: StateId,
        /// What the client will hear of.
        pub notifications: Bitmap,
        /// Attributes of entries that it will hear of.
        pub child_attributes: Bitmap,
        /// And of the directory itself.
        pub directory_attributes: Bitmap,
    }
}

impl DirectoryDelegation {
    /// Whether the client hears of any change of attributes of entries.
    pub fn covers_children(&self) -> bool {
        self.notifications.contains(CHANGE_CHILD_ATTRIBUTES)
            && self.child_attributes & CHILD_ATTRIBUTES == CHILD_ATTRIBUTES
    }
}

/// Result of a GET_DIR_DELEGATION that went well (`GET_DIR_DELEGATION4res_non_fatal`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Success {
    /// There is one.
    Granted(DirectoryDelegation),
    /// There is none now; whether the server will call when there may be.
    Unavailable {
        /// It will.
        signal: bool,
    },
}

impl Decode<'_> for Success {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(match decoder.u32("whether there is a delegation")? {
            GRANTED => Self::Granted(DirectoryDelegation::decode(decoder)?),
            UNAVAILABLE => Self::Unavailable { signal: decoder.bool("signal")? },
            other => {
                let problem = DecodeProblem::UnknownValue(other);
                return Err(decoder.refuse("whether there is a delegation", 4, problem));
            }
        })
    }
}

impl Encode for Success {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match self {
            Self::Granted(granted) => {
                encoder.u32(GRANTED);
                granted.encode(encoder);
            }
            Self::Unavailable { signal } => {
                encoder.u32(UNAVAILABLE);
                encoder.bool(*signal);
            }
        }
    }
}
