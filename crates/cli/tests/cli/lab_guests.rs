//! `howdah lab run` with what nobody here wrote: the Linux kernel's client and server, netem, NFS-Ganesha. A cell each, and
//! nothing is left of them. What this machine lacks is said, and its test is skipped.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use howdah_lab::record::{Outcome, Row};
use howdah_needs::{Lack, skipped};

use crate::lab;

/// `limit` is for the machine on which it takes longest.
const HEAD: &str = r#"name = "guests"
title = "A cell with somebody else"
asks = "Whether it runs."
seed = 7
[cell]
limit = "120s"
path = { rtt = "2ms", rate = "100Mbit" }
"#;

/// What a cell says that cannot run here: `howdah_lab::guest::missing`.
const LACKING: &str = "not installed: ";

/// Runs a plan of one cell, and sees that nothing is left of it; none where it cannot run.
fn run(home: &Path, cell: &str) -> Option<Row> {
    let ran = lab::run(home, &format!("{HEAD}{cell}"), &[])?;
    let sandbox = sandbox_of(ran.process);
    assert!(!sandbox.exists(), "{} is left", sandbox.display());
    assert_eq!(processes_in(&sandbox), Vec::<String>::new());
    let rows = lab::rows(&ran.results);
    let row = rows.into_iter().next().unwrap_or_else(|| panic!("{:?}", ran.output));
    let Outcome::Failed(why) = &row.outcome else { return Some(row) };
    assert!(why.contains(LACKING), "{why}");
    skipped(Lack::Program, why);
    None
}

/// The directory of the sandbox of this process.
fn sandbox_of(process: u32) -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    env::temp_dir().join(format!("howdah-lab-{user}/{process}"))
}

/// Programs that were started with something of that directory.
fn processes_in(directory: &Path) -> Vec<String> {
    let path = format!("{}/", directory.display());
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let lines = processes.filter_map(|entry| fs::read_to_string(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.contains(&path)).collect()
}

fn commands(row: &Row) -> Vec<&str> {
    row.commands.iter().map(|command| command.name.as_str()).collect()
}

#[test]
fn the_linux_kernels_client_reads_a_file_of_ours() {
    let home = tempfile::tempdir().expect("a directory");
    let cell = "[cell.clients.main]\nkind = 'kernel'\nworkload = 'read'\noptions = ['--size', '2M']\n\
                mount = { nconnect = 2, read_ahead_kb = 1024 }\n";
    let Some(row) = run(home.path(), cell) else { return };
    assert_eq!(row.figures["bytes"].value, f64::from(2 << 20));
    assert!(row.figures["throughput"].value < row.line_rate_bytes_per_second.expect("a rate"));
    assert_eq!(commands(&row), ["server", "main guest", "mount", "read-ahead", "main"]);
    let mounted = fs::read_to_string(home.path().join("results/logs/001-1/main-guest-2.txt")).expect("a log");
    assert!(mounted.contains("nconnect=2") && mounted.contains("read-ahead: 1024 KB"), "{mounted}");
}

#[test]
fn our_client_writes_to_the_linux_kernels_server() {
    let home = tempfile::tempdir().expect("a directory");
    let cell = "[cell.server]\nkind = 'kernel'\n\
                [cell.clients.main]\nkind = 'howdah'\nworkload = 'write'\noptions = ['--size', '2M']\n";
    let Some(row) = run(home.path(), cell) else { return };
    assert_eq!(row.figures["bytes"].value, f64::from(2 << 20));
    assert!(row.figures.contains_key("server.processor"));
}

#[test]
fn our_client_writes_to_ganesha() {
    if !rustix::process::geteuid().is_root() {
        skipped(Lack::Root, "Ganesha opens files by their handles, which takes root");
        return;
    }
    let home = tempfile::tempdir().expect("a directory");
    let cell = "[cell.server]\nkind = 'ganesha'\n\
                [cell.clients.main]\nkind = 'howdah'\nworkload = 'write'\noptions = ['--size', '2M']\n";
    let Some(row) = run(home.path(), cell) else { return };
    assert_eq!(row.figures["bytes"].value, f64::from(2 << 20));
}

#[test]
fn netem_stands_in_for_the_wire() {
    let home = tempfile::tempdir().expect("a directory");
    let cell = "[cell.server]\nkind = 'none'\n\
                [cell.clients.main]\nkind = 'probe'\nworkload = 'delay'\noptions = ['--count', '5']\n\
                [cell.netem]\nwords = 'delay 40ms'\ninstead = true\n";
    let Some(row) = run(home.path(), cell) else { return };
    // Longer than the wire's 2 ms: they went through the guest. Never shorter than netem was set to.
    assert!(row.figures["p1"].value >= 0.040, "{:?}", row.figures);
    assert_eq!(commands(&row), ["netem", "main"]);
}
