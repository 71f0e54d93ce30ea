//! Which directories that we changed are to be listed and compared, and when. Knows no file system and no clock.

use std::collections::HashMap;
use std::time::Duration;

use howdah_vfs::{Caller, Handle};

/// How long a directory must be at rest before it is listed.
pub const REST: Duration = Duration::from_secs(2);
/// The most directories that wait. Of more that are changed within the rest, some are not compared.
const WAITING_MAX: usize = 4096;

/// Directories that wait for the time when they are listed.
#[derive(Default)]
pub struct Audits {
    changed: HashMap<Handle, (Caller, Duration)>,
}

impl Audits {
    /// A caller changed a directory. Says whether it is the only one that waits.
    pub fn on_changed(&mut self, caller: &Caller, directory: &Handle, now: Duration) -> bool {
        if let Some(waiting) = self.changed.get_mut(directory) {
            waiting.1 = now;
        } else if self.changed.len() < WAITING_MAX {
            self.changed.insert(*directory, (caller.clone(), now));
        }
        self.changed.len() == 1
    }

    /// The directories that are at rest now, each with a caller that changed it. They wait no more.
    pub fn take_due(&mut self, now: Duration) -> Vec<(Caller, Handle)> {
        let due = self.changed.extract_if(|_, (_, changed)| now.saturating_sub(*changed) >= REST);
        due.map(|(directory, (caller, _))| (caller, directory)).collect()
    }

    /// When the next is due, unless it is changed before.
    pub fn next(&self) -> Option<Duration> {
        self.changed.values().map(|(_, changed)| *changed + REST).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_due_once_after_a_rest() {
        let (mut audits, seconds) = (Audits::default(), Duration::from_secs);
        let [one, other] = [1, 2].map(|number| Handle::new(&[number]).expect("short"));
        assert!(audits.on_changed(&Caller::ROOT, &one, seconds(0)));
        assert!(!audits.on_changed(&Caller::ROOT, &other, seconds(1)));
        audits.on_changed(&Caller::ROOT, &one, seconds(2));
        assert_eq!(audits.next(), Some(seconds(3)));
        assert_eq!(audits.take_due(seconds(3)), [(Caller::ROOT, other)]);
        assert_eq!(audits.take_due(seconds(4)), [(Caller::ROOT, one)]);
        assert_eq!((audits.take_due(seconds(9)), audits.next()), (Vec::new(), None));
    }

    #[test]
    fn those_that_wait_are_bounded() {
        let mut audits = Audits::default();
        for number in 0..2 * WAITING_MAX as u64 {
            let directory = Handle::new(&number.to_be_bytes()).expect("short");
            audits.on_changed(&Caller::ROOT, &directory, Duration::ZERO);
        }
        assert_eq!(audits.take_due(REST).len(), WAITING_MAX);
    }
}
