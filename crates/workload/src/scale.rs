//! A plan made smaller, and what makes it differ from another.

use std::time::Duration;

use super::plan::{FileSize, WorkloadPlan};

impl WorkloadPlan {
    /// The same work in another amount: so many times the files where each is handled by itself, else so many times
    /// the bytes and operations. Never less than one record, file, operation.
    pub fn scaled(&self, factor: f64) -> Self {
        let times = |count: u64, least: u64| ((count as f64 * factor).round() as u64).max(least);
        let mut plan = self.clone();
        if self.workload.is_per_file() {
            plan.files = times(self.files, 1);
            return plan;
        }
        let mut least = self.record_bytes;
        if self.workload.is_random() {
            plan.operations = times(self.operations, 1);
            // Each call in flight has a block of its own.
            least = self.record_bytes * self.threads * self.in_flight.unwrap_or(1);
        }
        let size = |bytes: u64| times(bytes, least).div_ceil(self.record_bytes) * self.record_bytes;
        let FileSize { smallest_bytes, largest_bytes } = self.file_size;
        plan.file_size =
            FileSize { smallest_bytes: size(smallest_bytes), largest_bytes: size(largest_bytes) };
        plan
    }

    /// What is different here than in the plan that it was to be, a line each.
    pub fn deviations(&self, from: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut compare = |name: &str, mine: String, theirs: String| {
            if mine != theirs {
                lines.push(format!("{}: {name} {mine} in place of {theirs}", self.workload.name()));
            }
        };
        let size = |plan: &Self| match plan.file_size {
            FileSize { smallest_bytes, largest_bytes } if smallest_bytes == largest_bytes => {
                format!("{smallest_bytes} bytes")
            }
            FileSize { smallest_bytes, largest_bytes } => {
                format!("{smallest_bytes} to {largest_bytes} bytes")
            }
        };
        compare("file size", size(self), size(from));
        compare("files", self.files.to_string(), from.files.to_string());
        compare("record", format!("{} bytes", self.record_bytes), format!("{} bytes", from.record_bytes));
        compare(
            "transfer",
            format!("{} bytes", self.transfer_bytes),
            format!("{} bytes", from.transfer_bytes),
        );
        compare("threads", self.threads.to_string(), from.threads.to_string());
        let calls = |calls: Option<u64>| calls.map_or("by the path".to_owned(), |calls| calls.to_string());
        compare("calls in flight", calls(self.in_flight), calls(from.in_flight));
        compare("commit", self.commit.name().to_owned(), from.commit.name().to_owned());
        compare("operations", self.operations.to_string(), from.operations.to_string());
        compare("reads", format!("{} %", self.read_percent), format!("{} %", from.read_percent));
        let shown = |time: Option<Duration>, none: &str| {
            time.map_or(none.to_owned(), |time| format!("{} s", time.as_secs_f64()))
        };
        compare("time", shown(self.time, "no end"), shown(from.time, "no end"));
        compare("ramp", shown(self.ramp, "none"), shown(from.ramp, "none"));
        compare("background calls", shown(self.beside, "none"), shown(from.beside, "none"));
        compare("time to think", shown(self.think, "none"), shown(from.think, "none"));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::super::WorkloadProfile;
    use super::*;

    #[test]
    fn every_profile_fits_a_small_machine_and_says_so() {
        for profile in WorkloadProfile::ALL {
            for plan in profile.plans(1) {
                let small = plan.scaled(1e-6);
                small.check().unwrap_or_else(|why| panic!("{}: {why}", profile.name()));
                assert!(small.total_bytes() <= 60 << 20, "{}", profile.name());
                assert_eq!(small.deviations(&plan).len(), 1, "{}", profile.name());
                assert_eq!(plan.scaled(1.0), plan);
                assert_eq!(plan.deviations(&plan), [""; 0]);
            }
        }
    }

    #[test]
    fn a_part_keeps_whole_records() {
        let plan = &WorkloadProfile::Dd2010.plans(1)[0];
        assert_eq!(plan.scaled(0.01).file_size, FileSize::exactly(410 * (2 << 20)));
        assert_eq!(
            plan.scaled(0.01).deviations(plan),
            ["write: file size 859832320 bytes in place of 85899345920 bytes"]
        );
    }
}
