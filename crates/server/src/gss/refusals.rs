//! The last contexts that were refused, and why: what an administrator asks for.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::time::SystemTime;

use crate::limits::CONTEXT_REFUSALS_KEPT;
use crate::locks::Mutex;

/// A context that was refused.
#[derive(Debug, Clone)]
pub struct ContextRefusal {
    /// When.
    pub at: SystemTime,
    /// The host that asked for it.
    pub client: IpAddr,
    /// Why, and what to do.
    pub why: String,
    /// How often in a row.
    pub times: u64,
}

/// The last of them.
#[derive(Debug, Default)]
pub struct ContextRefusals(Mutex<VecDeque<ContextRefusal>>);

impl ContextRefusals {
    /// One more. What is refused again for the same reason takes no more room.
    pub fn add(&self, client: IpAddr, why: String) {
        let (at, mut kept) = (SystemTime::now(), self.0.lock());
        if let Some(same) = kept.iter_mut().find(|other| other.client == client && other.why == why) {
            (same.at, same.times) = (at, same.times + 1);
            return;
        }
        if kept.len() >= CONTEXT_REFUSALS_KEPT {
            kept.pop_front();
        }
        kept.push_back(ContextRefusal { at, client, why, times: 1 });
    }

    /// All that are kept, the oldest first.
    pub fn all(&self) -> Vec<ContextRefusal> {
        let mut all: Vec<_> = self.0.lock().iter().cloned().collect();
        all.sort_by_key(|refusal| refusal.at);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_refusals_are_kept() {
        let refusals = ContextRefusals::default();
        let client = |number: usize| IpAddr::from([192, 0, 2, number as u8]);
        for number in 0..CONTEXT_REFUSALS_KEPT + 2 {
            refusals.add(client(number), format!("reason {number}"));
        }
        refusals.add(client(50), "reason 50".to_owned());
        let all = refusals.all();
        assert_eq!(all.len(), CONTEXT_REFUSALS_KEPT);
        assert!(all.iter().all(|refusal| refusal.why != "reason 1"));
        let last = all.last().expect("some");
        assert_eq!((last.why.as_str(), last.times), ("reason 50", 2), "the latest is the last");
    }
}
