//! A quota in numbers of 32 bits: larger limits are counted in larger blocks.

use howdah_vfs::{Quota, QuotaUse};
use howdah_wire::rquota::RemoteQuota;

/// Bytes of the smallest block: clients count in multiples of it.
const BLOCK: u64 = 1024;
/// Bytes of the largest block: the size is an `int`.
const LARGEST_BLOCK: u64 = 1 << 30;
/// The largest number in an answer. Some clients read the next one as "no limit".
const MOST: u64 = u32::MAX as u64 - 1;

/// The answer for a quota at `now`, in seconds since 1970.
pub fn scaled(quota: &Quota, now: u64) -> RemoteQuota {
    let Quota { bytes, files } = quota;
    let block = block_for(bytes.used.max(bytes.soft_limit).max(bytes.hard_limit));
    RemoteQuota {
        block_size: block as u32,
        is_active: true,
        block_hard_limit: limit(bytes.hard_limit, block),
        block_soft_limit: limit(bytes.soft_limit, block),
        blocks: cut(bytes.used.div_ceil(block)),
        file_hard_limit: limit(files.hard_limit, 1),
        file_soft_limit: limit(files.soft_limit, 1),
        files: cut(files.used),
        block_time_left: time_left(bytes, now),
        file_time_left: time_left(files, now),
    }
}

/// The smallest block in which so many bytes fit an answer.
fn block_for(most_bytes: u64) -> u64 {
    let mut block = BLOCK;
    while most_bytes.div_ceil(block) > MOST && block < LARGEST_BLOCK {
        block *= 2;
    }
    block
}

/// Never more than there is, and never 0, which is no limit.
fn limit(limit: u64, unit: u64) -> u32 {
    if limit == 0 { 0 } else { cut((limit / unit).max(1)) }
}

fn cut(number: u64) -> u32 {
    number.min(MOST) as u32
}

/// Seconds that are left; negative, as an `int`, once they are over, and never the 0 of a limit that is not exceeded.
fn time_left(usage: &QuotaUse, now: u64) -> u32 {
    if usage.grace_ends == 0 {
        return 0;
    }
    let left = i128::from(usage.grace_ends) - i128::from(now);
    let left = left.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    if left == 0 { u32::MAX } else { left.cast_unsigned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(used: u64, soft_limit: u64, hard_limit: u64, grace_ends: u64) -> Quota {
        Quota { bytes: QuotaUse { used, soft_limit, hard_limit, grace_ends }, files: QuotaUse::default() }
    }

    fn answered(quota: &Quota) -> [u64; 4] {
        let answer = scaled(quota, 1000);
        let block = u64::from(answer.block_size);
        [
            block,
            u64::from(answer.blocks) * block,
            u64::from(answer.block_soft_limit) * block,
            u64::from(answer.block_hard_limit) * block,
        ]
    }

    #[test]
    fn limits_are_counted_in_blocks_that_are_large_enough() {
        const TIB: u64 = 1 << 40;
        assert_eq!(answered(&space(1025, 5 << 20, 10 << 20, 0)), [1024, 2048, 5 << 20, 10 << 20]);
        assert_eq!(answered(&space(0, 0, 4 * TIB - 2048, 0)), [1024, 0, 0, 4 * TIB - 2048]);
        assert_eq!(answered(&space(TIB, 4 * TIB, 5 * TIB, 0)), [2048, TIB, 4 * TIB, 5 * TIB]);
        assert_eq!(answered(&space(1, 1, 8192 * TIB, 0)), [4 << 20, 4 << 20, 4 << 20, 8192 * TIB]);
        let huge = scaled(&space(u64::MAX, u64::MAX, u64::MAX, 0), 0);
        assert_eq!(
            (huge.block_size, huge.block_hard_limit),
            (1 << 30, u32::MAX - 1),
            "all that an answer can hold"
        );
        assert_eq!(scaled(&space(7, 0, 0, 0), 0).block_hard_limit, 0, "no limit");
    }

    #[test]
    fn time_is_left_over_or_does_not_run() {
        let left = |grace_ends| scaled(&space(2, 1, 3, grace_ends), 1000).block_time_left.cast_signed();
        assert_eq!([left(0), left(1060), left(1000), left(990)], [0, 60, -1, -10]);
        assert_eq!(left(u64::MAX), i32::MAX);
    }

    #[test]
    fn files_are_counted_one_by_one() {
        let files = QuotaUse { used: 3, soft_limit: 5, hard_limit: 1 << 40, grace_ends: 0 };
        let answer = scaled(&Quota { files, ..Quota::default() }, 0);
        assert_eq!((answer.files, answer.file_soft_limit, answer.file_hard_limit), (3, 5, u32::MAX - 1));
    }
}
