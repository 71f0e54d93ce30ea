//! Entries become exports: those of one path become one, with its clients in the order in which Linux looks for them.

use howdah_server::exports::TlsPolicy;

use super::client::precedence;
use super::entries::{EntryWord, entries};
use super::options::LinuxOptions;
use super::rules::{LinuxClients, LinuxRule, read_clients, restrict};
use super::warning::Warning;
use super::write::{WrittenExport, write};
use crate::{Durability, ExportName};

/// A path, and all who may mount it.
struct LinuxExport {
    line: usize,
    name: ExportName,
    clients: LinuxClients,
}

/// The configuration, or `None` if there is nothing to serve; and every difference, by line.
pub fn convert(text: &[u8]) -> (Option<String>, Vec<Warning>) {
    let mut warnings = Vec::new();
    let mut exports: Vec<LinuxExport> = Vec::new();
    for entry in entries(text) {
        let Some((path, clients)) = entry.split_first() else { continue };
        match name(path) {
            Ok(name) => {
                let clients = read_clients(path.line, clients, &mut warnings);
                add(&mut exports, LinuxExport { line: path.line, name, clients });
            }
            Err(what) => warnings.push(Warning::loss(path.line, what)),
        }
    }
    let written: Vec<WrittenExport> =
        exports.into_iter().filter_map(|export| finish(export, &mut warnings)).collect();
    warnings.sort_by_key(|warning| warning.line);
    let is_served = written.iter().any(|export| !export.tls.needs_tls());
    (is_served.then(|| write(&written)), warnings)
}

/// The path as howdah names exports: without doubled slashes, or one at the end.
fn name(word: &EntryWord) -> Result<ExportName, String> {
    let left_out = |what: &str| format!("{}: left out: {what}", word.text());
    if word.is_open {
        return Err(left_out("a quote is not closed, and takes in the clients"));
    }
    let path = std::str::from_utf8(&word.bytes).map_err(|_| left_out("the path is not text in UTF-8"))?;
    if !path.starts_with('/') {
        return Err(left_out("expected a path that starts with a slash"));
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    format!("/{}", parts.join("/")).parse().map_err(|what: String| left_out(&what))
}

fn add(exports: &mut Vec<LinuxExport>, export: LinuxExport) {
    match exports.iter_mut().find(|other| other.name == export.name) {
        Some(other) => {
            other.clients.rules.extend(export.clients.rules);
            other.clients.left.extend(export.clients.left);
        }
        None => exports.push(export),
    }
}

/// The export, unless nobody may mount it.
fn finish(mut export: LinuxExport, warnings: &mut Vec<Warning>) -> Option<WrittenExport> {
    let name = &export.name;
    let mut say = |line, what| warnings.push(Warning::new(line, format!("{name}: {what}")));
    export.clients.rules.sort_by_key(|rule| precedence(&rule.rule.who));
    let mut rules: Vec<LinuxRule> = Vec::new();
    for rule in export.clients.rules {
        match rules.iter().find(|first| first.rule.who == rule.rule.who) {
            Some(first) => {
                say(
                    rule.line,
                    format!("client {} is there twice: line {} counts", rule.rule.who, first.line),
                );
            }
            None => rules.push(rule),
        }
    }
    restrict(&mut rules, &export.clients.left, &mut say);
    if rules.is_empty() {
        say(export.line, "left out: none of its clients can be let in".to_owned());
        return None;
    }
    let all = |holds: fn(&LinuxOptions) -> bool| rules.iter().all(|rule| holds(&rule.options));
    let any = |holds: fn(&LinuxOptions) -> bool| rules.iter().any(|rule| holds(&rule.options));
    let is_async = |options: &LinuxOptions| options.durability == Durability::Async;
    let durability = if all(is_async) { Durability::Async } else { Durability::Sync };
    if durability == Durability::Sync && any(is_async) {
        say(export.line, "sync for all clients: durability is a setting of the export".to_owned());
    }
    let cross_mounts = all(|options| options.cross_mounts);
    if !cross_mounts && any(|options| options.cross_mounts) {
        say(
            export.line,
            "no crossmnt: cross_mounts = true would hold for all clients of the export".to_owned(),
        );
    }
    let tls = strictest(&rules);
    if rules.iter().any(|rule| rule.options.tls != tls) {
        say(export.line, format!("tls = \"{}\" for all clients: TLS is a setting of the export", tls.name()));
    }
    if tls.needs_tls() {
        let what = "commented out: set tls_certificate and tls_key (tls_client_ca for client certificates), then \
                    remove the marks";
        say(export.line, what.to_owned());
    }
    let rules = rules.into_iter().map(|rule| rule.rule).collect();
    Some(WrittenExport { line: export.line, name: export.name, durability, cross_mounts, tls, rules })
}

/// What protects the calls of all of them: where some must use TLS, all must.
fn strictest(rules: &[LinuxRule]) -> TlsPolicy {
    let strictness = |policy: &TlsPolicy| match policy {
        TlsPolicy::Offered => 0,
        TlsPolicy::Off => 1,
        TlsPolicy::Required => 2,
        TlsPolicy::ClientCertificate => 3,
    };
    rules.iter().map(|rule| rule.options.tls).max_by_key(strictness).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::load_text;

    /// The configuration of a text, and its warnings as `LINE: WHAT`.
    fn of(text: &str) -> (String, Vec<String>) {
        let (written, warnings) = convert(text.as_bytes());
        let warnings = warnings.into_iter().map(|one| format!("{}: {}", one.line, one.what)).collect();
        (written.unwrap_or_default(), warnings)
    }

    /// What howdah makes of the configuration: `NAME CLIENT ACCESS` for each rule.
    fn meaning(text: &str) -> Vec<String> {
        let (written, _) = of(text);
        let config = load_text(Path::new("written"), written.clone())
            .unwrap_or_else(|error| panic!("{text:?}:\n{written}\n{error}"));
        let rules = config.exports.iter().flat_map(|export| {
            export.clients.iter().map(|rule| {
                let access = rule.access;
                let mode = if access.read_only { "ro" } else { "rw" };
                format!("{} {} {mode} {}", export.name, rule.who, access.squash)
            })
        });
        rules.collect()
    }

    #[test]
    fn configurations_mean_what_the_exports_file_did() {
        for (text, expected) in [
            ("/usr *(rw)", &["/usr * rw root"][..]),
            ("/usr", &["/usr * ro root"]),
            ("/usr/ 10.0.0.0/8(rw,no_root_squash) *", &["/usr 10.0.0.0/8 rw none", "/usr * ro root"]),
            // The most exact client counts, wherever it stands.
            (
                "/usr *(ro) 10.0.0.0/8(rw) 10.0.0.7(rw,all_squash)",
                &["/usr 10.0.0.7 rw all", "/usr 10.0.0.0/8 rw root", "/usr * ro root"],
            ),
            ("/usr a(rw)\n/etc b\n/usr c", &["/usr a rw root", "/usr c ro root", "/etc b ro root"]),
            ("/usr -rw,all_squash a b(ro)", &["/usr a rw all", "/usr b ro all"]),
            ("/usr -rw", &["/usr * rw root"]),
            ("/usr @group(rw) *.x(rw) a(rw)", &["/usr a rw root", "/usr *.x rw root", "/usr @group rw root"]),
            ("/usr a(sec=spkm3,rw) b(sec=sys:spkm3,rw)", &["/usr b rw root"]),
            ("\"/usr\" a(rw) \\\n b(rw)", &["/usr a rw root", "/usr b rw root"]),
            ("/usr a(rw) a(ro)", &["/usr a rw root"]),
            ("/usr a(rw,anonuid=1,anongid=2)", &["/usr a rw root"]),
            ("/usr a(xprtsec=mtls)\n/etc a", &["/etc a ro root"]),
            ("/ *(ro,insecure)", &["/ * ro root"]),
            // A client that is left out gains nothing by an entry that it did not use.
            ("/usr @gr+up(ro) *(rw)", &["/usr * ro root"]),
            ("/usr @group(ro) *(rw)", &["/usr @group ro root", "/usr * rw root"]),
            ("/usr a[(rw,all_squash) *(rw) a(rw)", &["/usr a rw root", "/usr * rw all"]),
            ("/usr a(sec=spkm3) *(rw) b(rw)", &["/usr b rw root"]),
            ("/usr 10.0.0.7(sec=spkm3) 10.0.0.0/8(rw) 10.1.0.0/16(rw)", &["/usr 10.1.0.0/16 rw root"]),
            ("/usr 10.1.0.0/16(sec=spkm3) 10.0.0.0/8(rw)\n/etc a", &["/etc a ro root"]),
            ("/usr 10.0.0.0/8(rw) 10.1.0.0/16(sec=spkm3)", &["/usr 10.0.0.0/8 rw root"]),
            ("/usr @gr+up(xprtsec=tls) * a", &["/usr a ro root"]),
            ("/usr @gr+up(rw) *(ro)", &["/usr * ro root"]),
        ] {
            assert_eq!(meaning(text), expected, "{text:?}");
        }
    }

    #[test]
    fn differences_are_named_by_line() {
        for (text, expected) in [
            ("\n\nusr a", "3: usr: left out: expected a path"),
            ("/usr a\n/x/../y a", "2: /x/../y: left out: an export's name"),
            ("/usr\\377 a", "left out: the path is not text"),
            ("/usr", "1: no clients: everyone"),
            ("/usr a (rw)", "1: (rw) applies to everyone: remove the space"),
            ("/usr a(rw", "1: a(rw: left out: expected CLIENT"),
            ("/usr a b \\\n @c+", "2: client left out: @c+: expected a netgroup"),
            ("/usr a(sec=spkm3)", "1: client a left out: sec=spkm3: howdah has no such flavor"),
            ("/usr a(sec=spkm3)", "1: /usr: left out: none of its clients"),
            ("/usr a(sec=spkm3) *", "1: /usr: client * left out: it would let in the client of line 1"),
            ("/usr @g+(ro) \\\n*(rw)", "2: /usr: client * has no more rights than the client of line 1"),
            ("/usr a(sec=sys:spkm3)", "1: sec=spkm3: howdah has no such flavor; left out"),
            ("/usr a(rw)\n/usr a(ro)", "2: /usr: client a is there twice: line 1 counts"),
            ("/usr a(async) b", "1: /usr: sync for all clients"),
            ("/usr a(crossmnt) b", "1: /usr: no crossmnt"),
            ("/usr a(xprtsec=tls) b", "1: /usr: tls = \"required\" for all"),
            ("/usr a(xprtsec=tls)", "1: /usr: commented out: set tls_certificate"),
            ("/usr a(\\\nrw)", "1: a(: left out"),
        ] {
            let (_, warnings) = of(text);
            assert!(warnings.iter().any(|warning| warning.contains(expected)), "{text:?}: {warnings:?}");
        }
        let (_, warnings) = of("/usr a(rw,sync,no_subtree_check) 10.0.0.0/8(ro)\n# end\n");
        assert_eq!(warnings, [""; 0]);
    }

    #[test]
    fn what_is_not_understood_is_a_loss_and_what_howdah_does_otherwise_is_none() {
        for (text, is_loss) in [
            ("/usr a(rw,fsid=0,subtree_check,nohide,mp=/usr,no_acl,pnfs,security_label)", false),
            ("/usr", false),
            ("/usr a(sec=none)", false),
            ("/usr a(rw) a(ro)", false),
            ("/usr a(no_rot_squash)", true),
            ("/usr a(wr)", true),
            ("/usr a(anonuid=abc)", true),
            ("/usr a(rw) b(rw", true),
            ("/usr a 10.0.0.300/24", true),
            ("/usr a b(sec=krb6)", true),
            ("/usr a b(refer=/x@y)", true),
            ("/usr a\nsrv b", true),
            ("/usr a\n\"/srv/my dir *(rw)", true),
        ] {
            let (_, warnings) = convert(text.as_bytes());
            assert_eq!(warnings.iter().any(Warning::is_loss), is_loss, "{text}: {warnings:?}");
        }
    }

    #[test]
    fn nothing_to_serve_is_no_configuration() {
        for text in ["", "# /usr a\n", "usr a", "/usr @a+", "/usr a(xprtsec=tls)"] {
            assert_eq!(convert(text.as_bytes()).0, None, "{text:?}");
        }
    }

    #[test]
    fn no_text_at_all_makes_a_file_that_howdah_does_not_understand() {
        let seed = 0x65_78_70_6f;
        let mut random = howdah_random::Random::new(seed);
        const PIECES: [&str; 25] = [
            "/usr",
            "/etc",
            " ",
            "\n",
            "\\\n",
            "\"",
            "\\040",
            "#",
            "a",
            "*",
            "10.0.0.1",
            "fd00::/8",
            "10.0.0.0/8",
            "(",
            ")",
            "rw",
            ",",
            "sec=sys:spkm3",
            "@g",
            "*.x",
            "-",
            "all_squash",
            "anonuid=7",
            "xprtsec=none",
            "\u{fc}",
        ];
        for _ in 0..2000 {
            let text: String = (0..random.index(20)).map(|_| PIECES[random.index(PIECES.len())]).collect();
            let Some(written) = convert(text.as_bytes()).0 else { continue };
            if let Err(error) = load_text(Path::new("written"), written.clone()) {
                let error = error.to_string();
                assert!(
                    error.contains("there is no directory"),
                    "seed {seed:#x}: {text:?}:\n{written}\n{error}"
                );
            }
        }
    }
}
