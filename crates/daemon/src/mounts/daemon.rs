//! The process that keeps a mount: from the server to the end of the mount.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use howdah_client::Remote;
use howdah_client::connect::own_caller;
use howdah_layers::AloneWatch;
use howdah_mount::{FuseMount, MountOptions, Traffic, Unflushed, mount, read_ahead, unmount};
use howdah_units::counted;
use howdah_vfs::{Caller, FileKind, Handle, Name, Shown};
use rustix::process::{geteuid, setsid};

use super::asked::FlushAnswer;
use super::negotiated::negotiated;
use super::options::MountSettings;
use super::options_table::LockPlace;
use super::prepared::{Turn, prepared};
use super::running::{Answers, Notes};
use super::stack::{Layers, connect_for_mount};
use super::status::{BehindStatus, MountStatus};
use crate::host::{Signal, signals, start_command_log};
use crate::screen;

/// The warning at a mount with `alone`.
const ALONE: &str = "howdah: -o alone: this mount does not see what other hosts or the server change. Use it only while \
    nobody else changes the tree, and never on two hosts at once";
/// How far the kernel reads ahead, in KiB: so much it then asks for at once.
const READ_AHEAD: u32 = 4096;

/// How a mount is made, beside its options.
#[derive(Debug, Clone, Copy)]
pub struct MountRequest<'a> {
    /// Where.
    pub directory: &'a Path,
    /// Where running mounts are noted, unless it is the usual directory.
    pub state: Option<&'a Path>,
    /// Whether files in the directory may be hidden.
    pub nonempty: bool,
    /// Whether what was negotiated is printed.
    pub verbose: bool,
    /// Whether nothing but errors is printed.
    pub quiet: bool,
    /// Whether another process waits to hear that the mount is there.
    pub in_background: bool,
}

/// Mounts, and stays until the mount ends.
pub fn run(request: &MountRequest<'_>, settings: &MountSettings) -> Result<()> {
    start_command_log();
    // Looked at before a server is asked, and once more when it is mounted, for another start may have mounted there meanwhile.
    {
        let _turn = Turn::wait(request.state)?;
        prepared(request.directory, request.nonempty || settings.nonempty)?;
    }
    let client = connect_for_mount(settings)?;
    let caller = settings.url.caller(own_caller());
    let root = root(&*client, &caller)?;
    let layers = Layers::around(Arc::clone(&client), settings, root)?;
    let pending = layers.behind.as_ref().map_or(0, |behind| behind.report().waiting);
    let options = MountOptions {
        source: settings.source.clone(),
        read_only: settings.read_only,
        root: Some(root),
        allow_other: settings.allow_other,
        // Only root may say that it acts for others; and not if one user was named for all.
        caller: (!settings.allow_other || !geteuid().is_root() || settings.names_a_user()).then_some(caller),
        attributes: settings.believed.by_kernel(),
        names: settings.believed.names_by_kernel(),
        alone: settings.alone,
        set_id: settings.set_id,
        devices: settings.devices,
        synchronous: settings.synchronous,
        executable: settings.executable,
        local_locks: !settings.shares_locks(),
        acls: settings.acls,
    };
    if settings.locks == LockPlace::Server && client.file_locks().is_none() {
        let protocol = client.protocol();
        bail!(
            "over {protocol}, locks hold on this host only: mount with vers=4.2, or leave out lock and local_lock=none"
        );
    }
    if settings.acls && client.acls().is_none() {
        let protocol = client.protocol();
        bail!("over {protocol}, POSIX ACLs are not shown: mount with vers=3, or leave out acl");
    }
    let signals = signals()?;
    let turn = Turn::wait(request.state)?;
    let directory = prepared(request.directory, request.nonempty || settings.nonempty)?;
    let (files, consistency) = layers.files();
    let mounted = mount(files, consistency, &directory, &options)?;
    if read_ahead(&directory, READ_AHEAD) {
        tracing::debug!("the kernel reads {READ_AHEAD} KiB ahead");
    }
    let notes = Notes::write(request.state, &directory, &settings.source)
        .inspect_err(|_| _ = unmount(&directory, true))?;
    drop(turn);
    notes.answer(Arc::new(About::new(&mounted, (&client, &layers), settings)))?;
    if settings.alone && !request.quiet {
        screen::complain(&ALONE);
    }
    if pending > 0 && !request.quiet {
        let pending = counted(pending, "change", "changes");
        screen::complain(&format!(
            "howdah: {pending} of an earlier mount are there, and go to the server now"
        ));
    }
    if request.verbose || !(request.quiet || request.in_background) {
        screen::print(&format!("{} is mounted on {}\n", settings.source, directory.display()));
    }
    if request.verbose {
        screen::print(&negotiated(&*client, settings));
    }
    if request.in_background {
        // From now on no terminal's Ctrl-C is ours any more.
        let _ = setsid();
        notes.detach()?;
    }
    if let Some(watch) = layers.cached.alone() {
        let (watch, distrust) = (Arc::clone(watch), mounted.distrust());
        let heed = move || heed_strangers(&watch, &distrust);
        thread::Builder::new().name("alone".into()).spawn(heed).context("starting a thread")?;
    }
    let place = directory.clone();
    let stop = move || {
        while let Ok(signal) = signals.recv() {
            if signal == Signal::Stop {
                stop_mount(&place);
            }
        }
    };
    thread::Builder::new().name("stop".into()).spawn(stop).context("starting a thread")?;
    let flush = mounted.flush();
    mounted.wait();
    let written = write_all(&flush, &layers);
    layers.cached.settle();
    // Threads that answer questions about the mount keep the client until the process ends.
    client.leave();
    if request.in_background
        && let Err(error) = &written
    {
        // The note of this process is still there, and keeps it.
        tracing::error!("{error:#}");
    }
    written
}

/// Waits until another client changes a tree that is mounted with `alone`. A thread that answers no requests informs the kernel.
fn heed_strangers(watch: &AloneWatch, distrust: &dyn Fn()) {
    let Some(directory) = watch.wait() else { return };
    distrust();
    tracing::warn!(
        "-o alone was wrong: another client changed {directory}; until it is mounted again, the caches age as without alone"
    );
}

/// Writes what is left, when the mount has ended.
fn write_all(flush: &dyn Fn() -> Vec<Unflushed>, layers: &Layers) -> Result<()> {
    // What a program closed while it was being killed may not have been written yet.
    let lost = flush();
    layers.settle();
    // Also of files that the kernel has forgotten.
    let written = layers.cached.flush_all().context("writing what was left to the server");
    let refused = layers.refused();
    for refused in &refused {
        tracing::error!("the server refused an earlier change: {refused}");
    }
    if let Some(first) = lost.first() {
        bail!(
            "data of {} could not be written to the server, the first with number {}: {}",
            counted(lost.len() as u64, "file", "files"),
            first.file,
            first.why
        );
    }
    written?;
    if let Some(first) = refused.first() {
        bail!(
            "the server refused {}, the first: {first}; howdah refused lists and saves them",
            counted(
                refused.len() as u64,
                "change that was answered earlier",
                "changes that were answered earlier"
            )
        );
    }
    Ok(())
}

/// Unmounts because a signal asked for it. What is in use is taken out of sight, as at the end of a session.
fn stop_mount(directory: &Path) {
    if unmount(directory, false).is_err()
        && let Err(error) = unmount(directory, true)
    {
        tracing::warn!(%error, "unmounting {}", directory.display());
    }
}

/// The directory that the URL names, which may lie below what the server mounts.
pub fn root(client: &dyn Remote, caller: &Caller) -> Result<Handle> {
    let mut handle = client.root();
    for part in client.below_root() {
        let name = Name::parse(part).map_err(|error| anyhow!("{error}"))?;
        let found = client
            .lookup(caller, &handle, name)
            .with_context(|| format!("finding {} on the server", Shown(part)))?;
        handle = found.node.handle;
    }
    let attributes = client.attributes(caller, &handle).context("looking at what the server exports")?;
    if attributes.kind != FileKind::Directory {
        bail!("the server exports that as a file, and only a directory can be mounted: name its directory");
    }
    Ok(handle)
}

/// Answers the questions of `howdah mounts` and `howdah umount` about this mount.
struct About {
    directory: String,
    source: String,
    since: i64,
    traffic: Box<dyn Fn() -> Traffic + Send + Sync>,
    flush: Box<dyn Fn() -> Vec<Unflushed> + Send + Sync>,
    open_files: Box<dyn Fn() -> usize + Send + Sync>,
    client: Arc<dyn Remote>,
    layers: Layers,
    last: Mutex<(Instant, Traffic)>,
}

impl About {
    fn new(
        mounted: &FuseMount,
        (client, layers): (&Arc<dyn Remote>, &Layers),
        settings: &MountSettings,
    ) -> Self {
        Self {
            directory: mounted.directory().display().to_string(),
            source: settings.source.clone(),
            since: jiff::Timestamp::now().as_second(),
            traffic: Box::new(mounted.traffic()),
            flush: Box::new(mounted.flush()),
            open_files: Box::new(mounted.open_files()),
            client: Arc::clone(client),
            layers: layers.clone(),
            last: Mutex::new((Instant::now(), Traffic::default())),
        }
    }
}

impl Answers for About {
    fn status(&self) -> MountStatus {
        let (now, traffic) = (Instant::now(), (self.traffic)());
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (then, before) = std::mem::replace(&mut *last, (now, traffic));
        let per_second = |bytes: u64| bytes as f64 / now.duration_since(then).as_secs_f64().max(1e-3);
        let channel = self.client.channel().report();
        let behind = self.layers.behind.as_ref().map(|behind| behind.report());
        let caches = self.layers.cached.report();
        let ratio =
            |hits: u64, misses: u64| (hits + misses > 0).then(|| hits as f64 / (hits + misses) as f64);
        let trip = channel.lanes.iter().filter_map(|lane| lane.round_trip).min();
        MountStatus {
            directory: self.directory.clone(),
            source: self.source.clone(),
            process: std::process::id(),
            since: self.since,
            open_files: (self.open_files)(),
            requests: traffic.requests,
            read: traffic.read,
            written: traffic.written,
            read_per_second: per_second(traffic.read - before.read),
            written_per_second: per_second(traffic.written - before.written),
            connections: channel.lanes.iter().filter(|lane| lane.local.is_some()).count(),
            round_trip: trip.map(|trip| trip.as_secs_f64()),
            calls_in_flight: channel.in_flight,
            calls_in_flight_max: channel.flight.target,
            dirty_bytes: caches.writing.held as u64,
            attribute_hit_ratio: ratio(caches.attributes.hits, caches.attributes.misses),
            read_hit_ratio: ratio(caches.reading.hits, caches.reading.misses),
            delegated_directories: caches.attributes.delegated_directories as u64,
            alone: self.layers.cached.alone().is_some(),
            alone_broken: self.layers.cached.alone().and_then(|watch| watch.broken()),
            disk_cache: self.layers.disk.as_ref().map(|disk| disk.status(caches.disk.as_ref())),
            silent_seconds: channel.silent.map(|silent| silent.as_secs()),
            behind: behind.map(BehindStatus::from),
            limits: channel.limits.iter().map(ToString::to_string).collect(),
        }
    }

    fn flush(&self) -> FlushAnswer {
        let failed = (self.flush)().into_iter().map(|file| (file.file, file.why));
        self.layers.settle();
        FlushAnswer { failed: failed.collect(), refused: self.layers.refused() }
    }
}
