//! Makes the files of a workload before its time begins.

use anyhow::{Context, Result};

use super::call;
use super::file_set::{FileSet, Shape};
use super::names::Kind;
use super::performance::Deeds;
use super::scene::Scene;
use super::target_file::TargetFile;

/// New, empty files in place of all that there were.
pub(super) fn fresh(scene: &Scene<'_>) -> Result<FileSet> {
    scene.stage.remove_files()?;
    let (mut deeds, mut files) = (Deeds::default(), Vec::new());
    for number in 0..scene.plan.files {
        scene.heed()?;
        files.push(make(scene, number, &mut deeds)?);
    }
    Ok(FileSet { shape: Shape::of(scene.plan), files })
}

/// Files that hold all of their data: those of the workload before, if they are the same, else new ones.
pub(super) fn written(scene: &Scene<'_>) -> Result<FileSet> {
    let kept = scene.stage.kept.lock().take();
    let set = match kept.filter(|set| set.shape == Shape::of(scene.plan)) {
        Some(set) => set,
        None => fresh(scene)?,
    };
    scene.write_out(&set)?;
    Ok(set)
}

/// Makes an empty file.
pub(super) fn make(scene: &Scene<'_>, number: u64, deeds: &mut Deeds) -> Result<TargetFile> {
    let (plan, name) = (scene.plan, Kind::Data.name(number));
    let node = call::create(&scene.stage.place, &scene.stage.directory, &name, deeds)
        .with_context(|| format!("making {name}"))?;
    Ok(TargetFile::new(number, node.handle, plan.size_of(number), plan.transfer_bytes))
}
