//! `howdah doctor` on paths of the laboratory with one fault planted in each: it names the layer of that fault first, and on a
//! path without one nothing. Where no sandbox can be made, it says so and is skipped.
#![allow(clippy::print_stdout)] // A test that is skipped says why.

#[allow(dead_code, reason = "shared with other tests")]
#[path = "running/lab.rs"]
mod lab;

use std::fs;
use std::path::Path;
use std::process::Command;

use lab::{HOWDAH, end_of, is_no_sandbox};
use serde_json::Value;

/// A path without faults, on which everything here takes some ten seconds.
const PATH: [&str; 6] = ["--rtt", "10ms", "--rate", "50Mbit", "--queue", "4bdp"];
/// Bytes of the one file that is served.
const SIZE: usize = 4 << 20;

/// What is planted.
#[derive(Default)]
struct Planted<'a> {
    /// Flags of `howdah lab shell`, beside those of [`PATH`].
    path: &'a [&'a str],
    /// Done on the client first, in the words of a shell.
    client: &'a str,
    /// Flags of `howdah serve`.
    server: &'a str,
    /// Done on the server beside it.
    beside: &'a str,
    /// What follows the URL: its options, and flags of `howdah doctor`.
    doctor: &'a str,
}

/// The server runs until its sandbox goes; it is ready when it says how to stop it.
const SCRIPT: &str = r#"
mkfifo "$HOME/said"
ip netns exec server "$HOWDAH" serve --listen 0.0.0.0:2049 --admin off --rpcbind off --state "$HOME/state" --squash none SERVER "$HOME/data" > "$HOME/said" 2> "$HOME/log" &
exec 3< "$HOME/said"
while read -r line <&3; do case "$line" in Stop:*) break;; esac; done
[ -n "$line" ] || exit 9
BESIDE
CLIENT
exec "$HOWDAH" doctor --json nfs://10.77.0.1/DOCTOR
"#;

/// What the doctor says, and its exit code. `None`: there can be no sandbox here.
fn doctor(home: &Path, planted: &Planted<'_>) -> Option<(Value, Option<i32>)> {
    let data = home.join("data");
    fs::create_dir_all(&data).expect("made");
    fs::write(data.join("file"), vec![7; SIZE]).expect("written");
    let script = SCRIPT
        .replace("SERVER", planted.server)
        .replace("BESIDE", planted.beside)
        .replace("CLIENT", planted.client)
        .replace("DOCTOR", planted.doctor);
    let mut command = Command::new(HOWDAH);
    command.args(["lab", "shell", "-q"]).args(PATH).args(planted.path).args(["--", "sh", "-c", &script]);
    let (_, output) = end_of(command.env("HOME", home).env("HOWDAH", HOWDAH));
    let errors = String::from_utf8_lossy(&output.stderr);
    if output.stdout.is_empty() && is_no_sandbox(&errors, &home.join("state")) {
        return None;
    }
    let log = fs::read_to_string(home.join("log")).unwrap_or_default();
    let told = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}\n{errors}\n{log}", String::from_utf8_lossy(&output.stdout))
    });
    Some((told, output.status.code()))
}

/// That layer is named first, with these words.
fn names(planted: &Planted<'_>, layer: &str, says: &str) {
    let home = tempfile::tempdir().expect("a directory");
    let Some((told, code)) = doctor(home.path(), planted) else { return };
    assert_eq!(told["limiting"], layer, "{told:#}");
    assert!(told["says"].as_str().is_some_and(|said| said.contains(says)), "{told:#}");
    assert_eq!(code, Some(1), "{told:#}");
}

/// There is nothing to do, and nothing is left.
fn is_healthy(planted: &Planted<'_>) -> Option<Value> {
    let home = tempfile::tempdir().expect("a directory");
    let (told, code) = doctor(home.path(), planted)?;
    assert_eq!((&told["limiting"], code), (&Value::Null, Some(0)), "{told:#}");
    assert_eq!(told["remedies"].as_array().map(Vec::len), Some(0), "{told:#}");
    let left: Vec<_> = fs::read_dir(home.path().join("data")).expect("listed").flatten().collect();
    assert!(left.len() == 1 && left[0].file_name() == "file", "{left:?}");
    Some(told)
}

#[test]
fn nothing_is_wrong_with_a_healthy_path() {
    let Some(told) = is_healthy(&Planted::default()) else { return };
    let path = &told["facts"]["path"];
    let round_trip = path["round_trip"].as_f64().expect("measured");
    assert!((0.0095..0.05).contains(&round_trip), "{path:#}");
    assert_eq!(path["mtu"]["passes"], 1500, "{path:#}");
    assert!(told["facts"]["nfs"]["reads"]["bytes_per_second"].is_number(), "{told:#}");
}

#[test]
fn what_is_written_when_allowed_is_removed() {
    let Some(told) = is_healthy(&Planted { doctor: " --write", ..Planted::default() }) else { return };
    assert!(told["facts"]["nfs"]["writes"]["bytes_per_second"].as_f64() > Some(0.0), "{told:#}");
}

/// A doctor that listens on the server; its last line says how to stop it.
const LISTENING: &str = r#"
mkfifo "$HOME/listens"
ip netns exec server "$HOWDAH" doctor --listen > "$HOME/listens" &
exec 4< "$HOME/listens"
while read -r line <&4; do case "$line" in Stop:*) break;; esac; done
[ -n "$line" ] || exit 9
"#;

#[test]
fn with_a_doctor_at_the_other_end_both_ways_are_measured() {
    let Some(told) = is_healthy(&Planted { beside: LISTENING, ..Planted::default() }) else { return };
    let (path, other) = (&told["facts"]["path"], &told["facts"]["other_host"]);
    assert_eq!((&path["train"]["by"], &path["train"]["arrived"]), (&"udp".into(), &1000.into()), "{path:#}");
    assert!(path["back"]["bytes_per_second"].as_f64() > Some(0.0), "{path:#}");
    assert!(other["tcp_send"].is_array(), "{other:#}");
}

#[test]
fn with_a_doctor_at_the_other_end_the_way_of_a_fault_is_told() {
    let path = ["--back", "mtu={size=1400, too_large=\"dropped\"}"];
    let planted = Planted { path: &path, beside: LISTENING, ..Planted::default() };
    names(&planted, "path", "vanish on the way back");
}

#[test]
fn small_buffers_are_the_hosts() {
    let small = "echo 4096 16384 32768 > /proc/sys/net/ipv4/tcp_wmem";
    names(&Planted { client: small, ..Planted::default() }, "host", "net.ipv4.tcp_wmem");
}

#[test]
fn a_black_hole_is_the_paths() {
    let path = ["--there", "mtu={size=1400, too_large=\"dropped\"}"];
    names(&Planted { path: &path, ..Planted::default() }, "path", "more than 1400 bytes vanish");
}

#[test]
fn half_of_the_rate_is_the_paths() {
    names(
        &Planted { doctor: " --expect 100Mbit", ..Planted::default() },
        "path",
        "of the 12.5 MB/s expected",
    );
}

#[test]
fn loss_is_the_paths() {
    names(&Planted { path: &["--loss", "1%"], ..Planted::default() }, "path", "small packets are lost");
}

#[test]
fn slow_storage_is_the_storages() {
    names(&Planted { server: "--delay 100ms", ..Planted::default() }, "storage", "beyond the network");
}

#[test]
fn small_transfers_are_of_nfs() {
    names(&Planted { doctor: "?rsize=65536", ..Planted::default() }, "nfs", "64 KiB go into one call");
}

#[test]
fn one_slot_is_of_nfs() {
    let one = Planted { server: "--delay 10ms --workers 1", ..Planted::default() };
    names(&one, "nfs", "one call at a time");
}
