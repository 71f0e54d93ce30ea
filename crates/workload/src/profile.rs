//! The classic measurements, with their exact parameters, by name.

use super::plan::{Commit, FileSize, Workload, WorkloadPlan};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A classic measurement. Their sources are in `docs/bench.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkloadProfile {
    /// 500 MiB written in records of 1 MiB, close and flush included: `iozone -a -e -c -i 0 -r 1M -s 500M`.
    Iozone2008,
    /// 50 MiB read by 256 KiB at an `rsize` of 8192, over UDP.
    Workq2003,
    /// One stream of 80 GiB in blocks of 2 MiB, written and read.
    Dd2010,
    /// 1000 files of 5 to 50 MiB, written and read.
    Files2010,
}

impl WorkloadProfile {
    /// All there are.
    pub const ALL: [Self; 4] = [Self::Iozone2008, Self::Workq2003, Self::Dd2010, Self::Files2010];

    /// The name that it has on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iozone2008 => "iozone-2008",
            Self::Workq2003 => "workq-2003",
            Self::Dd2010 => "dd-2010",
            Self::Files2010 => "files-2010",
        }
    }

    /// The profile of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// What is done, one workload after the other.
    pub fn plans(self, seed: u64) -> Vec<WorkloadPlan> {
        match self {
            // The kernel's client had 64 slots, and its page cache filled them.
            Self::Iozone2008 => vec![sequential(Workload::Write, 500 * MIB, MIB, MIB, 64, seed)],
            // 16 slots, UDP's default; the reader took 256 KiB at once, which the client fetched by 8 KiB.
            Self::Workq2003 => vec![sequential(Workload::Read, 50 * MIB, 256 * KIB, 8 * KIB, 16, seed)],
            // Transfers of 1 MiB, and a read-ahead of 16.
            Self::Dd2010 => [Workload::Write, Workload::Read]
                .map(|workload| sequential(workload, 80 * GIB, 2 * MIB, MIB, 16, seed))
                .to_vec(),
            Self::Files2010 => {
                let file_size = FileSize { smallest_bytes: 5 * MIB, largest_bytes: 50 * MIB };
                vec![WorkloadPlan {
                    files: 1000,
                    file_size,
                    in_flight: Some(8),
                    ..WorkloadPlan::usual(Workload::Files, seed)
                }]
            }
        }
    }

    /// Whether the transport was UDP.
    pub fn wants_udp(self) -> bool {
        self == Self::Workq2003
    }
}

fn sequential(
    workload: Workload,
    size: u64,
    record: u64,
    transfer: u64,
    in_flight: u64,
    seed: u64,
) -> WorkloadPlan {
    WorkloadPlan {
        file_size: FileSize::exactly(size),
        record_bytes: record,
        transfer_bytes: transfer,
        in_flight: Some(in_flight),
        commit: Commit::Inside,
        ..WorkloadPlan::usual(workload, seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_can_be_carried_out_and_found_by_name() {
        for profile in WorkloadProfile::ALL {
            assert_eq!(WorkloadProfile::named(profile.name()), Some(profile));
            for plan in profile.plans(1) {
                plan.check().unwrap_or_else(|why| panic!("{}: {why}", profile.name()));
            }
        }
        assert_eq!(WorkloadProfile::named("iozone"), None);
    }

    #[test]
    fn files_of_2010_fill_their_range() {
        let plan = &WorkloadProfile::Files2010.plans(7)[0];
        let sizes: Vec<u64> = (0..plan.files).map(|file| plan.size_of(file)).collect();
        let (least, most) = (sizes.iter().min().expect("some"), sizes.iter().max().expect("some"));
        assert!(*least >= 5 * MIB && *most <= 50 * MIB && *least < 6 * MIB && *most > 49 * MIB);
        assert_eq!(sizes.iter().sum::<u64>(), plan.total_bytes());
    }
}
