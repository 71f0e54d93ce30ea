//! `kill-mount`: SIGKILL at any moment of the process that keeps a mount, and of its server, and a path between them that is cut. What fsync
//! succeeded for is on the server's disk; the next `howdah mount` replaces what the killed process left; a server that is away is waited for,
//! by who does not give up.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use nix::sched::{CloneFlags, unshare};

use super::blocks::{BLOCK, Blocks, Interrupted, Way};
use super::campaign::{Context, Progress, Verdict};
use super::crew::Crew;
use super::disk::lacking;
use super::impatient::interruptible;
use super::path::FarPath;
use super::server::{Offer, Server};
use super::tally::{STUCK, Tally};
use howdah_random::Random;

/// Faults of the full form and of the short one.
const FULL: u64 = 300;
const QUICK: u64 = 12;
/// Programs, each with a file of its own.
const PROGRAMS: u64 = 3;
/// A fault comes after so long at most.
const MOST_LATER: Duration = Duration::from_millis(400);
/// A mount that is not there after this long will not be.
const MOUNTING: Duration = Duration::from_secs(20);
/// What becomes of the mount's process, the server and the path.
const KINDS: [&str; 3] = ["of the mount", "of the server", "of the path"];
const MOUNT: usize = 0;
const SERVER: usize = 1;
/// The size of a file that is copied there.
const SMALL: usize = 256 << 10;
/// How often it is looked whether it is: that is no event.
const LOOK: Duration = Duration::from_millis(5);

/// Runs it.
pub fn run(context: &Context) -> Result<Verdict> {
    if let Some(why) = lacking() {
        return Ok(Verdict::skipped(why));
    }
    let mut random = Random::new(context.seed);
    let path = FarPath::lay(context)?;
    let offer = Offer { site: path.far(), ..Offer::below(&context.directory) };
    let mut server = Server::start_with(&context.binary, offer)?;
    let crew = Crew::settle(server.export(), 0, false)?;
    let files =
        (0..PROGRAMS).map(|number| Blocks::make(server.export().join(name(number)), number).map(Arc::new));
    let files = files.collect::<std::io::Result<Vec<_>>>().context("making files")?;
    let mut mount = Mount::start(context, &path, &server)?;
    employ(&crew, &mount, &files, context.seed);
    let (times, mut progress, mut tally) = (context.times(FULL, QUICK), Progress::begin(), Tally::of(&KINDS));
    for fault in 1..=times {
        thread::sleep(MOST_LATER.mul_f64(random.fraction()));
        let kind = tally.next(&mut random);
        match kind {
            MOUNT => mount.kill()?,
            SERVER => server.kill()?,
            _ => path.cut()?,
        }
        tally.verify(&crew, &server, &files, fault)?;
        if let Some(wrong) = tally.impatient.run(mount.using(&mut random))? {
            crew.report(format!("at fault {fault}, {}: {wrong}", KINDS[kind]));
        }
        match kind {
            MOUNT => mount.start_again(context, &path, &server)?,
            SERVER => {
                server.start_again()?;
                server.wait()?;
            }
            _ => {
                thread::sleep(path.outage(context, &mut random));
                path.mend()?;
            }
        }
        tally.wait_for_service(&crew, kind);
        if !crew.broken().is_empty() {
            break;
        }
        progress.tell(|| format!("{fault} of {times} faults, {} times made durable", crew.steps()));
    }
    crew.dismiss(STUCK);
    tally.verify(&crew, &server, &files, times)?;
    Ok(tally.verdict(&crew, &progress))
}

/// Gives each file to a program of its own.
fn employ(crew: &Arc<Crew>, mount: &Mount, files: &[Arc<Blocks>], seed: u64) {
    for (file, number) in files.iter().zip(0..) {
        let (its, random) = (Arc::clone(file), Random::apart(seed, number + 1));
        let way = Program { path: mount.at.join(name(number)), file: None };
        crew.start(name(number), move |crew| {
            // A server that we start must not inherit the files: it would close them before it begins, which waits for that server.
            unshare(CloneFlags::CLONE_FILES)
                .map_err(|error| format!("file descriptors of its own: {error}"))?;
            its.work(crew, way, random)
        });
    }
}

fn name(number: u64) -> String {
    format!("file-{number}")
}

/// A mount, and the process that keeps it.
struct Mount {
    at: PathBuf,
    child: Option<Child>,
}

impl Mount {
    fn start(context: &Context, path: &FarPath, server: &Server) -> Result<Self> {
        let at = context.directory.join("mnt");
        std::fs::create_dir(&at).context("a directory to mount at")?;
        std::fs::write(small(&at), [7; SMALL]).context("a file to copy")?;
        let mut mount = Self { at, child: None };
        mount.start_again(context, path, server)?;
        Ok(mount)
    }

    /// Mounts, in the place of what a killed process left.
    fn start_again(&mut self, context: &Context, path: &FarPath, server: &Server) -> Result<()> {
        let mut command = path.near_command();
        command.arg(&context.binary).args(["mount", "--foreground", &server.url("", "")]).arg(&self.at);
        command.arg("--state").arg(context.directory.join("mounts"));
        let log = File::options().create(true).append(true).open(context.directory.join("mount.txt"));
        let log = log.context("opening the log of the mount")?;
        command.stdout(log.try_clone().context("a log for both outputs")?).stderr(log);
        let mut child = command.spawn().context("mounting")?;
        let give_up = Instant::now() + MOUNTING;
        while !is_there(&self.at) {
            let ended = child.try_wait().context("looking at the mount")?;
            ensure!(ended.is_none(), "howdah mount ended by itself; see mount.txt");
            ensure!(Instant::now() < give_up, "nothing is mounted after {MOUNTING:?}");
            thread::sleep(LOOK);
        }
        self.child = Some(child);
        Ok(())
    }

    /// Somebody uses what is mounted: writes, reads, makes, syncs, lists.
    fn using(&self, random: &mut Random) -> Command {
        let mut command = interruptible(Command::new("env"));
        let of = |name: &str| self.at.join(name);
        match random.below(5) {
            0 => command.arg("cp").arg(small(&self.at)).arg(of("copied")),
            1 => command.arg("cat").arg(of(&name(0))),
            2 => command.arg("touch").arg(of("touched")),
            3 => command.arg("sync").arg(of(&name(0))),
            _ => command.args(["ls", "-l"]).arg(&self.at),
        };
        command
    }

    fn kill(&mut self) -> Result<()> {
        let mut child = self.child.take().context("a mount")?;
        child.kill().context("killing the mount")?;
        child.wait().context("waiting for the killed mount")?;
        Ok(())
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // If it has ended already there is nothing to end.
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = rustix::mount::unmount(&self.at, rustix::mount::UnmountFlags::DETACH);
    }
}

/// A file beside the directory at which is mounted.
fn small(at: &Path) -> PathBuf {
    at.with_file_name("small")
}

fn is_there(at: &Path) -> bool {
    at.join(name(0)).try_exists().is_ok_and(|exists| exists)
}

/// A program that opens its file again when that was taken from it.
struct Program {
    path: PathBuf,
    file: Option<File>,
}

impl Program {
    fn with_file<T>(&mut self, run: impl FnOnce(&File) -> std::io::Result<T>) -> Result<T, Interrupted> {
        if self.file.is_none() {
            self.file = OpenOptions::new().read(true).write(true).open(&self.path).ok();
        }
        let outcome = self.file.as_ref().map(run);
        outcome.and_then(Result::ok).ok_or_else(|| {
            self.file = None;
            thread::sleep(LOOK);
            Interrupted
        })
    }
}

impl Way for Program {
    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Interrupted> {
        self.with_file(|file| file.write_all_at(bytes, at))
    }

    fn sync(&mut self) -> Result<bool, Interrupted> {
        self.with_file(|file| file.sync_all().map(|()| true))
    }

    fn read(&mut self, at: u64) -> Result<Vec<u8>, Interrupted> {
        self.with_file(|file| {
            let mut bytes = vec![0; BLOCK];
            let mut done = 0;
            while done < BLOCK {
                match file.read_at(&mut bytes[done..], at + done as u64)? {
                    0 => break,
                    count => done += count,
                }
            }
            bytes.truncate(done);
            Ok(bytes)
        })
    }
}
