//! MooseFS in a cell: a master and three chunkservers on the host of the server, and a mount for each head and for the laboratory.

use std::ffi::CStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use crate::guest::{find_command, missing};
use crate::plan::ExportKind;
use crate::run::routes::{ip, route, wires_between};
use crate::run::{Place, Running, Scene};

const NEEDED: [&str; 3] = ["mfsmaster", "mfschunkserver", "mfsmount"];
/// Where hosts reach all of it: no wire's address, since heads are on different wires.
const ADDRESS: &str = "10.98.0.1";
/// The port of the first chunkserver; the others follow.
const FIRST_PORT: u16 = 9422;
const CHUNKSERVERS: u16 = 3;
/// How the master reports that it is ready, and that a chunkserver has registered.
const READY: &str = "initialized properly";
const REGISTERED: &str = "register end";
/// The metadata of a new master, of the package.
const EMPTY: &str = "/var/lib/mfs/metadata.mfs.empty";
/// Without caches of names and attributes, one head sees at once what another does.
const NO_CACHES: &str = "mfsnice=0,mfsattrcacheto=0,mfsentrycacheto=0,mfsdirentrycacheto=0";
/// How often to look whether something has come up.
const PAUSE: Duration = Duration::from_millis(20);

/// Where a head's host has the file system.
pub fn mount_point(place: &Place, host: &str) -> PathBuf {
    place.temporary.join(format!("mount-{host}"))
}

/// All of it, running. Fields end in this order: the mounts before what they need.
pub struct MooseFs {
    mounts: Vec<Mount>,
    servers: Vec<Running>,
    _memory: Option<Mounted>,
}

impl MooseFs {
    /// Starts it, and waits until every mount takes files. The directory `data` is mounted where the cell's export is.
    pub fn start(scene: &Scene<'_>, heads: &[String]) -> Result<Self> {
        if let Some(missing) = missing(&NEEDED) {
            bail!("{missing}");
        }
        let directory = scene.place.temporary.join("moosefs");
        make(&directory)?;
        let in_memory = scene.cell.spec.server.export == ExportKind::Memory;
        let memory = in_memory.then(|| memory_at(&directory)).transpose()?;
        reach_storage(scene, heads)?;
        let servers = start_servers(scene, &directory)?;
        let mut all = Self { mounts: Vec::new(), servers, _memory: memory };
        for head in heads {
            let mount = Mount::start(scene, head, &mount_point(scene.place, head), NO_CACHES)?;
            all.mounts.push(mount);
        }
        let first = all.mounts.first().context("there is a head")?.at.join("data");
        make(&first)?;
        // Its size is that of the chunkservers that have space.
        until(scene, "MooseFS takes no file", || Ok(fs::write(first.join("tried"), "tried").is_ok()))?;
        fs::remove_file(first.join("tried")).context("removing a file from MooseFS")?;
        let storage = &scene.cell.spec.server.host;
        let options = format!("{NO_CACHES},mfssubfolder=data");
        all.mounts.push(Mount::start(scene, storage, &scene.place.export, &options)?);
        Ok(all)
    }

    /// The processes of the heads' mounts, which work as much for each byte as the heads.
    pub fn mounts_of_heads(&self) -> impl Iterator<Item = u32> {
        self.mounts.iter().rev().skip(1).map(|mount| mount.running.id())
    }

    /// Whether all of it still runs.
    pub fn check(&mut self) -> Result<()> {
        let mounts = self.mounts.iter_mut().map(|mount| &mut mount.running);
        mounts.chain(&mut self.servers).try_for_each(Running::check)
    }

    /// Kills a host's mount.
    pub fn lose_mount(&mut self, host: &str) {
        let (mut lost, kept) = self.mounts.drain(..).partition::<Vec<_>, _>(|mount| mount.host == host);
        lost.iter_mut().for_each(|mount| mount.running.kill());
        self.mounts = kept;
    }
}

/// Nothing of it is kept: there is no reason to wait until it has put its data in order.
impl Drop for MooseFs {
    fn drop(&mut self) {
        self.mounts.clear();
        self.servers.iter_mut().for_each(Running::kill);
    }
}

/// A mount, and the process that serves it.
struct Mount {
    host: String,
    at: PathBuf,
    running: Running,
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = unmount(&self.at, UnmountFlags::DETACH);
        self.running.kill();
    }
}

impl Mount {
    fn start(scene: &Scene<'_>, host: &str, at: &Path, options: &str) -> Result<Self> {
        make(at)?;
        let before = device(at)?;
        let path = at.display().to_string();
        let words = ["mfsmount", "-H", ADDRESS, "-f", &path, "-o", options];
        let running = start(scene, host, &format!("mfsmount-{host}"), &words)?;
        let mut mount = Self { host: host.to_owned(), at: at.to_owned(), running };
        until(scene, &format!("host {host} does not get its mount"), || {
            mount.running.check()?;
            Ok(device(&mount.at)? != before)
        })?;
        Ok(mount)
    }
}

/// Where something is mounted. Dropped, it is gone, or goes with whatever still holds it.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}

fn memory_at(directory: &Path) -> Result<Mounted> {
    let flags = MountFlags::NODEV | MountFlags::NOSUID;
    mount("tmpfs", directory, "tmpfs", flags, None::<&CStr>)
        .with_context(|| format!("mounting a file system in memory at {}", directory.display()))?;
    Ok(Mounted(directory.to_owned()))
}

/// Gives the storage its address, and each head a route to it.
fn reach_storage(scene: &Scene<'_>, heads: &[String]) -> Result<()> {
    let spec = &scene.cell.spec;
    ip(scene, &spec.server.host, "address", &["address", "add", &format!("{ADDRESS}/32"), "dev", "lo"])?;
    for head in heads {
        let way = wires_between(spec, head, &spec.server.host, None).filter(|way| way.len() == 1);
        let way = way.with_context(|| format!("no wire leads from head {head} to {}", spec.server.host))?;
        way.iter().try_for_each(|(wire, _)| route(scene, head, ADDRESS, wire))?;
    }
    Ok(())
}

fn start_servers(scene: &Scene<'_>, directory: &Path) -> Result<Vec<Running>> {
    let host = &scene.cell.spec.server.host;
    let master = configure_master(directory)?;
    let master = start(scene, host, "mfsmaster", &["mfsmaster", "-c", &master, "-f", "start"])?;
    let mut servers = vec![master];
    until(scene, "the master does not come up", || reported(&mut servers, READY, 1))?;
    for number in 0..CHUNKSERVERS {
        let configuration = configure_chunkserver(directory, number)?;
        let words = ["mfschunkserver", "-c", &configuration, "-f", "start"];
        servers.push(start(scene, host, &format!("mfschunkserver-{number}"), &words)?);
    }
    let all = usize::from(CHUNKSERVERS);
    until(scene, "chunkservers do not register", || reported(&mut servers, REGISTERED, all))?;
    Ok(servers)
}

/// Whether the master, which is the first of these, has said something so often.
fn reported(servers: &mut [Running], what: &str, times: usize) -> Result<bool> {
    servers.iter_mut().try_for_each(Running::check)?;
    Ok(servers[0].output().matches(what).count() >= times)
}

/// Starts a program of MooseFS, wherever it is installed.
fn start(scene: &Scene<'_>, host: &str, name: &str, words: &[&str]) -> Result<Running> {
    let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    if let Some(path) = find_command(&words[0]) {
        words[0] = path.display().to_string();
    }
    scene.start(host, name, &words)
}

/// Settings that all daemons of MooseFS share.
fn common(data: &Path) -> String {
    format!("WORKING_USER = root\nWORKING_GROUP = root\nNICE_LEVEL = 0\nDATA_PATH = {}\n", data.display())
}

/// Gives the path of the master's configuration.
fn configure_master(directory: &Path) -> Result<String> {
    let data = directory.join("master");
    make(&data)?;
    fs::copy(EMPTY, data.join("metadata.mfs")).with_context(|| format!("copying {EMPTY}"))?;
    let exports = write(directory, "exports.cfg", "* / rw,alldirs,admin,maproot=0:0\n")?;
    let topology = write(directory, "topology.cfg", "")?;
    let listen = ["MATOML", "MATOCS", "MATOCL"].map(|part| format!("{part}_LISTEN_HOST = {ADDRESS}\n"));
    let text = format!(
        "{}EXPORTS_FILENAME = {exports}\nTOPOLOGY_FILENAME = {topology}\n{}",
        common(&data),
        listen.concat()
    );
    write(directory, "master.cfg", &text)
}

/// Gives the path of a chunkserver's configuration.
fn configure_chunkserver(directory: &Path, number: u16) -> Result<String> {
    let (data, chunks) =
        (directory.join(format!("server{number}")), directory.join(format!("chunks{number}")));
    make(&data)?;
    make(&chunks)?;
    let disks = write(directory, &format!("disks{number}.cfg"), &format!("{}\n", chunks.display()))?;
    let text = format!(
        "{}HDD_CONF_FILENAME = {disks}\nHDD_LEAVE_SPACE_DEFAULT = 64MiB\nMASTER_HOST = {ADDRESS}\n\
         BIND_HOST = {ADDRESS}\nCSSERV_LISTEN_HOST = {ADDRESS}\nCSSERV_LISTEN_PORT = {}\n",
        common(&data),
        FIRST_PORT + number
    );
    write(directory, &format!("server{number}.cfg"), &text)
}

fn write(directory: &Path, name: &str, text: &str) -> Result<String> {
    let path = directory.join(name);
    fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    Ok(path.display().to_string())
}

fn make(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))
}

fn device(path: &Path) -> Result<u64> {
    Ok(fs::metadata(path).with_context(|| format!("looking at {}", path.display()))?.dev())
}

/// Waits until it is so: at most until the cell's deadline.
fn until(scene: &Scene<'_>, otherwise: &str, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    while !is_so()? {
        if scene.deadline() < Instant::now() {
            bail!("{otherwise} in time");
        }
        if scene.stop.wait(PAUSE) {
            bail!("interrupted");
        }
    }
    Ok(())
}
