//! Many files, each handled by itself: made, written and committed, then looked up and read, as a copy of a tree does it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Context, Result};

use super::call;
use super::control::Turn;
use super::laying_out;
use super::ledger::Range;
use super::names::Kind;
use super::performance::{Deeds, Performance};
use super::plan::{Commit, Workload};
use super::progress::Unit;
use super::scene::{Phase, Scene, nothing_more};
use super::target_file::{Hand, TargetFile};

/// Files as they come into being.
type Files = Vec<OnceLock<TargetFile>>;

/// Writes all files, then reads them.
pub(super) fn write_and_read(scene: &Scene<'_>) -> Result<Vec<Performance>> {
    scene.stage.remove_files()?;
    let files: Files = (0..scene.plan.files).map(|_| OnceLock::new()).collect();
    let mut write = each(scene, "write", &files, &|number, hand, turn, deeds| {
        write_file(scene, &files, number, hand, turn, deeds)
    })?;
    if scene.plan.commit != Commit::Never || scene.plan.verify {
        let mut hand = scene.hand();
        let mut made = files.iter().filter_map(OnceLock::get);
        made.try_for_each(|file| file.commit(&mut hand, &mut write.deeds))?;
    }
    let read = each(scene, "read", &files, &|number, hand, turn, deeds| match files[number].get() {
        Some(file) => read_file(scene, file, hand, turn, deeds),
        None => Ok(()),
    })?;
    Ok(vec![write, read])
}

/// What is done with one file, by its number.
type Deed<'d> = &'d (dyn Fn(usize, &mut Hand<'_>, &Turn<'_>, &mut Deeds) -> Result<()> + Sync);

/// A phase that goes through all files, each in one pair of hands.
fn each(scene: &Scene<'_>, name: &'static str, files: &Files, deed: Deed<'_>) -> Result<Performance> {
    let next = AtomicU64::new(0);
    let job = |_: usize, turn: &Turn<'_>, deeds: &mut Deeds| {
        let mut hand = scene.hand();
        while turn.goes_on() {
            let number = next.fetch_add(1, Ordering::Relaxed) as usize;
            if number >= files.len() {
                break;
            }
            let began = Instant::now();
            if is_timed_whole(scene) {
                turn.measure(scene.plan.size_of(number as u64), || deed(number, &mut hand, turn, deeds))?;
                deeds.operation(began);
            } else {
                deed(number, &mut hand, turn, deeds)?;
            }
            deeds.files += 1;
        }
        Ok(())
    };
    let (unit, total, time) = (Unit::Bytes, scene.plan.total_bytes(), scene.plan.time);
    scene.time(&Phase { name, unit, total, time, job: &job, beside: false, ending: &nothing_more })
}

fn write_file(
    scene: &Scene<'_>,
    files: &Files,
    number: usize,
    hand: &mut Hand<'_>,
    turn: &Turn<'_>,
    deeds: &mut Deeds,
) -> Result<()> {
    let made = laying_out::make(scene, number as u64, deeds)?;
    let file = files[number].get_or_init(|| made);
    each_record(scene, file, turn, deeds, |range, _| file.write(hand, range, scene.stability()))?;
    if scene.plan.commit == Commit::Inside {
        file.commit(hand, deeds)?;
    }
    Ok(())
}

fn read_file(
    scene: &Scene<'_>,
    file: &TargetFile,
    hand: &mut Hand<'_>,
    turn: &Turn<'_>,
    deeds: &mut Deeds,
) -> Result<()> {
    let name = Kind::Data.name(file.number);
    call::lookup(&scene.stage.place, &scene.stage.directory, &name)
        .with_context(|| format!("looking up {name}"))?;
    each_record(scene, file, turn, deeds, |range, deeds| file.read(hand, range, scene.plan.verify, deeds))
}

/// Moves a file, record by record.
fn each_record(
    scene: &Scene<'_>,
    file: &TargetFile,
    turn: &Turn<'_>,
    deeds: &mut Deeds,
    mut move_piece: impl FnMut(Range, &mut Deeds) -> Result<()>,
) -> Result<()> {
    let pieces_of_record = scene.plan.record_bytes / scene.plan.transfer_bytes;
    let mut began = Instant::now();
    for unit in 0..file.units() {
        if unit % pieces_of_record == 0 {
            began = Instant::now();
        }
        let range = file.unit(unit);
        match is_timed_whole(scene) {
            true => move_piece(range, deeds)?,
            false => turn.measure(range.length, || move_piece(range, deeds))?,
        }
        deeds.bytes += range.length;
        scene.progress.add(range.length);
        let record_ends = (unit + 1) % pieces_of_record == 0 || unit + 1 == file.units();
        if record_ends && !is_timed_whole(scene) {
            deeds.operation(began);
        }
    }
    Ok(())
}

fn is_timed_whole(scene: &Scene<'_>) -> bool {
    scene.plan.workload == Workload::Small
}
