//! What is known of names, against a model: a directory that we and strangers change, with replies in any order.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use howdah_random::Random;
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Access, Attributes, Before, Caller, Change, FileSystem, Handle, Timestamp};

use super::AttributeCacheOptions;
use super::chain::ChainMoment;
use super::known::Known;
use super::listings::Leads;

const ROUNDS: u64 = 2_000;
const NAMES: u64 = 12;
const CALLS_MAX: usize = 6;
const NOW: Duration = Duration::ZERO;
/// When it is not believed any more that only we changed what nobody said who changed.
const LATER: Duration = Duration::from_secs(3);
const ME: Caller = Caller::ROOT;

/// A call of ours: begun, perhaps run by the server, not answered yet.
struct OwnCall {
    since: ChainMoment,
    name: u64,
    makes: bool,
    change: Option<(Change, bool)>,
}

/// The directory on the server.
struct Server {
    names: BTreeSet<u64>,
    state: Attributes,
    /// Changes within one tick of its clock leave the same time.
    tick: u64,
    changes: u64,
}

impl Server {
    fn before(&self) -> Option<Before> {
        Some(Before::from(&self.state))
    }

    /// Makes or removes a name; says whether it did.
    fn run(&mut self, name: u64, makes: bool) -> bool {
        let is_done = if makes { self.names.insert(name) } else { self.names.remove(&name) };
        if is_done {
            self.changes += 1;
            let seconds = (self.changes / self.tick) as i64;
            let changed = Timestamp { seconds, nanoseconds: 0 };
            self.state = Attributes { modified: changed, ..self.state.with_changed(changed) };
        }
        is_done
    }
}

fn handle(number: u64) -> Handle {
    Handle::new(&number.to_be_bytes()).expect("short")
}

struct Play {
    known: Known,
    directory: Handle,
    server: Server,
    calls: Vec<OwnCall>,
    /// Names that were changed by calls of ours at the same time, or for which one was refused.
    unclear: HashSet<u64>,
}

impl Play {
    /// The directory was listed whole, with some names in it.
    fn new(tick: u64) -> Self {
        let (memory, directory) = (MemoryFileSystem::new(), handle(1 << 32));
        let state = memory.attributes(&ME, &memory.root()).expect("there");
        let state = state.with_changed(Timestamp::default());
        let mut known = Known::new(AttributeCacheOptions::default());
        let since = known.moment();
        known.saw(&directory, &state, since, NOW);
        known.granted(&ME, (&directory, &state), since, (Access::ALL, Access::ALL));
        let epoch = known.epoch_of(&directory, NOW).expect("seen");
        known.listed(&ME, (&directory, epoch, since), Vec::new(), true);
        let server = Server { names: BTreeSet::new(), state, tick, changes: 0 };
        Self { known, directory, server, calls: Vec::new(), unclear: HashSet::new() }
    }

    fn begin(&mut self, name: u64, makes: bool) {
        if self.calls.iter().any(|call| call.name == name) {
            self.unclear.insert(name);
        }
        let since = self.known.begin(&self.directory, Some(&name.to_be_bytes()));
        self.calls.push(OwnCall { since, name, makes, change: None });
    }

    fn run(&mut self, call: usize) {
        let (before, call) = (self.server.before(), &mut self.calls[call]);
        if call.change.is_none() {
            let is_done = self.server.run(call.name, call.makes);
            call.change = Some((Change { before, after: Some(self.server.state) }, is_done));
        }
    }

    /// What the layer does when the reply is here.
    fn answer(&mut self, call: usize) {
        self.run(call);
        let OwnCall { since, name, makes, change } = self.calls.swap_remove(call);
        let (change, is_done) = change.expect("it ran");
        let name = name.to_be_bytes();
        let is_known = self.known.changed(&self.directory, &change, since, NOW);
        if is_done && makes && is_known {
            self.known.made(&ME, (&self.directory, &name), handle(1));
        }
        if is_done && !makes {
            self.known.removed(&self.directory, &name);
        }
        if !is_done {
            self.unclear.insert(u64::from_be_bytes(name));
        }
        if !is_done || !is_known {
            self.known.lost_track(&self.directory, &name);
        }
    }

    fn look(&mut self, time: Duration) {
        let since = self.known.moment();
        self.known.saw(&self.directory, &self.server.state, since, time);
    }

    /// What is believed of a name: whether it is there.
    fn believed(&mut self, name: u64, time: Duration) -> Option<bool> {
        let leads = self.known.name(&ME, &self.directory, &name.to_be_bytes(), time)?;
        Some(leads != Leads::Nowhere)
    }

    fn step(&mut self, random: &mut Random, strangers: u64) {
        match random.below(8) {
            0..3 if self.calls.len() < CALLS_MAX => self.begin(random.below(NAMES), random.one_in(2)),
            3..5 if !self.calls.is_empty() => self.run(random.index(self.calls.len())),
            5..7 if !self.calls.is_empty() => self.answer(random.index(self.calls.len())),
            7 if strangers > 0 && random.one_in(strangers) => {
                self.server.run(random.below(NAMES), random.one_in(2));
            }
            7 => self.look(NOW),
            _ => {}
        }
    }

    fn answer_all(&mut self, random: &mut Random) {
        while !self.calls.is_empty() {
            self.answer(random.index(self.calls.len()));
        }
    }
}

#[test]
fn where_only_we_change_a_directory_all_names_stay_known() {
    for seed in 0..ROUNDS {
        let (mut random, mut play) = (Random::new(seed), Play::new(1));
        for _ in 0..random.index(60) {
            play.step(&mut random, 0);
        }
        play.answer_all(&mut random);
        for name in 0..NAMES {
            let is_there = play.server.names.contains(&name);
            let believed = play.believed(name, NOW);
            let is_right = believed == Some(is_there) || believed.is_none() && play.unclear.contains(&name);
            assert!(is_right, "seed {seed}: name {name} is believed {believed:?}");
        }
        let rights = play.known.access(&ME, &play.directory, Access::LOOKUP, NOW);
        assert!(rights.is_some(), "seed {seed}: rights");
    }
}

/// Plays with strangers, and changes the directory once more: by a new name, so that the call does change it.
fn with_strangers(seed: u64) -> Play {
    let (mut random, mut play) = (Random::new(seed), Play::new(1));
    for _ in 0..random.index(60) {
        play.step(&mut random, 3);
    }
    play.answer_all(&mut random);
    play.begin(NAMES + 1, true);
    play.answer(0);
    play
}

#[test]
fn no_stale_name_is_believed_for_longer_than_it_may_be_unclear_who_changed_it() {
    let mut kept = 0;
    for seed in 0..ROUNDS {
        let mut play = with_strangers(seed);
        kept += (0..NAMES).filter(|name| play.believed(*name, NOW).is_some()).count();
        for looks in [false, true] {
            if looks {
                play.look(LATER);
            }
            for name in 0..NAMES {
                let is_there = play.server.names.contains(&name);
                let believed = play.believed(name, LATER);
                assert!(believed.is_none_or(|believed| believed == is_there), "seed {seed}: name {name}");
            }
        }
    }
    assert!(kept > 0);
}

#[test]
fn a_strangers_change_that_replies_show_is_seen_at_once() {
    let mut play = Play::new(1);
    play.server.run(3, true);
    play.begin(NAMES + 1, true);
    play.answer(0);
    assert_eq!(play.believed(3, NOW), None);
}

#[test]
fn a_server_with_a_coarse_clock_is_never_taken_for_a_stranger() {
    for seed in 0..ROUNDS {
        let (mut random, mut play) = (Random::new(seed), Play::new(5));
        for _ in 0..random.index(60) {
            play.step(&mut random, 0);
        }
        play.answer_all(&mut random);
        let rights = play.known.access(&ME, &play.directory, Access::LOOKUP, NOW);
        assert!(rights.is_some(), "seed {seed}: rights");
    }
}
