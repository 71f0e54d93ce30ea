//! The floors of ARCHITECTURE.md and its sentences about what a crate or a folder does not know, as rules.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::tokens::tokens;

/// The floor of each crate: dependencies go down, and to the same floor where another crate is named.
const FLOORS: &[(&str, u32)] = &[
    ("random", 0),
    ("units", 0),
    ("threads", 0),
    ("limits", 0),
    ("capture", 1),
    ("wire", 0),
    ("vfs", 0),
    ("link", 0),
    ("tune", 0),
    ("rpc", 1),
    ("state", 1),
    ("tls", 1),
    ("net", 2),
    ("store", 2),
    ("layers", 2),
    ("confine", 2),
    ("serve", 3),
    ("client", 3),
    ("copy", 3),
    ("workload", 3),
    ("relay", 4),
    ("server", 5),
    ("mount", 5),
    ("lab", 6),
    ("doctor", 7),
    ("cli", 8),
];

/// The leaves of floor 0, which others of it may use.
const LEAVES: [&str; 4] = ["random", "units", "threads", "limits"];

/// A folder, and words that stand in none of its files: crates and modules that it does not know. A folder that is not there
/// (any more) is passed over, so that crates may be split.
const UNKNOWN: &[(&str, &[&str])] = &[
    // wire: what a file system is.
    ("crates/wire/src", &["howdah_vfs"]),
    // vfs: any protocol.
    ("crates/vfs/src", &["howdah_wire", "howdah_rpc", "nfs3"]),
    // link, tune: how a packet is carried, a sample taken, a size applied.
    ("crates/link/src", &["howdah_net"]),
    ("crates/tune/src", &["howdah_net"]),
    // net: what the bytes mean.
    ("crates/net/src", &["howdah_wire", "howdah_rpc", "nfs3"]),
    // tls: sockets, and what the bytes mean.
    ("crates/tls/src", &["howdah_net", "howdah_wire", "howdah_rpc"]),
    // store: NFS.
    ("crates/store/src", &["howdah_wire", "howdah_rpc", "nfs3"]),
    // Handlers: sockets.
    ("crates/server/src/nfs3", &["howdah_net"]),
    ("crates/server/src/mount", &["howdah_net"]),
    ("crates/server/src/portmap", &["howdah_net"]),
    ("crates/server/src/nlm", &["howdah_net"]),
    // Workers: NFS.
    ("crates/server/src/worker", &["nfs3"]),
    // Copy and layers: NFS.
    ("crates/client/src/copy", &["howdah_wire", "nfs3", "channel"]),
    ("crates/client/src/layer", &["howdah_wire", "nfs3", "channel"]),
    ("crates/copy/src", &["howdah_wire", "nfs3", "channel"]),
    ("crates/layers/src", &["howdah_wire", "nfs3", "channel"]),
    // A mount: any protocol.
    ("crates/mount/src", &["howdah_wire", "howdah_client", "nfs3"]),
    // The channel: files.
    ("crates/client/src/channel", &["howdah_vfs"]),
    // A workload: what is behind the file system.
    ("crates/workload/src", &["howdah_client", "howdah_server", "howdah_wire", "howdah_net"]),
    ("crates/workload/src", &["howdah_client", "howdah_server", "howdah_wire", "howdah_net"]),
    // Judges: where facts come from.
    ("crates/doctor/src/judge", &["probe", "peer", "howdah_client", "howdah_net", "howdah_lab"]),
];

/// Protocols that are served: none imports another.
const PROTOCOLS: [&str; 4] = ["nfs3", "mount", "portmap", "nlm"];

/// What does not hold.
pub fn broken(root: &Path) -> Vec<String> {
    let mut broken = floors(root);
    for (folder, words) in UNKNOWN {
        broken.extend(known(root, folder, words).into_iter().map(|word| format!("{folder} knows {word}")));
    }
    for protocol in PROTOCOLS {
        let folder = format!("crates/server/src/{protocol}");
        let others: Vec<&str> = PROTOCOLS.into_iter().filter(|other| *other != protocol).collect();
        broken.extend(
            imported(root, &folder, &others).into_iter().map(|other| format!("{folder} imports {other}")),
        );
    }
    broken
}

/// Dependencies that go up, or sideways to what is no leaf.
fn floors(root: &Path) -> Vec<String> {
    let floors: BTreeMap<&str, u32> = FLOORS.iter().copied().collect();
    let mut broken = Vec::new();
    for entry in fs::read_dir(root.join("crates")).expect("crates") {
        let path = entry.expect("an entry").path();
        let Ok(text) = fs::read_to_string(path.join("Cargo.toml")) else { continue };
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let Some(floor) = floors.get(name.as_str()) else {
            broken.push(format!("crates/{name} has no floor"));
            continue;
        };
        let manifest: toml::Table = text.parse().expect("a manifest");
        let Some(dependencies) = manifest.get("dependencies").and_then(toml::Value::as_table) else {
            continue;
        };
        for other in dependencies.keys().filter_map(|key| key.strip_prefix("howdah-")) {
            let below = floors.get(other).is_some_and(|below| below < floor);
            if !below && !LEAVES.contains(&other) {
                broken.push(format!("crates/{name} depends on {other}, which is not below it"));
            }
        }
    }
    broken.sort();
    broken
}

/// Which of these words stand in code of a folder, tests left out.
fn known<'w>(root: &Path, folder: &str, words: &[&'w str]) -> Vec<&'w str> {
    let all = all_tokens(root, folder);
    words.iter().copied().filter(|word| all.iter().any(|token| token == word)).collect()
}

/// Which of these modules of the crate are named by a path.
fn imported<'w>(root: &Path, folder: &str, modules: &[&'w str]) -> Vec<&'w str> {
    let all = all_tokens(root, folder);
    let names = |module: &str| {
        all.windows(3).any(|path| {
            ["crate", "super"].contains(&path[0].as_str()) && path[1] == "::" && path[2] == module
        })
    };
    modules.iter().copied().filter(|module| names(module)).collect()
}

fn all_tokens(root: &Path, folder: &str) -> Vec<String> {
    let folder = root.join(folder);
    let mut files = Vec::new();
    if folder.is_dir() {
        super::list(&folder, &mut files);
    }
    files.iter().flat_map(|file| tokens(&fs::read_to_string(file).expect("a file"))).collect()
}
