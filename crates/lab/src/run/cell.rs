//! One repetition of one cell: everything built, run, ended and checked.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use parking_lot::Mutex;

use super::server::samples;
use super::topology::{addresses, topology};
use super::{
    Client, Job, Measured, Place, Running, Scene, ServedExport, Stop, client, derived, failover, netem,
    relay, routes, server, verdicts,
};
use crate::guest::find_command;
use crate::plan::{ExportKind, ServerKind};
use crate::record::{CommandRecord, LinkCount, SeriesLine};
use crate::sample::{Sampler, counts, processor_seconds};
use crate::sandbox::LabSandbox;
use howdah_workload::measure::{CpuLook, OtherLoad, Processor};

/// Time for the network and the server to come up, besides the cell's limit.
const START: Duration = Duration::from_secs(60);

/// The largest that an ext4 of a cell's own may become, in bytes.
const EXT4_SIZE: u64 = 2 << 30;

/// What a cell measured, and what ran in it, whether it came to its end or not.
#[derive(Debug, Default)]
pub struct CellRecord {
    pub named: derived::Named,
    pub commands: Vec<CommandRecord>,
    pub link: Vec<LinkCount>,
    pub series: Vec<SeriesLine>,
    pub other_load: Option<OtherLoad>,
}

/// Where a cell's things are to be.
pub fn place(job: &Job, howdah: &Path, temporary: &Path, logs: &Path) -> Place {
    Place {
        howdah: howdah.to_owned(),
        temporary: temporary.to_owned(),
        export: temporary.join("export"),
        logs: logs.to_owned(),
        addresses: addresses(&job.cell.spec),
        seed: job.seed,
    }
}

/// Runs it. The record says what it came to, however it ended.
pub fn run(
    job: &Job,
    place: &Place,
    sandbox: &LabSandbox,
    stop: &Stop,
    record: &mut CellRecord,
) -> Result<()> {
    let spec = &job.cell.spec.server;
    let _export = Export::make(place, spec.export, spec.kind).context("export")?;
    let network = sandbox.network(&topology(&job.cell, job.seed)).context("network")?;
    let scene = Scene {
        cell: &job.cell,
        seed: job.seed,
        network: &network,
        place,
        deadline: Mutex::new(Instant::now() + START),
        stop,
        commands: Mutex::new(Vec::new()),
    };
    let ran = on_stage(&scene, record);
    record.commands = scene.commands.into_inner();
    record.link = counts(&network);
    ran
}

fn on_stage(scene: &Scene<'_>, record: &mut CellRecord) -> Result<()> {
    let spec = &scene.cell.spec;
    routes::set(scene).context("routes")?;
    let _between = netem::start(scene)?;
    let mut served = server(spec.server.kind).and_then(|kind| kind.start(scene)).context("server")?;
    let mut relay = relay::start(scene).context("relay")?;
    let mut clients = Vec::new();
    for (name, spec) in &spec.clients {
        let mut client = client(spec.kind, name).with_context(|| format!("client {name}"))?;
        client.prepare(scene).with_context(|| format!("client {name}: preparing"))?;
        clients.push((name.clone(), spec.after.map_or(Duration::ZERO, |after| after.0), client));
    }
    *scene.deadline.lock() = Instant::now() + spec.limit.0;
    let before = (processor_seconds(&served.processes()), Processor::used());
    let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let look = CpuLook::now();
    let measured = work(scene, clients, served.as_mut(), record);
    record.other_load = look.and_then(|earlier| CpuLook::now()?.others_since(&earlier));
    let measured = measured?;
    let server_seconds = processor_seconds(&served.processes()) - before.0;
    served.check().context("server")?;
    relay.iter_mut().try_for_each(Running::check).context("relay")?;
    if let Some(wire) = scene.network.wires().values().find(|wire| !wire.is_alive()) {
        bail!("wire {}: somebody removed its interface", wire.name());
    }
    served.end();
    let server_seconds = (!served.processes().is_empty()).then_some(server_seconds);
    record.named = derived::figures(&measured, server_seconds, Processor::used().since(before.1));
    if let Some(part) = derived::between_hosts(&measured, |name| spec.clients[name].host.as_str()) {
        record.named.0.insert("total.between_hosts".to_owned(), part);
    }
    if let Some(spec) = &spec.verdicts {
        let looks = verdicts::looks(&samples(scene.place)).context("verdicts")?;
        record.series.extend(verdicts::series(&looks, began));
        record.named.0.extend(verdicts::figures(&looks, spec).context("verdicts")?);
    }
    Ok(())
}

type Ready = (String, Duration, Box<dyn Client>);

/// All clients at the same time. The first failure ends the others.
fn work(
    scene: &Scene<'_>,
    clients: Vec<Ready>,
    served: &mut dyn ServedExport,
    record: &mut CellRecord,
) -> Result<Vec<(String, Measured)>> {
    let failure = Mutex::new(None);
    let measured = Mutex::new(Vec::new());
    thread::scope(|scope| -> Result<()> {
        let every = scene.cell.spec.sample.as_ref().map(|sample| sample.every.0);
        let sampler = every.map(|every| Sampler::start(scope, scene.network, every)).transpose()?;
        let threads: Vec<_> = clients
            .into_iter()
            .map(|(name, after, mut client)| {
                let (failure, measured) = (&failure, &measured);
                scope.spawn(move || match begin(scene, after).and_then(|()| client.work(scene)) {
                    Ok(figures) => measured.lock().push((name, figures)),
                    Err(error) => {
                        failure.lock().get_or_insert(error.context(format!("client {name}")));
                        scene.stop.end_all();
                    }
                })
            })
            .collect();
        let mover = scene.cell.spec.failover.as_ref().map(|spec| {
            let failure = &failure;
            scope.spawn(move || {
                let moved = begin(scene, spec.after.0).and_then(|()| failover::run(scene, spec, served));
                if let Err(error) = moved {
                    failure.lock().get_or_insert(error.context("failover"));
                    scene.stop.end_all();
                }
            })
        });
        let threads = threads.into_iter().chain(mover);
        let panicked = threads.into_iter().filter_map(|thread| thread.join().err()).count();
        // It is ended whatever became of them: this scope waits for its thread too.
        record.series = sampler.map(Sampler::end).transpose().context("sampling")?.unwrap_or_default();
        ensure!(panicked == 0, "a client's thread panicked");
        Ok(())
    })?;
    if let Some(error) = failure.into_inner() {
        return Err(error);
    }
    let mut measured = measured.into_inner();
    measured.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(measured)
}

fn begin(scene: &Scene<'_>, after: Duration) -> Result<()> {
    if scene.stop.wait(after) {
        bail!("interrupted");
    }
    Ok(())
}

/// Makes an ext4 in a file; space is taken as it is needed.
fn make_ext4(image: &Path) -> Result<()> {
    let file = fs::File::create(image).with_context(|| format!("making {}", image.display()))?;
    file.set_len(EXT4_SIZE).with_context(|| format!("making {}", image.display()))?;
    run_tool("mkfs.ext4", ["-q", "-F"].map(OsStr::new).into_iter().chain([image.as_os_str()]))
}

/// Runs a program of the host to its end.
fn run_tool<'a>(program: &str, arguments: impl Iterator<Item = &'a OsStr>) -> Result<()> {
    let path = find_command(program).with_context(|| format!("{program} is not installed"))?;
    let ran = Command::new(path).args(arguments).output().with_context(|| format!("running {program}"))?;
    ensure!(ran.status.success(), "{program}: {}", String::from_utf8_lossy(&ran.stderr).trim());
    Ok(())
}

/// The directory that is served.
struct Export<'p> {
    path: &'p Path,
    is_mounted: bool,
    /// The file that its file system is in.
    image: Option<PathBuf>,
}

impl<'p> Export<'p> {
    /// A guest that serves mounts its file system itself.
    fn make(place: &'p Place, kind: ExportKind, server: ServerKind) -> Result<Self> {
        let path = &place.export;
        fs::create_dir_all(path).with_context(|| format!("making {}", path.display()))?;
        let image = (kind == ExportKind::Ext4).then(|| place.image());
        // From here on it is removed whatever happens.
        let mut export = Self { path, is_mounted: false, image };
        if let Some(image) = &export.image {
            make_ext4(image)?;
        }
        export.is_mounted = match kind {
            ExportKind::Disk => false,
            // The files are those of a cluster, which is not there yet.
            _ if server == ServerKind::Heads => false,
            ExportKind::Memory => {
                let flags = rustix::mount::MountFlags::NODEV | rustix::mount::MountFlags::NOSUID;
                rustix::mount::mount("tmpfs", path, "tmpfs", flags, None::<&std::ffi::CStr>)
                    .with_context(|| format!("mounting a file system in memory at {}", path.display()))?;
                true
            }
            ExportKind::Ext4 if server == ServerKind::Kernel => false,
            ExportKind::Ext4 => {
                // mount(8) finds a loop device, which goes with the mount.
                let options = ["-t", "ext4", "-o", "loop,nodev,nosuid"].map(OsStr::new);
                let paths = [place.image().into_os_string(), path.clone().into_os_string()];
                run_tool("mount", options.into_iter().chain(paths.iter().map(|path| path.as_os_str())))?;
                true
            }
        };
        Ok(export)
    }
}

impl Drop for Export<'_> {
    fn drop(&mut self) {
        if self.is_mounted {
            // Whatever still holds it open keeps it alive until it is gone itself.
            let _ = rustix::mount::unmount(self.path, rustix::mount::UnmountFlags::DETACH);
        }
        if let Some(image) = &self.image {
            let _ = fs::remove_file(image);
        }
    }
}
