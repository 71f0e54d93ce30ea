//! Whose files are at the destination: an earlier copy is resumed only if nobody else can have put it there.

use std::sync::OnceLock;

use howdah_vfs::{Attributes, FileKind, Handle, NewAttributes, Result};

use super::{Side, naming};

/// The user that owns files made by this copy, once it is known: a server may take the caller for another user.
#[derive(Debug, Default)]
pub(super) struct Ownership {
    user: OnceLock<u32>,
}

impl Ownership {
    /// Why a file is not resumed, if it is not this copy's own alone.
    pub(super) fn objection(
        &self,
        side: &Side,
        id: u64,
        directory: &Handle,
        file: &Attributes,
    ) -> Result<Option<&'static str>> {
        Ok(match file {
            Attributes { kind, .. } if *kind != FileKind::Regular => {
                Some("its partial copy is no regular file")
            }
            Attributes { links, .. } if *links != 1 => Some("its partial copy has another name"),
            Attributes { user, .. } if *user != self.user(side, id, directory)? => {
                Some("its partial copy belongs to another user")
            }
            _ => None,
        })
    }

    /// Makes a file to see whose it is. Its name follows from the copy, so that a copy that is killed here finds it again.
    fn user(&self, side: &Side, id: u64, directory: &Handle) -> Result<u32> {
        if let Some(user) = self.user.get() {
            return Ok(*user);
        }
        let name = naming::probe(id);
        let made = side.create_afresh(directory, &name, NewAttributes::with_mode(0o600))?;
        side.remove(directory, &name)?;
        Ok(*self.user.get_or_init(|| made.attributes.user))
    }
}
