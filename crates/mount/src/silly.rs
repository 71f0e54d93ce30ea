//! Removing a file that is open: it gets another name until it is closed, since the server knows nothing of who has it open.

use std::sync::atomic::Ordering::Relaxed;

use fuser::Errno;
use howdah_vfs::{AddLink, Caller, Change, FileKind, FsError, Handle, Name, Node};

use crate::nodes::{KernelNode, Silly};
use crate::refused::{Answer, Refused};
use crate::shared::Shared;

/// How often another name is tried if one is taken.
const TRIES: usize = 8;

impl Shared {
    /// If the name is that of a file which is open and has no other name: renames it, and says what it is called now. It is
    /// removed when it is closed.
    pub fn keep_if_open(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
    ) -> Answer<Option<(std::sync::Arc<KernelNode>, Silly)>> {
        let Some((known, file)) = self.outlives(caller, directory, name)? else { return Ok(None) };
        // It is our name already: only the last close removes it.
        if known.content.lock().silly.is_some() {
            return Err(Refused(Errno::EBUSY));
        }
        let silly = self.rename_to_silly(caller, directory, name, file)?;
        self.silly.on_given();
        known.content.lock().silly = Some(silly.clone());
        // It was closed meanwhile.
        if known.opens.load(Relaxed) == 0 {
            self.remove_silly(&known);
        }
        Ok(Some((known, silly)))
    }

    /// The file that a name leads to, and its number, if it outlives the name: it is open, and has no other one.
    pub fn outlives(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
    ) -> Answer<Option<(std::sync::Arc<KernelNode>, u64)>> {
        if !self.nodes.any_open() {
            return Ok(None);
        }
        let Node { handle, attributes } = self.file_system.lookup(caller, directory, name)?.node;
        let known = self.nodes.with(&handle).filter(|known| known.opens.load(Relaxed) > 0);
        let is_last = attributes.kind != FileKind::Directory && attributes.links <= 1;
        Ok(known.filter(|_| is_last).map(|known| (known, attributes.file)))
    }

    fn rename_to_silly(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        file: u64,
    ) -> Answer<Silly> {
        for _ in 0..TRIES {
            let other = self.silly.next(file);
            let new = Name::parse(&other)?;
            match self.file_system.lookup(caller, directory, new) {
                Err(FsError::NotFound) => {}
                Ok(_) => continue,
                Err(error) => return Err(error.into()),
            }
            let mut changes = (Change::default(), Change::default());
            let changes = (&mut changes.0, &mut changes.1);
            self.file_system.rename(caller, (directory, name), (directory, new), changes)?;
            return Ok(Silly { directory: *directory, name: other, caller: caller.clone() });
        }
        Err(Refused(Errno::EBUSY))
    }

    /// A file was to be replaced, and that failed: gives it its name back. If nobody knows whether it was replaced, or the name is
    /// taken, it keeps the name that it has, and is not removed when it is closed.
    pub fn restore(&self, known: &KernelNode, silly: &Silly, name: Name<'_>, error: FsError) {
        known.content.lock().silly = None;
        let Ok(from) = Name::parse(&silly.name) else { return };
        let (caller, directory) = (&silly.caller, &silly.directory);
        let may_have_run = matches!(error, FsError::Io | FsError::TimedOut | FsError::ServerFault);
        // A link never replaces what has the name.
        let linked = match may_have_run {
            true => Err(error),
            false => self
                .file_system
                .link(caller, AddLink::new(&known.handle, directory, name), &mut Change::default())
                .map(drop),
        };
        let restored =
            linked.and_then(|()| self.file_system.remove(caller, directory, from, &mut Change::default()));
        if let Err(error) = restored {
            tracing::warn!(%error, was = %name, is = %from, "a file that was not replaced keeps another name");
        }
        self.silly.on_done();
    }

    /// Removes the name of a file that was removed while it was open, and is closed.
    pub fn remove_silly(&self, known: &KernelNode) {
        let Some(silly) = known.content.lock().silly.take() else { return };
        let Ok(name) = Name::parse(&silly.name) else { return };
        let mut change = Change::default();
        if let Err(error) = self.file_system.remove(&silly.caller, &silly.directory, name, &mut change) {
            tracing::warn!(%error, %name, "removing a file that was removed while it was open");
        }
        self.silly.on_done();
    }
}
