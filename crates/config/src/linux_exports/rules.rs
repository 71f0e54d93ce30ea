//! The clients of an entry, those that cannot be converted, and what these take from others.

use super::client::{client, precedence};
use super::entries::EntryWord;
use super::options::LinuxOptions;
use super::warning::Warning;
use super::write::WrittenRule;
use crate::ClientPattern;

/// Some clients of a path.
pub struct LinuxRule {
    /// Where it is.
    pub line: usize,
    /// Which client of its entry it is: Linux goes by this order where all else is equal.
    pub place: usize,
    /// As it is written.
    pub rule: WrittenRule,
    /// What it was.
    pub options: LinuxOptions,
}

/// Clients whose rule cannot be converted. Clients of a rule that Linux looks at later may be among them.
pub struct LeftClient {
    /// Where it is.
    pub line: usize,
    /// As of a rule.
    pub place: usize,
    /// When Linux looks for them.
    pub precedence: u8,
    /// The clients, if howdah has such.
    pub who: Option<ClientPattern>,
    /// What they could do; `None`: no access that howdah gives is as strict.
    pub options: Option<LinuxOptions>,
}

/// The clients of a path.
#[derive(Default)]
pub struct LinuxClients {
    /// Those that are converted.
    pub rules: Vec<LinuxRule>,
    /// Those that are not.
    pub left: Vec<LeftClient>,
}

/// The clients of an entry: `CLIENT(OPTIONS)` each, or `-OPTIONS` for those that follow.
pub fn read_clients(line: usize, words: &[EntryWord], warnings: &mut Vec<Warning>) -> LinuxClients {
    let mut usual = LinuxOptions::usual();
    let mut clients = LinuxClients::default();
    let mut has_clients = false;
    for (place, word) in words.iter().enumerate() {
        let text = word.text();
        if let Some(list) = text.strip_prefix('-') {
            usual = usual.with(list, word.line, warnings);
            continue;
        }
        has_clients = true;
        read_client((word.line, place), &text, &usual, &mut clients, warnings);
    }
    if !has_clients {
        warnings.push(Warning::new(line, "no clients: everyone on the network may mount it"));
        read_client((line, 0), "*", &usual, &mut clients, warnings);
    }
    clients
}

fn read_client(
    (line, place): (usize, usize),
    word: &str,
    usual: &LinuxOptions,
    clients: &mut LinuxClients,
    warnings: &mut Vec<Warning>,
) {
    let Some((who, list)) = parted(word) else {
        let what = format!("{word}: left out: expected CLIENT(OPTION,...) without spaces");
        warnings.push(Warning::loss(line, what));
        return;
    };
    if word.starts_with('(') {
        let what =
            format!("{word} applies to everyone: remove the space in front if it was meant for one client");
        warnings.push(Warning::new(line, what));
    }
    let found = client(who);
    // What an option means does not matter for a client that is left out.
    let mut of_options = Vec::new();
    let options = usual.clone().with(list, line, &mut of_options);
    let refusal = options.refusal();
    let (who, precedence) = match (found, refusal) {
        (Ok(who), None) => {
            warnings.append(&mut of_options);
            warnings.extend(options.of_flavors().map(|what| Warning::new(line, what)));
            let rule = WrittenRule { who, access: options.access() };
            clients.rules.push(LinuxRule { line, place, rule, options });
            return;
        }
        (Ok(who), Some(what)) => {
            warnings.push(Warning::loss(line, format!("client {who} left out: {what}")));
            let precedence = precedence(&who);
            (Some(who), Some(precedence))
        }
        (Err(no), _) => {
            warnings.push(Warning::loss(line, format!("client left out: {}", no.what)));
            (None, no.precedence)
        }
    };
    if let Some(precedence) = precedence {
        let options = options.refusal().is_none().then_some(options);
        clients.left.push(LeftClient { line, place, precedence, who, options });
    }
}

/// A client and its options: `host(rw,sync)`, or `host` alone.
fn parted(word: &str) -> Option<(&str, &str)> {
    let Some((who, rest)) = word.split_once('(') else { return Some((word, "")) };
    let list = rest.strip_suffix(')').filter(|list| !list.contains(['(', ')']))?;
    Some((who, list))
}

/// Takes from later rules what clients that are left out would gain by them.
pub fn restrict(rules: &mut Vec<LinuxRule>, left: &[LeftClient], mut say: impl FnMut(usize, String)) {
    for left in left {
        rules.retain_mut(|rule| {
            let is_later = (precedence(&rule.rule.who), rule.line, rule.place)
                > (left.precedence, left.line, left.place);
            let is_met = is_later && left.who.as_ref().is_none_or(|who| rule.rule.who.may_take(who));
            if !is_met {
                return true;
            }
            let (who, line) = (&rule.rule.who, left.line);
            let strict = left.options.as_ref().filter(|options| options.tls == rule.options.tls);
            let Some(access) = strict.and_then(|options| rule.rule.access.and(options.access())) else {
                say(rule.line, format!("client {who} left out: it would let in the client of line {line}"));
                return false;
            };
            if access != rule.rule.access {
                say(rule.line, format!("client {who} has no more rights than the client of line {line}"));
                rule.rule.access = access;
            }
            true
        });
    }
}
