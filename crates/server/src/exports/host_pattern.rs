//! Host names with wildcards, as rules have them: `*.example.org`, `node[0-9].example.org`.

use std::fmt;
use std::str::FromStr;

/// Host names of one form. As in exports(5), `*` stands for any text, `?` for one character and `[a-z0-9]` for one of these, and all
/// of them take dots too. Case does not matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    text: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// This character.
    One(u8),
    /// Any character.
    Any,
    /// Any text, also none.
    Many,
    /// A character in one of these ranges; or in none of them.
    Class { ranges: Vec<(u8, u8)>, is_negated: bool },
}

impl HostPattern {
    /// Whether a text has wildcards.
    pub fn is_meant(text: &str) -> bool {
        text.contains(['*', '?', '['])
    }

    /// Whether a host of this name is meant.
    pub fn takes(&self, name: &str) -> bool {
        let (pieces, name) = (&self.pieces, name.as_bytes());
        // Where the last `*` stands, and how far it reaches.
        let (mut piece, mut at, mut last) = (0, 0, None);
        while at < name.len() {
            match pieces.get(piece) {
                Some(Piece::Many) => {
                    piece += 1;
                    last = Some((piece, at));
                }
                Some(one) if one.takes(name[at].to_ascii_lowercase()) => (piece, at) = (piece + 1, at + 1),
                _ => {
                    let Some((after, reach)) = last else { return false };
                    (piece, at) = (after, reach + 1);
                    last = Some((after, at));
                }
            }
        }
        pieces[piece..].iter().all(|piece| *piece == Piece::Many)
    }
}

impl Piece {
    fn takes(&self, byte: u8) -> bool {
        match self {
            Self::One(one) => *one == byte,
            Self::Any => true,
            Self::Many => false,
            Self::Class { ranges, is_negated } => {
                ranges.iter().any(|(first, last)| (first..=last).contains(&&byte)) != *is_negated
            }
        }
    }
}

impl FromStr for HostPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.to_ascii_lowercase();
        let wrong = || "expected a host name with wildcards, such as *.example.org or node[0-9]".to_owned();
        let (mut pieces, mut bytes) = (Vec::new(), text.bytes());
        while let Some(byte) = bytes.next() {
            pieces.push(match byte {
                b'*' => Piece::Many,
                b'?' => Piece::Any,
                b'[' => class(&mut bytes).ok_or_else(wrong)?,
                byte if is_of_name(byte) => Piece::One(byte),
                _ => return Err(wrong()),
            });
        }
        // Addresses have no wildcards: names are compared, and networks are written another way.
        let is_letter = |piece: &Piece| matches!(piece, Piece::One(byte) if byte.is_ascii_alphabetic());
        if !pieces.iter().any(is_letter) {
            return Err("expected a host name with wildcards, which has a letter; write addresses as a network like 10.0.0.0/8".to_owned());
        }
        Ok(Self { text, pieces })
    }
}

/// What follows `[`, up to `]`.
fn class(bytes: &mut impl Iterator<Item = u8>) -> Option<Piece> {
    let mut inside = Vec::new();
    loop {
        match bytes.next()? {
            b']' => break,
            byte => inside.push(byte),
        }
    }
    let is_negated = matches!(inside.first(), Some(b'!' | b'^'));
    let mut rest = &inside[usize::from(is_negated)..];
    let mut ranges = Vec::new();
    while let [first, more @ ..] = rest {
        let (last, more) = match more {
            [b'-', last, more @ ..] => (last, more),
            _ => (first, more),
        };
        if !is_of_name(*first) || !is_of_name(*last) || first > last {
            return None;
        }
        ranges.push((*first, *last));
        rest = more;
    }
    (!ranges.is_empty()).then_some(Piece::Class { ranges, is_negated })
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_as_exports_has_it() {
        for (pattern, name, expected) in [
            ("*.example.org", "a.example.org", true),
            ("*.example.org", "a.b.example.org", true),
            ("*.example.org", "example.org", false),
            ("*.example.org", "a.example.org.evil.net", false),
            ("*.Example.ORG", "A.example.org", true),
            ("node?", "node1", true),
            ("node?", "node12", false),
            ("node[0-9].lab", "node7.lab", true),
            ("node[0-9a].lab", "nodea.lab", true),
            ("node[0-9].lab", "nodeb.lab", false),
            ("node[!0-9].lab", "nodeb.lab", true),
            ("node[^0-9].lab", "node1.lab", false),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("*a", "ba", true),
            ("a*", "a", true),
            ("*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
        ] {
            let found: HostPattern = pattern.parse().expect(pattern);
            assert_eq!(found.takes(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn what_names_no_hosts_is_refused() {
        for text in
            ["192.168.1.*", "*", "host[", "host[0-9", "host[]", "host[z-a]", "a b*", "host*/24", "*.*"]
        {
            assert!(text.parse::<HostPattern>().is_err(), "{text}");
        }
    }
}
