//! Guests on processors with AMX: their kernel, which does not know those registers, is started with a library that does.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::step::{Context, Report};

const SOURCE: &str = include_str!("guest_registers.c");
const KERNEL: &str = "/usr/bin/linux.uml";
const LIBRARY: &str = "/usr/local/lib/howdah-guest-registers.so";
/// Found before the kernel, by every step.
const STARTER: &str = "/usr/local/bin/linux.uml";

/// Prepares this machine's guest kernel, where that is necessary.
pub fn prepare(context: &Context) -> Report {
    if !is_needed() || Path::new(STARTER).exists() || !Path::new(KERNEL).exists() {
        return Report::default();
    }
    match prepare_in(&context.workspace.target) {
        Ok(()) => Report::passed(format!("made {STARTER} for a processor with AMX")),
        Err(error) => Report::failed(format!("guests do not start on a processor with AMX: {error:#}")),
    }
}

/// What has such a kernel loaded into it, as the shell takes it. Empty where that is not necessary.
pub fn preload() -> String {
    if is_needed() { format!("LD_PRELOAD={LIBRARY} ") } else { String::new() }
}

fn is_needed() -> bool {
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    processor.split_whitespace().any(|flag| flag == "amx_tile")
}

fn prepare_in(target: &Path) -> Result<()> {
    let source = target.join("guest_registers.c");
    fs::write(&source, SOURCE).with_context(|| format!("writing {}", source.display()))?;
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-shared", "-fPIC", "-o"]).arg(LIBRARY).arg(&source);
    ensure!(compiler.status().context("starting cc")?.success(), "cc failed");
    fs::write(STARTER, format!("#!/bin/sh\nexec env {}{KERNEL} \"$@\"\n", preload()))
        .with_context(|| format!("writing {STARTER}"))?;
    fs::set_permissions(STARTER, fs::Permissions::from_mode(0o755)).context("making it executable")
}
