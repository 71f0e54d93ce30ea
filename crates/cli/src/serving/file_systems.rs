//! The directories behind the exports, opened once each and kept over a reload, with the files they hold open.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use howdah_store::local::{HandleSource, LocalFileSystem, Mode, OpenError, Options, Root, SyncMode};

use crate::configuration::{Durability, ExportConfig};
use crate::report::Opened;
use crate::running::export_state;

/// An open directory.
#[derive(Clone)]
pub struct OpenDirectory {
    id: u32,
    /// As what it is served.
    pub file_system: Arc<LocalFileSystem>,
    /// How it turned out.
    pub opened: Opened,
}

/// All open directories, in the order of the exports.
#[derive(Clone, Default)]
pub struct FileSystems {
    open: Vec<OpenDirectory>,
}

impl FileSystems {
    /// The directories of these exports, opened already.
    pub fn over(roots: Vec<Root>, exports: &[ExportConfig], state: &Path) -> Result<Self> {
        let open = exports.iter().zip(roots).map(|(export, root)| open(export, root, state));
        Ok(Self { open: open.collect::<Result<_>>()? })
    }

    /// The directories of these exports: those that are open already stay open, the others are opened now.
    pub fn for_exports(&self, exports: &[ExportConfig], state: &Path) -> Result<Self> {
        let open = exports.iter().map(|export| match self.find(export) {
            Some(directory) => Ok(directory.clone()),
            None => open(export, root(export)?, state),
        });
        Ok(Self { open: open.collect::<Result<_>>()? })
    }

    /// The first of these exports whose directory is not open.
    pub fn first_new<'e>(&self, exports: &'e [ExportConfig]) -> Option<&'e ExportConfig> {
        exports.iter().find(|export| self.find(export).is_none())
    }

    /// The open directories, in the order of the exports.
    pub fn iter(&self) -> impl Iterator<Item = &OpenDirectory> {
        self.open.iter()
    }

    /// What else makes a file system another one does not change under an id while it is served.
    fn find(&self, export: &ExportConfig) -> Option<&OpenDirectory> {
        self.open.iter().find(|directory| directory.id == export.id)
    }
}

/// Opens the directory of an export.
pub fn root(export: &ExportConfig) -> Result<Root> {
    Root::open(&export.path, export.cross_mounts).map_err(|error| explained(export, &error))
}

/// It tells its cause itself.
fn explained(export: &ExportConfig, error: &OpenError) -> anyhow::Error {
    anyhow!("opening export {}: {error}", export.name)
}

fn open(export: &ExportConfig, root: Root, state: &Path) -> Result<OpenDirectory> {
    let options = Options {
        state: Some(export_state(state, export.id)?),
        cross_mounts: export.cross_mounts,
        sync: match export.durability {
            Durability::Sync => SyncMode::Sync,
            Durability::Async => SyncMode::Async,
        },
        ..Options::default()
    };
    let file_system = LocalFileSystem::at(root, options).map_err(|error| explained(export, &error))?;
    let Mode { handles, acts_as_caller } = file_system.mode();
    let opened = Opened { kernel_handles: handles == HandleSource::Kernel, acts_as_caller };
    Ok(OpenDirectory { id: export.id, file_system: Arc::new(file_system), opened })
}
