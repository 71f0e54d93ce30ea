//! `howdah mount` on the client's host, and what programs do there: what [`super::mounted`] knows.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use super::contract::{Client, spec, url};
use super::mounted::MountWork;
use super::on_mount::RanOnMount;
use super::{bench, file};
use crate::guest::missing;
use crate::plan::{Cell, ServerKind};
use crate::record::CommandRecord;
use crate::run::{Measured, Place, Running, Scene};

/// What it says when the mount is there.
const READY: &str = " is mounted on ";

/// A mount by FUSE.
pub struct MountedByFuse {
    /// Its name in the plan.
    pub name: String,
    mounted: Option<Running>,
}

impl MountedByFuse {
    /// One that is not mounted.
    pub fn new(name: String) -> Self {
        Self { name, mounted: None }
    }

    fn directory(&self, place: &Place) -> PathBuf {
        place.temporary.join(format!("mount-{}", self.name))
    }

    /// Where it notes what the path holds: nowhere that other cells do.
    fn runtime(&self, place: &Place) -> PathBuf {
        place.temporary.join(format!("runtime-{}", self.name))
    }

    fn mount(&self, cell: &Cell, place: &Place) -> Result<Vec<String>> {
        let runtime = self.runtime(place).display().to_string();
        let words = [format!("XDG_RUNTIME_DIR={runtime}"), place.howdah()];
        let mut command = vec!["env".to_owned()];
        command.extend(words);
        command.extend(["mount", "--foreground", "--state", &runtime].map(str::to_owned));
        let options: Vec<String> = spec(cell, &self.name)?.further_mount_options().collect();
        if !options.is_empty() {
            command.extend(["-o".to_owned(), options.join(",")]);
        }
        command.extend([url(cell, place, &self.name)?, self.directory(place).display().to_string()]);
        Ok(command)
    }

    fn record(&self, cell: &Cell, name: &str, command: Vec<String>) -> Result<CommandRecord> {
        Ok(CommandRecord { host: spec(cell, &self.name)?.host.clone(), name: name.to_owned(), command })
    }
}

impl Client for MountedByFuse {
    fn commands(&self, cell: &Cell, place: &Place) -> Result<Vec<CommandRecord>> {
        let work = MountWork::of(cell, place, &self.name)?;
        ensure!(
            cell.spec.server.kind != ServerKind::Kernel,
            "kind = \"mount\": files to read cannot be put into that server's guest"
        );
        let directory = self.directory(place).display().to_string();
        let mut commands = vec![self.record(cell, "mount", self.mount(cell, place)?)?];
        if let Some(warm_up) = work.warm_up(cell, &self.name)? {
            commands.push(self.record(cell, "warm-up", warm_up.command(&directory))?);
        }
        commands.push(match work.command(&directory) {
            Some(command) => self.record(cell, &self.name, command)?,
            None => bench::command(cell, place, &self.name, &spec(cell, &self.name)?.host, &directory)?,
        });
        let safe = work.safe_command(&directory).map(|command| self.record(cell, "safe", command));
        commands.extend(safe.transpose()?);
        Ok(commands)
    }

    fn prepare(&mut self, scene: &Scene<'_>) -> Result<()> {
        let (cell, place) = (scene.cell, scene.place);
        let work = MountWork::of(cell, place, &self.name)?;
        if let Some(missing) = missing(work.needed()) {
            bail!("{missing}");
        }
        let warm_up = work.warm_up(cell, &self.name)?;
        for streaming in work.files_to_read(warm_up.as_ref()) {
            file::fill(&place.export.join(&streaming.file), streaming.bytes).context("the file to read")?;
        }
        if let Some(completed) = work.grow(cell, place).context("the tree")? {
            scene.run(&completed.host, &completed.name, &completed.command)?;
        }
        for directory in [self.directory(place), self.runtime(place)] {
            fs::create_dir_all(&directory).with_context(|| format!("making {}", directory.display()))?;
        }
        let host = spec(cell, &self.name)?.host.clone();
        let command = self.mount(cell, place)?;
        self.mounted = Some(scene.start_until(&host, "mount", &command, READY).context("mounting")?);
        if let Some(warm_up) = warm_up {
            let command = warm_up.command(&self.directory(place).display().to_string());
            scene.run(&host, "warm-up", &command)?;
        }
        Ok(())
    }

    fn work(&mut self, scene: &Scene<'_>) -> Result<Measured> {
        let (cell, place) = (scene.cell, scene.place);
        let host = &spec(cell, &self.name)?.host;
        let directory = self.directory(place).display().to_string();
        let run = |command: &[String]| {
            let began = Instant::now();
            let ran = scene.run(host, &self.name, command)?;
            Ok(RanOnMount { output: ran.output, seconds: began.elapsed().as_secs_f64(), clock: 1.0 })
        };
        let work = MountWork::of(cell, place, &self.name)?;
        let measured = match work {
            MountWork::Bench => {
                let command = bench::command(cell, place, &self.name, host, &directory)?;
                run(&command.command).and_then(|_| bench::measured(place, &self.name))
            }
            _ => work.measure(&directory, run),
        };
        if let Some(mounted) = &mut self.mounted {
            mounted.check().context("the mount")?;
        }
        let measured = measured?;
        if let Some(check) = work.check(cell, place) {
            scene.run(&check.host, &check.name, &check.command)?;
        }
        Ok(measured)
    }
}
