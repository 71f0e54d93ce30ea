//! One `[[limit]]` of the file: how much some clients may have of some exports.

use std::time::Duration;

use howdah_server::caps::{CapRule, parse_byte_cap, parse_call_cap};
use howdah_server::exports::Clients;
use howdah_server::limits::CAP_RULES_MAX;
use toml::Spanned;
use toml::de::DeValue;

use super::section::{Section, kind, size, text, truth};
use super::{ClientPattern, ExportConfig, Problem};
use crate::quantity::parse_burst;

/// The longest name of a rule.
const NAME_MAX: usize = 64;

/// Reads all of them. Whatever is wrong is among the problems.
pub fn limits(section: &mut Section<'_, '_>) -> Vec<CapRule> {
    let Some(value) = section.raw("limit") else { return Vec::new() };
    let DeValue::Array(items) = value.get_ref() else {
        let what = format!("`limit`: expected [[limit]] in double brackets, found {}", kind(value.get_ref()));
        section.problem(value.span(), what);
        return Vec::new();
    };
    if items.len() > CAP_RULES_MAX {
        section.problem(value.span(), format!("more than {CAP_RULES_MAX} [[limit]] rules"));
    }
    let mut rules: Vec<CapRule> = Vec::new();
    for item in items {
        let Some(rule) = limit(item, section.problems()) else { continue };
        if rules.iter().any(|other| other.name == rule.name) {
            section.problem(item.span(), format!("two [[limit]] rules have the name \"{}\"", rule.name));
        }
        rules.push(rule);
    }
    rules
}

/// Whether each export that a rule names is there.
///
/// # Errors
/// The rule and the name.
pub fn check_limits(rules: &[CapRule], exports: &[ExportConfig]) -> Result<(), String> {
    let is_there = |name: &String| exports.iter().any(|export| export.name.to_string() == *name);
    for rule in rules {
        if let Some(name) = rule.exports.iter().find(|name| !is_there(name)) {
            return Err(format!("[[limit]] \"{}\" names the export {name}, which is not served", rule.name));
        }
    }
    Ok(())
}

fn limit(value: &Spanned<DeValue<'_>>, problems: &mut Vec<Problem>) -> Option<CapRule> {
    let DeValue::Table(table) = value.get_ref() else {
        let what = format!("`limit`: expected [[limit]], found {}", kind(value.get_ref()));
        problems.push(Problem { place: Some(value.span()), what, help: None });
        return None;
    };
    let mut section = Section::new("[[limit]]", table, value.span(), problems);
    let name = section.required("name", "name = \"backup\"", name);
    let rule = CapRule {
        name: name.map(Spanned::into_inner).unwrap_or_default(),
        clients: section.setting("clients", clients).map(Spanned::into_inner).unwrap_or_default(),
        exports: section.setting("exports", exports).map(Spanned::into_inner).unwrap_or_default(),
        per_client: section.setting("per_client", truth).is_some_and(Spanned::into_inner),
        read: section.setting("read", size(parse_byte_cap)).and_then(Spanned::into_inner),
        write: section.setting("write", size(parse_byte_cap)).and_then(Spanned::into_inner),
        calls: section.setting("calls", size(parse_call_cap)).and_then(Spanned::into_inner),
        burst: section.setting("burst", burst).map_or(CapRule::BURST, Spanned::into_inner),
    };
    let has_rate = ["read", "write", "calls"].iter().any(|key| section.has(key));
    if !has_rate {
        let what = "[[limit]] without `read`, `write` or `calls` limits nothing".to_owned();
        section.problem(value.span(), what);
    }
    section.finish();
    Some(rule)
}

fn name(value: &DeValue<'_>) -> Result<String, String> {
    let name = text(value)?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    match (1..=NAME_MAX).contains(&name.len()) && name.chars().all(is_plain) {
        true => Ok(name.to_owned()),
        false => Err(format!("expected at most {NAME_MAX} letters, digits, dots, hyphens or underscores")),
    }
}

fn burst(value: &DeValue<'_>) -> Result<Duration, String> {
    parse_burst(text(value)?)
}

/// One, or a list of them.
fn list<T>(value: &DeValue<'_>, one: fn(&DeValue<'_>) -> Result<T, String>) -> Result<Vec<T>, String> {
    match value {
        DeValue::Array(items) if items.is_empty() => {
            Err("an empty list; leave the key out for all".to_owned())
        }
        DeValue::Array(items) => items.iter().map(|item| one(item.get_ref())).collect(),
        value => Ok(vec![one(value)?]),
    }
}

fn exports(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    list(value, |value| text(value).map(str::to_owned))
}

fn clients(value: &DeValue<'_>) -> Result<Vec<Clients>, String> {
    list(value, |value| match text(value)?.parse()? {
        ClientPattern::Everyone => Ok(Clients::Any),
        ClientPattern::Network(network) => {
            Ok(Clients::Network { address: network.addr(), prefix: network.prefix_len() })
        }
        ClientPattern::Certificate(pattern) => Ok(Clients::Certificate(pattern)),
        name @ (ClientPattern::Host(_) | ClientPattern::Hosts(_) | ClientPattern::Netgroup(_)) => {
            Err(format!(
                "{name} is a host name or a netgroup; expected an address, a network like 10.0.0.0/8, or cert:NAME"
            ))
        }
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{ServerConfig, load_text};
    use super::*;

    fn load(limits: &str) -> Result<ServerConfig, String> {
        let file = format!("{limits}\n[[export]]\nname = '/x'\npath = '/usr'\n");
        load_text(Path::new("x"), file).map_err(|error| error.to_string())
    }

    #[test]
    fn a_rule_has_clients_exports_and_rates() {
        let rule = "[[limit]]\nname = 'backup'\nclients = ['10.0.0.0/8', 'cert:*.example.org']\nexports = '/x'\n\
                    read = '100MB/s'\nwrite = 'none'\ncalls = '5000/s'\nburst = '1s'\nper_client = true\n";
        let config = load(rule).expect("it is good");
        let [rule] = &config.caps[..] else { panic!("{:?}", config.caps) };
        assert_eq!((rule.read, rule.write, rule.calls), (Some(100_000_000), None, Some(5000)));
        assert_eq!((rule.clients.len(), &rule.exports[..]), (2, &["/x".to_owned()][..]));
        assert_eq!((rule.burst, rule.per_client), (Duration::from_secs(1), true));
        let config = load("[[limit]]\nname = 'all'\ncalls = 10\n").expect("it is good");
        assert_eq!((config.caps[0].calls, config.caps[0].burst), (Some(10), CapRule::BURST));
    }

    #[test]
    fn what_limits_nothing_or_nobody_is_refused_with_a_reason() {
        for (text, why) in [
            ("[[limit]]\nname = 'a'", "limits nothing"),
            ("[[limit]]\nread = '1MB/s'", "without `name`"),
            ("[[limit]]\nname = 'a b'\nread = '1MB/s'", "letters, digits"),
            ("[[limit]]\nname = 'a'\nread = '0'", "use \"none\""),
            ("[[limit]]\nname = 'a'\nread = '1MB/s'\nclients = []", "an empty list"),
            ("[[limit]]\nname = 'a'\nread = '1MB/s'\nclients = 'host'", "is a host name"),
            ("[[limit]]\nname = 'a'\nread = '1MB/s'\nburst = '2h'", "at most 60s"),
            ("[[limit]]\nname = 'a'\nread = '1MB/s'\nexports = '/y'", "/y, which is not served"),
            ("limit = 3", "double brackets"),
        ] {
            let error = load(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
        let rule = "[[limit]]\nname = 'a'\ncalls = 1\n";
        assert!(load(&rule.repeat(2)).expect_err("twice").contains("two [[limit]] rules"));
    }
}
