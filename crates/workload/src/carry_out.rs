//! Carries a plan out: warm-up, repetitions, figures.

use std::sync::atomic::AtomicBool;

use anyhow::Result;

use super::performance::Performance;
use super::plan::{Workload, WorkloadPlan};
use super::progress::Progress;
use super::result::{PhaseResult, WorkloadResult};
use super::scene::Scene;
use super::stage::Stage;
use super::{files, metadata, random_access, stream};

/// How often a workload runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Schedule {
    /// Runs before, which do not count.
    pub warm_up: u32,
    /// Runs that count.
    pub runs: u32,
}

/// Runs a plan on a stage as often as scheduled. Ends early, with [`Interrupted`](super::Interrupted), when somebody
/// sets `asked`.
pub fn carry_out(
    plan: &WorkloadPlan,
    schedule: Schedule,
    stage: &Stage,
    progress: &Progress,
    asked: &AtomicBool,
) -> Result<WorkloadResult> {
    plan.check()?;
    let scene = Scene { stage, plan, progress, asked };
    for _ in 0..schedule.warm_up {
        perform(&scene)?;
    }
    let mut phases: Vec<Vec<Performance>> = Vec::new();
    for _ in 0..schedule.runs {
        for (number, performance) in perform(&scene)?.into_iter().enumerate() {
            if number == phases.len() {
                phases.push(Vec::new());
            }
            phases[number].push(performance);
        }
    }
    let phases = phases.iter().map(|runs| PhaseResult::of(runs)).collect();
    Ok(WorkloadResult { parameters: plan.clone(), phases })
}

/// One run: its phases, the same ones each time.
fn perform(scene: &Scene<'_>) -> Result<Vec<Performance>> {
    match scene.plan.workload {
        Workload::Write => stream::write(scene),
        Workload::Read => stream::read(scene),
        Workload::Files | Workload::Small => files::write_and_read(scene),
        Workload::RandomRead | Workload::RandomWrite | Workload::Mixed => random_access::access(scene),
        Workload::Metadata => metadata::exercise(scene),
    }
}
