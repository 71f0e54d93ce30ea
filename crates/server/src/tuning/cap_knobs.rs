//! Rates of `[[limit]]` rules as knobs: `limit.NAME.read`, `limit.NAME.write`, `limit.NAME.calls`.

use super::knob::{Knob, KnobError};
use crate::caps::{CapReport, Caps, parse_byte_cap, parse_call_cap, show_bytes, show_calls};

/// What names of these knobs begin with.
const PREFIX: &str = "limit.";

/// A rate of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CapRate {
    Read,
    Write,
    Calls,
}

impl CapRate {
    const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Calls];

    fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Calls => "calls",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Read => "bytes a second that its clients may read",
            Self::Write => "bytes a second that its clients may write",
            Self::Calls => "calls a second that its clients may make",
        }
    }

    fn parse(self, value: &str) -> Result<Option<u64>, String> {
        if self == Self::Calls { parse_call_cap(value) } else { parse_byte_cap(value) }
    }
}

/// Whether a knob is one of these.
pub fn is_cap(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// All of them, as they are set.
pub fn show(caps: &Caps) -> Vec<Knob> {
    let reports = caps.report();
    reports.iter().flat_map(|report| CapRate::ALL.map(|rate| knob(report, rate))).collect()
}

/// Sets one: it holds for the next call.
///
/// # Errors
/// No rule has that rate, or the value is none.
pub fn set(caps: &Caps, name: &str, value: &str) -> Result<(), KnobError> {
    let found = name.strip_prefix(PREFIX).and_then(|rest| rest.rsplit_once('.'));
    let found = found.and_then(|(rule, word)| {
        CapRate::ALL.into_iter().find(|rate| rate.word() == word).map(|rate| (rule, rate))
    });
    let unknown = || {
        let known = show(caps).into_iter().map(|knob| knob.name).collect();
        KnobError::Unknown { name: name.to_owned(), known }
    };
    let (rule, rate) = found.ok_or_else(unknown)?;
    let refused = |why| KnobError::Refused { name: name.to_owned(), value: value.to_owned(), why };
    let per_second = rate.parse(value).map_err(refused)?;
    let changed = caps.change(rule, |rates| {
        let rate = match rate {
            CapRate::Read => rates.read,
            CapRate::Write => rates.write,
            CapRate::Calls => rates.calls,
        };
        rate.set(per_second);
    });
    changed.ok_or_else(unknown)
}

fn knob(report: &CapReport, rate: CapRate) -> Knob {
    let rule = &report.rule;
    let set = match rate {
        CapRate::Read => show_bytes(rule.read),
        CapRate::Write => show_bytes(rule.write),
        CapRate::Calls => show_calls(rule.calls),
    };
    let each = if rule.per_client { "for each client address" } else { "for all its clients together" };
    let in_force = if set == "none" { "no cap".to_owned() } else { format!("{set} {each}") };
    let bounded_by = format!("the [[limit]] rule \"{}\"", rule.name);
    Knob {
        name: format!("{PREFIX}{}.{}", rule.name, rate.word()),
        help: rate.help().to_owned(),
        set,
        in_force,
        bounded_by,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::CapRule;

    #[test]
    fn a_rate_is_set_by_the_name_of_its_rule() {
        let caps = Caps::default();
        let rule = CapRule {
            name: "night.backup".to_owned(),
            clients: Vec::new(),
            exports: Vec::new(),
            per_client: false,
            read: Some(50_000_000),
            write: None,
            calls: None,
            burst: CapRule::BURST,
        };
        caps.set_rules(&[rule], &[]);
        set(&caps, "limit.night.backup.read", "20MB/s").expect("set");
        set(&caps, "limit.night.backup.calls", "5/s").expect("set");
        let knobs: Vec<_> = show(&caps).into_iter().map(|knob| (knob.name, knob.set)).collect();
        let wanted = [("read", "20.0 MB/s"), ("write", "none"), ("calls", "5/s")];
        assert_eq!(knobs, wanted.map(|(word, set)| (format!("limit.night.backup.{word}"), set.to_owned())));
        let error = set(&caps, "limit.other.read", "1MB/s").expect_err("no such rule").to_string();
        assert!(error.contains("limit.night.backup.read"), "{error}");
        assert!(set(&caps, "limit.night.backup.read", "0").is_err());
    }
}
