//! The files of a workload, made before its time begins, and kept for the next that needs the same ones.

use anyhow::{Context, Result};

use super::call;
use super::names::Kind;
use super::performance::Deeds;
use super::plan::{FileSize, Plan};
use super::scene::Scene;
use super::target_file::TargetFile;

/// What makes files the same for the next workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    files: u64,
    size: FileSize,
    unit: u64,
    seed: u64,
}

/// Files.
pub(super) struct FileSet {
    shape: Shape,
    pub(super) files: Vec<TargetFile>,
}

impl Shape {
    fn of(plan: &Plan) -> Self {
        Self { files: plan.files, size: plan.file_size, unit: plan.transfer_bytes, seed: plan.seed }
    }
}

impl FileSet {
    /// New, empty files in place of all that there were.
    pub(super) fn fresh(scene: &Scene<'_>) -> Result<Self> {
        scene.stage.remove_files()?;
        let (mut deeds, mut files) = (Deeds::default(), Vec::new());
        for number in 0..scene.plan.files {
            scene.heed()?;
            files.push(make(scene, number, &mut deeds)?);
        }
        Ok(Self { shape: Shape::of(scene.plan), files })
    }

    /// Files that hold all of their data: those of the workload before, if they are the same, else new ones.
    pub(super) fn written(scene: &Scene<'_>) -> Result<Self> {
        let kept = scene.stage.kept.lock().take();
        let set = match kept.filter(|set| set.shape == Shape::of(scene.plan)) {
            Some(set) => set,
            None => Self::fresh(scene)?,
        };
        scene.write_out(&set)?;
        Ok(set)
    }
}

/// Makes an empty file.
pub(super) fn make(scene: &Scene<'_>, number: u64, deeds: &mut Deeds) -> Result<TargetFile> {
    let (plan, name) = (scene.plan, Kind::Data.name(number));
    let node = call::create(&scene.stage.place, &scene.stage.directory, &name, deeds)
        .with_context(|| format!("making {name}"))?;
    Ok(TargetFile::new(number, node.handle, plan.size_of(number), plan.transfer_bytes))
}
