//! Random readers, writers and strangers over a cache on disk that is closed and opened again: who opens a file reads what the
//! server has, from close to open.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use howdah_layers::{Cached, CachingOptions};
use howdah_random::Random;
use howdah_vfs::layer::Metered;
use howdah_vfs::{
    Access, Change, CommitFile, Consistency, CopyRange, Create, CreateFile, FileExtent, FileSystem, Handle,
    Name, NewAttributes, SetAttributes, SetTime,
};

use crate::disk::*;

const PIECE: u64 = 64 << 10;
const FILES: usize = 4;
const LENGTH: u64 = 4 * PIECE;
const OPERATIONS: usize = 300;
const ROUNDS: u64 = 12;

/// The file system in memory is both the server and the model.
struct World {
    server: Arc<Metered>,
    random: Random,
    names: Vec<String>,
}

impl World {
    fn node(&self, file: usize) -> Handle {
        let name = Name::parse(self.names[file].as_bytes()).expect("a name");
        self.server.lookup(&ROOT, &self.server.root(), name).expect("it is there").node.handle
    }

    fn range(&mut self) -> (u64, u64) {
        // Whole pieces as well as parts of them.
        let step = if self.random.one_in(2) { PIECE } else { 1_000 };
        let start = self.random.below(LENGTH / step) * step;
        (start, (1 + self.random.below((LENGTH - start) / step)) * step)
    }

    /// One change, through this file system.
    fn change(&mut self, fs: &dyn FileSystem, node: &Handle, file: usize) {
        let ((start, length), change) = (self.range(), &mut Change::default());
        match self.random.below(10) {
            0..4 => write(fs, node, start, &self.random.bytes(length as usize)),
            4 => set(fs, node, &NewAttributes::with_size(start)),
            5 => set(fs, node, &NewAttributes::with_mode(0o600 + self.random.below(64) as u32)),
            6 => {
                let before = fs.attributes(&ROOT, node).expect("attributes").modified;
                write(fs, node, start, &self.random.bytes(1));
                let modified = SetTime::To(before);
                set(fs, node, &NewAttributes { modified, ..NewAttributes::default() });
            }
            7 => {
                let ranges = fs.require_ranges().expect("it has them");
                ranges.deallocate(&ROOT, FileExtent::new(node, start, length), change).expect("a hole");
            }
            8 => {
                let from = self.node((file + 1) % FILES);
                let size = fs.attributes(&ROOT, &from).expect("attributes").size;
                let copy = CopyRange::new((&from, 0), (node, start), length.min(size));
                if copy.count > 0 {
                    fs.require_ranges()
                        .expect("it has them")
                        .copy_range(&ROOT, copy, change)
                        .expect("copied");
                }
            }
            _ => {
                let how = Create::Unchecked(NewAttributes::with_size(0));
                let (top, name) = (fs.root(), self.names[file].clone());
                let name = Name::parse(name.as_bytes()).expect("a name");
                fs.create(&ROOT, CreateFile::new(&top, name, &how), change).expect("emptied");
            }
        }
    }
}

fn set(fs: &dyn FileSystem, node: &Handle, new: &NewAttributes) {
    fs.set_attributes(&ROOT, SetAttributes::new(node, new, None), &mut Change::default()).expect("set");
}

fn check(fs: &dyn FileSystem, world: &mut World, node: &Handle, context: &str) {
    let expected = read(&*world.server, node, 0, 2 * LENGTH as usize);
    let mut at = world.random.below(expected.len() as u64 + 1);
    if world.random.one_in(2) {
        at = 0;
    }
    let end = (at as usize + world.random.index(expected.len() + 1)).min(expected.len());
    let got = read(fs, node, at, end - at as usize);
    let differs = got.iter().zip(&expected[at as usize..end]).position(|(one, other)| one != other);
    assert!(
        got.len() == end - at as usize && differs.is_none(),
        "{context}: from {at} to {end} at {differs:?}"
    );
}

#[allow(clippy::print_stderr, reason = "a test that fails is repeated with its seed")]
fn round(seed: u64, all_layers: bool) -> u64 {
    eprintln!("seed {seed:#x}");
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let names: Vec<String> = (0..FILES).map(|number| format!("f{number}")).collect();
    for name in &names {
        make(&*server, name, &content(seed, LENGTH as usize));
    }
    let mut world = World { server: Arc::clone(&server), random: Random::new(seed), names };
    let (storage, hits) = (storage(directory.path()), AtomicU64::new(0));
    for life in 0..6 {
        // A part of them has no room for all.
        let size = if seed.is_multiple_of(3) { 2 << 20 } else { 64 << 20 };
        let options = options(size);
        let open = || (Arc::clone(&storage), options.clone());
        let cached = all_layers.then(|| {
            let options =
                CachingOptions { read_size: 100_000, write_size: 70_000, ..CachingOptions::default() };
            Cached::on_disk(Arc::clone(&server) as _, options, open())
        });
        let single = (!all_layers).then(|| cache_on(&server, open().0, open().1));
        let fs: &dyn FileSystem = match (&cached, &single) {
            (Some(cached), _) => cached,
            (_, Some(single)) => single,
            _ => unreachable!("one of both"),
        };
        for step in 0..OPERATIONS / 6 {
            let context = format!("seed {seed:#x}, life {life}, step {step}");
            let file = world.random.index(FILES);
            let node = world.node(file);
            match world.random.below(8) {
                0 => world.change(&*server.clone(), &node, file),
                1 | 2 => {
                    world.change(fs, &node, file);
                    // Another client may write the file after it was closed.
                    let commit = |node: &Handle| {
                        fs.commit(&ROOT, CommitFile::new(node, 0, 0), &mut Change::default())
                            .expect("closed");
                    };
                    (0..FILES).for_each(|file| commit(&world.node(file)));
                }
                3 => single.iter().for_each(|single| assert!(single.settled(LONG), "{context}")),
                _ => {
                    if let Some(cached) = &cached {
                        cached.opened(&ROOT, &node).expect("opened");
                    } else {
                        fs.access(&ROOT, &node, Access::ALL).expect("opened");
                    }
                    (0..3).for_each(|_| check(fs, &mut world, &node, &context));
                }
            }
        }
        let report = single.map(|single| single.report()).or(cached.and_then(|cached| cached.report().disk));
        let report = report.expect("a disk");
        assert_eq!(report.damaged, 0, "{report:?}");
        hits.fetch_add(report.hits, Ordering::Relaxed);
    }
    hits.into_inner()
}

/// Each thread writes and reads a part of the file that is its own, so that it knows what it must read.
#[allow(clippy::print_stderr, reason = "a test that fails is repeated with its seed")]
fn threads_round(seed: u64) -> u64 {
    const PART: u64 = 3 * PIECE / 2;
    eprintln!("seed {seed:#x}");
    let (server, directory) = (server(), tempfile::tempdir().expect("a directory"));
    let node = make(&*server, "file", &content(seed, 4 * PART as usize));
    let storage = storage(directory.path());
    for life in 0..4 {
        let cache = cache_on(&server, Arc::clone(&storage), options(64 << 20));
        cache.access(&ROOT, &node, Access::ALL).expect("opened");
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (cache, server, node) = (&cache, &server, &node);
                scope.spawn(move || {
                    let mut random = Random::apart(seed, life * 4 + thread);
                    let start = thread * PART;
                    let mut mine = read(&**server, node, start, PART as usize);
                    for step in 0..60 {
                        let from = random.below(PART);
                        let length = 1 + random.below(PART - from);
                        let range = from as usize..(from + length) as usize;
                        match random.below(4) {
                            0 => {
                                mine[range.clone()].copy_from_slice(&random.bytes(range.len()));
                                write(cache, node, start + from, &mine[range]);
                            }
                            1 => assert!(cache.access(&ROOT, node, Access::ALL).is_ok()),
                            _ => {
                                let got = read(cache, node, start + from, range.len());
                                assert!(
                                    got == mine[range],
                                    "seed {seed:#x}, life {life}, thread {thread}, {step}"
                                );
                            }
                        }
                    }
                });
            }
        });
        let expected = read(&*server, &node, 0, 4 * PART as usize);
        for _ in 0..2 {
            assert!(
                open_and_read(&cache, &node, 0, expected.len()) == expected,
                "seed {seed:#x}, life {life}"
            );
            assert!(cache.settled(LONG));
        }
        assert!(open_and_read(&cache, &node, 0, expected.len()) == expected, "seed {seed:#x}, life {life}");
        let report = cache.report();
        assert_eq!(report.damaged, 0, "{report:?}");
    }
    let last = cache_on(&server, storage, options(64 << 20));
    let before = calls(&server, howdah_vfs::layer::Call::Read);
    open_and_read(&last, &node, 0, 4 * PART as usize);
    calls(&server, howdah_vfs::layer::Call::Read) - before
}

#[test]
fn threads_that_write_and_read_one_file_read_what_they_wrote() {
    let reads: u64 = (0..ROUNDS).map(threads_round).sum();
    assert_eq!(reads, 0, "what was read last is on the disk");
}

#[test]
fn what_is_read_is_what_the_server_has() {
    let hits: u64 = (0..ROUNDS).map(|seed| round(seed, false)).sum();
    assert!(hits > 20 * ROUNDS, "only {hits} reads were answered by the disk");
}

#[test]
fn what_is_read_through_all_layers_is_what_the_server_has() {
    for seed in 100..100 + ROUNDS {
        round(seed, true);
    }
}
