//! The journal against a model, on a disk that loses power; and on a real directory, whose process is killed.

#[path = "simulated_disk/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod simulated_disk;

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, IoSlice};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::time::Duration;

use howdah_random::Random;
use howdah_store::journal::{
    DiskJournal, JournalDisk, JournalError, JournalFile, JournalIdentity, JournalOptions, JournalRecord,
    JournalSummary, ReplayedJournal, SyncFirst,
};
use rustix::io::Errno;
use simulated_disk::SimulatedDisk;

/// Histories of each kind, from seed 0 on. `HOWDAH_SEED=7` runs one, `HOWDAH_SEED=400..9000` others.
const HISTORIES: Range<u64> = 0..400;
const SEED: &str = "HOWDAH_SEED";
/// Small, so that a history has many.
const SEGMENT: u64 = 4096;
const SEGMENTS: u64 = 6;

fn identity() -> JournalIdentity {
    let [server, export, user, host] = ["192.0.2.1", "/srv", "1000", "here"].map(str::to_owned);
    JournalIdentity { server, export, user, host, version: None }
}

/// A small journal without a thread.
fn small() -> JournalOptions {
    JournalOptions {
        bound: SEGMENT * SEGMENTS,
        segment: SEGMENT,
        sync_every: None,
        ..JournalOptions::default()
    }
}

fn open(disk: &SimulatedDisk) -> (DiskJournal, ReplayedJournal) {
    DiskJournal::open_on(Arc::new(disk.clone()), &identity(), small()).expect("opens")
}

fn record(change: u64, payload: &[u8]) -> JournalRecord {
    JournalRecord { kind: change as u8, change, payload: payload.to_vec() }
}

/// What was done to a journal, in order.
#[derive(Debug, Clone)]
enum Done {
    Appended(Vec<JournalRecord>),
    Finished(Vec<u64>),
}

/// What a journal should hold.
#[derive(Default)]
struct Model {
    done: Vec<Done>,
    /// So many of these are durable.
    synced: usize,
    /// The one that failed: it may be there or not.
    attempted: Option<Done>,
    /// Finished changes whose marks were not written when that was tried, in order.
    unmarked: Vec<u64>,
}

/// The records that are live after this.
fn live(done: &[Done]) -> Vec<JournalRecord> {
    let mut records: Vec<JournalRecord> = Vec::new();
    for step in done {
        match step {
            Done::Appended(more) => records.extend_from_slice(more),
            Done::Finished(changes) => records.retain(|record| !changes.contains(&record.change)),
        }
    }
    records
}

impl Model {
    fn live(&self) -> Vec<JournalRecord> {
        live(&self.done)
    }

    fn unfinished(&self) -> Vec<u64> {
        let changes: BTreeSet<u64> = self.live().iter().map(|record| record.change).collect();
        changes.into_iter().filter(|change| !self.unmarked.contains(change)).collect()
    }

    /// What was done and what was found, in a line: `+7` for a record of change 7, `-7` for its mark, `|` for what was synced.
    fn against(&self, found: &[JournalRecord]) -> String {
        let all = self.done.iter().chain(&self.attempted).enumerate().map(|(at, step)| {
            let synced = if at == self.synced { "| " } else { "" };
            let step = match step {
                Done::Appended(records) => {
                    records.iter().map(|record| format!("+{}", record.change)).collect()
                }
                Done::Finished(changes) => {
                    changes.iter().map(|change| format!("-{change}")).collect::<Vec<_>>()
                }
            };
            format!("{synced}{} ", step.concat())
        });
        let found: Vec<u64> = found.iter().map(|record| record.change).collect();
        format!("{}unmarked {:?}, found {found:?}", all.collect::<String>(), self.unmarked)
    }

    /// Whether the journal may hold these after its process was killed, or after the power was cut.
    fn allows(&self, found: &[JournalRecord], was_killed: bool) -> bool {
        let all: Vec<Done> = self.done.iter().cloned().chain(self.attempted.clone()).collect();
        let first = if was_killed { self.done.len() } else { self.synced };
        let known = |records: &[JournalRecord]| -> Vec<JournalRecord> {
            records.iter().filter(|record| !self.unmarked.contains(&record.change)).cloned().collect()
        };
        (first..=all.len()).any(|count| known(&live(&all[..count])) == known(found))
    }
}

/// A journal, its disk and what it should hold.
struct History {
    random: Random,
    disk: SimulatedDisk,
    journal: Option<DiskJournal>,
    model: Model,
    next: u64,
    /// All that was ever appended.
    ever: Vec<JournalRecord>,
    /// Appends that were refused since the journal was full.
    refused: u64,
}

impl History {
    fn new(seed: u64) -> Self {
        let (random, disk) = (Random::new(seed), SimulatedDisk::new(seed));
        let journal = Some(open(&disk).0);
        Self { random, disk, journal, model: Model::default(), next: 1, ever: Vec::new(), refused: 0 }
    }

    fn journal(&self) -> &DiskJournal {
        self.journal.as_ref().expect("it is open")
    }

    /// False once the disk has ended.
    fn step(&mut self) -> bool {
        let outcome = match self.random.below(16) {
            0..7 => self.append(),
            7..11 => self.finish(),
            11..13 => self.sync(),
            13 => self.read_back(),
            _ => self.journal().upkeep(),
        };
        match outcome {
            Ok(()) | Err(JournalError::Full | JournalError::NoSpace) => true,
            Err(_) => {
                assert!(self.journal().is_failed());
                false
            }
        }
    }

    fn append(&mut self) -> Result<(), JournalError> {
        let unfinished = self.model.unfinished();
        let of_old = !unfinished.is_empty() && self.random.one_in(4);
        let change = if of_old { unfinished[self.random.index(unfinished.len())] } else { self.next };
        self.next += u64::from(!of_old);
        let records: Vec<_> = (0..=self.random.index(3))
            .map(|_| {
                let mut payload = vec![0; self.random.length(1024) - 1];
                self.random.fill(&mut payload);
                JournalRecord { kind: self.random.number() as u8, change, payload }
            })
            .collect();
        let writes = self.disk.writes();
        let outcome = self.journal().append(&records);
        match &outcome {
            Ok(_) => {
                let marks = u64::from(!self.model.unmarked.is_empty());
                assert!(self.disk.writes() <= writes + 1 + marks, "one write an append");
                self.marked();
                self.ever.extend_from_slice(&records);
                self.model.done.push(Done::Appended(records));
            }
            Err(JournalError::Full) => self.refused += 1,
            Err(JournalError::NoSpace) => {}
            Err(_) => self.model.attempted = Some(Done::Appended(records)),
        }
        outcome.map(drop)
    }

    fn finish(&mut self) -> Result<(), JournalError> {
        let unfinished = self.model.unfinished();
        if unfinished.is_empty() {
            return Ok(());
        }
        let first = self.random.index(unfinished.len());
        let changes: Vec<u64> = unfinished.into_iter().skip(first).take(1 + self.random.index(4)).collect();
        let outcome = self.journal().finished(&changes);
        match &outcome {
            Ok(_) => {
                self.marked();
                self.model.done.push(Done::Finished(changes));
            }
            Err(JournalError::Full | JournalError::NoSpace) => self.model.unmarked.extend(changes),
            Err(_) => self.model.attempted = Some(Done::Finished(changes)),
        }
        outcome.map(drop)
    }

    /// Marks that waited are written.
    fn marked(&mut self) {
        for change in std::mem::take(&mut self.model.unmarked) {
            self.model.done.push(Done::Finished(vec![change]));
        }
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        let position = self.journal().finished(&[])?;
        self.marked();
        self.journal().synced(position)?;
        self.model.synced = self.model.done.len();
        Ok(())
    }

    fn read_back(&mut self) -> Result<(), JournalError> {
        let unfinished = self.model.unfinished();
        let Some(change) = unfinished.get(self.random.index(unfinished.len().max(1))) else { return Ok(()) };
        let mut wanted = self.model.live();
        wanted.retain(|record| record.change == *change);
        assert_eq!(self.journal().records(*change)?, wanted);
        Ok(())
    }

    /// Goes on with what is there.
    fn reopen(&mut self, disk: SimulatedDisk) -> ReplayedJournal {
        self.disk = disk;
        let (journal, replayed) = open(&self.disk);
        self.journal = Some(journal);
        let done = vec![Done::Appended(replayed.records.clone())];
        self.model = Model { done, synced: 1, ..Model::default() };
        self.next = self.next.max(replayed.highest_change + 1);
        replayed
    }

    /// However full it is: what is there can be finished, and then there is room.
    fn check_it_drains(&mut self) {
        let unfinished = self.model.unfinished();
        for change in unfinished {
            self.journal().finished(&[change]).expect("there is always room for marks");
            self.marked();
            self.model.done.push(Done::Finished(vec![change]));
        }
        for _ in 0..2 {
            self.journal().upkeep().expect("kept up");
        }
        let segments =
            self.disk.list().expect("a list").iter().filter(|name| name.ends_with(".journal")).count();
        assert!(segments <= 2, "{segments} segments hold nothing");
        assert_eq!(self.model.live(), []);
    }

    fn check_room(&self) {
        let names = self.disk.list().expect("a list");
        let segments = names.iter().filter(|name| name.ends_with(".journal")).count() as u64;
        assert!(segments <= SEGMENTS, "{segments} segments");
    }
}

/// Runs histories, each from a seed of its own, and says which one failed. Gives how many appends were refused in all.
fn histories(kind: &str, run: impl Fn(&mut History)) -> u64 {
    let mut refused = 0;
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let chosen = std::env::var(SEED).ok().map(|seeds| match seeds.split_once("..") {
        Some((first, end)) => number(first)..number(end),
        None => number(&seeds)..number(&seeds) + 1,
    });
    for seed in chosen.unwrap_or(HISTORIES) {
        let mut history = History::new(seed);
        let run = std::panic::AssertUnwindSafe(|| run(&mut history));
        if let Err(cause) = std::panic::catch_unwind(run) {
            #[allow(clippy::print_stderr, reason = "a test that fails says how to repeat it")]
            {
                eprintln!("seed {seed}: {SEED}={seed} cargo test -p howdah-store --test journal {kind}");
            }
            std::panic::resume_unwind(cause);
        }
        refused += history.refused;
    }
    refused
}

#[test]
fn a_killed_process_loses_nothing() {
    histories("a_killed_process_loses_nothing", |history| {
        for _ in 0..8 {
            let steps = history.random.below(40);
            (0..steps).for_each(|_| assert!(history.step()));
            history.check_room();
            let wanted = history.model.live();
            let replayed = history.reopen(history.disk.after_kill());
            assert_eq!(replayed.records, wanted);
            assert_eq!(replayed.set_aside, Vec::<PathBuf>::new());
        }
        history.check_it_drains();
    });
}

#[test]
fn a_power_cut_loses_nothing_that_was_synced() {
    histories("a_power_cut_loses_nothing_that_was_synced", |history| {
        for _ in 0..8 {
            let steps = history.random.below(40);
            (0..steps).for_each(|_| assert!(history.step()));
            let model = std::mem::take(&mut history.model);
            let replayed = history.reopen(history.disk.after_power_cut());
            assert!(model.allows(&replayed.records, false), "{}", model.against(&replayed.records));
            history.check_room();
        }
    });
}

#[test]
fn it_may_end_anywhere_also_while_it_is_opened_or_cleaned_up() {
    histories("it_may_end_anywhere_also_while_it_is_opened_or_cleaned_up", |history| {
        for _ in 0..12 {
            history.disk.stop_after(history.random.below(60));
            while history.step() {}
            let was_killed = history.random.one_in(2);
            let mut disk =
                if was_killed { history.disk.after_kill() } else { history.disk.after_power_cut() };
            // It ends again while it is opened.
            if history.random.one_in(2) {
                disk.stop_after(history.random.below(8));
                let outcome = DiskJournal::open_on(Arc::new(disk.clone()), &identity(), small());
                drop(outcome);
                disk = if was_killed { disk.after_kill() } else { disk.after_power_cut() };
            }
            let model = std::mem::take(&mut history.model);
            let replayed = history.reopen(disk);
            assert!(model.allows(&replayed.records, was_killed), "{}", model.against(&replayed.records));
            history.check_room();
        }
    });
}

#[test]
fn a_full_disk_ends_nothing() {
    histories("a_full_disk_ends_nothing", |history| {
        for _ in 0..8 {
            let free = history.random.below(3) * SEGMENT;
            history.disk.set_size(history.disk.used() + free);
            for _ in 0..history.random.below(40) {
                if history.random.one_in(10) {
                    history.disk.fail_write(Errno::NOSPC);
                }
                assert!(history.step());
            }
            let was_killed = history.random.one_in(2);
            let disk = if was_killed { history.disk.after_kill() } else { history.disk.after_power_cut() };
            // A power cut may tear the only segment, or the one that is kept for marks: another one needs room.
            disk.set_size(disk.used() + if was_killed { 0 } else { SEGMENT });
            let model = std::mem::take(&mut history.model);
            let replayed = history.reopen(disk);
            assert!(model.allows(&replayed.records, was_killed), "{}", model.against(&replayed.records));
            history.check_room();
        }
        history.disk.set_size(history.disk.used());
        history.check_it_drains();
    });
}

#[test]
fn a_full_journal_drains_whatever_it_holds() {
    let refused = histories("a_full_journal_drains_whatever_it_holds", |history| {
        for _ in 0..4 {
            for _ in 0..history.random.below(60) {
                let outcome = if history.random.one_in(3) { history.finish() } else { history.append() };
                assert!(matches!(outcome, Ok(()) | Err(JournalError::Full)), "{outcome:?}");
                if history.random.one_in(2) {
                    history.journal().upkeep().expect("kept up");
                }
            }
            history.check_room();
            if history.random.one_in(2) {
                let wanted = history.model.live();
                assert_eq!(history.reopen(history.disk.after_kill()).records, wanted);
            }
            history.check_it_drains();
        }
    });
    assert!(refused > 0, "none was full");
}

#[test]
fn what_a_flipped_bit_hides_is_set_aside_and_no_wrong_byte_is_read() {
    histories("what_a_flipped_bit_hides_is_set_aside_and_no_wrong_byte_is_read", |history| {
        for _ in 0..8 {
            let steps = history.random.below(60);
            (0..steps).for_each(|_| assert!(history.step()));
            let disk = history.disk.after_kill();
            let segments: Vec<String> =
                disk.list().expect("a list").into_iter().filter(|name| name.ends_with(".journal")).collect();
            let name = &segments[history.random.index(segments.len())];
            assert!(disk.flip(name, history.random.index(SEGMENT as usize), 1 << history.random.below(8)));
            let model = std::mem::take(&mut history.model);
            let replayed = history.reopen(disk);
            // The mark of a change that was finished may be among what is hidden.
            let mut ever = history.ever.iter();
            assert!(replayed.records.iter().all(|record| ever.any(|other| other == record)));
            if !model.live().iter().all(|record| replayed.records.contains(record)) {
                assert!(!replayed.set_aside.is_empty());
            }
            let replayed_again = history.reopen(history.disk.after_kill());
            assert_eq!((replayed_again.records, replayed_again.set_aside), (replayed.records, vec![]));
        }
    });
}

#[test]
fn one_old_change_does_not_make_it_grow() {
    let disk = SimulatedDisk::new(1);
    let (journal, _) = open(&disk);
    journal.append(&[record(1, b"old"), record(1, b"older")]).expect("appended");
    for change in 2..500 {
        journal.append(&[record(change, &[7; 700])]).expect("there is room");
        journal.finished(&[change]).expect("marked");
        journal.upkeep().expect("kept up");
        assert!(disk.used() <= SEGMENT * SEGMENTS + 1000);
    }
    assert_eq!(journal.records(1).expect("read"), [record(1, b"old"), record(1, b"older")]);
    let (_, replayed) = open(&disk.after_power_cut());
    assert_eq!(replayed.records[..2], [record(1, b"old"), record(1, b"older")]);
    assert_eq!(replayed.highest_change, 499);
}

#[test]
fn a_full_journal_takes_more_once_changes_are_finished() {
    let disk = SimulatedDisk::new(1);
    let options = JournalOptions { sync_every: Some(Duration::from_millis(1)), ..small() };
    let (journal, _) = DiskJournal::open_on(Arc::new(disk.clone()), &identity(), options).expect("opens");
    let mut appended = 0;
    let full = loop {
        match journal.append(&[record(appended, &[1; 1000])]) {
            Ok(_) => appended += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(full, JournalError::Full), "{full}");
    assert!(appended >= 9 && !journal.wait_for_room(Duration::ZERO));
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| journal.wait_for_room(Duration::from_secs(600)));
        for change in 0..appended {
            journal.finished(&[change]).expect("there is always room for marks");
        }
        assert!(waits.join().expect("it does not panic"));
    });
    journal.append(&[record(appended, &[1; 1000])]).expect("there is room");
    assert_eq!(journal.counts().changes, 1);
    assert!(disk.used() <= SEGMENT * SEGMENTS + 1000);
}

#[test]
fn a_change_whose_mark_cannot_be_written_stays_whole() {
    let disk = SimulatedDisk::new(1);
    let (journal, _) = open(&disk);
    for part in 1..=2 {
        journal.append(&[record(1, &[part; 3000])]).expect("appended");
    }
    journal.append(&[record(2, b"x")]).expect("appended");
    disk.fail_write(Errno::NOSPC);
    assert!(matches!(journal.finished(&[1]), Err(JournalError::NoSpace)));
    disk.fail_write(Errno::NOSPC);
    journal.upkeep().expect("kept up");
    let (_, replayed) = open(&disk.after_kill());
    assert_eq!(replayed.records, [record(1, &[1; 3000]), record(1, &[2; 3000]), record(2, b"x")]);
    journal.upkeep().expect("the mark is written now");
    let (_, replayed) = open(&disk.after_kill());
    assert_eq!(replayed.records, [record(2, b"x")]);
}

#[test]
fn an_append_that_fits_into_no_segment_is_refused() {
    let (journal, _) = open(&SimulatedDisk::new(1));
    let error = journal.append(&[record(1, &[0; SEGMENT as usize])]).expect_err("too long");
    assert!(matches!(error, JournalError::TooLarge { .. }), "{error}");
    journal.append(&[record(1, &[0; SEGMENT as usize - 96])]).expect("it fits");
}

#[test]
fn after_a_sync_failed_nothing_is_believed() {
    let disk = SimulatedDisk::new(1);
    let (journal, _) = open(&disk);
    let first = journal.append(&[record(1, b"one")]).expect("appended");
    journal.synced(first).expect("synced");
    let second = journal.append(&[record(2, b"two")]).expect("appended");
    disk.fail_sync(Errno::IO);
    assert!(matches!(journal.synced(second), Err(JournalError::Failed(_))));
    assert!(matches!(journal.synced(second), Err(JournalError::Failed(_))), "the next sync would succeed");
    assert!(journal.is_failed() && journal.counts().has_failed);
    assert!(matches!(journal.append(&[record(3, b"three")]), Err(JournalError::Failed(_))));
    journal.synced(first).expect("it was synced before");
    // Memory still has the second one. The disk does not.
    let (_, replayed) = open(&disk.after_kill());
    assert_eq!(replayed.records, [record(1, b"one")]);
    // Once all is finished otherwise, nothing of it comes back.
    assert!(journal.finished(&[1, 2]).is_err());
    let (_, replayed) = open(&disk.after_kill());
    assert_eq!(replayed.records, []);
}

#[test]
fn after_a_write_failed_no_more_is_taken() {
    let disk = SimulatedDisk::new(1);
    let (journal, _) = open(&disk);
    journal.append(&[record(1, b"one")]).expect("appended");
    disk.fail_write(Errno::IO);
    let error = journal.append(&[record(2, b"two")]).expect_err("refused");
    assert!(error.to_string().starts_with("writing to /simulated/0000000001.journal: "), "{error}");
    assert!(matches!(journal.append(&[record(3, b"three")]), Err(JournalError::Failed(_))));
    assert!(journal.wait_for_room(Duration::from_secs(600)), "nobody waits for a journal that has failed");
}

#[test]
fn it_starts_on_a_full_disk_and_keeps_what_was_torn() {
    let disk = SimulatedDisk::new(1);
    let (journal, _) = open(&disk);
    journal.append(&[record(1, b"one")]).expect("appended");
    disk.set_size(disk.used());
    disk.fail_write(Errno::IO);
    assert!(journal.append(&[record(2, &[7; 500])]).is_err());
    let disk = disk.after_kill();
    assert!(disk.flip("0000000001.journal", 150, 1));
    let (journal, replayed) = open(&disk);
    assert_eq!((replayed.records, replayed.set_aside.len()), (vec![record(1, b"one")], 1));
    assert!(matches!(journal.append(&[record(3, b"three")]), Err(JournalError::NoSpace)));
    journal.finished(&[1]).expect("there is always room for marks");
    let (_, replayed) = open(&disk.after_kill());
    assert_eq!(replayed.records, []);
    // With room again, it goes to a file of its own.
    disk.set_size(u64::MAX);
    let (journal, _) = open(&disk.after_kill());
    journal.append(&[record(3, b"three")]).expect("there is room");
}

#[test]
fn a_full_disk_keeps_nobody_from_finishing() {
    let disk = SimulatedDisk::new(1);
    let (journal, _) = open(&disk);
    journal.append(&[record(1, b"one")]).expect("appended");
    disk.set_size(disk.used());
    let (journal, replayed) = open(&disk.after_kill());
    assert_eq!((replayed.records, replayed.set_aside), (vec![record(1, b"one")], vec![]));
    journal.append(&[record(2, b"two")]).expect("the segment has room");
    let mut change = 3;
    let full = loop {
        match journal.append(&[record(change, &[1; 500])]) {
            Ok(_) => change += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(full, JournalError::NoSpace), "{full}");
    (1..change).for_each(|change| assert!(journal.finished(&[change]).is_ok()));
    journal.upkeep().expect("kept up");
    journal.append(&[record(change, &[1; 500])]).expect("there is room");
}

#[test]
fn journals_of_others_are_refused() {
    let disk = SimulatedDisk::new(1);
    let (journal, _) = open(&disk);
    journal.append(&[record(1, b"one")]).expect("appended");
    let id = journal.id();
    let open = |identity: JournalIdentity, adopt| {
        let options = JournalOptions { adopt, ..small() };
        let opened = DiskJournal::open_on(Arc::new(disk.after_kill()), &identity, options);
        opened.map(|(journal, replayed)| (journal.id(), replayed.records.len()))
    };
    let there = JournalIdentity { host: "there".to_owned(), ..identity() };
    assert_eq!(open(identity(), false).expect("ours"), (id, 1));
    assert!(
        matches!(open(there.clone(), false), Err(JournalError::OtherHost { found, .. }) if found == "here")
    );
    assert_eq!(open(there, true).expect("adopted"), (id, 1));
    let other = JournalIdentity { export: "/other".to_owned(), ..identity() };
    assert!(matches!(open(other, true), Err(JournalError::OtherOwner { field: "export", .. })));
    assert!(disk.flip("identity", 20, 1));
    assert!(matches!(open(identity(), false), Err(JournalError::Unidentified { .. })));
    disk.remove("identity").expect("removed");
    assert!(matches!(open(identity(), false), Err(JournalError::Unidentified { .. })));
    assert_eq!(open(identity(), true).expect("adopted").1, 1);
}

#[test]
fn handles_of_two_versions_of_nfs_are_not_mixed() {
    let disk = SimulatedDisk::new(1);
    let open = |version| {
        let identity = JournalIdentity { version, ..identity() };
        DiskJournal::open_on(Arc::new(disk.clone()), &identity, small())
    };
    // One of which it is not known stays so while there are changes in it.
    for (first, refused) in [(None, None), (Some(4), Some(3))] {
        let (journal, _) = open(first).expect("opens");
        journal.append(&[record(1, b"one")]).expect("appended");
        drop(journal);
        match refused {
            None => drop(open(Some(4)).expect("opens")),
            Some(_) => {
                let other = open(refused).map(|_| ()).expect_err("of another version");
                assert!(matches!(other, JournalError::OtherVersion { found: 4, .. }), "{other}");
            }
        }
        let (journal, replayed) = open(first).expect("opens");
        assert_eq!(replayed.records.len(), 1);
        journal.finished(&[1]).expect("finished");
    }
    drop(open(Some(3)).expect("nothing is left of version 4"));
    let (journal, _) = open(Some(3)).expect("opens");
    journal.append(&[record(2, b"two")]).expect("appended");
    drop(journal);
    assert!(matches!(open(Some(4)), Err(JournalError::OtherVersion { found: 3, .. })));
}

/// Notes how much of the journal was durable when it was to be synced, and whether it can be.
#[derive(Debug, Default)]
struct Referred {
    syncs: AtomicU64,
    fails: AtomicBool,
}

impl SyncFirst for Referred {
    fn sync(&self) -> io::Result<()> {
        self.syncs.fetch_add(1, SeqCst);
        if self.fails.load(SeqCst) { Err(io::Error::other("as the test wants")) } else { Ok(()) }
    }
}

#[test]
fn what_records_refer_to_is_durable_before_they_are() {
    let (disk, referred) = (SimulatedDisk::new(1), Arc::new(Referred::default()));
    let options = JournalOptions { sync_first: Some(Arc::clone(&referred) as _), ..small() };
    let (journal, _) = DiskJournal::open_on(Arc::new(disk.clone()), &identity(), options).expect("opens");
    let before = referred.syncs.load(SeqCst);
    let position = journal.append(&[record(1, b"one")]).expect("appended");
    journal.synced(position).expect("synced");
    assert_eq!(referred.syncs.load(SeqCst), before + 1);
    referred.fails.store(true, SeqCst);
    let position = journal.append(&[record(2, b"two")]).expect("appended");
    assert!(journal.synced(position).is_err() && journal.is_failed());
}

#[test]
fn a_lost_journal_is_missed() {
    let directory = tempfile::tempdir().expect("a directory");
    let options = JournalOptions { count_file: Some(directory.path().join("count")), ..small() };
    let open =
        |disk: &SimulatedDisk| DiskJournal::open_on(Arc::new(disk.clone()), &identity(), options.clone());
    let disk = SimulatedDisk::new(1);
    let (journal, replayed) = open(&disk).expect("opens");
    assert_eq!(replayed.missing, None);
    for change in 0..5 {
        journal.append(&[record(change, b"x")]).expect("appended");
    }
    drop(journal);
    let (journal, replayed) = open(&disk).expect("opens");
    assert_eq!((replayed.missing, replayed.records.len()), (None, 5));
    drop(journal);
    let (journal, replayed) = open(&SimulatedDisk::new(2)).expect("opens");
    assert_eq!(replayed.missing.map(|missing| missing.changes), Some(5));
    drop(journal);
    assert_eq!(open(&SimulatedDisk::new(3)).expect("opens").1.missing, None);
}

/// A disk whose syncs wait at a gate.
struct GatedDisk {
    disk: SimulatedDisk,
    gate: Arc<Gate>,
}

struct Gate {
    entered: Mutex<Option<mpsc::Sender<()>>>,
    opened: Mutex<Option<mpsc::Receiver<()>>>,
    syncs: AtomicU64,
}

struct GatedFile(Arc<dyn JournalFile>, Arc<Gate>);

impl JournalDisk for GatedDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        self.disk.list()
    }
    fn create(&self, name: &str, length: u64) -> io::Result<Arc<dyn JournalFile>> {
        Ok(Arc::new(GatedFile(self.disk.create(name, length)?, Arc::clone(&self.gate))))
    }
    fn open(&self, name: &str) -> io::Result<Arc<dyn JournalFile>> {
        Ok(Arc::new(GatedFile(self.disk.open(name)?, Arc::clone(&self.gate))))
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }
    fn sync_names(&self) -> io::Result<()> {
        self.disk.sync_names()
    }
    fn path(&self, name: &str) -> PathBuf {
        self.disk.path(name)
    }
}

impl JournalFile for GatedFile {
    fn length(&self) -> io::Result<u64> {
        self.0.length()
    }
    fn read(&self) -> io::Result<Vec<u8>> {
        self.0.read()
    }
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, buffer)
    }
    fn write_at(&self, offset: u64, parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        self.0.write_at(offset, parts)
    }
    fn sync(&self) -> io::Result<()> {
        self.1.syncs.fetch_add(1, Ordering::Relaxed);
        let (entered, opened) =
            (self.1.entered.lock().expect("a lock").take(), self.1.opened.lock().expect("a lock").take());
        if let (Some(entered), Some(opened)) = (entered, opened) {
            entered.send(()).expect("somebody waits");
            opened.recv().expect("it is opened");
        }
        self.0.sync()
    }
}

#[test]
fn one_sync_covers_all_who_appended_before_it() {
    const OTHERS: u64 = 8;
    let gate =
        Arc::new(Gate { entered: Mutex::default(), opened: Mutex::default(), syncs: AtomicU64::new(0) });
    let disk = GatedDisk { disk: SimulatedDisk::new(1), gate: Arc::clone(&gate) };
    let (journal, _) = DiskJournal::open_on(Arc::new(disk), &identity(), small()).expect("opens");
    journal.append(&[record(0, b"begins the segment")]).expect("appended");
    let before = gate.syncs.load(Ordering::Relaxed);
    let ((enter, entered), (open, opened)) = (mpsc::channel(), mpsc::channel());
    *gate.entered.lock().expect("a lock") = Some(enter);
    *gate.opened.lock().expect("a lock") = Some(opened);
    let appended = Barrier::new(OTHERS as usize + 1);
    std::thread::scope(|scope| {
        let (journal, appended) = (&journal, &appended);
        let put = |change| journal.append(&[record(change, b"x")]).expect("appended");
        scope.spawn(move || journal.synced(put(0)).expect("synced"));
        entered.recv().expect("it syncs");
        for change in 1..=OTHERS {
            scope.spawn(move || {
                let position = put(change);
                appended.wait();
                journal.synced(position).expect("synced");
            });
        }
        appended.wait();
        assert!(journal.counts().unsynced > Duration::ZERO);
        open.send(()).expect("it waits");
    });
    assert_eq!(gate.syncs.load(Ordering::Relaxed), before + 2, "the first covers nobody who came later");
    assert_eq!(journal.counts().unsynced, Duration::ZERO);
}

#[test]
fn its_thread_syncs_by_itself() {
    let options = JournalOptions { sync_every: Some(Duration::from_millis(1)), ..small() };
    let disk = SimulatedDisk::new(1);
    let (journal, _) = DiskJournal::open_on(Arc::new(disk.clone()), &identity(), options).expect("opens");
    journal.append(&[record(1, b"one")]).expect("appended");
    while journal.counts().unsynced > Duration::ZERO {
        std::thread::yield_now();
    }
    let (_, replayed) = open(&disk.after_power_cut());
    assert_eq!(replayed.records, [record(1, b"one")]);
}

#[test]
fn a_second_process_is_refused_and_the_first_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("journal");
    let open = || DiskJournal::open(&path, &identity(), small());
    let (first, _) = open().expect("opens");
    match open().map(drop) {
        Err(JournalError::InUse { holder, command, .. }) => {
            assert_eq!(holder, Some(std::process::id()));
            assert!(!command.is_empty());
        }
        other => panic!("{other:?}"),
    }
    first.append(&[record(1, b"one"), record(2, b"two")]).expect("appended");
    let holder = Some(std::process::id());
    let summary = |holder, changes| JournalSummary { identity: identity(), holder, changes };
    assert_eq!(JournalSummary::of(&path).expect("it can be looked at"), summary(holder, None));
    drop(first);
    assert_eq!(JournalSummary::of(&path).expect("it can be looked at"), summary(None, Some(2)));
    open().expect("it is free");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(&path).expect("it is there").permissions(),
    );
    assert_eq!(mode & 0o777, 0o700);
}

/// Set to the directory in the process that is killed.
const CHILD: &str = "HOWDAH_TEST_JOURNAL";

/// A real one: many segments in a second.
fn real() -> JournalOptions {
    JournalOptions { bound: 4 << 20, segment: 256 << 10, ..JournalOptions::default() }
}

/// The payload of a change.
fn payload(change: u64) -> Vec<u8> {
    let mut random = Random::new(change);
    let mut payload = vec![0; random.index(4000)];
    random.fill(&mut payload);
    payload
}

/// Appends changes, and finishes each except every tenth, until it is killed. Says what it did.
#[allow(clippy::print_stdout, reason = "this is how the parent knows")]
fn append_until_killed(directory: &Path) {
    let (journal, replayed) = DiskJournal::open(directory, &identity(), real()).expect("opens");
    let first = replayed.highest_change + 1;
    for change in first.. {
        while let Err(error) = journal.append(&[record(change, &payload(change))]) {
            assert!(matches!(error, JournalError::Full), "{error}");
            journal.wait_for_room(Duration::from_secs(600));
        }
        println!("\n+{change}");
        if change % 10 != 0 {
            journal.finished(&[change]).expect("marked");
            println!("\n-{change}");
        }
        // Some old ones stay for a while.
        if change > 300 && change % 10 == 0 {
            journal.finished(&[change - 300]).expect("marked");
            println!("\n-{}", change - 300);
        }
    }
}

#[test]
fn a_real_process_that_is_killed_loses_nothing() {
    if let Some(directory) = std::env::var_os(CHILD) {
        append_until_killed(Path::new(&directory));
    }
    let directory = tempfile::tempdir().expect("a directory");
    let mut unfinished: BTreeSet<u64> = BTreeSet::new();
    for round in 0..5 {
        let mut child = Command::new(std::env::current_exe().expect("own path"));
        child.args(["--exact", "a_real_process_that_is_killed_loses_nothing", "--nocapture"]);
        let mut child = child.env(CHILD, directory.path()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        let mut take = |line: &str| -> bool {
            let Some((sign, change)) = line.split_at_checked(1) else { return false };
            match (sign, change.parse::<u64>()) {
                ("+", Ok(change)) => unfinished.insert(change),
                ("-", Ok(change)) => unfinished.remove(&change),
                _ => false,
            }
        };
        let said = lines.by_ref().filter(|line| take(line)).take(1500 + 700 * round).count();
        assert_eq!(said, 1500 + 700 * round, "it ended by itself");
        child.kill().expect("killed");
        for line in lines {
            take(&line);
        }
        child.wait().expect("it ended");
        let (_, replayed) = DiskJournal::open(directory.path(), &identity(), real()).expect("opens");
        // A write that the signal ended may have been half done.
        assert!(replayed.set_aside.len() <= 1, "{:?}", replayed.set_aside);
        // One change may have been appended, and one finished, before it could say so.
        let found: BTreeSet<u64> = replayed.records.iter().map(|record| record.change).collect();
        assert!(found.symmetric_difference(&unfinished).count() <= 1, "{found:?} {unfinished:?}");
        assert!(replayed.records.iter().all(|one| *one == record(one.change, &payload(one.change))));
        unfinished = found;
    }
}
