//! Netgroups, as `/etc/netgroup` has them (netgroup(5)): read at start and at every reload.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::net::IpAddr;

use anyhow::{Context, Result};
use howdah_server::exports::Netgroup;

/// Where they are.
const FILE: &str = "/etc/netgroup";
/// Where the domains are that a host without one may be in.
const RESOLVER: &str = "/etc/resolv.conf";

/// All netgroups of this host.
#[derive(Debug, Default)]
pub struct Netgroups {
    members: HashMap<String, Vec<Member>>,
    domains: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Member {
    /// Another netgroup.
    Group(String),
    /// A host; `None` takes all.
    Host(Option<String>),
}

impl Netgroups {
    /// Those of this host. Without the file there are none.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read() -> Result<Self> {
        let file = text(FILE).with_context(|| format!("reading {FILE}"))?;
        // Without it, hosts have no search domains.
        let resolver = text(RESOLVER).unwrap_or_else(|error| {
            tracing::warn!("reading {RESOLVER}: {error}");
            String::new()
        });
        Ok(Self::parse(&file, &resolver))
    }

    fn parse(file: &str, resolver: &str) -> Self {
        let lines = file.replace("\\\n", " ");
        let groups = lines.lines().filter_map(|line| {
            let line = line.split('#').next().unwrap_or_default().trim();
            let (name, members) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            (!name.is_empty()).then(|| (name.to_owned(), self::members(members)))
        });
        Self { members: groups.collect(), domains: domains(resolver) }
    }

    /// The first netgroup that is not there, of this one and those in it.
    pub fn missing(&self, name: &str) -> Option<String> {
        self.reached(name).into_iter().find(|name| !self.members.contains_key(*name)).map(str::to_owned)
    }

    /// A netgroup and those in it, each once.
    fn reached<'n>(&'n self, name: &'n str) -> Vec<&'n str> {
        let (mut reached, mut at) = (vec![name], 0);
        while let Some(next) = reached.get(at).copied() {
            for member in self.members.get(next).into_iter().flatten() {
                match member {
                    Member::Group(inner) if !reached.contains(&inner.as_str()) => reached.push(inner),
                    _ => {}
                }
            }
            at += 1;
        }
        reached
    }

    /// The hosts of a netgroup, with those of the netgroups in it. One that is not there has none.
    pub fn of(&self, name: &str) -> Netgroup {
        let mut group = Netgroup { name: name.to_owned(), ..Netgroup::default() };
        for member in self.reached(name).into_iter().filter_map(|name| self.members.get(name)).flatten() {
            match member {
                Member::Group(_) => {}
                Member::Host(None) => group.takes_all = true,
                Member::Host(Some(host)) => self.add(host, &mut group),
            }
        }
        group
    }

    fn add(&self, host: &str, group: &mut Netgroup) {
        if let Ok(address) = host.parse::<IpAddr>() {
            group.addresses.insert(address.to_canonical());
            return;
        }
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        if !host.contains('.') {
            group.hosts.extend(self.domains.iter().map(|domain| format!("{host}.{domain}")));
        }
        group.hosts.insert(host);
    }
}

/// The text of a file; none without the file.
fn text(path: &str) -> io::Result<String> {
    match fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error),
    }
}

/// Names of netgroups, and triples of host, user and domain. A host of `-` is nobody.
fn members(mut text: &str) -> Vec<Member> {
    let mut members = Vec::new();
    loop {
        text = text.trim_start();
        if text.is_empty() {
            return members;
        }
        let Some(triple) = text.strip_prefix('(') else {
            let end = text.find(|letter: char| letter.is_whitespace() || letter == '(').unwrap_or(text.len());
            members.push(Member::Group(text[..end].to_owned()));
            text = &text[end..];
            continue;
        };
        let Some((inside, rest)) = triple.split_once(')') else { return members };
        let mut fields = inside.split(',').map(str::trim);
        match (fields.next(), fields.count()) {
            (Some(""), 2) => members.push(Member::Host(None)),
            (Some(host), 2) if host != "-" => members.push(Member::Host(Some(host.to_owned()))),
            _ => {}
        }
        text = rest;
    }
}

/// The domains of `search` and `domain` lines; the last line counts (resolv.conf(5)).
fn domains(resolver: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let mut words = line.split_whitespace();
        matches!(words.next(), Some("search" | "domain"))
            .then(|| words.map(|word| word.trim_end_matches('.').to_ascii_lowercase()).collect())
    };
    let domains: Vec<String> = resolver.lines().filter_map(of_line).next_back().unwrap_or_default();
    domains.into_iter().filter(|domain| !domain.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
# The hosts of the lab.
lab (a,-,) (B.Example.ORG.,,) \\
    (192.0.2.7,,)(2001:db8::7,,)
all  lab others   # and more
others (c,,) all
everybody (,user,)
nobody (-,user,)
broken (a,b) (d
empty
";

    fn group(name: &str) -> Netgroup {
        Netgroups::parse(FILE, "nameserver 192.0.2.1\ndomain old.org\nsearch example.org lab.net.\n").of(name)
    }

    fn hosts(name: &str) -> Vec<String> {
        let mut hosts: Vec<String> = group(name).hosts.into_iter().collect();
        hosts.sort();
        hosts
    }

    #[test]
    fn hosts_are_names_with_their_domains_and_addresses() {
        assert_eq!(hosts("lab"), ["a", "a.example.org", "a.lab.net", "b.example.org"]);
        assert_eq!(group("lab").addresses.len(), 2);
        assert!(!group("lab").takes_all);
    }

    #[test]
    fn netgroups_hold_others_also_in_a_circle() {
        assert_eq!(hosts("all").len(), 7);
        assert_eq!(hosts("all"), hosts("others"));
    }

    #[test]
    fn a_member_without_a_host_takes_all_and_a_dash_nobody() {
        assert!(group("everybody").takes_all);
        for name in ["nobody", "broken", "empty", "absent"] {
            assert_eq!(group(name), Netgroup { name: name.to_owned(), ..Netgroup::default() });
        }
        let netgroups = Netgroups::parse(FILE, "");
        assert_eq!(netgroups.of("others").hosts.len(), 3);
    }

    #[test]
    fn a_netgroup_is_missing_also_inside_another() {
        let netgroups = Netgroups::parse("all lab other\nlab (a,,)\nempty\n", "");
        let missing = |name| netgroups.missing(name);
        assert_eq!((missing("lab"), missing("empty")), (None, None));
        assert_eq!(
            (missing("absent"), missing("all")),
            (Some("absent".to_owned()), Some("other".to_owned()))
        );
        assert_eq!(Netgroups::parse("a b\nb a\n", "").missing("a"), None);
    }
}
