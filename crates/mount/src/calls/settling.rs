//! Attributes that are set while a program goes on: those of a new file, and those that can wait until it is closed. Each would
//! cost a program a round trip of its own.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use howdah_vfs::{Attributes, Caller, Change, FileSystem, Handle, NewAttributes, SetAttributes};

use crate::nodes::{KernelNode, ROOT};
use crate::refused::{Answer, Refused};
use crate::shared::Shared;
use crate::unset::{SettingCall, Unset};

/// How long the attributes of a new file wait for those that a program sets on it, and for its data: most files are closed by then, and
/// take one call for all.
const FOR_MORE: Duration = Duration::from_millis(50);

/// Ends a call that is not made after all, so that nobody waits for it.
struct Ending(Arc<SettingCall>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end(Err(Refused(fuser::Errno::EIO)));
    }
}

impl Shared {
    /// Sets attributes of a file that was just made, while the program that made it goes on.
    pub fn set_meanwhile(&self, caller: &Caller, file: &Handle, new: NewAttributes) -> Arc<SettingCall> {
        let (call, start) = (SettingCall::new(caller, new), Instant::now() + FOR_MORE);
        let (files, caller, file) = (Arc::clone(&self.file_system), caller.clone(), *file);
        let ending = Ending(Arc::clone(&call));
        self.setters.run(move || {
            if ending.0.starts_at(start) {
                let outcome = set(&*files, &caller, &file, &new);
                ending.0.end(outcome);
            }
        });
        call
    }

    /// Takes a change of a file that its maker still has open, to be made when it is closed; gives what the file is like with it.
    pub fn set_later(
        &self,
        caller: &Caller,
        node: &KernelNode,
        new: &NewAttributes,
    ) -> Answer<Option<Attributes>> {
        let is_maker = |node: &KernelNode| node.content.lock().maker.as_ref() == Some(caller);
        if self.synchronous
            || self.consistency.is_behind()
            || node.opens.load(Relaxed) == 0
            || !is_maker(node)
        {
            return Ok(None);
        }
        let attributes = self.file_system.attributes(caller, &node.handle)?;
        let _none_settles = node.settling.lock();
        let mut content = node.content.lock();
        if content.maker.is_none() || !Unset::may_wait(new, &content.unset.shown(attributes)) {
            return Ok(None);
        }
        content.unset.set_later(caller, new);
        Ok(Some(content.unset.shown(attributes)))
    }

    /// FSYNC: its data is durable, and so is all else that a program was answered of it.
    pub fn synchronise(&self, node: &KernelNode) {
        // A failure is counted in the node.
        if self.make_durable(node).is_ok() && self.consistency.is_behind() {
            let writer = node.content.lock().writer.clone().unwrap_or(Caller::ROOT);
            if let Err(error) = self.consistency.synced(&writer, &node.handle) {
                node.content.lock().failed(error.into());
            }
        }
    }

    /// FSYNCDIR. Of the root of the mount: of everything.
    pub fn synchronise_directory(&self, caller: &Caller, node: &KernelNode) -> Answer<()> {
        match node.number {
            ROOT => {
                // A failure is counted in the node, and reported by its open files.
                let outcomes = self.nodes.unstable().into_iter().map(|node| self.make_durable(&node));
                let written = outcomes.fold(Ok(()), Answer::and);
                self.consistency.synced_all()?;
                written?;
            }
            _ => self.consistency.synced_directory(caller, &node.handle)?,
        }
        Ok(())
    }

    /// Sets what is not set yet while data is written, before it is made durable: where one follows the other in any case, this does
    /// nothing.
    pub fn settle_with_data(&self, node: &KernelNode) -> Answer<()> {
        let _others_wait = node.settling.lock();
        let (all, writes) = {
            let content = node.content.lock();
            if content.unset.is_empty() || content.unstable.is_none() {
                return Ok(());
            }
            (content.unset.hold(), content.writes)
        };
        let set =
            all.and_then(|(caller, new)| self.consistency.set_while_written(&caller, &node.handle, &new));
        let mut content = node.content.lock();
        match set {
            Some(outcome) => {
                content.unset.done();
                let after = outcome?;
                content.was_told(writes);
                content.saw(after);
            }
            // Data takes a while: what does not wait for it is set now.
            None => content.unset.hurry(),
        }
        Ok(())
    }

    /// Sets what is not set yet. One caller does it, others wait.
    pub fn settle(&self, node: &KernelNode) -> Answer<()> {
        let _others_wait = node.settling.lock();
        let (call, later) = node.content.lock().unset.take();
        let outcomes = [
            call.map(|call| call.wait()),
            later.map(|(caller, new)| set(&*self.file_system, &caller, &node.handle, &new)),
        ];
        let mut content = node.content.lock();
        content.unset.done();
        outcomes.into_iter().flatten().try_for_each(|outcome| {
            // What the file is like now is our doing.
            outcome.map(|after| content.saw(after))
        })
    }

    /// Sends attributes that wait, before another operation. If that fails, the next FSYNC or FLUSH reports the error.
    pub fn settle_first(&self, node: &KernelNode) {
        if node.content.lock().unset.is_empty() {
            return;
        }
        if let Err(refused) = self.settle(node) {
            node.content.lock().failed(refused);
        }
    }
}

fn set(
    files: &dyn FileSystem,
    caller: &Caller,
    file: &Handle,
    new: &NewAttributes,
) -> Answer<Option<Attributes>> {
    let mut change = Change::default();
    files.set_attributes(caller, SetAttributes::new(file, new, None), &mut change)?;
    Ok(change.after)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::SeqCst;
    use std::time::Duration;

    use howdah_threads::{AtEnd, Threads};
    use howdah_vfs::memory::MemoryFileSystem;
    use howdah_vfs::{Create, CreateFile, Name};

    use super::*;
    use crate::belief::Belief;
    use crate::consistency::Plain;
    use crate::locks::KernelLocks;
    use crate::nodes::Nodes;
    use crate::opens::Opens;
    use crate::silly_names::SillyNames;
    use crate::traffic::Counters;
    use crate::who::Callers;

    fn mount_of(file_system: Arc<dyn FileSystem>) -> Shared {
        Shared {
            nodes: Nodes::new(file_system.root()),
            consistency: Arc::new(Plain(Arc::clone(&file_system))),
            file_system,
            files: Opens::default(),
            directories: Opens::default(),
            callers: Callers::new(None),
            flight: Arc::default(),
            silly: SillyNames::new(),
            counters: Counters::default(),
            attributes: Duration::ZERO,
            names: Duration::ZERO,
            belief: Belief::new(false, true),
            lately: None,
            locks: Arc::new(KernelLocks::new(false)),
            setters: Threads::new("test", 1, AtEnd::RunJobs),
            synchronous: false,
            shows_acls: false,
        }
    }

    #[test]
    fn what_is_taken_while_a_file_is_closed_is_set() {
        let memory = Arc::new(MemoryFileSystem::new());
        let shared = mount_of(Arc::clone(&memory) as _);
        let name = Name::parse(b"file").expect("a name");
        let how = Create::Guarded(NewAttributes::with_mode(0o600));
        let made =
            memory.create(&Caller::ROOT, CreateFile::new(&memory.root(), name, &how), &mut Change::default());
        let node = shared.nodes.enter(&made.expect("made"));
        node.opens.store(1, SeqCst);
        node.content.lock().maker = Some(Caller::ROOT);
        shared.make_durable(&node).expect("nothing is to be done");
        let new = NewAttributes::with_mode(0o644);
        assert!(shared.set_later(&Caller::ROOT, &node, &new).expect("there").is_some());
        node.opens.store(0, SeqCst);
        shared.closed_last(&node);
        let mode = memory.attributes(&Caller::ROOT, &node.handle).expect("there").mode;
        assert_eq!(mode & 0o777, 0o644);
    }
}
