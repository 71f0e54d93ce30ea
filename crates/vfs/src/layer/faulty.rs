//! A file system in which things go wrong, by plan.

use std::sync::Arc;

use super::{Call, FaultKind, FaultPlan, Layer};
use crate::{Caller, Change, Data, FileSystem, FsError, Result, WriteFile, Written};

/// Refuses calls and shortens writes as its plan says.
pub struct Faulty {
    inner: Arc<dyn FileSystem>,
    plan: FaultPlan,
}

impl Faulty {
    /// The same files, unreliable.
    pub fn around(inner: Arc<dyn FileSystem>, plan: FaultPlan) -> Self {
        Self { inner, plan }
    }

    /// Makes a call that the plan has decided about.
    fn run<T>(&self, fault: Option<FaultKind>, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        match fault {
            Some(FaultKind::Refuse(error)) => Err(error),
            Some(FaultKind::RefuseAfterwards(error)) => run(&*self.inner).and(Err(error)),
            Some(FaultKind::ShortWrite) | None => run(&*self.inner),
        }
    }
}

impl Layer for Faulty {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        self.run(self.plan.next(call), run)
    }

    fn write(
        &self,
        caller: &Caller,
        WriteFile { node, offset, mut data, stability }: WriteFile<'_>,
        change: &mut Change,
    ) -> Result<Written> {
        let fault = self.plan.next(Call::Write);
        if fault != Some(FaultKind::ShortWrite) || data.is_empty() {
            return self.run(fault, |inner| {
                inner.write(caller, WriteFile { node, offset, data, stability }, change)
            });
        }
        let bytes = data.bytes().map_err(|_| FsError::Io)?;
        let part = &bytes[..self.plan.part(bytes.len())];
        self.inner.write(caller, WriteFile::new(node, offset, Data::Bytes(part), stability), change)
    }
}
