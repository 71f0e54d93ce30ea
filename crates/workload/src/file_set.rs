//! The files of a workload, kept for the next that needs the same ones.

use super::plan::{FileSize, WorkloadPlan};
use super::target_file::TargetFile;

/// What makes files the same for the next workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    files: u64,
    size: FileSize,
    unit: u64,
    seed: u64,
}

/// Files.
pub(super) struct FileSet {
    pub(super) shape: Shape,
    pub(super) files: Vec<TargetFile>,
}

impl Shape {
    /// What a plan asks for.
    pub(super) fn of(plan: &WorkloadPlan) -> Self {
        Self { files: plan.files, size: plan.file_size, unit: plan.transfer_bytes, seed: plan.seed }
    }
}
