//! A directory before it is a file system: opened, and tried. Making it a mount of its own takes a right (CAP_SYS_ADMIN) that
//! nothing later needs, so that a server may give that up in between.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::handles::{Form, LONGEST_KERNEL_HANDLE, Layout, Maker, Mounts, judge_fuse, kernel_open};
use super::open_error::OpenError;
use super::options::{FallBack, HandleSource};
use super::syscall;
use super::tree::Tree;

/// An open directory, for [`LocalFileSystem::at`](super::LocalFileSystem::at).
#[derive(Debug)]
pub struct Root {
    tree: Arc<Tree>,
    probed: Probed,
    directory: PathBuf,
}

impl Root {
    /// Opens it; `cross_mounts` is [`Options::cross_mounts`](super::Options::cross_mounts).
    pub fn open(directory: &Path, cross_mounts: bool) -> Result<Self, OpenError> {
        let tree = Tree::open(directory, cross_mounts)
            .map_err(|cause| OpenError::new("opening the directory", directory, cause))?;
        let tree = Arc::new(tree);
        let probed = probe_handles(&tree, directory);
        Ok(Self { tree, probed, directory: directory.to_owned() })
    }

    pub(super) fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    pub(super) fn maker(&self) -> &Maker {
        &self.probed.maker
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn fall_back(&self) -> Option<FallBack> {
        self.probed.fall_back
    }

    /// Where its handles will come from.
    pub fn handles(&self) -> HandleSource {
        self.probed.handles
    }

    /// Whether it is a mount of its own, so that whatever is found by a kernel's handle is known to lie beneath it.
    pub fn is_own_mount(&self) -> bool {
        self.tree.is_own_mount()
    }
}

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tree.root()
    }
}

/// Which handles there are here: asks for the root's, and opens it. On FUSE, where that says nothing of others, a file's too.
fn probe_handles(tree: &Arc<Tree>, directory: &Path) -> Probed {
    let mounts = tree.crosses_mounts().then(|| Arc::new(Mounts::new(tree, directory)));
    let device = tree.device;
    let maker = Maker { from_kernel: false, layout: Layout::Unknown, shape: (0, 0), device, mounts };
    let mut probed = Probed { maker, handles: HandleSource::Index, fall_back: None };
    let Ok(raw) = syscall::name_to_handle(tree.root(), None) else { return probed };
    // Overlays and network file systems have long handles: the file number, kind and form must fit too.
    if raw.as_bytes().len() > LONGEST_KERNEL_HANDLE || !(0..256).contains(&raw.kind()) {
        return probed;
    }
    let kind = raw.kind() as u8;
    let form = Form::Kernel { kind, bytes: raw.as_bytes() };
    let opens = tree.mount().is_some_and(|mount| kernel_open(mount, form).is_ok());
    probed.fall_back = if tree.is_fuse() { judge_fuse(tree, opens) } else { None };
    if probed.fall_back.is_some() {
        return probed;
    }
    probed.maker.from_kernel = true;
    probed.maker.layout = tree.layout(i32::from(kind), raw.as_bytes());
    probed.maker.shape = (kind, raw.as_bytes().len());
    probed.handles = if opens { HandleSource::Kernel } else { HandleSource::Index };
    probed
}

/// What was found out.
#[derive(Debug)]
struct Probed {
    maker: Maker,
    handles: HandleSource,
    fall_back: Option<FallBack>,
}
