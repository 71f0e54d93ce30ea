//! The directories behind the exports, opened once each and kept over a reload, with the files they hold open. Each is followed:
//! one that is removed or moved away is gone until its path leads to a directory again.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use anyhow::{Result, anyhow};
use howdah_store::local::{
    HandleSource, LocalFileSystem, Mode, OpenError, Options, Presence, Root, SyncMode,
};
use howdah_vfs::FileSystem;
use howdah_vfs::layer::Withdrawn;

use crate::configuration::{Durability, ExportConfig};
use crate::report::Opened;
use crate::running::export_state;

/// An open directory.
#[derive(Clone)]
pub struct OpenDirectory {
    id: u32,
    served: Served,
    /// How it turned out.
    pub opened: Opened,
    /// Why it cannot be mounted now.
    pub gone: Option<String>,
}

/// What an export's handles lead to.
#[derive(Clone)]
enum Served {
    /// The directory that was opened.
    Directory(Arc<LocalFileSystem>),
    /// Nothing: another directory is to be opened once the calls on this one have ended.
    Nothing(Weak<LocalFileSystem>),
}

/// What became of the directory of an export.
#[derive(Debug)]
pub struct DirectoryNews {
    name: String,
    path: PathBuf,
    gone: Option<String>,
}

impl DirectoryNews {
    /// Says it in the log: once it holds.
    pub fn log(&self) {
        match &self.gone {
            Some(why) => tracing::warn!(export = self.name, "the export is gone: {why}"),
            None => tracing::info!(export = self.name, path = %self.path.display(), "the export is back"),
        }
    }
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

    /// Looks where the paths of these exports lead now, and opens directories that took the place of others unless files are
    /// confined. Says what changed; then the exports must be put together again.
    pub fn follow(
        &mut self,
        exports: &[ExportConfig],
        state: &Path,
        files_confined: bool,
    ) -> Vec<DirectoryNews> {
        let both = self.open.iter_mut().zip(exports);
        let news = both.filter_map(|(directory, export)| {
            directory.follow(export, state, files_confined).then(|| DirectoryNews {
                name: export.name.to_string(),
                path: export.path.clone(),
                gone: directory.gone.clone(),
            })
        });
        news.collect()
    }

    /// What else makes a file system another one does not change under an id while it is served.
    fn find(&self, export: &ExportConfig) -> Option<&OpenDirectory> {
        self.open.iter().find(|directory| directory.id == export.id)
    }
}

impl OpenDirectory {
    /// As what it is served.
    pub fn file_system(&self) -> Arc<dyn FileSystem> {
        match &self.served {
            Served::Directory(directory) => Arc::clone(directory) as Arc<dyn FileSystem>,
            Served::Nothing(_) => Arc::new(Withdrawn::default()),
        }
    }

    fn follow(&mut self, export: &ExportConfig, state: &Path, files_confined: bool) -> bool {
        let path = export.path.display();
        match &self.served {
            Served::Directory(directory) => match directory.presence() {
                Presence::Present => self.set_gone(None),
                Presence::Missing => self.set_gone(Some(format!("there is no directory {path}"))),
                Presence::Covered => {
                    let why = format!("another file system is mounted at {path}; restart howdah to serve it");
                    self.set_gone(Some(why))
                }
                Presence::Replaced if files_confined => {
                    let why = format!(
                        "{path} is another directory now; restart howdah to serve it, or start it with --sandbox no-landlock"
                    );
                    self.set_gone(Some(why))
                }
                Presence::Replaced => {
                    // The old one goes first: two cannot share the state directory.
                    self.served = Served::Nothing(Arc::downgrade(directory));
                    let why = format!("{path} is another directory now, which is being opened");
                    self.set_gone(Some(why))
                }
            },
            Served::Nothing(old) if old.strong_count() > 0 => false,
            Served::Nothing(_) => match root(export).and_then(|root| open(export, root, state)) {
                Ok(new) => {
                    let gone = self.gone.take();
                    *self = Self { gone, ..new };
                    self.set_gone(None)
                }
                Err(error) => self.set_gone(Some(format!("{error:#}"))),
            },
        }
    }

    /// Notes why the export cannot be mounted; whether that is news.
    fn set_gone(&mut self, gone: Option<String>) -> bool {
        if self.gone == gone {
            return false;
        }
        self.gone = gone;
        true
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
    Ok(OpenDirectory { id: export.id, served: Served::Directory(Arc::new(file_system)), opened, gone: None })
}
