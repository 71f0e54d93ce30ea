//! Whether a change of attributes took place.

use howdah_vfs::{Attributes, NewAttributes, SetTime, Timestamp};

/// Whether a node is as it was to be set.
pub(crate) fn has_been_set(now: &Attributes, new: &NewAttributes) -> bool {
    let time = |now: Timestamp, set: SetTime| match set {
        SetTime::To(time) => now == time,
        SetTime::Keep | SetTime::Now => true,
    };
    new.mode.is_none_or(|mode| now.mode == mode)
        && new.user.is_none_or(|user| now.user == user)
        && new.group.is_none_or(|group| now.group == group)
        && new.size.is_none_or(|size| now.size == size)
        && time(now.accessed, new.accessed)
        && time(now.modified, new.modified)
}
