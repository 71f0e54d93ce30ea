//! Attributes that programs have set on a file, and that the server has not got yet.

use std::sync::Arc;

use howdah_vfs::{Attributes, Caller, NewAttributes, SetTime};
use parking_lot::{Condvar, Mutex};

use crate::refused::Answer;

/// Bits of a mode beside permissions.
const SPECIAL: u32 = 0o7000;

/// What is not set yet.
#[derive(Default)]
pub struct Unset {
    /// A call that sets some of them is under way.
    call: Option<Arc<SettingCall>>,
    /// What is to be set when the file is closed, and as whom.
    later: Option<(Caller, NewAttributes)>,
}

/// A call that sets attributes while others go on.
pub struct SettingCall {
    new: NewAttributes,
    outcome: Mutex<Option<Answer<Option<Attributes>>>>,
    over: Condvar,
}

impl SettingCall {
    /// A call that is about to be made.
    pub fn new(new: NewAttributes) -> Arc<Self> {
        Arc::new(Self { new, outcome: Mutex::default(), over: Condvar::new() })
    }

    /// It is over: what the file is like then, if the server said so.
    pub fn end(&self, outcome: Answer<Option<Attributes>>) {
        self.outcome.lock().get_or_insert(outcome);
        self.over.notify_all();
    }

    /// Waits until it is over.
    pub fn wait(&self) -> Answer<Option<Attributes>> {
        let mut outcome = self.outcome.lock();
        loop {
            match *outcome {
                Some(outcome) => return outcome,
                None => self.over.wait(&mut outcome),
            }
        }
    }
}

impl Unset {
    /// A file that was just made gets its attributes by that call.
    pub fn by(call: Arc<SettingCall>) -> Self {
        Self { call: Some(call), later: None }
    }

    /// Whether there is anything.
    pub fn is_empty(&self) -> bool {
        self.call.is_none() && self.later.is_none()
    }

    /// The attributes as programs see them.
    pub fn shown(&self, mut attributes: Attributes) -> Attributes {
        if let Some(call) = &self.call
            && call.outcome.lock().is_none()
        {
            attributes = applied(&call.new, attributes);
        }
        match &self.later {
            Some((_, new)) => applied(new, attributes),
            None => attributes,
        }
    }

    /// Whether a change can wait until the file is closed: it takes nothing from anybody until then. `shown` is what the file is like.
    pub fn may_wait(new: &NewAttributes, shown: &Attributes) -> bool {
        let only_adds = |mode: u32| mode & SPECIAL == 0 && shown.mode & !mode == 0;
        new.size.is_none()
            && new.mode.is_none_or(only_adds)
            && new.user.is_none_or(|user| user == shown.user)
            && new.group.is_none_or(|group| group == shown.group)
            && new.accessed != SetTime::Now
            && new.modified != SetTime::Now
    }

    /// Adds a change to those that wait.
    pub fn set_later(&mut self, caller: &Caller, new: &NewAttributes) {
        let (_, later) = self.later.get_or_insert_with(|| (caller.clone(), NewAttributes::default()));
        later.mode = new.mode.or(later.mode);
        later.user = new.user.or(later.user);
        later.group = new.group.or(later.group);
        let time = |new: SetTime, old: SetTime| if new == SetTime::Keep { old } else { new };
        later.accessed = time(new.accessed, later.accessed);
        later.modified = time(new.modified, later.modified);
    }

    /// Data is written: that changes the time of modification after it was set.
    pub fn wrote(&mut self) {
        if let Some((_, later)) = &mut self.later {
            later.modified = SetTime::Keep;
        }
    }

    /// The call under way, and what waits, to be done now.
    pub fn take(&mut self) -> (Option<Arc<SettingCall>>, Option<(Caller, NewAttributes)>) {
        (self.call.clone(), self.later.clone())
    }

    /// All of that was done.
    pub fn done(&mut self) {
        *self = Self::default();
    }
}

fn applied(new: &NewAttributes, attributes: Attributes) -> Attributes {
    // Now is when the file was changed last: it was just made.
    let time = |set: SetTime, was| match set {
        SetTime::Keep => was,
        SetTime::Now => attributes.changed,
        SetTime::To(time) => time,
    };
    Attributes {
        mode: new.mode.unwrap_or(attributes.mode),
        user: new.user.unwrap_or(attributes.user),
        group: new.group.unwrap_or(attributes.group),
        accessed: time(new.accessed, attributes.accessed),
        modified: time(new.modified, attributes.modified),
        ..attributes
    }
}

#[cfg(test)]
mod tests {
    use howdah_vfs::memory::MemoryFileSystem;
    use howdah_vfs::{FileSystem, Timestamp};

    use super::*;

    fn attributes() -> Attributes {
        let memory = MemoryFileSystem::new();
        let root = memory.attributes(&Caller::ROOT, &memory.root()).expect("there");
        Attributes { mode: 0o600, user: 5, group: 6, ..root }
    }

    #[test]
    fn what_takes_rights_does_not_wait() {
        let mode = NewAttributes::with_mode;
        let may_wait = |new| Unset::may_wait(&new, &attributes());
        assert!(may_wait(mode(0o644)) && may_wait(mode(0o600)));
        assert!(!may_wait(mode(0o400)) && !may_wait(mode(0o4644)) && !may_wait(NewAttributes::with_size(0)));
        let owner = |user, group| NewAttributes { user, group, ..NewAttributes::default() };
        assert!(may_wait(owner(Some(5), Some(6))) && !may_wait(owner(Some(0), None)));
    }

    #[test]
    fn changes_are_put_together_and_shown() {
        let mut unset = Unset::default();
        let time = Timestamp { seconds: 77, nanoseconds: 0 };
        let times = NewAttributes { modified: SetTime::To(time), ..NewAttributes::default() };
        unset.set_later(&Caller::ROOT, &times);
        unset.set_later(&Caller::ROOT, &NewAttributes::with_mode(0o644));
        let shown = unset.shown(attributes());
        assert_eq!((shown.mode, shown.modified), (0o644, time));
        assert_eq!(unset.take().1, Some((Caller::ROOT, NewAttributes { mode: Some(0o644), ..times })));
        unset.wrote();
        assert_ne!(unset.shown(attributes()).modified, time);
    }
}
