//! Names only: makes empty files, looks at them, lists them, renames and removes them.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use howdah_vfs::Detail;

use super::call;
use super::control::Turn;
use super::names::{Kind, ours};
use super::performance::{Deeds, Performance};
use super::progress::Unit;
use super::scene::{Phase, Scene, nothing_more};
use super::stage;

/// Does all of it.
pub(super) fn exercise(scene: &Scene<'_>) -> Result<Vec<Performance>> {
    scene.stage.remove_files()?;
    let (place, directory) = (&scene.stage.place, &scene.stage.directory);
    let files = scene.plan.files;
    let (create, made) = each(scene, "create", files, &|number, deeds| {
        let name = Kind::Empty.name(number);
        call::create(place, directory, &name, deeds).with_context(|| format!("making {name}"))?;
        Ok(())
    })?;
    let (stat, _) = each(scene, "stat", made, &|number, _| stat_file(scene, number))?;
    let short = list(scene, made, "list", Detail::Names)?;
    let long = list(scene, made, "list-long", Detail::Nodes)?;
    let (rename, moved) = each(scene, "rename", made, &|number, deeds| {
        let (from, to) = (Kind::Empty.name(number), Kind::Moved.name(number));
        call::rename(place, directory, (&from, &to), deeds)
            .with_context(|| format!("renaming {from} to {to}"))
    })?;
    let (remove, _) = each(scene, "remove", moved, &|number, deeds| {
        let name = Kind::Moved.name(number);
        call::remove(place, directory, &name, deeds).with_context(|| format!("removing {name}"))
    })?;
    if scene.plan.verify && scene.plan.time.is_none() {
        let left = stage::names(place, directory).context("listing what is left")?;
        ensure!(left.is_empty(), "{} names are left after all were removed", left.len());
    }
    Ok(vec![create, stat, short, long, rename, remove])
}

/// A phase that does something with each number, in order; answers how many were done.
fn each(
    scene: &Scene<'_>,
    name: &'static str,
    count: u64,
    deed: &(dyn Fn(u64, &mut Deeds) -> Result<()> + Sync),
) -> Result<(Performance, u64)> {
    let next = AtomicU64::new(0);
    let job = |_: usize, turn: &Turn<'_>, deeds: &mut Deeds| {
        while turn.goes_on() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            let began = Instant::now();
            turn.measure(0, || deed(number, deeds))?;
            deeds.operation(began);
            deeds.files += 1;
            scene.progress.add(1);
        }
        Ok(())
    };
    let (unit, time) = (Unit::Operations, scene.plan.time);
    let performance = scene.time(&Phase {
        name,
        unit,
        total: count,
        time,
        job: &job,
        beside: false,
        ending: &nothing_more,
    })?;
    let done = performance.deeds.operations;
    Ok((performance, done))
}

/// What `stat` of a path does over NFS: LOOKUP, then GETATTR.
fn stat_file(scene: &Scene<'_>, number: u64) -> Result<()> {
    let (place, name) = (&scene.stage.place, Kind::Empty.name(number));
    let node =
        call::lookup(place, &scene.stage.directory, &name).with_context(|| format!("looking up {name}"))?;
    let attributes = place
        .file_system
        .attributes(&place.caller, &node.handle)
        .with_context(|| format!("asking for the attributes of {name}"))?;
    ensure!(attributes.size == 0, "{name} is empty, and was reported to have {} bytes", attributes.size);
    Ok(())
}

/// Every stream lists the directory, with as many calls in flight as the plan says or else one, from start to end, with what `ls -l`
/// shows or without: an operation is an entry, timed is the listing.
fn list(scene: &Scene<'_>, made: u64, name: &'static str, detail: Detail) -> Result<Performance> {
    let listings = scene.plan.in_flight.map_or(scene.plan.threads as usize, |_| scene.plan.crew());
    let job = |number: usize, turn: &Turn<'_>, deeds: &mut Deeds| {
        if number >= listings || turn.is_over() {
            return Ok(());
        }
        let began = Instant::now();
        let (place, directory) = (&scene.stage.place, &scene.stage.directory);
        let names = stage::names_with(place, directory, detail).context("listing the directory")?;
        deeds.latencies.record(began.elapsed());
        deeds.operations += names.len() as u64;
        scene.progress.add(names.len() as u64);
        if scene.plan.verify { holds_all(&names, made) } else { Ok(()) }
    };
    let (unit, total, time) = (Unit::Operations, made * listings as u64, scene.plan.time);
    scene.time(&Phase { name, unit, total, time, job: &job, beside: false, ending: &nothing_more })
}

/// Each name that was made is there once, and nothing else.
fn holds_all(names: &[Vec<u8>], made: u64) -> Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        match ours(name) {
            Some((Kind::Empty, number)) if number < made && seen.insert(number) => {}
            _ => bail!("the listing has {} twice, or it was never made", name.escape_ascii()),
        }
    }
    ensure!(seen.len() as u64 == made, "the listing has {} of {made} names", seen.len());
    Ok(())
}
