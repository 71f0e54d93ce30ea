//! Recognizes that a program walks a tree, and chooses which directories to list next. Knows no file system and no clock.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::Duration;

use howdah_vfs::{Caller, Handle};

use crate::generations::Generations;

/// Listings that nobody has used yet: when a walk begins, and at most.
const WINDOW_MIN: usize = 8;
const WINDOW_MAX: usize = 1024;
/// Directories whose place in the tree is remembered, each with about 200 bytes.
const DIRECTORIES_MAX: usize = 1 << 14;
/// Subdirectories of one directory that are remembered.
const CHILDREN_MAX: usize = 1 << 12;
/// Directories that wait to be listed.
const QUEUE_MAX: usize = 1 << 13;
/// A walk that asks for nothing for so long is over.
const PAUSE: Duration = Duration::from_secs(10);
/// What the cache knew is looked at again after so long, for it may have become too old.
const AGAIN: Duration = Duration::from_millis(500);
/// Directories are listed so long before they are used, not longer: the attributes of new files are believed for some 3 s.
const EARLY: Duration = Duration::from_secs(2);
/// So many last uses show how fast a walk is; a walk with fewer may be as fast as this many listings show.
const PACE: usize = 64;
/// So many names of a directory must be asked of the server before it is listed for them.
const MISSES: u32 = 2;

/// A directory to list, and the caller that lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextListing {
    /// Who walks.
    pub caller: Caller,
    /// The directory.
    pub directory: Handle,
}

/// A subdirectory: its name, and the directory.
pub type Child = (Box<[u8]>, Handle);

/// Where a directory lies, from the start of the walk down: a program that goes down first comes by in this order.
type Path = Vec<u32>;

struct Place {
    parent: Handle,
    path: Path,
}

/// The walks of all programs.
pub struct Walks {
    places: Generations<Handle, Place>,
    /// The subdirectories of directories that were listed, in the server's order.
    children: Generations<Handle, Vec<Child>>,
    misses: Generations<Handle, Misses>,
    /// The subdirectory of a directory that a program listed last.
    latest: Generations<Handle, Handle>,
    queue: BTreeMap<Path, NextListing>,
    queued: HashMap<Handle, Path>,
    under_way: HashSet<Handle>,
    under_way_max: usize,
    /// Known before a program asks, and not used yet.
    ahead: HashMap<Handle, Ahead>,
    window: usize,
    /// When a program used a directory, the last times.
    uses: VecDeque<Duration>,
    /// The program sorts what it lists.
    sorts: bool,
    /// Counts down: what a walk needs comes before what an earlier one left.
    walks: u32,
    last: Duration,
    /// When a directory was last found that was not listed ahead.
    looked_beside: Duration,
    listed: u64,
    used: u64,
}

/// What is known of a directory before a program asks.
struct Ahead {
    since: Duration,
    /// It was listed for that; else the cache knew it.
    was_listed: bool,
}

/// How a listing ended that no program asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// It was listed, all of it.
    Listed,
    /// The cache knew it.
    Known,
    /// It failed, or is too long.
    Not,
}

#[derive(Default)]
struct Misses {
    count: u32,
    last: Duration,
}

impl Walks {
    /// None yet; never more than so many listings under way.
    pub fn new(under_way_max: usize) -> Self {
        Self {
            places: Generations::new(DIRECTORIES_MAX),
            children: Generations::new(DIRECTORIES_MAX),
            misses: Generations::new(DIRECTORIES_MAX),
            latest: Generations::new(DIRECTORIES_MAX),
            queue: BTreeMap::new(),
            queued: HashMap::new(),
            under_way: HashSet::new(),
            under_way_max,
            ahead: HashMap::new(),
            window: WINDOW_MIN,
            uses: VecDeque::with_capacity(PACE),
            sorts: false,
            walks: u32::MAX,
            last: Duration::ZERO,
            looked_beside: Duration::ZERO,
            listed: 0,
            used: 0,
        }
    }

    /// Directories that were listed ahead, and how many of these were used.
    pub fn counts(&self) -> (u64, u64) {
        (self.listed, self.used)
    }

    /// A program lists a directory. If the one above it was listed before, the program walks: then what is beside this one is listed
    /// ahead, and the answer is true. `is_known`: the cache could list it.
    pub fn on_asked(
        &mut self,
        caller: &Caller,
        directory: &Handle,
        now: Duration,
        is_known: impl FnOnce() -> bool,
    ) -> bool {
        if now.saturating_sub(self.last) > PAUSE {
            self.queue.clear();
            self.queued.clear();
            self.window = WINDOW_MIN;
            self.uses.clear();
        }
        self.last = now;
        let is_of_use = |ahead: &Ahead| {
            now.saturating_sub(ahead.since) <= if ahead.was_listed { 2 * EARLY } else { AGAIN }
        };
        self.ahead.retain(|_, ahead| is_of_use(ahead));
        let was_ahead = self.take_ahead(directory);
        let was_queued = self.unqueue(directory);
        let Some(Place { parent, .. }) = self.places.get_mut(directory) else { return false };
        let parent = *parent;
        let before = self.latest.get_mut(&parent).copied();
        // A program that lists a directory again while it is in it asks for nothing new.
        if before.as_ref() == Some(directory) {
            return true;
        }
        self.latest.insert(parent, *directory);
        self.widen(now);
        let was_listed = was_ahead.as_ref().is_some_and(|ahead| ahead.was_listed);
        let is_known = was_ahead.is_some() || is_known();
        if was_listed || is_known && now.saturating_sub(self.looked_beside) <= AGAIN {
            return true;
        }
        if was_queued && !is_known {
            // Others were listed in its place: the program comes by in another order.
            self.ahead.clear();
        }
        self.looked_beside = now;
        self.look_beside(caller, &parent, (before.as_ref(), directory));
        true
    }

    /// Has those listed ahead that are beside a directory which a program lists after the one before.
    fn look_beside(
        &mut self,
        caller: &Caller,
        parent: &Handle,
        (before, directory): (Option<&Handle>, &Handle),
    ) {
        let Some(mut beside) = self.children.get_mut(parent).cloned() else { return };
        let mut by_name = beside.clone();
        by_name.sort_unstable();
        let follows = [&by_name, &beside].map(|order| follows(order, before, directory));
        match follows {
            [true, false] => self.sorts = true,
            [false, true] => self.sorts = false,
            // It shows nothing: the program left some out, or both orders are the same.
            _ => {}
        }
        if self.sorts {
            beside = by_name;
        }
        // Those that come after this one, then those before it, unless the program comes from there.
        let here = place(&beside, directory).unwrap_or(0);
        beside.rotate_left(here);
        if follows.contains(&true) {
            beside.truncate(beside.len() - here);
        }
        self.enqueue(caller, parent, &beside);
        self.unqueue(directory);
    }

    /// Takes a directory out of the queue, and says whether it was there.
    fn unqueue(&mut self, directory: &Handle) -> bool {
        let path = self.queued.remove(directory);
        path.is_some_and(|path| self.queue.remove(&path).is_some())
    }

    /// The subdirectories of a directory were listed, in the server's order. `is_walked`: a walk is known to come by.
    pub fn on_listed(
        &mut self,
        caller: &Caller,
        directory: &Handle,
        mut children: Vec<Child>,
        is_walked: bool,
    ) {
        children.truncate(CHILDREN_MAX);
        self.children.insert(*directory, children.clone());
        if is_walked {
            if self.sorts {
                children.sort_unstable();
            }
            self.enqueue(caller, directory, &children);
            return;
        }
        self.walks -= 1;
        let path =
            self.places.get_mut(directory).map_or_else(|| vec![self.walks], |place| place.path.clone());
        for (_, child) in &children {
            self.places.insert(*child, Place { parent: *directory, path: path.clone() });
        }
    }

    /// A program looks up a name that is not in the cache. Says whether to list the whole directory: after the second such name,
    /// more will follow.
    pub fn on_miss(&mut self, directory: &Handle, now: Duration) -> bool {
        let earlier =
            self.misses.get_mut(directory).filter(|misses| now.saturating_sub(misses.last) <= PAUSE);
        let count = earlier.map_or(1, |misses| misses.count + 1);
        self.misses.insert(*directory, Misses { count, last: now });
        // Once: if names are missed all the same, it cannot be remembered whole.
        count == MISSES
    }

    /// All names of a directory are known: misses from now on are others.
    pub fn on_whole(&mut self, directory: &Handle) {
        self.misses.remove(directory);
    }

    /// A program looks names up in a directory. If that was listed ahead, the program walks on: the answer is true.
    pub fn on_used(&mut self, directory: &Handle, now: Duration) -> bool {
        if self.take_ahead(directory).is_none() {
            return false;
        }
        self.last = now;
        self.widen(now);
        true
    }

    /// A program used a directory: more are listed ahead, as many as it will use before they are too old.
    fn widen(&mut self, now: Duration) {
        if self.uses.len() == PACE {
            self.uses.pop_front();
        }
        self.uses.push_back(now);
        let soon = match self.uses.front() {
            Some(first) if self.uses.len() == PACE => {
                let took = now.saturating_sub(*first).as_secs_f64();
                (EARLY.as_secs_f64() / took * PACE as f64) as usize
            }
            _ => PACE,
        };
        self.window = (self.window * 2).min(soon.clamp(PACE, WINDOW_MAX));
    }

    /// A directory is being listed for its names: others who look for names in it wait. [`on_done`](Self::on_done) must follow.
    pub fn begin(&mut self, directory: &Handle) {
        self.under_way.insert(*directory);
    }

    fn enqueue(&mut self, caller: &Caller, parent: &Handle, children: &[Child]) {
        let above = self.places.get_mut(parent).map_or_else(|| vec![self.walks], |place| place.path.clone());
        // They may have waited in another order.
        for (_, child) in children {
            self.unqueue(child);
        }
        for (number, (_, child)) in (0..).zip(children) {
            let path = [&above[..], &[number]].concat();
            self.places.insert(*child, Place { parent: *parent, path: path.clone() });
            if self.ahead.contains_key(child) || self.under_way.contains(child) {
                continue;
            }
            self.queue.insert(path.clone(), NextListing { caller: caller.clone(), directory: *child });
            self.queued.insert(*child, path);
        }
        while self.queue.len() > QUEUE_MAX {
            let Some((_, last)) = self.queue.pop_last() else { return };
            self.queued.remove(&last.directory);
        }
    }

    /// The next directory to list, if one should be now. [`on_done`](Self::on_done) must follow.
    pub fn poll_next(&mut self) -> Option<NextListing> {
        let unused = self.ahead.len() + self.under_way.len();
        if self.under_way.len() >= self.under_way_max || unused >= self.window {
            return None;
        }
        let (_, next) = self.queue.pop_first()?;
        self.queued.remove(&next.directory);
        self.under_way.insert(next.directory);
        Some(next)
    }

    /// Whether a directory is being listed ahead.
    pub fn is_under_way(&self, directory: &Handle) -> bool {
        self.under_way.contains(directory)
    }

    /// A listing is over.
    pub fn on_done(&mut self, directory: &Handle, done: Done, now: Duration) {
        self.under_way.remove(directory);
        if done != Done::Not {
            let was_listed = done == Done::Listed;
            self.listed += u64::from(was_listed);
            self.ahead.insert(*directory, Ahead { since: now, was_listed });
        }
    }

    /// A program uses a directory: what was known of it before.
    fn take_ahead(&mut self, directory: &Handle) -> Option<Ahead> {
        let ahead = self.ahead.remove(directory);
        self.used += ahead.as_ref().map_or(0, |ahead| u64::from(ahead.was_listed));
        ahead
    }
}

/// Where a directory stands among others.
fn place(beside: &[Child], directory: &Handle) -> Option<usize> {
    beside.iter().position(|(_, child)| child == directory)
}

/// Whether a directory is the first one of these, or the next one after that before.
fn follows(beside: &[Child], before: Option<&Handle>, directory: &Handle) -> bool {
    let next = before.and_then(|before| place(beside, before)).map(|at| at + 1);
    place(beside, directory).is_some_and(|at| at == 0 || Some(at) == next)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: Caller = Caller::ROOT;

    fn handle(number: u32) -> Handle {
        Handle::new(&number.to_be_bytes()).expect("short")
    }

    /// Subdirectories with these numbers, named by them.
    fn children(numbers: impl IntoIterator<Item = u32>) -> Vec<Child> {
        numbers.into_iter().map(|number| (number.to_be_bytes().into(), handle(number))).collect()
    }

    fn at(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    /// What is listed ahead now.
    fn next(walks: &mut Walks) -> Vec<Handle> {
        std::iter::from_fn(|| walks.poll_next()).map(|next| next.directory).collect()
    }

    #[test]
    fn one_listing_is_no_walk_and_a_second_one_below_is() {
        let mut walks = Walks::new(64);
        assert!(!walks.on_asked(&ME, &handle(0), at(0), || false));
        walks.on_listed(&ME, &handle(0), children([3, 1, 2, 4]), false);
        assert_eq!(next(&mut walks), []);
        assert!(walks.on_asked(&ME, &handle(3), at(1), || false));
        assert_eq!(next(&mut walks), [1, 2, 4].map(handle), "in the server's order");
        let mut walks = Walks::new(64);
        walks.on_listed(&ME, &handle(0), children([3, 2, 1, 4]), false);
        walks.on_asked(&ME, &handle(1), at(1), || false);
        assert_eq!(next(&mut walks), [2, 3, 4].map(handle), "in the order of names");
    }

    #[test]
    fn what_comes_next_is_below_what_comes_first() {
        let mut walks = Walks::new(2);
        walks.on_listed(&ME, &handle(0), children(1..10), false);
        walks.on_asked(&ME, &handle(1), at(1), || false);
        assert_eq!(next(&mut walks), [2, 3].map(handle));
        for number in [3, 2] {
            walks.on_listed(&ME, &handle(number), children([number * 100, number * 100 + 1]), true);
            walks.on_done(&handle(number), Done::Listed, at(2));
        }
        assert_eq!(next(&mut walks), [200, 201].map(handle), "two are used before others are");
    }

    #[test]
    fn as_much_is_listed_ahead_as_is_used() {
        let mut walks = Walks::new(10_000);
        walks.on_listed(&ME, &handle(0), children(1..5000), false);
        let mut ahead = 0;
        for number in 1..500 {
            walks.on_asked(&ME, &handle(number), at(1), || false);
            for directory in next(&mut walks) {
                walks.on_done(&directory, Done::Listed, at(1));
                ahead += 1;
            }
            assert!(ahead < number as usize + WINDOW_MAX);
        }
        assert_eq!(walks.counts().1, 498);
        // The program stopped: what it left does not count for the next one.
        walks.on_asked(&ME, &handle(600), at(60_000), || false);
        assert!(walks.ahead.is_empty() && next(&mut walks).len() < 2 * WINDOW_MIN + 1);
    }

    #[test]
    fn a_walk_over_what_is_known_looks_at_each_directory_once() {
        let mut walks = Walks::new(64);
        walks.on_listed(&ME, &handle(0), children(1..100), false);
        let mut looked = 0;
        for number in 1..100 {
            walks.on_asked(&ME, &handle(number), at(1), || false);
            for directory in next(&mut walks) {
                walks.on_done(&directory, Done::Known, at(1));
                looked += 1;
            }
        }
        assert_eq!((looked, walks.counts()), (98, (0, 0)), "all but the first, and none was asked for");
    }

    #[test]
    fn what_was_known_is_looked_at_again_when_it_may_be_too_old() {
        let mut walks = Walks::new(64);
        walks.on_listed(&ME, &handle(0), children(1..5), false);
        let mut looked = |directory: u32, milliseconds: u64| {
            walks.on_asked(&ME, &handle(directory), at(milliseconds), || false);
            let next = next(&mut walks);
            next.iter().for_each(|directory| walks.on_done(directory, Done::Known, at(milliseconds)));
            next
        };
        assert_eq!(looked(1, 1), [2, 3, 4].map(handle));
        assert_eq!(looked(2, 400), []);
        assert_eq!(looked(3, 700), [4].map(handle));
    }

    /// A walk through these directories, a step in so many milliseconds: which of them were listed when the program came.
    fn walked(walks: &mut Walks, order: &[u32], step: u64) -> Vec<u32> {
        let (mut listed, mut late) = (HashSet::new(), Vec::new());
        for (at, number) in order.iter().enumerate() {
            let now = Duration::from_millis(at as u64 * step);
            if !listed.contains(&handle(*number)) {
                late.push(*number);
            }
            // Twice, as programs do that remove what they listed.
            walks.on_asked(&ME, &handle(*number), now, || false);
            walks.on_asked(&ME, &handle(*number), now, || false);
            for directory in next(walks) {
                walks.on_done(&directory, Done::Listed, now);
                listed.insert(directory);
            }
        }
        late
    }

    #[test]
    fn the_order_of_a_walk_is_seen_at_its_second_step_wherever_it_began() {
        let scattered: Vec<u32> = (0..997).map(|number| number * 7 % 997 + 1).collect();
        for from in [0, 1, 500, 900] {
            let mut walks = Walks::new(64);
            walks.on_listed(&ME, &handle(0), children(scattered.clone()), false);
            let late = walked(&mut walks, &scattered[from..], 1);
            assert!(late.len() <= 3, "in the server's order from {from}: {late:?}");
            let mut sorted = scattered.clone();
            sorted.sort_unstable();
            let mut walks = Walks::new(64);
            walks.on_listed(&ME, &handle(0), children(scattered.clone()), false);
            let late = walked(&mut walks, &sorted[from..], 1);
            assert!(late.len() <= 3, "in the order of names from {from}: {late:?}");
        }
    }

    #[test]
    fn a_slow_walk_looks_ahead_no_longer_than_attributes_are_believed() {
        let mut walks = Walks::new(64);
        let order: Vec<u32> = (1..2000).collect();
        walks.on_listed(&ME, &handle(0), children(order.clone()), false);
        walked(&mut walks, &order[..200], 50);
        assert!((PACE - 1..=PACE).contains(&walks.ahead.len()), "{}", walks.ahead.len());
        let mut walks = Walks::new(64);
        walks.on_listed(&ME, &handle(0), children(order.clone()), false);
        walked(&mut walks, &order[..200], 5);
        assert!((350..=450).contains(&walks.ahead.len()), "{}", walks.ahead.len());
    }

    #[test]
    fn a_second_name_lists_the_directory_once() {
        let mut walks = Walks::new(64);
        let misses: Vec<bool> = (0..5).map(|time| walks.on_miss(&handle(0), at(time))).collect();
        assert_eq!(misses, [false, true, false, false, false]);
        assert_eq!([60_000, 60_001].map(|time| walks.on_miss(&handle(0), at(time))), [false, true]);
    }
}
