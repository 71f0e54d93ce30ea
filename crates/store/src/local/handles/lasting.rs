//! Whether the kernel's handles on a FUSE mount outlive its caches and the process that serves it: found out by trying, once.
//!
//! A handle there is the number that the process gave to the node. It leads to the file again if that number is the file's own,
//! and if the process looks nodes up by number (FUSE_EXPORT_SUPPORT), which shows only when the kernel has forgotten the node.

use std::ffi::CString;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};

use super::super::identify::identify;
use super::super::options::FallBack;
use super::super::syscall::{self, KernelHandle};
use super::super::tree::{LOOK, Tree};
use super::form::Form;
use super::kernel::open as kernel_open;
use super::layout::Layout;

/// Where the kernel is asked to forget what it has cached, and the word for directory entries and nodes.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";
const NODES: &str = "2";
/// How often it is asked: an entry that was used lately is left alone the first time.
const TIMES: usize = 3;
/// How often a handle must be opened again, and how long the kernel has between to forget.
const ROUNDS: usize = 5;
const PAUSE: Duration = Duration::from_millis(20);
/// How the name of the file that is made starts.
const OWN: &str = ".howdah-";
/// So many files are tried where none can be made.
const SAMPLES: usize = 8;

/// Why the kernel's handles are not to be used for this FUSE mount; none if nothing speaks against it. `opens` says whether this
/// process may open handles at all.
///
/// A file is made in the root for a moment, so that nobody else has it open; where that is refused, files that are there are tried.
pub(in super::super) fn judge(tree: &Tree, opens: bool) -> Option<FallBack> {
    let own = Own::make(tree);
    let names = match &own {
        Some(own) => vec![own.name.clone()],
        None => some_names(tree),
    };
    let samples: Vec<_> = names.iter().filter_map(|name| Sample::take(tree, name)).collect();
    if samples.iter().any(|sample| !sample.is_numbered_as_its_file()) {
        return Some(FallBack::NodeNumbers);
    }
    if !opens || samples.is_empty() {
        return None;
    }
    let is_lost = || samples.iter().any(|sample| sample.is_lost(tree));
    are_lost(forget, is_lost, || std::thread::sleep(PAUSE)).then_some(FallBack::Forgotten)
}

/// Whether handles are lost once the kernel forgets their nodes. What others hold for a moment is not forgotten: once is not
/// enough, and another host might find the opposite. Where the kernel may not be asked to forget, nothing shows.
fn are_lost(forget: impl Fn() -> bool, mut is_lost: impl FnMut() -> bool, pause: impl Fn()) -> bool {
    for _ in 0..ROUNDS {
        if !forget() {
            return false;
        }
        if is_lost() {
            return true;
        }
        pause();
    }
    false
}

/// A name in the root, and what it led to.
struct Sample<'n> {
    name: &'n CString,
    file: u64,
    handle: KernelHandle,
}

impl<'n> Sample<'n> {
    /// Looks at it, and lets go of its node.
    fn take(tree: &Tree, name: &'n CString) -> Option<Self> {
        let node = tree.open_name(tree.root(), name.as_bytes(), LOOK).ok()?;
        let file = identify(node.as_fd()).ok()?.file;
        Some(Self { name, file, handle: syscall::name_to_handle(node.as_fd(), None).ok()? })
    }

    fn is_numbered_as_its_file(&self) -> bool {
        Layout::HighWordFirst.file_number(self.handle.kind(), self.handle.as_bytes()) == Some(self.file)
    }

    /// Whether its handle leads nowhere although it is still there.
    fn is_lost(&self, tree: &Tree) -> bool {
        let Some(mount) = tree.mount() else { return false };
        let form = Form::Kernel { kind: self.handle.kind() as u8, bytes: self.handle.as_bytes() };
        kernel_open(mount, form).is_err()
            && Self::take(tree, self.name).is_some_and(|again| again.file == self.file)
    }
}

/// A file of our own in the root; removed when this value goes.
struct Own<'t> {
    tree: &'t Tree,
    name: CString,
}

impl<'t> Own<'t> {
    fn make(tree: &'t Tree) -> Option<Self> {
        // Other hosts may be at the same, in the same directory.
        let name = format!("{OWN}{:016x}", RandomState::new().build_hasher().finish());
        let name = CString::new(name).ok()?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        openat(tree.root(), &name, flags, Mode::RUSR | Mode::WUSR).ok()?;
        Some(Self { tree, name })
    }
}

impl Drop for Own<'_> {
    fn drop(&mut self) {
        if let Err(error) = unlinkat(self.tree.root(), &self.name, AtFlags::empty()) {
            tracing::warn!(%error, name = ?self.name, "a file that was made to try handles could not be removed");
        }
    }
}

/// Some names in the root.
fn some_names(tree: &Tree) -> Vec<CString> {
    let Ok(entries) = std::fs::read_dir(tree.descriptor_path(tree.root())) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name());
    let names = names.filter(|name| !name.as_bytes().starts_with(OWN.as_bytes())).take(SAMPLES);
    names.filter_map(|name| CString::new(name.as_bytes()).ok()).collect()
}

/// Has the kernel forget what nobody uses. False if this process may not ask for it.
fn forget() -> bool {
    (0..TIMES).all(|_| std::fs::write(DROP_CACHES, NODES).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found if a handle is lost from the round with this number on, and the rounds that it took.
    fn tried(lost_from: usize, may_forget: bool) -> (bool, usize) {
        let mut rounds = 0;
        let is_lost = || {
            rounds += 1;
            rounds >= lost_from
        };
        let found = are_lost(|| may_forget, is_lost, || ());
        (found, rounds)
    }

    #[test]
    fn a_node_that_somebody_holds_for_some_rounds_is_found_lost_after_them() {
        for round in 1..=ROUNDS {
            assert_eq!(tried(round, true), (true, round));
        }
        assert_eq!(tried(ROUNDS + 1, true), (false, ROUNDS), "it stays");
        assert_eq!(tried(1, false), (false, 0), "the kernel may not be asked to forget");
    }
}
