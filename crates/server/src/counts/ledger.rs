//! The counters of all workers, added up when somebody asks.

use std::sync::Arc;

use crate::locks::Mutex;

use super::clerk::Clerk;
use super::figures::Figures;
use super::outcome::Unheard;
use super::shard::{Doing, NO_EXPORT, OTHER_EXPORTS, Shard};
use crate::exports::Exports;
use crate::limits::EXPORTS_COUNTED_MAX;
use crate::programs::Listed;

/// All counters.
pub struct Ledger {
    procedures: Arc<[Listed]>,
    shards: Mutex<Vec<Arc<Shard>>>,
    /// Id and name of each export that was ever served, by its place: that of the first is 1.
    exports: Mutex<Vec<(u32, String)>>,
}

/// What was counted of a procedure of an export.
#[derive(Debug, Clone)]
pub struct Row {
    /// The procedure's place among all.
    pub place: u16,
    /// For which calls.
    pub export: OfExport,
    /// The program's name in `/etc/rpc`.
    pub program: &'static str,
    /// The program's version.
    pub version: u32,
    /// The procedure's name in the RFC.
    pub procedure: &'static str,
    /// What was counted.
    pub figures: Figures,
}

/// What calls are for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum OfExport {
    /// An export.
    Named {
        /// Its id.
        id: u32,
        /// What clients mount.
        name: String,
    },
    /// Exports beyond those that are counted one by one.
    Others,
    /// None: they named no file, or a handle that leads nowhere.
    Nothing,
}

/// What workers do now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Workers {
    /// They wait for sockets.
    pub waiting: usize,
    /// They receive, run calls or send.
    pub running: usize,
    /// They wait for a file system.
    pub in_storage: usize,
}

/// Messages that came to no procedure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnheardSums {
    /// No calls, or headers that make no sense.
    pub malformed: u64,
    /// Credentials that do not do.
    pub authentication: u64,
    /// No such program, version or procedure.
    pub unavailable: u64,
}

impl Ledger {
    /// Nothing counted, for these procedures.
    pub fn new(procedures: Arc<[Listed]>) -> Self {
        Self { procedures, shards: Mutex::default(), exports: Mutex::default() }
    }

    /// One more who counts.
    pub fn clerk(&self) -> Clerk {
        self.count_with(Shard::new(self.procedures.len()))
    }

    /// The same for a thread that is none of the workers: whether all of those are busy is asked of them alone.
    pub fn clerk_beside(&self) -> Clerk {
        self.count_with(Shard::new(self.procedures.len()).beside())
    }

    /// With the counters of one who is gone, if there are any: they stay, since what was counted does.
    fn count_with(&self, shard: Shard) -> Clerk {
        let mut shards = self.shards.lock();
        let is_free =
            |one: &&Arc<Shard>| one.is_workers() == shard.is_workers() && Arc::strong_count(one) == 1;
        if let Some(free) = shards.iter().find(is_free) {
            return Clerk::new(Arc::clone(free));
        }
        let shard = Arc::new(shard);
        shards.push(Arc::clone(&shard));
        Clerk::new(shard)
    }

    /// The name of the export of this place.
    pub fn export_name(&self, place: u16) -> String {
        let exports = self.exports.lock();
        let known = usize::from(place).checked_sub(1).and_then(|index| exports.get(index));
        known.map_or_else(|| "others".to_owned(), |(_, name)| name.clone())
    }

    /// Gives each export its place: the one that it had, if its id was served before.
    pub fn admit(&self, exports: &Exports) {
        let mut known = self.exports.lock();
        for export in exports.iter() {
            let index = known.iter().position(|(id, _)| *id == export.id());
            let index = index.or_else(|| {
                (known.len() < EXPORTS_COUNTED_MAX).then(|| known.push((export.id(), String::new())))?;
                Some(known.len() - 1)
            });
            if let Some(index) = index {
                export.name().clone_into(&mut known[index].1);
            }
            export.set_place(index.map_or(OTHER_EXPORTS, |index| index as u16 + 1));
        }
    }

    /// What was counted so far, of every procedure of every export that was called; by export, then in the tables' order.
    pub fn rows(&self) -> Vec<Row> {
        let shards = self.shards.lock();
        let mut rows = Vec::new();
        for (at, export) in self.places() {
            for (listed, place) in self.procedures.iter().zip(0..) {
                let mut figures = Figures::default();
                shards.iter().for_each(|shard| shard.add_to(at, place, &mut figures));
                if figures.calls > 0 {
                    let Listed { program, version, procedure } = *listed;
                    let procedure = procedure.name;
                    rows.push(Row { place, export: export.clone(), program, version, procedure, figures });
                }
            }
        }
        rows
    }

    /// All that calls may be for.
    pub fn exports(&self) -> Vec<OfExport> {
        self.places().into_iter().map(|(_, export)| export).collect()
    }

    /// The exports that are counted by themselves, and their places.
    pub fn named_places(&self) -> Vec<(u16, String)> {
        let exports = self.exports.lock();
        exports.iter().zip(1..).map(|((_, name), place)| (place, name.clone())).collect()
    }

    fn places(&self) -> Vec<(u16, OfExport)> {
        let exports = self.exports.lock();
        let named = exports.iter().zip(1..);
        let named = named.map(|((id, name), place)| (place, OfExport::Named { id: *id, name: name.clone() }));
        named.chain([(OTHER_EXPORTS, OfExport::Others), (NO_EXPORT, OfExport::Nothing)]).collect()
    }

    /// What workers do now.
    pub fn workers(&self) -> Workers {
        let mut workers = Workers::default();
        for shard in self.shards.lock().iter().filter(|shard| shard.is_workers()) {
            match shard.doing() {
                Doing::Waits => workers.waiting += 1,
                Doing::Runs => workers.running += 1,
                Doing::Stores => workers.in_storage += 1,
            }
        }
        workers
    }

    /// What came to no procedure so far.
    pub fn unheard(&self) -> UnheardSums {
        let shards = self.shards.lock();
        let sum = |unheard| shards.iter().map(|shard| shard.unheard(unheard).get()).sum();
        UnheardSums {
            malformed: sum(Unheard::Malformed),
            authentication: sum(Unheard::Authentication),
            unavailable: sum(Unheard::Unavailable),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use howdah_vfs::FileSystem;
    use howdah_vfs::memory::MemoryFileSystem;

    use super::super::ticket::Timing;
    use super::super::{Moment, Outcome, Timed, at_export};
    use super::*;
    use crate::Reply;
    use crate::exports::Export;
    use crate::service::procedures;

    fn exports(names: &[(u32, &str)]) -> Exports {
        let export =
            |&(id, name): &(u32, &str)| Export::new(name, id, Arc::new(MemoryFileSystem::new()), Vec::new());
        Exports::new(names.iter().map(export).collect(), [0; 16]).expect("they differ")
    }

    #[test]
    fn counts_are_exact_whoever_counts_and_whoever_looks() {
        const WORKERS: u64 = 4;
        const CALLS: u64 = 50_000;
        let ledger = Ledger::new(procedures());
        ledger.admit(&exports(&[(7, "/a")]));
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS)
                .map(|_| {
                    let mut clerk = ledger.clerk();
                    scope.spawn(move || {
                        for call in 0..CALLS {
                            let arrived = Moment::now();
                            let timing = Timing { arrived, received: 100, is_first: false };
                            clerk.start(&timing);
                            at_export(1);
                            let mut reply = Reply::with_buffer(Vec::new());
                            reply.set_outcome(Outcome::of_status(u32::from(call % 10 == 0) * 2));
                            clerk.end(1, &timing, Some(&mut reply));
                            let ticket = reply.ticket().expect("a ticket");
                            let gone = Moment::at(arrived.nanoseconds() + call % 1000 * 1000);
                            clerk.handed(&ticket, 1, gone);
                        }
                    })
                })
                .collect();
            let seen = scope.spawn(|| {
                let mut last = 0;
                while !done.load(Ordering::Relaxed) {
                    let calls = ledger.rows().first().map_or(0, |row| row.figures.calls);
                    assert!(calls >= last, "a count went back");
                    last = calls;
                }
            });
            workers.into_iter().for_each(|worker| worker.join().expect("counted"));
            done.store(true, Ordering::Relaxed);
            seen.join().expect("looked");
        });
        let rows = ledger.rows();
        let [row] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((row.program, row.version, row.procedure), ("nfs", 3, "GETATTR"));
        assert_eq!(row.export, OfExport::Named { id: 7, name: "/a".to_owned() });
        let all = WORKERS * CALLS;
        assert_eq!((row.figures.calls, row.figures.received), (all, all * 100));
        assert_eq!(row.figures.latency.count(), all);
        assert_eq!(row.figures.named_errors().collect::<Vec<_>>(), [("NOENT", all / 10)]);
    }

    #[test]
    fn an_export_keeps_its_counters_over_a_reload_and_too_many_share_theirs() {
        let ledger = Ledger::new(procedures());
        let first = exports(&[(1, "/one"), (2, "/two")]);
        ledger.admit(&first);
        let places = |exports: &Exports| exports.iter().map(Export::place).collect::<Vec<_>>();
        assert_eq!(places(&first), [1, 2]);
        let second = exports(&[(2, "/renamed"), (3, "/three")]);
        ledger.admit(&second);
        assert_eq!(places(&second), [2, 3]);
        assert!(
            ledger.places().contains(&(2, OfExport::Named { id: 2, name: "/renamed".to_owned() })),
            "{:?}",
            ledger.places()
        );
        let names: Vec<(u32, String)> = (10..100).map(|id| (id, format!("/{id}"))).collect();
        let names: Vec<(u32, &str)> = names.iter().map(|(id, name)| (*id, name.as_str())).collect();
        let many = exports(&names);
        ledger.admit(&many);
        assert_eq!(
            many.iter().filter(|export| export.place() == OTHER_EXPORTS).count(),
            90 - (EXPORTS_COUNTED_MAX - 3)
        );
    }

    #[test]
    fn time_in_storage_is_taken_of_the_first_call_in_a_while_and_estimated_of_those_that_came_soon_after() {
        let memory = MemoryFileSystem::new();
        let files = Timed::around(&memory);
        let ledger = Ledger::new(procedures());
        let mut clerk = ledger.clerk();
        clerk.sit_down();
        let mut now = 1_000_000;
        let mut ask = |is_first, later| {
            now += later;
            let timing = Timing { arrived: Moment::at(now), received: 0, is_first };
            clerk.start(&timing);
            assert!(files.attributes(&howdah_vfs::Caller::ROOT, &files.root()).is_ok());
            super::super::desk::read().1 > 0
        };
        assert!(ask(true, 0));
        // Whatever a turn's length is, and whichever place of it is looked at, one in 32 is among those whose time is taken.
        const TURNS: usize = 8192;
        for (turn, between) in [(8, 100_000), (32, 100_000), (33, 0), (64, 0)] {
            let mut timed = vec![0; turn];
            for _ in 0..TURNS {
                for (place, timed) in timed.iter_mut().enumerate() {
                    *timed += usize::from(ask(place == 0, if place == 0 { between } else { 0 }));
                }
            }
            let expected = |place| if place == 0 && between > 0 { TURNS } else { TURNS / 32 };
            for (place, timed) in timed.into_iter().enumerate() {
                assert!(timed.abs_diff(expected(place)) < 80, "{place} of {turn}: {timed}");
            }
        }
        let _beside = ledger.clerk_beside();
        assert_eq!(ledger.workers(), Workers { running: 1, ..Workers::default() });
        clerk.wait();
        assert_eq!(ledger.workers(), Workers { waiting: 1, ..Workers::default() });
    }
}
