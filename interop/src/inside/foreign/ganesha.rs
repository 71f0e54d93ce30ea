//! NFS-Ganesha, a server in user space, with one of its storage modules, on addresses of our own network.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use howdah_vfs::conformance::Abilities;
use rustix::process::Signal;

use super::serving::{MOUNT_PORT, NFS_PORT, Place, Serving, until_ended, until_started};
use crate::inside::command::{Running, run};
use crate::inside::isolation::Network;
use crate::inside::rpcbind;
use crate::job::Job;
use crate::machine::find_command;

/// What it says when it serves.
const SERVES: &str = "NFS SERVER INITIALIZED";
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
        for directory in ["/run/ganesha", "/var/lib/nfs/ganesha"] {
            fs::create_dir_all(directory).with_context(|| format!("making {directory}"))?;
        }
        let export = job.export().display().to_string();
        let path = job.work.join("ganesha.conf");
        fs::write(&path, configuration(&export, storage))
            .with_context(|| format!("writing {}", path.display()))?;
        let program = find_command("ganesha.nfsd").unwrap_or_else(|| Path::new("ganesha.nfsd").into());
        let log = job.log("ganesha.txt");
        let process = Running::start(&program, &job.log("server.txt"), |command| {
            command.args(["-F", "-N", "EVENT", "-p", "/run/ganesha/pid"]);
            command.arg("-L").arg(&log).arg("-f").arg(&path);
        })?;
        let address = network.server_address;
        let mut serving = Self { process, _rpcbind: rpcbind, address, export, log };
        until_started(|| {
            serving.must_run()?;
            Ok(fs::read_to_string(&serving.log).is_ok_and(|said| said.contains(SERVES)))
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

/// One export for everybody, and nothing that needs the system's services. Without its cache of directories, with which a
/// listing goes round and round once entries that it has not come to are removed.
fn configuration(export: &str, storage: &str) -> String {
    format!(
        r#"NFS_CORE_PARAM {{
    Protocols = 3;
    NFS_Port = {NFS_PORT};
    MNT_Port = {MOUNT_PORT};
    Enable_UDP = true;
    Enable_NLM = false;
    Enable_RQUOTA = false;
}}
NFS_KRB5 {{
    Active_krb5 = false;
}}
MDCACHE {{
    Dir_Chunk = 0;
}}
EXPORT {{
    Export_Id = 1;
    Path = "{export}";
    Pseudo = "/export";
    Protocols = 3;
    Transports = TCP, UDP;
    SecType = sys;
    Access_Type = RW;
    Squash = No_Root_Squash;
    FSAL {{
        Name = {storage};
    }}
}}
"#
    )
}
