//! NFS-Ganesha, a server in user space, with one of its storage modules, on addresses of our own network.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use howdah_lab::guest::{Ganesha as Settings, find_command};
use howdah_vfs::conformance::Abilities;
use rustix::process::Signal;

use super::serving::{MOUNT_PORT, NFS_PORT, Place, Serving, until_ended, until_started};
use crate::inside::command::{Running, run};
use crate::inside::isolation::Network;
use crate::inside::rpcbind;
use crate::job::Job;

/// Entries of a large directory: enough for several pages of a listing.
const MANY: usize = 2_000;

/// A Ganesha that runs.
pub struct Ganesha {
    process: Running,
    /// It registers there, and does not start without.
    _rpcbind: Running,
    address: &'static str,
    export: String,
    log: PathBuf,
}

impl Ganesha {
    /// Starts it and waits until it serves.
    pub fn start(job: &Job, network: &Network, storage: &'static str) -> Result<Self> {
        let rpcbind = rpcbind::start(job)?;
        make_export(job).context("making the export's file system")?;
        for directory in Settings::DIRECTORIES {
            fs::create_dir_all(directory).with_context(|| format!("making {directory}"))?;
        }
        let export = job.export().display().to_string();
        let path = job.work.join("ganesha.conf");
        let settings = Settings {
            export: job.export(),
            storage: storage.to_owned(),
            nfs_port: NFS_PORT,
            mount_port: MOUNT_PORT,
        };
        fs::write(&path, settings.configuration()).with_context(|| format!("writing {}", path.display()))?;
        let program = find_command(Settings::PROGRAM).unwrap_or_else(|| Path::new(Settings::PROGRAM).into());
        let log = job.log("ganesha.txt");
        let process = Running::start(&program, &job.log("server.txt"), |command| {
            command.args(Settings::arguments(&log, &path));
        })?;
        let address = network.server_address;
        let mut serving = Self { process, _rpcbind: rpcbind, address, export, log };
        until_started(|| {
            serving.must_run()?;
            Ok(fs::read_to_string(&serving.log).is_ok_and(|said| said.contains(Settings::SERVES)))
        })
        .context("starting Ganesha")?;
        Ok(serving)
    }
}

impl Serving for Ganesha {
    fn place(&self) -> Place {
        let abilities = Abilities {
            many_entries: MANY,
            // Behind it is a tmpfs.
            replaced_names_keep_their_place: false,
            ..Abilities::default()
        };
        Place { address: self.address, export: self.export.clone(), abilities }
    }

    fn must_run(&mut self) -> Result<()> {
        match self.process.ended()? {
            None => Ok(()),
            Some(status) => bail!("Ganesha ended by itself with {status}; see log/ganesha.txt"),
        }
    }

    fn end(&mut self) -> Result<()> {
        self.process.signal(Signal::TERM)?;
        until_ended(|| Ok(self.process.ended()?.is_some())).context("ending Ganesha")
    }
}

/// A file system that is all the export's: Ganesha reaches files through the root of theirs, which is read-only here.
fn make_export(job: &Job) -> Result<()> {
    let export = job.export();
    let path = export.to_str().context("the work directory's path is not UTF-8")?;
    run("mount", &["-t", "tmpfs", "-o", "mode=777", "howdah", path])
}
