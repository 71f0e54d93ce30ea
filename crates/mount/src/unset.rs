//! Attributes that programs have set on a file, and that the server has not got yet.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use howdah_vfs::{Attributes, Caller, NewAttributes, SetTime};
use parking_lot::{Condvar, Mutex};

use crate::attributes::timestamp;
use crate::refused::Answer;

/// Bits of a mode beside permissions.
const SPECIAL: u32 = 0o7000;

/// What is not set yet.
#[derive(Default)]
pub struct Unset {
    /// A call that sets some of them is under way.
    call: Option<Arc<SettingCall>>,
    /// What is to be set when the file is closed, and by which user.
    later: Option<(Caller, NewAttributes)>,
    /// When a program set that.
    changed: Option<SystemTime>,
}

/// A call that sets attributes while others go on.
pub struct SettingCall {
    caller: Caller,
    new: NewAttributes,
    stage: Mutex<Stage>,
    news: Condvar,
}

/// How far such a call is.
#[derive(Clone, Copy)]
enum Stage {
    /// It waits for a while: other attributes may be set with it.
    Waits,
    /// It waits until somebody knows whether another call sets its attributes, too.
    Held,
    /// It is to be made, or is being made.
    Runs,
    /// It is not made: another call sets these attributes, too.
    Taken,
    Over(Answer<Option<Attributes>>),
}

impl SettingCall {
    /// A call that is about to be made.
    pub fn new(caller: &Caller, new: NewAttributes) -> Arc<Self> {
        let (caller, stage, news) = (caller.clone(), Mutex::new(Stage::Waits), Condvar::new());
        Arc::new(Self { caller, new, stage, news })
    }

    /// Waits until then for others to take it. Says whether it is to be made now.
    pub fn starts_at(&self, time: Instant) -> bool {
        let mut stage = self.stage.lock();
        loop {
            match *stage {
                Stage::Waits if Instant::now() >= time => *stage = Stage::Runs,
                Stage::Waits => {
                    self.news.wait_until(&mut stage, time);
                }
                Stage::Held => self.news.wait(&mut stage),
                Stage::Runs => return true,
                Stage::Taken | Stage::Over(_) => return false,
            }
        }
    }

    /// It need not wait any more.
    pub fn hurry(&self) {
        self.leave(Stage::Runs);
    }

    /// Keeps it from being made; gives what it sets, and as which user. `None`: it is being made.
    fn hold(&self) -> Option<(Caller, NewAttributes)> {
        self.leave(Stage::Held).then(|| (self.caller.clone(), self.new))
    }

    /// Another call sets its attributes, too. Gives them, if it was not made yet.
    fn take(&self) -> Option<(Caller, NewAttributes)> {
        self.leave(Stage::Taken).then(|| (self.caller.clone(), self.new))
    }

    /// Says whether it waited until now.
    fn leave(&self, next: Stage) -> bool {
        let mut stage = self.stage.lock();
        let waits = matches!(*stage, Stage::Waits | Stage::Held);
        if waits {
            *stage = next;
            self.news.notify_all();
        }
        waits
    }

    /// It is over: what the file is like then, if the server said so. It may be over already.
    pub fn end(&self, outcome: Answer<Option<Attributes>>) {
        let mut stage = self.stage.lock();
        if !matches!(*stage, Stage::Over(_)) {
            *stage = Stage::Over(outcome);
        }
        self.news.notify_all();
    }

    /// Waits until it is over.
    pub fn wait(&self) -> Answer<Option<Attributes>> {
        let mut stage = self.stage.lock();
        loop {
            match *stage {
                Stage::Over(outcome) => return outcome,
                _ => self.news.wait(&mut stage),
            }
        }
    }

    fn is_done(&self) -> bool {
        matches!(*self.stage.lock(), Stage::Over(Ok(_)))
    }

    fn is_over(&self) -> bool {
        matches!(*self.stage.lock(), Stage::Over(_))
    }
}

impl Unset {
    /// A file that was just made gets its attributes by that call.
    pub fn by(call: Arc<SettingCall>) -> Self {
        Self { call: Some(call), ..Self::default() }
    }

    /// Whether there is anything.
    pub fn is_empty(&self) -> bool {
        self.call.is_none() && self.later.is_none()
    }

    /// The attributes as programs see them.
    pub fn shown(&self, mut attributes: Attributes) -> Attributes {
        if let Some(call) = &self.call
            && !call.is_over()
        {
            attributes = applied(&call.new, attributes);
        }
        if let Some((_, new)) = &self.later {
            attributes = applied(new, attributes);
        }
        // By our clock: the server's time of the change is not known before it is made.
        let changed = self.changed.map_or(attributes.changed, timestamp);
        Attributes { changed: attributes.changed.max(changed), ..attributes }
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
        *later = followed(later, new);
        self.changed = Some(SystemTime::now());
    }

    /// Lets the call start that sets attributes of a new file.
    pub fn hurry(&self) {
        if let Some(call) = &self.call {
            call.hurry();
        }
    }

    /// Data is written: that changes the time of modification after it was set.
    pub fn wrote(&mut self) {
        if let Some((_, later)) = &mut self.later {
            later.modified = SetTime::Keep;
        }
    }

    /// All that is not set yet, for one call to set it; none of it is set until [`hurry`](Self::hurry) or [`done`](Self::done) says so.
    /// `None`: some of it is being set already, or there is nothing.
    pub fn hold(&self) -> Option<(Caller, NewAttributes)> {
        match (&self.call, &self.later) {
            (Some(call), later) if !call.is_done() => {
                let (caller, first) = call.hold()?;
                Some((caller, later.as_ref().map_or(first, |(_, later)| followed(&first, later))))
            }
            (_, later) => later.clone(),
        }
    }

    /// The call under way, and what waits, to be done now. A call that was not made yet need not be: what it sets is part of what waits.
    pub fn take(&mut self) -> (Option<Arc<SettingCall>>, Option<(Caller, NewAttributes)>) {
        if let Some((caller, first)) = self.call.as_ref().and_then(|call| call.take()) {
            self.call = None;
            let later = self.later.take().map_or(first, |(_, later)| followed(&first, &later));
            self.later = Some((caller, later));
        }
        (self.call.clone(), self.later.clone())
    }

    /// All of that was done.
    pub fn done(&mut self) {
        if let Some(call) = self.call.take() {
            call.take();
        }
        self.later = None;
        self.changed = None;
    }
}

/// Two changes in one.
fn followed(first: &NewAttributes, second: &NewAttributes) -> NewAttributes {
    let time = |first: SetTime, second: SetTime| if second == SetTime::Keep { first } else { second };
    NewAttributes {
        mode: second.mode.or(first.mode),
        user: second.user.or(first.user),
        group: second.group.or(first.group),
        size: second.size.or(first.size),
        accessed: time(first.accessed, second.accessed),
        modified: time(first.modified, second.modified),
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
        let server = Attributes { changed: time, ..attributes() };
        assert!(unset.shown(server).changed > time, "it was changed, whatever the server knows of it");
        assert_eq!(unset.take().1, Some((Caller::ROOT, NewAttributes { mode: Some(0o644), ..times })));
        unset.wrote();
        assert_ne!(unset.shown(attributes()).modified, time);
        unset.done();
        assert_eq!(unset.shown(server).changed, time);
    }

    #[test]
    fn a_call_that_waits_is_made_once_or_is_part_of_another() {
        let (mode, past) = (NewAttributes::with_mode(0o600), Instant::now());
        let call = || SettingCall::new(&Caller::ROOT, mode);
        assert!(call().starts_at(past), "nothing else came");
        let held = call();
        let unset = Unset::by(Arc::clone(&held));
        assert_eq!(unset.hold(), Some((Caller::ROOT, mode)));
        std::thread::scope(|scope| {
            let starts = scope.spawn(|| held.starts_at(past));
            unset.hurry();
            assert!(starts.join().expect("answered"), "what is held is not made before");
        });
        assert_eq!(unset.hold(), None, "it is being made");
        let taken = call();
        let mut unset = Unset::by(Arc::clone(&taken));
        unset.set_later(&Caller::ROOT, &NewAttributes::with_mode(0o644));
        let all = Some((Caller::ROOT, NewAttributes::with_mode(0o644)));
        assert_eq!(unset.hold(), all);
        let (under_way, later) = unset.take();
        assert!(under_way.is_none() && later == all && !taken.starts_at(past));
        let over = call();
        over.end(Ok(None));
        let mut unset = Unset::by(over);
        assert_eq!(unset.hold(), None);
        unset.set_later(&Caller::ROOT, &NewAttributes::with_mode(0o644));
        assert_eq!(unset.hold(), all, "what is set already is not set again");
        let done = call();
        Unset::by(Arc::clone(&done)).done();
        assert!(!done.starts_at(past));
    }
}
