//! From flags to the options of a copy.

use howdah_copy::{Compare, CopyOptions, CopyTuning, Existing, Preserve, Sparse};
use howdah_daemon::places::umask;
use howdah_tune::flight::Expected;

use crate::arguments::{CpArguments, Deleted, Kept, SparseWhen};

/// Files that are open besides: connections, the terminal, the state of what is measured.
const OTHER_FILES: usize = 32;

/// Half of the files that may be open are the local directory's to keep open; a worker on a small file has one, and two where both
/// sides are local.
fn tuning(open_files: usize) -> CopyTuning {
    let tuning = CopyTuning::default();
    let most = (open_files / 4).saturating_sub(OTHER_FILES).max(1);
    CopyTuning { most_small_jobs: tuning.most_small_jobs.min(most), ..tuning }
}

/// What the flags mean. So many files may be open.
pub fn copy_options(
    arguments: &CpArguments,
    is_root: bool,
    from_server: bool,
    (open_files, expected): (usize, Option<Expected>),
) -> CopyOptions {
    let CpArguments { existing, keep, run, select, .. } = arguments;
    let left_out = |kept: Kept| keep.no_preserve.iter().any(|&other| other == kept || other == Kept::All);
    CopyOptions {
        recursive: arguments.recursive,
        preserve: Preserve {
            times: !left_out(Kept::Timestamps),
            mode: !left_out(Kept::Mode),
            owner: is_root && !left_out(Kept::Ownership),
            links: !left_out(Kept::Links),
            // A server must not make programs that run as others here, nor devices of this machine.
            set_id: !from_server || keep.set_id,
            devices: !from_server || keep.devices,
            acls: keep.acls,
            xattrs: keep.xattrs,
        },
        existing: match existing {
            _ if existing.no_clobber => Existing::Keep,
            _ if existing.update => Existing::ReplaceOlder,
            _ if existing.ignore_times => Existing::Replace,
            _ => Existing::ReplaceChanged,
        },
        compare: if existing.checksum { Compare::Content } else { Compare::SizeAndTime },
        sparse: match keep.sparse {
            SparseWhen::Auto => Sparse::Auto,
            SparseWhen::Always => Sparse::Always,
            SparseWhen::Never => Sparse::Never,
        },
        verify: run.verify,
        patterns: select.patterns.0.clone(),
        delete: select.delete.is_some(),
        delete_all: select.delete == Some(Deleted::All),
        max_delete: select.max_delete,
        dry_run: select.dry_run,
        sync: !run.no_sync,
        one_file_system: arguments.one_file_system,
        rate: run.rate,
        jobs: run.jobs,
        umask: umask(),
        tuning: CopyTuning { expected, ..tuning(open_files) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_files_have_no_more_workers_than_files_may_be_open() {
        let workers = [64, 1024, 4096, usize::MAX].map(|most| tuning(most).most_small_jobs);
        assert_eq!(workers, [1, 224, 992, CopyTuning::default().most_small_jobs]);
    }
}
