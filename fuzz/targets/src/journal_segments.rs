//! Segments of a journal as a disk may give them back: damaged ones give no record that was not appended, and any bytes are read or refused.

#[path = "../../../crates/store/tests/simulated_disk/mod.rs"]
#[allow(dead_code, reason = "the tests of journals use the rest")]
mod simulated_disk;

use std::io::IoSlice;
use std::sync::Arc;

use howdah_store::journal::{
    DiskJournal, JournalDisk, JournalError, JournalIdentity, JournalOptions, JournalRecord, ReplayedJournal,
};
use simulated_disk::SimulatedDisk;

/// Bytes of a segment.
const SEGMENT: u64 = 4096;
/// Changes that are appended: four segments.
const CHANGES: u64 = 24;

/// The first byte says which: bytes to change in segments that were written, three for each; or a segment as it is.
pub fn run(input: &[u8]) {
    match input.split_first() {
        Some((0, segment)) => read_any(segment),
        Some((_, changes)) => read_damaged(changes),
        None => {}
    }
}

fn open(disk: &SimulatedDisk) -> Result<(DiskJournal, ReplayedJournal), JournalError> {
    let [server, export, user, host] = ["server", "/export", "1000", "host"].map(str::to_owned);
    let identity = JournalIdentity { server, export, version: None, user, host };
    let options = JournalOptions {
        bound: 8 * SEGMENT,
        segment: SEGMENT,
        sync_every: None,
        ..JournalOptions::default()
    };
    DiskJournal::open_on(Arc::new(disk.clone()), &identity, options)
}

/// A record of a change, and of no other.
fn record(change: u64) -> JournalRecord {
    JournalRecord { kind: 1, change, payload: vec![change as u8; 500 + 10 * change as usize] }
}

fn read_damaged(changes: &[u8]) {
    let disk = SimulatedDisk::new(1);
    let (journal, _) = open(&disk).expect("an empty disk");
    for change in 1..=CHANGES {
        journal.append(&[record(change)]).expect("it has room");
        if change % 3 == 0 {
            journal.finished(&[change - 1]).expect("it has room");
        }
    }
    let names = segments(&disk);
    for change in changes.chunks_exact(3) {
        let offset = usize::from(u16::from_be_bytes([change[0], change[1]]));
        let name = &names[offset / SEGMENT as usize % names.len()];
        disk.flip(name, offset % SEGMENT as usize, change[2]);
    }
    let (_, replayed) = open(&disk.after_kill()).expect("damage is no error");
    let numbers: Vec<u64> = replayed.records.iter().map(|record| record.change).collect();
    assert!(
        numbers.is_sorted() && numbers.iter().all(|number| (1..=CHANGES).contains(number)),
        "{numbers:?}"
    );
    assert!(replayed.records.iter().all(|one| *one == record(one.change)));
}

fn read_any(segment: &[u8]) {
    let disk = SimulatedDisk::new(1);
    drop(open(&disk).expect("an empty disk"));
    for name in segments(&disk) {
        disk.remove(&name).expect("it is there");
    }
    let file = disk.create("0000000001.journal", segment.len() as u64).expect("it has room");
    file.write_at(0, &mut [IoSlice::new(segment)]).expect("it has room");
    match open(&disk) {
        // What was set aside the first time is not there the second time.
        Ok((journal, replayed)) => {
            drop(journal);
            let (_, again) = open(&disk).expect("it was opened before");
            assert_eq!((again.records, again.set_aside), (replayed.records, vec![]));
        }
        Err(error) => assert!(matches!(error, JournalError::Newer { .. }), "{error}"),
    }
}

fn segments(disk: &SimulatedDisk) -> Vec<String> {
    let names = disk.list().expect("a list");
    names.into_iter().filter(|name| name.ends_with(".journal")).collect()
}
