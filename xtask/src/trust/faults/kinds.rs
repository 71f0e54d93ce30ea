//! The faults: how each begins and ends, and what is documented of it.

use std::fs::{self, File};
use std::io::Write;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::{Effect, Fault, Scene};
use crate::trust::disk::{Condition, run};

/// All of them.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "disk hangs",
        lasts: None,
        expected: "calls wait for the disk",
        effect: Effect::Wait,
        begin: |scene| {
            scene.disk.platter.set(Condition::Hanging);
            Ok(())
        },
        end: |scene| {
            scene.disk.platter.set(Condition::Well);
            Ok(())
        },
    },
    Fault {
        name: "file system frozen",
        lasts: None,
        expected: "calls wait until it thaws",
        effect: Effect::Wait,
        begin: |scene| run(Command::new("fsfreeze").arg("-f").arg(scene.disk.mounted())),
        end: |scene| run(Command::new("fsfreeze").arg("-u").arg(scene.disk.mounted())),
    },
    Fault {
        name: "disk full",
        lasts: None,
        expected: "NFS3ERR_NOSPC until there is room",
        effect: Effect::Refused(&["no space left on device"]),
        begin: fill,
        end: |scene| fs::remove_file(scene.disk.mounted().join(FILLER)).context("making room"),
    },
    Fault {
        name: "server stopped",
        lasts: None,
        expected: "calls wait for the server",
        effect: Effect::Wait,
        begin: |scene| signal(scene, "-STOP"),
        end: |scene| signal(scene, "-CONT"),
    },
    Fault {
        name: "out of descriptors",
        lasts: None,
        expected: "open files and connections go on, others wait",
        effect: Effect::NewcomersWait,
        begin: |scene| limit(scene, FEW_FILES),
        end: |scene| limit(scene, &most_files(scene)?),
    },
    Fault {
        name: "interface down",
        lasts: Some(FLAP),
        expected: "calls wait for the path",
        effect: Effect::Wait,
        begin: |_| run(Command::new("ip").args(["link", "set", "lo", "down"])),
        end: |_| run(Command::new("ip").args(["link", "set", "lo", "up"])),
    },
];

/// What takes all the room.
const FILLER: &str = "filler";
/// Fewer than a server has open that serves somebody.
const FEW_FILES: &str = "16";
/// An interface that flaps. After a longer time the connection itself waits for TCP's timer, which doubles.
const FLAP: Duration = Duration::from_secs(3);

fn fill(scene: &Scene) -> Result<()> {
    let mut filler = File::create(scene.disk.mounted().join(FILLER)).context("making a file")?;
    let zeros = vec![0; 64 << 10];
    // Until it is refused.
    while filler.write_all(&zeros).is_ok() {}
    // And the last blocks.
    while filler.write_all(&zeros[..512]).is_ok() {}
    Ok(())
}

fn signal(scene: &Scene, signal: &str) -> Result<()> {
    run(Command::new("kill").arg(signal).arg(process(scene)?))
}

/// What it may have at most.
fn most_files(scene: &Scene) -> Result<String> {
    let path = format!("/proc/{}/limits", process(scene)?);
    let text = fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"));
    let most = line.and_then(|line| line.split_whitespace().nth(1)).context("no limit of open files")?;
    Ok(most.to_owned())
}

fn limit(scene: &Scene, files: &str) -> Result<()> {
    run(Command::new("prlimit").arg(format!("--nofile={files}:")).arg("--pid").arg(process(scene)?))
}

fn process(scene: &Scene) -> Result<String> {
    Ok(scene.server.process().context("the server was killed")?.to_string())
}
