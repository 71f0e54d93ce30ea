//! What this process knows of paths: all channels learn, and new ones start from it.

use std::net::IpAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use howdah_tune::paths::{FoundPath, PathMemory};
use parking_lot::Mutex;

static MEMORY: Mutex<Option<PathMemory>> = Mutex::new(None);

/// What is known of the path to a peer.
pub(super) fn recall(peer: IpAddr) -> Option<FoundPath> {
    with(|memory, now| memory.recall(peer, now))
}

/// A channel found that the path to a peer carries so much; `before` is what was known when it began.
pub(super) fn learn(peer: IpAddr, before: Option<FoundPath>, found: FoundPath) {
    with(|memory, now| memory.learn(peer, before, found, now));
}

/// Takes what another process of this user wrote with [`remembered_paths`]. Text that says nothing sensible does no harm.
pub fn remember_paths(text: &str) {
    with(|memory, now| memory.merge(&PathMemory::parse(text, now)));
}

/// What is known of paths now, as text for another process.
pub fn remembered_paths() -> String {
    with(|memory, now| memory.to_text(now))
}

fn with<T>(run: impl FnOnce(&mut PathMemory, u64) -> T) -> T {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    run(MEMORY.lock().get_or_insert_default(), now)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_one_channel_finds_the_next_one_knows() {
        let peer = IpAddr::from([192, 0, 2, 1]);
        let found = FoundPath { sent: 1e8, received: 2e8, round_trip: Duration::from_millis(50), loss: 0.0 };
        learn(peer, None, found);
        assert_eq!(recall(peer), Some(found));
        let text = remembered_paths();
        remember_paths("nonsense");
        assert_eq!((remembered_paths(), recall(IpAddr::from([198, 51, 100, 1]))), (text, None));
    }
}
