//! From flags to the options of a copy.

use howdah_copy::{Compare, CopyOptions, Existing, Preserve, Sparse, Tuning};

use crate::arguments::{CpArguments, Kept, SparseWhen};
use crate::places::umask;

/// What the flags mean.
pub fn copy_options(arguments: &CpArguments, is_root: bool, from_server: bool) -> CopyOptions {
    let CpArguments { existing, keep, run, .. } = arguments;
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
        sync: !run.no_sync,
        one_file_system: arguments.one_file_system,
        rate: run.rate,
        jobs: run.jobs,
        umask: umask(),
        tuning: Tuning::default(),
    }
}
