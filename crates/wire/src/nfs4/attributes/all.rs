//! All groups of attributes together.

use super::content::Content;
use super::identity::Identity;
use super::limits::Limits;
use super::permissions::Permissions;
use super::space::Space;
use super::support::Support;
use super::times::Times;
use super::writing;
use crate::nfs4::Bitmap;
use crate::xdr::{DecodeError, DecodeProblem, Decoder, Encoder};

/// The values of attributes: those that are present. A server fills the groups that were asked for, a client those that it
/// sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attributes<'a> {
    /// Which node it is, and of what kind.
    pub identity: Identity<'a>,
    /// What changes with its data and names.
    pub content: Content,
    /// Who may do what.
    pub permissions: Permissions<'a>,
    /// When it was used and changed.
    pub times: Times,
    /// How full its file system is.
    pub space: Space,
    /// Sizes and times that its file system keeps to.
    pub limits: Limits,
    /// What its file system can do.
    pub support: Support<'a>,
}

impl<'a> Attributes<'a> {
    /// All attributes that have a place here.
    pub const ALL: Bitmap = Identity::ALL
        .union(Content::ALL)
        .union(Permissions::ALL)
        .union(Times::ALL)
        .union(Space::ALL)
        .union(Limits::ALL)
        .union(Support::ALL);

    /// The attributes that have a value.
    pub fn present(&self) -> Bitmap {
        self.identity.present()
            | self.content.present()
            | self.permissions.present()
            | self.times.present()
            | self.space.present()
            | self.limits.present()
            | self.support.present()
    }

    /// Writes the value of an attribute; returns whether there is one.
    pub fn put(&self, number: u32, encoder: &mut Encoder<'_>) -> bool {
        self.identity.put(number, encoder)
            || self.content.put(number, encoder)
            || self.permissions.put(number, encoder)
            || self.times.put(number, encoder)
            || self.space.put(number, encoder)
            || self.limits.put(number, encoder)
            || self.support.put(number, encoder)
    }

    /// Writes those of the attributes that are wanted and have a value, with the set of them before (`fattr4`). Gives the set.
    pub fn write(&self, encoder: &mut Encoder<'_>, wanted: Bitmap) -> Bitmap {
        writing::write(encoder, wanted & self.present(), |number, encoder| self.put(number, encoder))
    }

    /// Reads the value of an attribute.
    pub(super) fn get(&mut self, number: u32, decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        let is_known = self.identity.get(number, decoder)?
            || self.content.get(number, decoder)?
            || self.permissions.get(number, decoder)?
            || self.times.get(number, decoder)?
            || self.space.get(number, decoder)?
            || self.limits.get(number, decoder)?
            || self.support.get(number, decoder)?;
        if is_known {
            return Ok(());
        }
        Err(decoder.refuse("attribute", 0, DecodeProblem::UnknownValue(number)))
    }
}
