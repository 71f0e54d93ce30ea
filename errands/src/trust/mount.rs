//! A mount of the campaigns, by a process that may be killed.

use std::fs::File;
use std::path::PathBuf;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::campaign::Context;
use super::path::FarPath;
use super::server::Server;

/// A mount that is not there after this long will not be.
const MOUNTING: Duration = Duration::from_secs(20);
/// How often it is looked whether it is: that is no event.
const LOOK: Duration = Duration::from_millis(5);

/// A mount, and the process that keeps it.
pub struct Mount {
    pub at: PathBuf,
    /// Options of the command.
    options: Vec<String>,
    /// A name that the server exports, by which a mount is known to be there.
    witness: String,
    child: Option<Child>,
}

impl Mount {
    /// Mounts with these options of the command what a server exports, where there is a name that shows it.
    pub fn start(
        context: &Context,
        (path, server): (&FarPath, &Server),
        options: Vec<String>,
        witness: String,
    ) -> Result<Self> {
        let at = context.directory.join("mnt");
        std::fs::create_dir(&at).context("a directory to mount at")?;
        let mut mount = Self { at, options, witness, child: None };
        mount.start_again(context, path, server)?;
        Ok(mount)
    }

    /// Mounts, in the place of what a killed process left.
    pub fn start_again(&mut self, context: &Context, path: &FarPath, server: &Server) -> Result<()> {
        let mut command = path.near_command();
        command.arg(&context.binary).args(["mount", "--foreground", &server.url("", "")]).arg(&self.at);
        command.arg("--state").arg(context.directory.join("mounts")).args(&self.options);
        let log = File::options().create(true).append(true).open(context.directory.join("mount.txt"));
        let log = log.context("opening the log of the mount")?;
        command.stdout(log.try_clone().context("a log for both outputs")?).stderr(log);
        let mut child = command.spawn().context("mounting")?;
        let give_up = Instant::now() + MOUNTING;
        while !self.is_there() {
            let ended = child.try_wait().context("looking at the mount")?;
            ensure!(ended.is_none(), "howdah mount ended by itself; see mount.txt");
            ensure!(Instant::now() < give_up, "nothing is mounted after {MOUNTING:?}");
            thread::sleep(LOOK);
        }
        self.child = Some(child);
        Ok(())
    }

    /// Whether it shows the name. A killed mount may still say that one exists, from the kernel's memory, but it lists nothing.
    fn is_there(&self) -> bool {
        let mut names = std::fs::read_dir(&self.at).into_iter().flatten();
        names.any(|entry| entry.is_ok_and(|entry| entry.file_name() == *self.witness))
    }

    /// What its process is doing, for messages: whether it has ended, and the end of its log.
    pub fn about(&mut self, context: &Context) -> String {
        let ended = self.child.as_mut().map(|child| child.try_wait());
        let log = std::fs::read_to_string(context.directory.join("mount.txt")).unwrap_or_default();
        let last: Vec<_> = log.lines().rev().take(5).collect();
        format!("the mount's process ended: {ended:?}; its log, from the end: {last:?}")
    }

    /// Kills its process.
    pub fn kill(&mut self) -> Result<()> {
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
