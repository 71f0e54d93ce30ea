//! Sequential writing and reading: streams that each go through files of their own, several pieces in flight.

use anyhow::Result;

use super::beside::Beside;
use super::claims::{Claim, Claims};
use super::control::Turn;
use super::file_set::FileSet;
use super::laying_out;
use super::performance::{Deeds, Performance};
use super::plan::{Commit, WorkloadPlan};
use super::progress::Unit;
use super::scene::{Phase, Scene, nothing_more};

/// Writes new files.
pub(super) fn write(scene: &Scene<'_>) -> Result<Vec<Performance>> {
    let set = laying_out::fresh(scene)?;
    let streams = streams(scene.plan, &set);
    let beside = Beside::of(scene.plan);
    let inside = scene.plan.commit == Commit::Inside;
    let ending = |deeds: &mut Deeds| if inside { scene.commit(&set, deeds) } else { Ok(()) };
    let mut performance = scene.time(&Phase {
        name: "write",
        unit: Unit::Bytes,
        total: scene.plan.total_bytes(),
        time: scene.plan.time,
        job: &|number, turn, deeds| match beside.is_number(number) {
            true => beside.look(scene, &set, turn),
            false => write_pieces(scene, stream(scene.plan, &streams, number), turn, deeds),
        },
        beside: beside.is_wanted(),
        ending: &ending,
    })?;
    drop(streams);
    if scene.plan.commit != Commit::Never || scene.plan.verify {
        scene.commit(&set, &mut performance.deeds)?;
    }
    if scene.plan.verify {
        performance.deeds.verified_bytes += scene.read_back(&set)?;
    }
    *scene.stage.kept.lock() = Some(set);
    Ok(beside.with(performance))
}

/// Reads files.
pub(super) fn read(scene: &Scene<'_>) -> Result<Vec<Performance>> {
    let set = laying_out::written(scene)?;
    let streams = streams(scene.plan, &set);
    let beside = Beside::of(scene.plan);
    let performance = scene.time(&Phase {
        name: "read",
        unit: Unit::Bytes,
        total: scene.plan.total_bytes(),
        time: scene.plan.time,
        job: &|number, turn, deeds| match beside.is_number(number) {
            true => beside.look(scene, &set, turn),
            false => read_pieces(scene, stream(scene.plan, &streams, number), turn, deeds),
        },
        beside: beside.is_wanted(),
        ending: &nothing_more,
    })?;
    drop(streams);
    *scene.stage.kept.lock() = Some(set);
    Ok(beside.with(performance))
}

/// One stream per thread of the plan; files are dealt out in turn.
fn streams<'a>(plan: &WorkloadPlan, set: &'a FileSet) -> Vec<Claims<'a>> {
    let mine = |stream: u64| set.files.iter().filter(move |file| file.number % plan.threads == stream);
    (0..plan.threads).map(|stream| Claims::new(plan, mine(stream))).collect()
}

/// The stream that the worker of this number works for.
fn stream<'s, 'a>(plan: &WorkloadPlan, streams: &'s [Claims<'a>], number: usize) -> &'s Claims<'a> {
    &streams[number % plan.threads as usize]
}

fn write_pieces(scene: &Scene<'_>, claims: &Claims<'_>, turn: &Turn<'_>, deeds: &mut Deeds) -> Result<()> {
    let mut hand = scene.hand();
    while turn.goes_on()
        && let Some(claim) = claims.claim(turn)
    {
        turn.measure(claim.range.length, || claim.file.write(&mut hand, claim.range, scene.stability()))?;
        note(scene, claims, &claim, turn, deeds);
        if claims.completes_file(&claim) {
            deeds.files += 1;
            if scene.plan.commit == Commit::Inside {
                claim.file.commit(&mut hand, deeds)?;
            }
        }
        claims.settled();
        think(scene, turn);
    }
    Ok(())
}

fn read_pieces(scene: &Scene<'_>, claims: &Claims<'_>, turn: &Turn<'_>, deeds: &mut Deeds) -> Result<()> {
    let mut hand = scene.hand();
    while turn.goes_on()
        && let Some(claim) = claims.claim(turn)
    {
        turn.measure(claim.range.length, || {
            claim.file.read(&mut hand, claim.range, scene.plan.verify, deeds)
        })?;
        note(scene, claims, &claim, turn, deeds);
        if claims.completes_file(&claim) {
            deeds.files += 1;
        }
        claims.settled();
        think(scene, turn);
    }
    Ok(())
}

/// A piece is moved.
fn note(scene: &Scene<'_>, claims: &Claims<'_>, claim: &Claim<'_>, turn: &Turn<'_>, deeds: &mut Deeds) {
    scene.progress.add(claim.range.length);
    let complete = claims.moved(claim);
    if turn.counts() {
        deeds.bytes += claim.range.length;
        if let Some(began) = complete {
            deeds.operation(began);
        }
    }
}

/// What an application does with a piece, before it wants the next one.
fn think(scene: &Scene<'_>, turn: &Turn<'_>) {
    if let Some(time) = scene.plan.think {
        turn.rest(time);
    }
}
