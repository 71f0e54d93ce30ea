//! Reading and writing blocks at random. The blocks are dealt out in lots, and one thread at a time has a lot, so that what each block
//! must hold is known: every thread has one for good, or takes any that is free where not all threads work at all times.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::Result;
use parking_lot::{Mutex, MutexGuard};

use super::control::Turn;
use super::file_set::FileSet;
use super::laying_out;
use super::performance::{Deeds, Performance};
use super::plan::{Commit, Workload, WorkloadPlan};
use super::progress::Unit;
use super::scene::{Phase, Scene};
use super::target_file::TargetFile;
use howdah_random::{Random, mix};

/// The whole blocks of all files, dealt out in lots.
struct Blocks<'a> {
    files: Vec<(&'a TargetFile, u64)>,
    count: u64,
    /// Held by the thread that works with a block of the lot.
    lots: Vec<Mutex<()>>,
    /// Whether each thread has the lot of its number.
    is_dealt: bool,
    /// Operations that were begun.
    begun: AtomicU64,
}

/// Accesses blocks as the plan says.
pub(super) fn access(scene: &Scene<'_>) -> Result<Vec<Performance>> {
    let plan = scene.plan;
    let set = laying_out::written(scene)?;
    let blocks = Blocks::of(plan, &set);
    let commits = plan.commit == Commit::Inside;
    let ending = |deeds: &mut Deeds| if commits { scene.commit(&set, deeds) } else { Ok(()) };
    let apart = Mutex::new((Deeds::default(), Deeds::default()));
    let mut all = scene.time(&Phase {
        name: plan.workload.name(),
        unit: Unit::Operations,
        total: plan.operations,
        time: plan.time,
        job: &|number, turn, deeds| {
            let (reads, writes) = access_blocks(scene, &blocks, number as u64, turn)?;
            deeds.add(&reads);
            deeds.add(&writes);
            let mut apart = apart.lock();
            apart.0.add(&reads);
            apart.1.add(&writes);
            Ok(())
        },
        beside: false,
        ending: &ending,
    })?;
    drop(blocks);
    if plan.commit != Commit::Never || plan.verify {
        scene.commit(&set, &mut all.deeds)?;
    }
    if plan.verify {
        all.deeds.verified_bytes += scene.read_back(&set)?;
    }
    *scene.stage.kept.lock() = Some(set);
    let (reads, writes) = apart.into_inner();
    Ok(match plan.workload {
        Workload::Mixed => {
            let (reads, writes) = (all.part("reads", reads), all.part("writes", writes));
            vec![all, reads, writes]
        }
        _ => vec![all],
    })
}

/// What one thread does: its reads and its writes.
fn access_blocks(
    scene: &Scene<'_>,
    blocks: &Blocks<'_>,
    number: u64,
    turn: &Turn<'_>,
) -> Result<(Deeds, Deeds)> {
    let plan = scene.plan;
    let (mut reads, mut writes) = (Deeds::default(), Deeds::default());
    let mut random = Random::new(mix(plan.seed ^ mix(number)));
    let mut hand = scene.hand();
    let mut done = 0;
    while turn.goes_on() && blocks.has_more(plan, number, done) {
        let (file, unit, _lot) = blocks.pick(number, &mut random);
        let reading = match plan.workload {
            Workload::RandomRead => true,
            Workload::RandomWrite => false,
            _ => random.below(100) < plan.read_percent,
        };
        let (range, began) = (file.unit(unit), Instant::now());
        let deeds = if reading { &mut reads } else { &mut writes };
        turn.measure(range.length, || match reading {
            true => file.read(&mut hand, range, plan.verify, deeds),
            false => file.write(&mut hand, range, scene.stability()),
        })?;
        deeds.operation(began);
        deeds.bytes += range.length;
        scene.progress.add(1);
        done += 1;
    }
    Ok((reads, writes))
}

impl<'a> Blocks<'a> {
    fn of(plan: &WorkloadPlan, set: &'a FileSet) -> Self {
        let mut count = 0;
        let mut files = Vec::new();
        for file in &set.files {
            files.push((file, count));
            count += file.size / plan.transfer_bytes;
        }
        let lots = (0..plan.crew()).map(|_| Mutex::default()).collect();
        Self { files, count, lots, is_dealt: plan.in_flight.is_some(), begun: AtomicU64::new(0) }
    }

    /// Whether a thread that has done so many operations is to do another. A time alone decides where there is one.
    fn has_more(&self, plan: &WorkloadPlan, thread: u64, done: u64) -> bool {
        let lots = self.lots.len() as u64;
        match self.is_dealt {
            _ if plan.time.is_some() => true,
            true => done < share(plan.operations, lots, thread),
            false => self.begun.fetch_add(1, Ordering::Relaxed) < plan.operations,
        }
    }

    /// A block of a lot that nobody else has meanwhile.
    fn pick(&self, thread: u64, random: &mut Random) -> (&'a TargetFile, u64, MutexGuard<'_, ()>) {
        let lots = self.lots.len() as u64;
        let (lot, held) = loop {
            let lot = if self.is_dealt { thread } else { random.below(lots) };
            if let Some(held) = self.lots[lot as usize].try_lock() {
                break (lot, held);
            }
        };
        let block = lot + lots * random.below(share(self.count, lots, lot));
        let index = self.files.partition_point(|(_, first)| *first <= block) - 1;
        let (file, first) = self.files[index];
        (file, block - first, held)
    }
}

/// How many of `count` things are those of one thread, when they are dealt out in turn.
fn share(count: u64, threads: u64, thread: u64) -> u64 {
    count / threads + u64::from(thread < count % threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_make_the_whole() {
        for (count, threads) in [(10, 3), (3, 3), (0, 4), (10_000, 16)] {
            let total: u64 = (0..threads).map(|thread| share(count, threads, thread)).sum();
            assert_eq!(total, count);
        }
    }
}
