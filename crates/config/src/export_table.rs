//! One `[[export]]` of the file, and the rules for its clients.

use std::ops::Range;
use std::path::PathBuf;

use howdah_server::exports::TlsPolicy;
use toml::Spanned;
use toml::de::DeValue;

use super::caching;
use super::directory::served;
use super::identifier::identifier;
use super::kerberos::flavors;
use super::known_exports::KnownExports;
use super::section::{Section, identity, kind, number, text, truth};
use super::{
    ClientAccess, ClientPattern, ClientRuleConfig, Delegations, Durability, ExportConfig, ExportLocks,
    ExportName, PrivilegedPorts, Problem, Source, Squash, parse_tls_policy,
};

/// Reads one export; `None` if it says too little. Whatever is wrong is among the problems.
pub fn export(
    value: &Spanned<DeValue<'_>>,
    known: &mut KnownExports,
    problems: &mut Vec<Problem>,
) -> Option<ExportConfig> {
    let DeValue::Table(table) = value.get_ref() else {
        let what = format!("`export`: expected [[export]], found {}", kind(value.get_ref()));
        problems.push(Problem { place: Some(value.span()), what, help: None });
        return None;
    };
    let mut section = Section::new("[[export]]", table, value.span(), problems);
    let name = section.required("name", "name = \"/data\"", |value| text(value)?.parse::<ExportName>());
    let source = source(&mut section, name.as_ref().map(Spanned::get_ref));
    let id = section.setting("id", number(0..=u64::from(u32::MAX)));
    let durability = section.setting("durability", durability).map_or(Durability::Sync, Spanned::into_inner);
    let cross_mounts = section.setting("cross_mounts", truth).is_some_and(Spanned::into_inner);
    let quota_in_df = section.setting("quota_in_df", truth).is_some_and(Spanned::into_inner);
    let set_id = section.setting("set_id", truth).is_some_and(Spanned::into_inner);
    let tls = section
        .setting("tls", |value| parse_tls_policy(text(value)?))
        .map_or_else(TlsPolicy::default, Spanned::into_inner);
    let delegations =
        section.setting("delegations", delegations).map_or_else(Default::default, Spanned::into_inner);
    let locks = section.setting("locks", locks).map_or_else(Default::default, Spanned::into_inner);
    let disk_cache = caching::on_disk(&mut section);
    let caching = caching::in_table(&mut section, source.as_ref());
    let access = access(&mut section, ClientAccess::usual());
    let clients = clients(&mut section, access);

    let (name, source) = match (name, source) {
        (Some(name), Some(source)) => (name, source),
        _ => {
            section.finish();
            return None;
        }
    };
    let id = match id {
        Some(id) => Spanned::new(id.span(), u32::try_from(id.into_inner()).expect("the range fits")),
        None => Spanned::new(name.span(), identifier(name.get_ref(), &source)),
    };
    unique(&mut section, known, &name, &id);
    section.finish();
    let (name, id) = (name.into_inner(), id.into_inner());
    Some(ExportConfig {
        name,
        source,
        id,
        durability,
        cross_mounts,
        quota_in_df,
        set_id,
        tls,
        delegations,
        locks,
        disk_cache: disk_cache.filter(|_| caching.is_some()),
        caching,
        shared: false,
        clients,
    })
}

/// Where the files come from: exactly one of three settings says it.
fn source(section: &mut Section<'_, '_>, name: Option<&ExportName>) -> Option<Source> {
    let memory = section.setting("memory", |value| Source::memory(text(value)?));
    let url = section.setting("url", |value| Source::server(text(value)?));
    if memory.is_none() && url.is_none() && !section.has("memory") && !section.has("url") {
        return path(section, name).map(Source::Directory);
    }
    let path = section.raw("path").map(Spanned::span);
    let said = [path, section.place_of("memory"), section.place_of("url")];
    if let [_, second, ..] = said.into_iter().flatten().collect::<Vec<_>>()[..].as_ref() {
        let what = "an export has one of `path`, `memory` and `url`".to_owned();
        section.problem(second.clone(), what);
        return None;
    }
    memory.or(url).map(Spanned::into_inner)
}

fn path(section: &mut Section<'_, '_>, name: Option<&ExportName>) -> Option<PathBuf> {
    let written =
        section.required("path", "path = \"/srv/data\"", |value| Ok(PathBuf::from(text(value)?)))?;
    let place: Range<usize> = written.span();
    let written = written.into_inner();
    let of = name.map_or_else(String::new, |name| format!(" of export {name}"));
    if !written.is_absolute() {
        section.problem(place, format!("`path`{of}: expected a path that starts with a slash"));
        return None;
    }
    match served(&written) {
        Ok(path) => Some(path),
        Err(what) => {
            section.problem(place, format!("`path`{of}: {what}"));
            None
        }
    }
}

fn unique(
    section: &mut Section<'_, '_>,
    known: &mut KnownExports,
    name: &Spanned<ExportName>,
    id: &Spanned<u32>,
) {
    if !known.name(name.get_ref()) {
        section.problem(name.span(), format!("`name`: {} is exported twice", name.get_ref()));
    } else if let Some(other) = known.id(*id.get_ref(), name.get_ref()) {
        section.problem(
            id.span(),
            format!(
                "export {} has the id {} of export {other}; give it another `id`",
                name.get_ref(),
                id.get_ref()
            ),
        );
    }
}

/// The settings that hold for an export as a whole or for one rule of it.
fn access(section: &mut Section<'_, '_>, outer: ClientAccess) -> ClientAccess {
    let mut boolean = |key, outer| section.setting(key, truth).map_or(outer, Spanned::into_inner);
    let read_only = boolean("read_only", outer.read_only);
    let ports = section.setting("privileged_ports", privileged_ports);
    let privileged_ports = ports.map_or(outer.privileged_ports, Spanned::into_inner);
    let squash = section.setting("squash", squash).map_or(outer.squash, Spanned::into_inner);
    let sec = section.setting("sec", flavors).map_or(outer.sec, Spanned::into_inner);
    let mut anonymous = |key, outer| section.setting(key, identity).map_or(outer, Spanned::into_inner);
    ClientAccess {
        read_only,
        privileged_ports,
        squash,
        anonymous_user: anonymous("anonymous_user", outer.anonymous_user),
        anonymous_group: anonymous("anonymous_group", outer.anonymous_group),
        sec,
    }
}

fn clients(section: &mut Section<'_, '_>, access: ClientAccess) -> Vec<ClientRuleConfig> {
    let Some(value) = section.raw("clients") else {
        return vec![ClientRuleConfig { who: ClientPattern::Everyone, access }];
    };
    let items = match value.get_ref() {
        DeValue::Array(items) => items.iter().collect(),
        _ => vec![value],
    };
    if items.is_empty() {
        section.problem(value.span(), "`clients`: an empty list: nobody could mount this".to_owned());
    }
    items.into_iter().filter_map(|item| client(item, access, section.problems())).collect()
}

fn client(
    value: &Spanned<DeValue<'_>>,
    access: ClientAccess,
    problems: &mut Vec<Problem>,
) -> Option<ClientRuleConfig> {
    let who = |value: &DeValue<'_>| text(value)?.parse::<ClientPattern>();
    match value.get_ref() {
        DeValue::Table(table) => {
            let mut section = Section::new("client", table, value.span(), problems);
            let who = section.required("allow", "{ allow = \"10.0.0.0/8\" }", who);
            let access = self::access(&mut section, access);
            section.finish();
            Some(ClientRuleConfig { who: who?.into_inner(), access })
        }
        plain => match who(plain) {
            Ok(who) => Some(ClientRuleConfig { who, access }),
            Err(what) => {
                problems.push(Problem {
                    place: Some(value.span()),
                    what: format!("`clients`: {what}"),
                    help: None,
                });
                None
            }
        },
    }
}

fn durability(value: &DeValue<'_>) -> Result<Durability, String> {
    Durability::parse(text(value)?).ok_or_else(|| "expected \"sync\" or \"async\"".to_owned())
}

fn delegations(value: &DeValue<'_>) -> Result<Delegations, String> {
    Delegations::parse(text(value)?).ok_or_else(|| "expected \"auto\", \"none\" or \"read\"".to_owned())
}

fn locks(value: &DeValue<'_>) -> Result<ExportLocks, String> {
    ExportLocks::parse(text(value)?).ok_or_else(|| "expected \"local\" or \"refuse\"".to_owned())
}

fn privileged_ports(value: &DeValue<'_>) -> Result<PrivilegedPorts, String> {
    match value.as_bool() {
        Some(true) => Ok(PrivilegedPorts::Always),
        Some(false) => Ok(PrivilegedPorts::Never),
        None if text(value).is_ok_and(|word| word == "local") => Ok(PrivilegedPorts::Local),
        None => Err("expected true, false or \"local\"".to_owned()),
    }
}

fn squash(value: &DeValue<'_>) -> Result<Squash, String> {
    Squash::parse(text(value)?)
        .ok_or_else(|| "expected \"root\", \"all\", \"none\" or \"certificate\"".to_owned())
}
