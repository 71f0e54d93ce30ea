//! Faults of the server's process: what it may have, and whether it runs.

use std::process::Command;

use anyhow::{Context as _, Result};

use super::crowd::{come, stranger_is_served, stranger_is_served_once};
use super::fault::{Effect, Fault};
use super::scene::Scene;
use crate::trust::disk::run;

/// All of them.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "server stopped",
        expected: "calls wait for the server",
        needs: None,
        effect: Effect::Wait,
        begin: |scene, _| signal(scene, "-STOP"),
        end: |scene| signal(scene, "-CONT"),
    },
    Fault {
        name: "out of descriptors",
        expected: "open files and connections go on, others wait",
        needs: None,
        effect: Effect::NewcomersWait(Scene::url),
        begin: |scene, _| limit(scene, FEW_FILES),
        end: |scene| limit(scene, &most_files(scene)?),
    },
    Fault {
        name: "memory budget used up",
        expected: "who takes its replies goes on, so does the first connection of a new client; no others are let in",
        needs: None,
        effect: Effect::GoesOn(stranger_is_served),
        begin: |scene, _| {
            come(scene)?;
            // It looks at its connections once in a while.
            scene.wait_until_said(NO_MEMORY)?;
            // Now: those that take next to nothing are cut in the end, and then there is memory again.
            stranger_is_served_once(scene)
        },
        end: |scene| {
            scene.held().crowd.clear();
            Ok(())
        },
    },
];

/// What it says when no more connections are let in but the first of each client.
const NO_MEMORY: &str = "memory of connections: a quarter over the budget";
/// Fewer than a server has open that serves somebody.
const FEW_FILES: &str = "16";

/// Sends the server a signal.
pub fn signal(scene: &Scene, signal: &str) -> Result<()> {
    run(Command::new("kill").arg(signal).arg(scene.process()?))
}

/// What it may have at most.
fn most_files(scene: &Scene) -> Result<String> {
    let path = format!("/proc/{}/limits", scene.process()?);
    let text = std::fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"));
    let most = line.and_then(|line| line.split_whitespace().nth(1)).context("no limit of open files")?;
    Ok(most.to_owned())
}

fn limit(scene: &Scene, files: &str) -> Result<()> {
    run(Command::new("prlimit").arg(format!("--nofile={files}:")).arg("--pid").arg(scene.process()?))
}
