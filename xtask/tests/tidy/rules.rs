//! ARCHITECTURE.md's floors, and its sentences about what a crate or a part of it does not know, as rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::architecture::{Architecture, Place};
use super::source::{Crate, Source};

/// What a sentence of ARCHITECTURE.md means.
struct Rule {
    /// The crate that it is about.
    of: &'static str,
    /// The sentence.
    says: &'static str,
    /// Where it holds.
    folders: Folders,
    /// Crates, modules and types that no code there names, tests left out.
    words: &'static [&'static str],
}

enum Folders {
    /// All of the crate.
    Whole,
    /// This one below `src`.
    One(&'static str),
    /// Those of the server that hold a protocol: each has the name of one of wire's.
    Protocols,
}

const fn whole(of: &'static str, says: &'static str, words: &'static [&'static str]) -> Rule {
    Rule { of, says, folders: Folders::Whole, words }
}

const fn part(
    of: &'static str,
    says: &'static str,
    folders: Folders,
    words: &'static [&'static str],
) -> Rule {
    Rule { of, says, folders, words }
}

/// One for each such sentence. What a pure crate does not know of clocks and sockets, a lint sees to.
const RULES: &[Rule] = &[
    whole("wire", "*Does not know* what a file system is", &["howdah_vfs"]),
    whole("vfs", "*Does not know* any protocol", &["howdah_wire", "howdah_rpc", "nfs3", "nfs4"]),
    whole(
        "link",
        "*Does not know* what a packet means, nor any clock",
        &["howdah_net", "howdah_wire", "howdah_rpc", "SystemTime"],
    ),
    whole(
        "tune",
        "*Does not know* how a sample is taken, nor how a size is applied",
        &["howdah_net", "rustix"],
    ),
    whole(
        "rpc",
        "*Does not know* where bytes come from, nor what time it is unless told",
        &["howdah_net", "TcpStream", "SystemTime"],
    ),
    whole(
        "state",
        "*Does not know* messages, file systems, nor what time it is unless told",
        &["howdah_wire", "howdah_vfs", "SystemTime"],
    ),
    whole(
        "tls",
        "*Does not know* sockets, nor what the plaintext means",
        &["howdah_net", "TcpStream", "howdah_wire", "howdah_rpc"],
    ),
    whole(
        "quic",
        "*Does not know* sockets, threads, what time it is, nor what the bytes mean",
        &["howdah_net", "UdpSocket", "SystemTime", "howdah_wire", "howdah_rpc"],
    ),
    whole(
        "gss",
        "*Does not know* tickets, nor messages of RPC",
        &["howdah_kerberos", "howdah_wire", "howdah_rpc"],
    ),
    whole(
        "kerberos",
        "*Does not know* any protocol, nor how it is confined",
        &["howdah_wire", "howdah_rpc", "howdah_net", "howdah_confine"],
    ),
    whole(
        "session",
        "*Does not know* any file system, nor any socket",
        &["howdah_vfs", "howdah_net", "TcpStream"],
    ),
    whole("net", "*Does not know* what the bytes mean", &["howdah_wire", "howdah_rpc", "nfs3", "nfs4"]),
    whole("store", "*Does not know* NFS", &["howdah_wire", "howdah_rpc", "nfs3", "nfs4"]),
    whole("confine", "*Does not know* what is served", &["howdah_server", "howdah_vfs", "howdah_net"]),
    whole(
        "limits",
        "*Does not know* any limit",
        &["howdah_wire", "howdah_vfs", "howdah_rpc", "howdah_server"],
    ),
    whole("random", "*Does not know* what they decide", &["howdah_link", "howdah_vfs", "howdah_workload"]),
    whole("units", "*Does not know* what a figure means", &["howdah_tune", "howdah_net", "howdah_link"]),
    whole("threads", "*Does not know* what runs on them", &["howdah_vfs", "howdah_layers", "howdah_mount"]),
    whole("needs", "*Does not know* any test", &["howdah_vfs", "howdah_net"]),
    whole(
        "capture",
        "*Does not know* who writes or reads the file",
        &["howdah_server", "howdah_workload", "OpenOptions"],
    ),
    part("server", "Handlers *do not know* sockets", Folders::Protocols, &["howdah_net"]),
    part(
        "server",
        "workers *do not know* NFS",
        Folders::One("worker"),
        &["nfs3", "nfs4", "nlm", "nsm", "portmap"],
    ),
    part(
        "client",
        "The channel *does not know* files",
        Folders::One("channel"),
        &["howdah_vfs", "nfs3", "nfs4"],
    ),
    whole("relay", "*Does not know* what a call means", &["howdah_vfs", "howdah_rpc", "howdah_server"]),
    whole(
        "layers",
        "*Does not know* any protocol, nor any socket",
        &["howdah_wire", "howdah_rpc", "howdah_net", "nfs3", "nfs4"],
    ),
    whole(
        "mount",
        "*Does not know* any protocol, nor any cache",
        &["howdah_wire", "howdah_client", "howdah_layers", "nfs3", "nfs4"],
    ),
    whole(
        "copy",
        "*Does not know* any protocol, nor any socket",
        &["howdah_wire", "howdah_client", "howdah_net", "nfs3", "nfs4"],
    ),
    whole(
        "workload",
        "A workload *does not know* what is behind the `FileSystem`",
        &["howdah_client", "howdah_server", "howdah_wire", "howdah_net"],
    ),
    whole("doctor", "*Does not know* how anything is shown", &["clap"]),
    part(
        "doctor",
        "judges *do not know* where facts come from",
        Folders::One("judge"),
        &["probe", "peer", "howdah_client", "howdah_net"],
    ),
    whole("cli", "*Does not know* how anything is done", &["howdah_wire", "howdah_rpc", "howdah_state"]),
];

/// What does not hold, and rules that hold nothing.
pub fn broken(root: &Path, crates: &BTreeMap<String, Crate>) -> Vec<String> {
    let architecture = Architecture::read(root);
    let mut broken = floors(root, &architecture.floors());
    let known = names_of_all(crates);
    for rule in RULES {
        let missing = rule.words.iter().filter(|word| !known.contains(**word));
        broken.extend(missing.map(|word| format!("the rule of {}: nothing has the name {word}", rule.of)));
        for folder in folders(rule, crates) {
            let names = names_in(&crates[rule.of], folder);
            if names.is_empty() {
                broken.push(format!("the rule of {}: there is no folder {folder}", rule.of));
            }
            let broken_by = rule.words.iter().filter(|word| names.contains(**word));
            broken.extend(broken_by.map(|word| format!("crates/{}/src/{folder} knows {word}", rule.of)));
        }
    }
    broken.extend(crossings(crates));
    broken.extend(without_partner(&architecture));
    broken
}

fn folders<'a>(rule: &Rule, crates: &'a BTreeMap<String, Crate>) -> Vec<&'a str> {
    match rule.folders {
        Folders::Whole => vec![""],
        Folders::One(folder) => vec![folder],
        Folders::Protocols => protocols(crates),
    }
}

/// Sentences without a rule, and rules without a sentence.
fn without_partner(architecture: &Architecture) -> Vec<String> {
    let sentences: BTreeSet<(String, String)> = architecture.unknown().into_iter().collect();
    let rules: BTreeSet<_> = RULES.iter().map(|rule| (rule.of.to_owned(), rule.says.to_owned())).collect();
    let without_rule = sentences.difference(&rules).map(|(of, says)| format!("{of}: no rule for: {says}"));
    let without_sentence =
        rules.difference(&sentences).map(|(of, says)| format!("{of}: ARCHITECTURE.md does not say: {says}"));
    without_rule.chain(without_sentence).collect()
}

/// Folders of the server that have the name of a protocol in wire.
fn protocols(crates: &BTreeMap<String, Crate>) -> Vec<&str> {
    let folders = |of: &str| -> BTreeSet<&str> {
        let modules = crates[of].keys().filter(|module| module.len() > 1);
        modules.map(|module| module[0].as_str()).collect()
    };
    folders("server").intersection(&folders("wire")).copied().collect()
}

/// Protocols that import one another.
fn crossings(crates: &BTreeMap<String, Crate>) -> Vec<String> {
    let protocols = protocols(crates);
    assert!(protocols.len() > 1, "the protocols of the server are not found");
    let mut found = Vec::new();
    for protocol in &protocols {
        for source in sources_in(&crates["server"], protocol) {
            for path in source.imports.iter().map(|import| &import.path).chain(&source.paths) {
                let outside = path.iter().skip_while(|part| ["crate", "super"].contains(&part.as_str()));
                let names = outside.clone().count() < path.len();
                let other = outside.clone().next().filter(|first| names && *first != protocol);
                if other.is_some_and(|other| protocols.contains(&other.as_str())) {
                    found.push(format!("crates/server/src/{protocol} imports {}", path.join("::")));
                }
            }
        }
    }
    found
}

/// Dependencies that go up, or sideways to what is no leaf; crates and lines of the table that have no partner.
fn floors(root: &Path, places: &BTreeMap<String, Place>) -> Vec<String> {
    let mut broken = Vec::new();
    for (name, place) in places {
        let folder = root.join("crates").join(name);
        let Ok(text) = fs::read_to_string(folder.join("Cargo.toml")) else {
            broken.push(format!("the table of floors has {name}, which is no crate"));
            continue;
        };
        if place.is_pure && !folder.join("clippy.toml").is_file() {
            broken.push(format!("crates/{name} is to be pure, and no clippy.toml keeps it so"));
        }
        let manifest: toml::Table = text.parse().expect("a manifest");
        let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
        let others = dependencies.into_iter().flat_map(|table| table.keys());
        for other in others.filter_map(|key| key.strip_prefix("howdah-")) {
            let below =
                |other: &Place| other.floor < place.floor || (other.is_leaf && other.floor == place.floor);
            if !places.get(other).is_some_and(below) {
                broken.push(format!("crates/{name} depends on {other}, which is not below it"));
            }
        }
    }
    for entry in fs::read_dir(root.join("crates")).expect("crates") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        if !places.contains_key(&name) {
            broken.push(format!("crates/{name} has no floor"));
        }
    }
    broken
}

/// The code of a folder below `src`, tests left out.
fn sources_in<'a>(of: &'a Crate, folder: &'a str) -> impl Iterator<Item = &'a Source> {
    let is_in =
        move |module: &[String]| folder.is_empty() || module.first().is_some_and(|first| first == folder);
    of.iter().filter(move |(module, _)| is_in(module)).map(|(_, (_, source))| source)
}

/// All names that stand there.
fn names_in<'a>(of: &'a Crate, folder: &'a str) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::new();
    for source in sources_in(of, folder) {
        let imported = source.imports.iter().flat_map(|import| import.path.iter().chain(&import.name));
        let named = imported.chain(source.paths.iter().flatten()).chain(&source.words).chain(&source.items);
        names.extend(named.map(String::as_str));
    }
    names
}

/// What a rule may name: crates, modules, and what somebody imports.
fn names_of_all(crates: &BTreeMap<String, Crate>) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = crates.keys().map(|name| format!("howdah_{name}")).collect();
    for (module, (_, source)) in crates.values().flatten() {
        names.extend(module.iter().cloned());
        names.extend(source.imports.iter().flat_map(|import| import.path.iter().cloned()));
    }
    names
}
