//! Who may change names in a directory, as the server said a moment ago.

use std::collections::HashMap;
use std::time::Duration;

use howdah_vfs::{Attributes, Caller, Handle};
use parking_lot::Mutex;

/// For so long it counts.
const COUNTS: Duration = Duration::from_secs(1);
/// The most directories and callers that are remembered.
const VOUCHED_MAX: usize = 1024;

/// A directory and a caller who may make and remove names in it.
type Right = (Handle, u32, u32);

/// The rights that the server granted lately.
#[derive(Debug, Default)]
pub struct VouchedRights {
    granted: Mutex<HashMap<Right, (Duration, Attributes)>>,
}

fn right(directory: &Handle, caller: &Caller) -> Right {
    (*directory, caller.user, caller.group)
}

impl VouchedRights {
    /// The server granted it, and said this of the directory.
    pub fn put(&self, now: Duration, directory: &Handle, caller: &Caller, attributes: Attributes) {
        let mut granted = self.granted.lock();
        if granted.len() >= VOUCHED_MAX {
            granted.clear();
        }
        granted.insert(right(directory, caller), (now, attributes));
    }

    /// What the server said of the directory, if it granted it less than a second ago.
    pub fn get(&self, now: Duration, directory: &Handle, caller: &Caller) -> Option<Attributes> {
        let granted = self.granted.lock();
        let (at, attributes) = granted.get(&right(directory, caller))?;
        (now.saturating_sub(*at) < COUNTS).then_some(*attributes)
    }

    /// Its attributes are set: the rights may be others.
    pub fn forget(&self, directory: &Handle) {
        self.granted.lock().retain(|(its, ..), _| its != directory);
    }
}
