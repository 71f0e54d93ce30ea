//! The verifier that came with each directory's last listing, to be shown when the listing goes on. The trait's cookies
//! have no room for it.

use std::collections::{HashMap, VecDeque};

use howdah_vfs::Handle;
use parking_lot::Mutex;

/// The most directories that are remembered. The oldest is forgotten: its listing goes on with a zero verifier, which
/// servers that look at verifiers at all may refuse, and then it is found again from the start.
const DIRECTORIES_MAX: usize = 4096;

/// The verifiers, by directory.
#[derive(Default)]
pub(crate) struct Verifiers(Mutex<Known>);

#[derive(Default)]
struct Known {
    verifiers: HashMap<Handle, [u8; 8]>,
    /// The directories, the one that came first at the front.
    order: VecDeque<Handle>,
}

impl Verifiers {
    /// What to show when a listing goes on.
    pub(crate) fn of(&self, directory: &Handle) -> [u8; 8] {
        self.0.lock().verifiers.get(directory).copied().unwrap_or_default()
    }

    /// Takes what came with an answer. A zero verifier needs no place: it is what is shown without one.
    pub(crate) fn remember(&self, directory: &Handle, verifier: [u8; 8]) {
        let mut known = self.0.lock();
        if let Some(place) = known.verifiers.get_mut(directory) {
            *place = verifier;
        } else if verifier != [0; 8] {
            known.add(*directory, verifier);
        }
    }
}

impl Known {
    fn add(&mut self, directory: Handle, verifier: [u8; 8]) {
        if self.order.len() >= DIRECTORIES_MAX {
            self.order.pop_front().and_then(|oldest| self.verifiers.remove(&oldest));
        }
        self.order.push_back(directory);
        self.verifiers.insert(directory, verifier);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_directory_gives_way() {
        let verifiers = Verifiers::default();
        let directory = |number: usize| Handle::new(&number.to_be_bytes()).expect("eight bytes fit");
        for number in 0..=DIRECTORIES_MAX {
            verifiers.remember(&directory(number), [1; 8]);
        }
        verifiers.remember(&directory(1), [2; 8]);
        assert_eq!(verifiers.of(&directory(0)), [0; 8]);
        assert_eq!(verifiers.of(&directory(1)), [2; 8]);
        assert_eq!(verifiers.of(&directory(DIRECTORIES_MAX)), [1; 8]);
        assert_eq!(verifiers.0.lock().order.len(), DIRECTORIES_MAX);
    }
}
