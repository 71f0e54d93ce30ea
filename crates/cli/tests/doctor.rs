//! `howdah doctor` on paths of the laboratory with one fault planted in each: it names the layer of that fault first, and on a
//! path without one nothing. Where no sandbox can be made, it says so and is skipped.
#![allow(clippy::print_stdout, reason = "a table of what was found, for a person")]

#[allow(dead_code, reason = "shared with other tests")]
#[path = "running/lab.rs"]
mod lab;

use std::fs;
use std::path::Path;
use std::process::Command;

use howdah_lab::guest::Ganesha;
use howdah_needs::{Lack, skipped};
use lab::{HOWDAH, end_of, is_no_sandbox};
use serde_json::Value;
use tempfile::TempDir;

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
    /// The server, where it is another than ours: what starts it and waits until it serves.
    other_server: Option<&'a str>,
    /// What runs the doctor as somebody else.
    as_whom: &'a str,
}

/// The server runs until its sandbox goes; it is ready when it says how to stop it.
const SERVER: &str = r#"
mkfifo "$HOME/said"
ip netns exec server "$HOWDAH" serve --listen 0.0.0.0:2049 --admin off --rpcbind off --state "$HOME/state" --squash none SERVER "$HOME/data" > "$HOME/said" 2> "$HOME/log" &
exec 3< "$HOME/said"
while read -r line <&3; do case "$line" in Stop:*) break;; esac; done
[ -n "$line" ] || exit 9
"#;

/// What is planted, and the doctor.
const SCRIPT: &str = r#"
BESIDE
CLIENT
exec AS "$HOWDAH" doctor --json nfs://10.77.0.1/DOCTOR
"#;

/// What the doctor says, and its exit code. `None`: there can be no sandbox here.
fn doctor(home: &Path, planted: &Planted<'_>) -> Option<(Value, Option<i32>)> {
    let data = home.join("data");
    fs::create_dir_all(&data).expect("made");
    fs::write(data.join("file"), vec![7; SIZE]).expect("written");
    let server = planted.other_server.map_or_else(|| SERVER.replace("SERVER", planted.server), str::to_owned);
    let script = (server + SCRIPT)
        .replace("AS ", planted.as_whom)
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
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}\n{errors}\n{log}", String::from_utf8_lossy(&output.stdout))
    });
    Some((report, output.status.code()))
}

/// How often what it says may be something else: what it measures on a machine that others use, too, may be their doing.
const TRIES: usize = 3;

/// What it says once that is what is looked for, or at last.
fn doctor_until(
    planted: &Planted<'_>,
    is_wanted: impl Fn(&Value, Option<i32>) -> bool,
) -> Option<(Value, Option<i32>, TempDir)> {
    for left in (0..TRIES).rev() {
        let home = tempfile::tempdir().expect("a directory");
        let (report, code) = doctor(home.path(), planted)?;
        if is_wanted(&report, code) || left == 0 {
            return Some((report, code, home));
        }
        println!("once more, since it said: {}", report["says"]);
    }
    None
}

/// That layer is named first, with these words. `cargo test -p howdah --test doctor -- --nocapture` prints a table of all of them.
fn names(cause: &str, planted: &Planted<'_>, layer: &str, says: &str) -> Option<Value> {
    let is_named = |report: &Value| report["says"].as_str().is_some_and(|said| said.contains(says));
    let (report, code, _home) =
        doctor_until(planted, |report, _| report["limiting"] == layer && is_named(report))?;
    println!(
        "| {cause} | {} | {} |",
        report["limiting"].as_str().unwrap_or("nothing"),
        report["says"].as_str().unwrap_or_default()
    );
    assert_eq!(report["limiting"], layer, "{report:#}");
    assert!(is_named(&report), "{report:#}");
    assert_eq!(code, Some(1), "{report:#}");
    Some(report)
}

/// There is nothing to do, and nothing is left.
fn is_healthy(cause: &str, planted: &Planted<'_>) -> Option<Value> {
    let (report, code, home) =
        doctor_until(planted, |report, code| report["limiting"].is_null() && code == Some(0))?;
    println!("| {cause} | {} | |", report["limiting"].as_str().unwrap_or("nothing"));
    assert_eq!((&report["limiting"], code), (&Value::Null, Some(0)), "{report:#}");
    assert_eq!(report["remedies"].as_array().map(Vec::len), Some(0), "{report:#}");
    let left: Vec<_> = fs::read_dir(home.path().join("data")).expect("listed").flatten().collect();
    assert!(left.len() == 1 && left[0].file_name() == "file", "{left:?}");
    Some(report)
}

#[test]
fn nothing_is_wrong_with_a_healthy_path() {
    let Some(report) = is_healthy("nothing", &Planted::default()) else { return };
    let path = &report["facts"]["path"];
    let round_trip = path["round_trip"].as_f64().expect("measured");
    assert!((0.0095..0.5).contains(&round_trip), "{path:#}");
    assert_eq!((&path["mtu"]["passes"], &path["measured_twice"]), (&1500.into(), &false.into()), "{path:#}");
    assert!(report["facts"]["nfs"]["reads"]["bytes_per_second"].is_number(), "{report:#}");
}

#[test]
fn what_is_written_when_allowed_is_removed() {
    let Some(report) =
        is_healthy("nothing, with --write", &Planted { doctor: " --write", ..Planted::default() })
    else {
        return;
    };
    assert!(report["facts"]["nfs"]["writes"]["bytes_per_second"].as_f64() > Some(0.0), "{report:#}");
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
    let Some(report) = is_healthy(
        "nothing, a doctor at the other end",
        &Planted { beside: LISTENING, ..Planted::default() },
    ) else {
        return;
    };
    let (path, other) = (&report["facts"]["path"], &report["facts"]["other_host"]);
    assert_eq!(path["train"]["by"], "udp", "{path:#}");
    assert!(path["train"]["arrived"].as_u64() > Some(900), "{path:#}");
    assert!(path["back"]["bytes_per_second"].as_f64() > Some(0.0), "{path:#}");
    assert!(other["tcp_send"].is_array(), "{other:#}");
}

#[test]
fn with_a_doctor_at_the_other_end_the_way_of_a_fault_is_told() {
    let path = ["--back", "mtu={size=1400, too_large=\"dropped\"}"];
    let planted = Planted { path: &path, beside: LISTENING, ..Planted::default() };
    names(
        "an MTU black hole on the way back, a doctor at the other end",
        &planted,
        "path",
        "are lost on the way back",
    );
}

#[test]
fn small_buffers_are_the_hosts() {
    let small = "echo 4096 16384 32768 > /proc/sys/net/ipv4/tcp_wmem";
    names(
        "small sysctls (tcp_wmem of 32 KiB)",
        &Planted { client: small, ..Planted::default() },
        "host",
        "net.ipv4.tcp_wmem",
    );
}

#[test]
fn a_black_hole_is_the_paths() {
    let path = ["--there", "mtu={size=1400, too_large=\"dropped\"}"];
    names(
        "an MTU black hole on the way there",
        &Planted { path: &path, ..Planted::default() },
        "path",
        "larger than 1400 bytes are lost",
    );
}

#[test]
fn half_of_the_rate_is_the_paths() {
    let planted = Planted { doctor: " --expect 100Mbit", ..Planted::default() };
    let Some(report) = names(
        "a link of half the rate (--expect)",
        &planted,
        "path",
        "of the 12.5 MB/s expected, the better of two tries",
    ) else {
        return;
    };
    assert_eq!(report["facts"]["path"]["measured_twice"], true, "{report:#}");
}

#[test]
fn loss_is_the_paths() {
    names(
        "1 % of packets lost",
        &Planted { path: &["--loss", "1%"], ..Planted::default() },
        "path",
        "of small packets",
    );
}

#[test]
fn slow_storage_is_the_storages() {
    names(
        "storage that takes 100 ms for each call",
        &Planted { server: "--delay 100ms", ..Planted::default() },
        "storage",
        "in addition to the network",
    );
}

#[test]
fn small_transfers_are_of_nfs() {
    names(
        "transfers of 64 KiB",
        &Planted { doctor: "?rsize=65536", ..Planted::default() },
        "nfs",
        "a call transfers at most 64 KiB",
    );
}

#[test]
fn one_slot_is_of_nfs() {
    let one = Planted { server: "--delay 10ms --workers 1", ..Planted::default() };
    names("one slot (a server with one thread)", &one, "nfs", "one call at a time");
}

/// An NFS-Ganesha with a file to read; none where Debian's package is not installed. It wants an rpcbind, and a `/run` and `/var/lib/nfs`
/// of its own, all of which end with the sandbox.
fn ganesha(home: &Path) -> Option<String> {
    if let Some(missing) = howdah_lab::guest::missing(&[Ganesha::PROGRAM, "rpcbind", "unshare", "mount"]) {
        skipped(Lack::Program, missing);
        return None;
    }
    let (export, storage) = ("/run/export".into(), "VFS".to_owned());
    let settings = Ganesha { export, storage, nfs_port: 2049, mount_port: 20_048 };
    fs::write(home.join("ganesha.conf"), settings.configuration()).expect("written");
    let arguments = Ganesha::arguments(Path::new("STDOUT"), &home.join("ganesha.conf")).join(" ");
    Some(format!(
        r#"
mkfifo "$HOME/said"
ip netns exec server unshare --mount --pid --fork --kill-child --mount-proc sh -euc '
export PATH="$PATH:/usr/sbin:/sbin"
mount -t tmpfs howdah /run
mkdir -p /run/rpcbind /run/ganesha /run/export
chown _rpc /run/rpcbind || :
[ ! -d /var/lib/nfs ] || mount -t tmpfs howdah /var/lib/nfs
[ ! -d /var/lib/nfs ] || mkdir -p /var/lib/nfs/ganesha
mount -t tmpfs howdah /run/export
head -c {SIZE} /dev/zero > /run/export/file
rpcbind
exec {program} {arguments}' > "$HOME/said" 2> "$HOME/log" &
exec 3< "$HOME/said"
while read -r line <&3; do case "$line" in *"{serves}"*) break;; esac; done
[ -n "$line" ] || exit 9
cat <&3 > /dev/null &
"#,
        program = Ganesha::PROGRAM,
        serves = Ganesha::SERVES
    ))
}

/// What a server of somebody else's is asked is what every server answers; what takes a howdah there is said to.
#[test]
fn another_server_is_looked_at_as_far_as_it_goes() {
    let home = tempfile::tempdir().expect("a directory");
    let Some(server) = ganesha(home.path()) else { return };
    let doctor = "run/export?nfsport=2049\\&mountport=20048";
    let planted = Planted { other_server: Some(&server), doctor, ..Planted::default() };
    let Some((report, code)) = self::doctor(home.path(), &planted) else { return };
    println!(
        "| nothing, NFS-Ganesha as the server | {} | |",
        report["limiting"].as_str().unwrap_or("nothing")
    );
    assert_eq!((&report["limiting"], code), (&Value::Null, Some(0)), "{report:#}");
    let facts = &report["facts"];
    for (what, seen) in [
        ("what the path carries", &facts["path"]["there"]["bytes_per_second"]),
        ("the longest packet", &facts["path"]["mtu"]["passes"]),
        ("small calls", &facts["storage"]["attributes"]),
        ("reads", &facts["nfs"]["reads"]["bytes_per_second"]),
    ] {
        assert!(seen.as_f64().is_some_and(|figure| figure > 0.0), "{what}: {report:#}");
    }
    let could_not = |rung: &str| could_not(&report, rung);
    assert!(could_not("path").contains("run `howdah doctor --listen` there"), "{report:#}");
    assert!(could_not("nfs").contains("only measured with --write"), "{report:#}");
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let home = tempfile::tempdir().expect("a directory");
    let planted = Planted { doctor: "nosuch?version=4", ..Planted::default() };
    let Some((report, code)) = self::doctor(home.path(), &planted) else { return };
    assert_eq!(code, Some(2), "{report:#}");
    assert!(could_not(&report, "nfs").contains("finding nosuch: no such file"), "{report:#}");
}

/// What could not be found out about a rung.
fn could_not(report: &Value, rung: &str) -> String {
    let rungs = report["rungs"].as_array().expect("rungs");
    let rung = rungs.iter().find(|one| one["rung"] == rung).expect("it is there");
    rung["could_not"].to_string()
}

/// An ordinary user, without any capability, may send no echoes and read the same files; all that it could not is said, and what is wrong
/// is found all the same.
#[test]
fn an_ordinary_user_is_told_what_he_could_not() {
    let whom = "setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all ";
    let is_there = Command::new("setpriv").arg("--version").output().is_ok();
    if !is_there || !rustix::process::geteuid().is_root() {
        skipped(Lack::Program, "it takes root, and setpriv (Debian: util-linux)");
        return;
    }
    let home = tempfile::tempdir().expect("a directory");
    let report = |more: &Planted<'_>| {
        let client = "cp \"$HOWDAH\" \"$HOME/as-nobody\" && chmod 755 \"$HOME\" \"$HOME/as-nobody\" && HOWDAH=\"$HOME/as-nobody\"";
        doctor(home.path(), &Planted { client, as_whom: whom, server: more.server, ..Planted::default() })
    };
    let Some((healthy, code)) = report(&Planted::default()) else { return };
    println!("| nothing, as an ordinary user | {} | |", healthy["limiting"].as_str().unwrap_or("nothing"));
    assert_eq!((&healthy["limiting"], code), (&Value::Null, Some(0)), "{healthy:#}");
    let path = could_not(&healthy, "path");
    for wanted in ["losses and the longest packet", "ping_group_range", "howdah doctor --listen"] {
        assert!(path.contains(wanted), "{wanted}: {healthy:#}");
    }
    assert!(healthy["facts"]["nfs"]["reads"]["bytes_per_second"].as_f64() > Some(0.0), "{healthy:#}");
}
