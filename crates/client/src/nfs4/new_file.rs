//! How a file is made: what OPEN takes, and what is set next.

use howdah_vfs::{Attributes, Create, NewAttributes, SetTime};
use howdah_wire::nfs4::attributes as wire;
use howdah_wire::nfs4::{Bitmap, Verifier, open};

use super::convert::ToSet;
use super::set_attributes::SETTABLE;

/// A file that is to be made.
pub(super) struct NewFile {
    kind: Kind,
    /// What OPEN sets.
    at_once: ToSet,
    /// What is set next, in the same compound.
    then: ToSet,
    /// Whether the server keeps the verifier in the times.
    hides_times: bool,
}

enum Kind {
    Unchecked,
    Guarded,
    Exclusive([u8; 8]),
}

impl NewFile {
    /// `exclusive`: what an exclusive OPEN of this server sets.
    pub(super) fn of(how: &Create, exclusive: Bitmap) -> Self {
        match how {
            Create::Unchecked(new) => Self::plain(Kind::Unchecked, new),
            Create::Guarded(new) => Self::plain(Kind::Guarded, new),
            Create::Exclusive(verifier) => Self {
                kind: Kind::Exclusive(*verifier),
                at_once: ToSet::default(),
                then: ToSet::default(),
                hides_times: true,
            },
            Create::ExclusiveWith(verifier, new) => {
                // The times hold the verifier until they are set.
                let now = |time| if time == SetTime::Keep { SetTime::Now } else { time };
                let times =
                    NewAttributes { accessed: now(new.accessed), modified: now(new.modified), ..*new };
                Self {
                    kind: Kind::Exclusive(*verifier),
                    at_once: ToSet::new(new, SETTABLE & exclusive),
                    then: ToSet::new(&times, SETTABLE.without(exclusive)),
                    hides_times: false,
                }
            }
        }
    }

    /// OPEN cuts a file, and does not make it longer. What does changes the times, too.
    fn plain(kind: Kind, new: &NewAttributes) -> Self {
        let with_length = Bitmap::of(&[wire::SIZE, wire::TIME_ACCESS_SET, wire::TIME_MODIFY_SET]);
        let is_longer = new.size.is_some_and(|size| size > 0);
        let then = if is_longer { with_length } else { Bitmap::NONE };
        Self {
            kind,
            at_once: ToSet::new(new, SETTABLE.without(then)),
            then: ToSet::new(new, then),
            hides_times: false,
        }
    }

    /// As OPEN takes it.
    pub(super) fn how(&self) -> open::How<'_> {
        let values = self.at_once.as_wire();
        match self.kind {
            Kind::Unchecked => open::How::Unchecked(values),
            Kind::Guarded => open::How::Guarded(values),
            Kind::Exclusive(verifier) => open::How::ExclusiveWith(Verifier(verifier), values),
        }
    }

    /// What is set next.
    pub(super) fn to_set(&self) -> &ToSet {
        &self.then
    }

    /// Whether there was no such file before.
    pub(super) fn is_new(&self) -> bool {
        !matches!(self.kind, Kind::Unchecked)
    }

    /// The attributes of the file, as its user is to see them.
    pub(super) fn seen(&self, attributes: Attributes) -> Attributes {
        if !self.hides_times {
            return attributes;
        }
        let changed = attributes.changed;
        Attributes { accessed: changed, modified: changed, ..attributes }
    }
}
