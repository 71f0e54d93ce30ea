//! From flags to plans: the profile or the usual work, changed by what was typed.

use std::hash::{BuildHasher, RandomState};

use anyhow::{Context, Result};
use howdah_client::channel::Transport;
use howdah_workload::{Schedule, Workload, WorkloadPlan, WorkloadProfile};

use crate::arguments::{InFlight, WorkArguments};

/// Seeds that are made up are short, so that people can copy them.
const SEED_BITS: u32 = 32;

/// What is to be done.
#[derive(Debug)]
pub struct Planned {
    /// The work, in order.
    pub plans: Vec<WorkloadPlan>,
    /// The classic measurement that it is.
    pub profile: Option<WorkloadProfile>,
    /// What is different from it.
    pub deviations: Vec<String>,
    /// The seed, given or made up.
    pub seed: u64,
    /// How often, unless it is said.
    pub schedule: Schedule,
}

impl Planned {
    /// How messages travel, unless the URL says.
    pub fn transport(&self) -> Transport {
        match self.profile.is_some_and(WorkloadProfile::wants_udp) {
            true => Transport::Udp,
            false => Transport::Tcp,
        }
    }
}

/// What these flags ask for if a record is played: no plans, for it is one.
pub fn no_plans(arguments: &WorkArguments) -> Planned {
    let (plans, deviations) = (Vec::new(), Vec::new());
    let seed = arguments.seed.unwrap_or_else(made_up);
    Planned { plans, profile: None, deviations, seed, schedule: Schedule { warm_up: 0, runs: 1 } }
}

/// What these flags ask for; `over_nfs` is whether the place is a server.
pub fn plans(arguments: &WorkArguments, over_nfs: bool) -> Result<Planned> {
    let seed = arguments.seed.unwrap_or_else(made_up);
    let profile = arguments.profile.map(|profile| profile.0);
    let (base, schedule) = match profile {
        Some(profile) => (profile.plans(seed), Schedule { warm_up: 0, runs: 1 }),
        None => (usual(arguments, over_nfs, seed), Schedule { warm_up: 1, runs: 3 }),
    };
    let plans: Vec<WorkloadPlan> = base.iter().map(|plan| changed(plan, arguments)).collect();
    for plan in &plans {
        plan.check().with_context(|| format!("planning {}", plan.workload.name()))?;
    }
    let both = plans.iter().zip(&base);
    let deviations = match profile {
        Some(_) => both.flat_map(|(plan, base)| plan.deviations(base)).collect(),
        None => Vec::new(),
    };
    Ok(Planned { plans, profile, deviations, seed, schedule })
}

fn usual(arguments: &WorkArguments, over_nfs: bool, seed: u64) -> Vec<WorkloadPlan> {
    let asked: Vec<Workload> = arguments.workloads.iter().map(|name| name.0).collect();
    let workloads = if asked.is_empty() { vec![Workload::Write, Workload::Read] } else { asked };
    // A directory is read and written as an application does it; a server by what the path to it wants.
    let in_flight = (!over_nfs).then_some(1);
    workloads
        .into_iter()
        .map(|workload| WorkloadPlan { in_flight, ..WorkloadPlan::usual(workload, seed) })
        .collect()
}

/// A plan with every flag that was given, and then its amount scaled.
fn changed(plan: &WorkloadPlan, arguments: &WorkArguments) -> WorkloadPlan {
    let record_bytes = arguments.record.unwrap_or(plan.record_bytes);
    // A record of its own is one transfer of its own, unless that is said too.
    let kept = if arguments.record.is_some() { record_bytes } else { plan.transfer_bytes };
    let threads = arguments.threads.unwrap_or(plan.threads);
    // Each stream needs a file of its own.
    let least_files = if plan.workload.is_per_file() || plan.workload.is_random() { 1 } else { threads };
    // Where only names count, files are empty, whatever is said for other work beside it.
    let size = arguments.size.filter(|_| plan.workload != Workload::Metadata);
    let plan = WorkloadPlan {
        file_size: size.unwrap_or(plan.file_size),
        files: arguments.files.unwrap_or(plan.files.max(least_files)),
        record_bytes,
        transfer_bytes: arguments.transfer.unwrap_or(kept),
        threads,
        in_flight: arguments.in_flight.map_or(plan.in_flight, InFlight::fixed),
        commit: arguments.commit.map_or(plan.commit, |commit| commit.0),
        operations: arguments.operations.unwrap_or(plan.operations),
        read_percent: arguments.reads.unwrap_or(plan.read_percent),
        time: arguments.time.or(plan.time),
        ramp: arguments.ramp.or(plan.ramp),
        think: arguments.think.or(plan.think),
        beside: arguments.beside.or(plan.beside),
        verify: arguments.verify || plan.verify,
        ..plan.clone()
    };
    arguments.scale.map_or_else(|| plan.clone(), |factor| plan.scaled(factor))
}

fn made_up() -> u64 {
    RandomState::new().hash_one(std::process::id()) >> (u64::BITS - SEED_BITS)
}

#[cfg(test)]
mod tests {
    use howdah_workload::{Commit, FileSize};

    use super::*;
    use crate::arguments::{CommitName, ProfileName, WorkloadName};

    #[test]
    fn flags_win_over_the_profile_and_are_told() {
        let arguments = WorkArguments {
            profile: Some(ProfileName(WorkloadProfile::Dd2010)),
            size: Some(FileSize::exactly(1 << 30)),
            commit: Some(CommitName(Commit::Outside)),
            seed: Some(7),
            ..WorkArguments::default()
        };
        let planned = plans(&arguments, true).expect("it can be done");
        assert_eq!(planned.plans.len(), 2);
        assert_eq!(planned.plans[1].file_size, FileSize::exactly(1 << 30));
        assert_eq!(planned.deviations.len(), 4, "{:?}", planned.deviations);
        assert_eq!((planned.seed, planned.plans[1].in_flight), (7, Some(16)));
    }

    #[test]
    fn what_is_not_said_is_usual() {
        let planned = plans(&WorkArguments::default(), false).expect("it can be done");
        let done: Vec<_> = planned.plans.iter().map(|plan| (plan.workload, plan.in_flight)).collect();
        assert_eq!(done, [(Workload::Write, Some(1)), (Workload::Read, Some(1))]);
        assert_eq!(plans(&WorkArguments::default(), true).expect("it can be done").plans[0].in_flight, None);
        let fixed = WorkArguments { in_flight: Some(InFlight::Fixed(3)), ..WorkArguments::default() };
        assert_eq!(plans(&fixed, true).expect("it can be done").plans[0].in_flight, Some(3));
        assert_eq!(planned.deviations, [""; 0]);
    }

    #[test]
    fn streams_get_files_and_records_are_transfers() {
        let arguments = WorkArguments {
            workloads: vec![WorkloadName(Workload::Write)],
            threads: Some(4),
            record: Some(8192),
            ..WorkArguments::default()
        };
        let plan = &plans(&arguments, false).expect("it can be done").plans[0];
        assert_eq!((plan.files, plan.transfer_bytes), (4, 8192));
        let odd = WorkArguments { record: Some(1000), transfer: Some(300), ..WorkArguments::default() };
        let why = format!("{:#}", plans(&odd, false).expect_err("no whole part"));
        assert!(why.contains("whole number of transfers"), "{why}");
    }
}
