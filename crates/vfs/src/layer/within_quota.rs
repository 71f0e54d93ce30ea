//! How full a file system is, as far as the quotas of the caller let it be used.

use std::sync::Arc;

use super::{Call, Layer};
use crate::{Caller, FileSystem, Handle, QuotaOwner, QuotaUse, Result, Statistics};

/// Returns seconds since 1970. This floor has no clock.
pub type Seconds = fn() -> u64;

/// Shows each caller no more space, and no more files, than its quotas leave. Root has none.
pub struct WithinQuota {
    inner: Arc<dyn FileSystem>,
    now: Seconds,
}

impl WithinQuota {
    /// The same files.
    pub fn around(inner: Arc<dyn FileSystem>, now: Seconds) -> Self {
        Self { inner, now }
    }
}

impl Layer for WithinQuota {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.inner)
    }

    fn statistics(&self, caller: &Caller, node: &Handle) -> Result<Statistics> {
        let mut statistics = self.inner.statistics(caller, node)?;
        let Some(quotas) = self.inner.quotas().filter(|_| caller.user != 0) else { return Ok(statistics) };
        let now = (self.now)();
        for owner in [QuotaOwner::User(caller.user), QuotaOwner::Group(caller.group)] {
            // One that cannot be read limits nothing here, and writes all the same.
            let Ok(Some(quota)) = quotas.quota(node, owner) else { continue };
            let Statistics { total_bytes, free_bytes, available_bytes, .. } = &mut statistics;
            cut(&quota.bytes, now, total_bytes, [free_bytes, available_bytes]);
            let Statistics { total_files, free_files, available_files, .. } = &mut statistics;
            cut(&quota.files, now, total_files, [free_files, available_files]);
        }
        Ok(statistics)
    }
}

fn cut(usage: &QuotaUse, now: u64, total: &mut u64, free: [&mut u64; 2]) {
    let Some(left) = usage.left(now) else { return };
    *total = usage.used.saturating_add(left).min(*total);
    for free in free {
        *free = left.min(*free);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{MemoryFileSystem, MemoryOptions};
    use crate::{Quota, Quotas};

    /// User 7 may have 1,000 bytes and group 8 ten files; nobody else has a quota.
    struct Limited(MemoryFileSystem);

    impl Layer for Limited {
        fn inner(&self) -> &dyn FileSystem {
            &self.0
        }

        fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
            run(&self.0)
        }

        fn quotas(&self) -> Option<&dyn Quotas> {
            Some(self)
        }
    }

    impl Quotas for Limited {
        fn quota(&self, _: &Handle, owner: QuotaOwner) -> Result<Option<Quota>> {
            let of = |used, hard_limit| QuotaUse { used, hard_limit, ..QuotaUse::default() };
            Ok(match owner {
                QuotaOwner::User(7) => Some(Quota { bytes: of(400, 1_000), ..Quota::default() }),
                QuotaOwner::Group(8) => Some(Quota { files: of(12, 10), ..Quota::default() }),
                _ => None,
            })
        }
    }

    #[test]
    fn callers_see_what_their_quotas_leave() {
        let options = MemoryOptions { budget: Some(1 << 20), ..MemoryOptions::default() };
        let memory = Arc::new(Limited(MemoryFileSystem::with_options(options)));
        let (whole, root) = (Arc::clone(&memory), memory.root());
        let all = |caller: &Caller| FileSystem::statistics(&*whole, caller, &root).expect("an answer");
        let within = WithinQuota::around(memory, || 100);
        let seen = |caller: &Caller| FileSystem::statistics(&within, caller, &root).expect("an answer");
        for caller in [Caller::ROOT, Caller::new(5, 5)] {
            assert_eq!(seen(&caller), all(&caller));
        }
        let user = seen(&Caller::new(7, 5));
        assert_eq!((user.total_bytes, user.free_bytes, user.available_bytes), (1_000, 600, 600));
        assert_eq!(user.total_files, all(&Caller::ROOT).total_files);
        let group = seen(&Caller::new(5, 8));
        assert_eq!((group.total_files, group.free_files, group.available_files), (12, 0, 0));
        assert_eq!(group.free_bytes, all(&Caller::ROOT).free_bytes);
    }
}
