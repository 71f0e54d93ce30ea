//! `kill-client`: SIGKILL of `howdah cp` at any moment, and the same command again. Whatever has its final name is whole all the
//! time; in the end the copy is equal to its source, nothing else is left, and what was copied once was not copied again.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Error, Result, bail, ensure};
use serde_json::Value;

use super::campaign::{Context, Progress, Verdict};
use super::server::Server;
use super::tree;
use howdah_random::Random;

/// Kills of the full form and of the short one.
const FULL: u64 = 200;
const QUICK: u64 = 16;
/// A copy is killed at most so often before it may end.
const MOST_KILLS: u64 = 5;
/// A copy that has not ended after this long hangs.
const STUCK: Duration = Duration::from_secs(60);
/// What a whole copy takes, to begin with.
const TYPICAL: Duration = Duration::from_millis(200);
const MORE: f64 = 1.03;
const LESS: f64 = 0.85;
/// What we kill with (signal(7)).
const SIGKILL: i32 = 9;
/// How often it is looked whether one has ended.
const LOOK: Duration = Duration::from_millis(5);

/// A way to copy.
struct Way {
    name: &'static str,
    flags: &'static [&'static str],
    /// Whether source and target are at the server.
    remote: (bool, bool),
    /// Whether the target is an older version of the source.
    replaces: bool,
}

/// All of them.
const WAYS: &[Way] = &[
    Way { name: "up", flags: &[], remote: (false, true), replaces: false },
    Way { name: "up, verified", flags: &["--verify"], remote: (false, true), replaces: false },
    Way { name: "down", flags: &[], remote: (true, false), replaces: false },
    Way {
        name: "down, verified",
        flags: &["--verify", "--sparse", "always"],
        remote: (true, false),
        replaces: false,
    },
    Way { name: "across", flags: &["--jobs", "3"], remote: (true, true), replaces: false },
    Way { name: "over an older one", flags: &[], remote: (false, true), replaces: true },
];

/// Where everything is.
struct Stage<'s> {
    binary: &'s Path,
    /// The tree, its older version, and a place at the server and one here.
    source: PathBuf,
    older: PathBuf,
    here: PathBuf,
    server: &'s Server,
}

/// What was seen.
#[derive(Default)]
struct Seen {
    kills: u64,
    copies: u64,
    /// Of the copies that were killed at least once.
    resumed: u64,
    bytes: u64,
    /// What a whole copy takes, roughly: a little more after each that was killed, less after each that was faster.
    typical: Duration,
}

/// Runs it.
pub fn run(context: &Context) -> Result<Verdict> {
    let (mut random, mut progress) = (Random::new(context.seed), Progress::begin());
    let server = Server::start(&context.binary, &context.directory)?;
    let stage = Stage::set(context, &server, &mut random)?;
    let (times, mut seen, mut verdict) =
        (context.times(FULL, QUICK), Seen { typical: TYPICAL, ..Seen::default() }, Verdict::default());
    for way in WAYS.iter().cycle() {
        if seen.kills >= times || !verdict.broken.is_empty() {
            break;
        }
        let kills = (1 + random.below(MOST_KILLS)).min(times - seen.kills);
        if let Err(wrong) = stage.copy(way, kills, &mut random, &mut seen) {
            verdict.broken.push(format!("{}, kill {}: {wrong:#}", way.name, seen.kills));
        }
        progress.tell(|| format!("{} of {times} kills, {} copies", seen.kills, seen.copies));
    }
    if seen.kills >= QUICK && seen.resumed == 0 {
        verdict.broken.push(format!("nothing of {} bytes was there after {} kills", seen.bytes, seen.kills));
    }
    verdict.figures = format!(
        "{} kills in {:.0} s; {} copies in {} ways, all equal to their sources, no half file under a final name; {} MB of {} MB were \
         there when their copy went on for the last time",
        seen.kills,
        progress.seconds(),
        seen.copies,
        WAYS.len(),
        seen.resumed >> 20,
        seen.bytes >> 20,
    );
    Ok(verdict)
}

impl<'s> Stage<'s> {
    fn set(context: &'s Context<'_>, server: &'s Server, random: &mut Random) -> Result<Self> {
        let stage = Self {
            binary: &context.binary,
            source: server.export().join("source"),
            older: context.directory.join("older"),
            here: context.directory.join("here"),
            server,
        };
        fs::create_dir(&stage.here).context("making a place for copies")?;
        tree::grow(&stage.source, random).context("growing the source")?;
        tree::grow(&stage.older, random).context("growing its older version")?;
        tree::age(&stage.older).context("making that one older")?;
        Ok(stage)
    }

    /// One copy, killed so often, and then not any more.
    fn copy(&self, way: &Way, kills: u64, random: &mut Random, seen: &mut Seen) -> Result<()> {
        let parent = if way.remote.1 { self.server.export() } else { &self.here };
        let target = parent.join("target");
        if target.exists() {
            fs::remove_dir_all(&target).context("removing the last copy")?;
        }
        if way.replaces {
            finish(self.command(way, &["--quiet"], &self.older).spawn().context("starting a copy")?)?;
        }
        let older = way.replaces.then_some(self.older.as_path());
        let before = seen.kills;
        for _ in 0..kills {
            let child = self.command(way, &["--quiet"], &self.source).spawn().context("starting a copy")?;
            std::thread::sleep(seen.typical.mul_f64(random.below(1000) as f64 / 1000.0));
            if !kill(child)? {
                seen.typical = seen.typical.mul_f64(LESS);
                break;
            }
            seen.typical = seen.typical.mul_f64(MORE);
            seen.kills += 1;
            // The server may still carry out what the copy called last.
            let check = || tree::check(&self.source, &target, older, false);
            self.server.while_stopped(check)?.map_err(Error::msg)?;
        }
        let output =
            finish(self.command(way, &["--json"], &self.source).spawn().context("starting a copy")?)?;
        let totals: Value =
            serde_json::from_slice(&output.stdout).context("reading what a copy says of itself")?;
        tree::check(&self.source, &target, None, true).map_err(Error::msg)?;
        seen.copies += 1;
        if seen.kills == before {
            return Ok(());
        }
        let figure =
            |name: &str| totals[name].as_u64().with_context(|| format!("a copy does not say its {name}"));
        let there = figure("resumed_bytes")? + figure("kept_bytes")?;
        seen.resumed += there;
        seen.bytes += there + figure("copied_bytes")?;
        Ok(())
    }

    fn command(&self, way: &Way, flags: &[&str], source: &Path) -> Command {
        let mut command = self.server.site().client_command(self.binary);
        command.args(["cp", "-rT"]).args(way.flags).args(flags);
        match way.remote.0 && source == self.source {
            true => command.arg(self.server.url("source", "")),
            false => command.arg(source),
        };
        match way.remote.1 {
            true => command.arg(self.server.url("target", "")),
            false => command.arg(self.here.join("target")),
        };
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// Kills a copy; whether that was its end, and not that it had copied all. What ends by itself in any other way is wrong.
fn kill(mut child: Child) -> Result<bool> {
    child.kill().context("killing a copy")?;
    let output = child.wait_with_output().context("waiting for a killed copy")?;
    if output.status.signal() == Some(SIGKILL) {
        return Ok(true);
    }
    went_well(&output)?;
    Ok(false)
}

/// Waits for a copy that nobody kills, and gives what it says of itself.
fn finish(mut child: Child) -> Result<Output> {
    let began = Instant::now();
    while child.try_wait().context("looking at a copy")?.is_none() {
        if began.elapsed() > STUCK {
            child.kill().context("killing a copy that hangs")?;
            bail!("the copy does not end: {STUCK:?}");
        }
        std::thread::sleep(LOOK);
    }
    let output = child.wait_with_output().context("waiting for a copy")?;
    went_well(&output)?;
    Ok(output)
}

fn went_well(output: &Output) -> Result<()> {
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the copy ended with {}: {}", output.status, errors.trim());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("a shell")
    }

    /// Leaves it for us to be waited for.
    fn ended(script: &str) -> Child {
        let mut child = start(script);
        let mut all = Vec::new();
        std::io::Read::read_to_end(child.stdout.as_mut().expect("piped"), &mut all).expect("its end");
        child.wait().expect("its code");
        child
    }

    #[test]
    fn only_our_signal_is_a_kill() {
        assert!(kill(start("exec sleep 600")).expect("killed"));
        assert!(!kill(ended("exit 0")).expect("done before"));
        let wrong = kill(ended("echo no room >&2; exit 1")).expect_err("it failed by itself").to_string();
        assert!(wrong.contains("no room"), "{wrong}");
    }
}
