//! Attributes, rights, links, and how full it is.

use fuser::{AccessFlags, Errno};
use howdah_vfs::{
    Access, Attributes, Caller, Change, FileKind, Handle, NewAttributes, SetAttributes, Statistics,
};

use crate::owned::Owned;
use crate::refused::{Answer, Refused};
use crate::shared::Shared;
use crate::who::Requester;

impl Shared {
    /// GETATTR. Of a file that was written, its data is sent first, and then what was set on it: so a program sees the times that the file
    /// keeps, and the space that it takes.
    pub fn attributes(&self, asker: Requester, number: u64, open: Option<u64>) -> Answer<Attributes> {
        let node = self.nodes.of(number)?;
        let caller = self.acting(asker, open);
        let (is_made_up, writes) = {
            let content = node.content.lock();
            if content.is_made_up() {
                // They are waited for after the data.
                content.unset.hurry();
            }
            (content.is_made_up(), content.writes)
        };
        // The next write or close reports what goes wrong with the data.
        if is_made_up && let Ok(attributes) = self.consistency.sent(&caller, &node.handle) {
            let is_all_set = {
                let mut content = node.content.lock();
                // A write that came meanwhile made up others.
                content.was_told(writes);
                content.unset.is_empty()
            };
            if is_all_set {
                return Ok(node.as_seen(attributes));
            }
            // A call that sets attributes changes times once more, and writing takes those back that were set before.
            self.settle_first(&node);
        }
        Ok(node.as_seen(self.file_system.attributes(&caller, &node.handle)?))
    }

    /// SETATTR. The kernel names the open file when it is cut: a program that may write it may do that.
    pub fn set_attributes(
        &self,
        asker: Requester,
        number: u64,
        open: Option<u64>,
        new: &NewAttributes,
    ) -> Answer<Attributes> {
        let node = self.nodes.of(number)?;
        let caller = self.acting(asker, open);
        if let Some(after) = self.set_later(&caller, &node, new)? {
            return Ok(node.as_seen(after));
        }
        let owned = node.content.lock().owned.take();
        if owned.is_some_and(|owned| owned.is_as(&caller, new)) {
            return Ok(node.as_seen(self.file_system.attributes(&caller, &node.handle)?));
        }
        self.settle_first(&node);
        if new.size.is_some() {
            self.may_cut(&caller, &node.handle, open)?;
        }
        let mut change = Change::default();
        self.file_system.set_attributes(&caller, SetAttributes::new(&node.handle, new, None), &mut change)?;
        let after = match change.after {
            Some(after) => after,
            None => self.file_system.attributes(&caller, &node.handle)?,
        };
        node.content.lock().owned = Owned::after(caller, new, &after);
        Ok(node.as_seen(after))
    }

    /// Servers let an owner cut a file that its mode forbids to write, since they cannot know who has it open.
    fn may_cut(&self, caller: &Caller, file: &Handle, open: Option<u64>) -> Answer<()> {
        if open.and_then(|open| self.files.of(open).ok()).is_some_and(|open| open.writes) {
            return Ok(());
        }
        let (granted, _) = self.file_system.access(caller, file, Access::MODIFY)?;
        if granted.contains(Access::MODIFY) { Ok(()) } else { Err(Refused(Errno::EACCES)) }
    }

    /// The caller that opened the file, else the caller of this request.
    fn acting(&self, asker: Requester, open: Option<u64>) -> Caller {
        let open = open.and_then(|open| self.files.of(open).ok());
        open.map_or_else(|| self.caller(asker), |open| open.caller.clone())
    }

    /// ACCESS.
    pub fn access(&self, asker: Requester, number: u64, mask: AccessFlags) -> Answer<()> {
        let node = self.nodes.of(number)?;
        let caller = self.caller(asker);
        self.settle_first(&node);
        let (granted, attributes) = self.file_system.access(&caller, &node.handle, Access::ALL)?;
        let is_directory = attributes.kind == FileKind::Directory;
        let write = Access::MODIFY | Access::EXTEND;
        let needed = [
            (AccessFlags::R_OK, Access::READ),
            (AccessFlags::W_OK, if is_directory { write | Access::DELETE } else { write }),
            (AccessFlags::X_OK, if is_directory { Access::LOOKUP } else { Access::EXECUTE }),
        ];
        let denied = needed.iter().any(|(flag, right)| mask.contains(*flag) && !granted.contains(*right));
        if denied { Err(Refused(Errno::EACCES)) } else { Ok(()) }
    }

    /// READLINK.
    pub fn read_link(&self, asker: Requester, number: u64) -> Answer<Vec<u8>> {
        let node = self.nodes.of(number)?;
        let mut target = Vec::new();
        self.file_system.read_link(&self.caller(asker), &node.handle, &mut target)?;
        Ok(target)
    }

    /// STATFS.
    pub fn statistics(&self, asker: Requester, number: u64) -> Answer<Statistics> {
        let node = self.nodes.of(number)?;
        Ok(self.file_system.statistics(&self.caller(asker), &node.handle)?)
    }
}
