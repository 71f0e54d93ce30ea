//! Which names of a tree are copied: patterns in the order in which they were given, as rsync(1) has them under "FILTER RULES". Pure.

use std::fmt;

/// The longest pattern, in bytes: matching takes memory and time with it.
const LONGEST: usize = 4096;

/// What becomes of a name that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is copied.
    Include,
    /// It is not copied, and a directory is not entered; at the destination it is not removed.
    Exclude,
}

/// Patterns, of which the first that matches decides. A name that none matches is copied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patterns(Vec<(Fate, Pattern)>);

/// A pattern that names match or not.
///
/// `*` matches any bytes but a slash, `**` slashes too, `?` one byte but a slash, `[a-z]` one of a set and `[!a-z]` one that is not
/// in it; a backslash before one of these takes its meaning away. A slash at the start ties the pattern to the root of the source, one at
/// the end to directories. A pattern with another slash or with `**` is matched with the end of the path, one without with the name.
/// `DIR/***` matches the directory and all in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    parts: Vec<Part>,
    /// It begins at the root of the source.
    is_anchored: bool,
    is_for_directories: bool,
    /// It is matched with paths and not with names.
    is_for_paths: bool,
    /// `/***` stood at its end: it matches the directory as well.
    takes_directory: bool,
}

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternError {
    /// It has no bytes but slashes.
    Empty,
    /// It is longer than one may be.
    TooLong,
    /// A `[` without its `]`.
    Unclosed(String),
}

impl fmt::Display for PatternError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => {
                formatter.write_str("the pattern is empty; it matches names, as in '*.tmp' or /cache/")
            }
            Self::TooLong => write!(formatter, "the pattern is longer than {LONGEST} bytes"),
            Self::Unclosed(text) => {
                write!(formatter, "\"{text}\" has a [ without a ]; \\[ matches the bracket itself")
            }
        }
    }
}

impl std::error::Error for PatternError {}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Byte(u8),
    /// `?`
    One,
    /// `[…]`: ranges of bytes, and whether those outside are meant.
    Set(Vec<(u8, u8)>, bool),
    /// `*`
    Many,
    /// `**`
    All,
}

impl Patterns {
    /// No pattern: all is copied.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more, after those there are.
    pub fn push(&mut self, fate: Fate, pattern: Pattern) {
        self.0.push((fate, pattern));
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether what has this path below the root of a source is left out. Its directories were asked about before.
    pub fn excludes(&self, path: &[u8], is_directory: bool) -> bool {
        let first = self.0.iter().find(|(_, pattern)| pattern.matches(path, is_directory));
        first.is_some_and(|(fate, _)| *fate == Fate::Exclude)
    }
}

impl Pattern {
    /// From what was typed.
    ///
    /// # Errors
    /// A pattern that is empty or too long, or a set that does not end.
    pub fn parse(text: &[u8]) -> Result<Self, PatternError> {
        if text.len() > LONGEST {
            return Err(PatternError::TooLong);
        }
        let (body, is_anchored) = text.strip_prefix(b"/").map_or((text, false), |body| (body, true));
        let (body, takes_directory) = body.strip_suffix(b"/***").map_or((body, false), |body| (body, true));
        let (body, is_for_directories) = match body.strip_suffix(b"/") {
            Some(body) if !takes_directory => (body, true),
            _ => (body, false),
        };
        if body.iter().all(|&byte| byte == b'/') {
            return Err(PatternError::Empty);
        }
        let parts = parts(body)?;
        let is_for_paths = takes_directory || body.contains(&b'/') || parts.contains(&Part::All);
        Ok(Self { parts, is_anchored, is_for_directories, is_for_paths, takes_directory })
    }

    /// Whether it matches a path below the root of a source.
    pub fn matches(&self, path: &[u8], is_directory: bool) -> bool {
        if self.is_for_directories && !is_directory {
            return false;
        }
        if self.takes_directory {
            // The directory itself, or one above what is asked about.
            let ends = slashes(path).chain(is_directory.then_some(path.len()));
            return ends.into_iter().any(|end| self.matches_end_of(&path[..end]));
        }
        self.matches_end_of(path)
    }

    fn matches_end_of(&self, path: &[u8]) -> bool {
        if self.is_anchored {
            return self.is_whole(path);
        }
        if !self.is_for_paths {
            let start = path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
            return self.is_whole(&path[start..]);
        }
        if self.parts.first() == Some(&Part::All) {
            // So that `**/x` is `x` at the root, too.
            return self.is_whole(&[b"/", path].concat());
        }
        std::iter::once(0)
            .chain(slashes(path).map(|slash| slash + 1))
            .any(|start| self.is_whole(&path[start..]))
    }

    /// Whether all of a text matches: which places of the pattern can be reached, byte by byte, so that no pattern takes long.
    fn is_whole(&self, text: &[u8]) -> bool {
        let mut reached = vec![false; self.parts.len() + 1];
        reached[0] = true;
        self.skip(&mut reached);
        for &byte in text {
            let mut next = vec![false; reached.len()];
            for (at, part) in self.parts.iter().enumerate().filter(|(at, _)| reached[*at]) {
                match part {
                    Part::Many | Part::All => next[at] |= *part == Part::All || byte != b'/',
                    one => next[at + 1] |= one.takes(byte),
                }
            }
            self.skip(&mut next);
            reached = next;
        }
        reached[self.parts.len()]
    }

    /// Stars match nothing, too.
    fn skip(&self, reached: &mut [bool]) {
        for (at, part) in self.parts.iter().enumerate() {
            if reached[at] && matches!(part, Part::Many | Part::All) {
                reached[at + 1] = true;
            }
        }
    }
}

impl Part {
    fn takes(&self, byte: u8) -> bool {
        match self {
            Self::Byte(wanted) => byte == *wanted,
            Self::One => byte != b'/',
            Self::Set(ranges, is_negated) => {
                let is_in = ranges.iter().any(|(first, last)| (*first..=*last).contains(&byte));
                byte != b'/' && is_in != *is_negated
            }
            Self::Many | Self::All => false,
        }
    }
}

/// Where a path has slashes.
fn slashes(path: &[u8]) -> impl Iterator<Item = usize> {
    path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at)
}

fn parts(text: &[u8]) -> Result<Vec<Part>, PatternError> {
    // As in rsync, a backslash stands for itself where there is nothing to take a meaning from.
    let escapes = text.iter().any(|byte| b"*?[".contains(byte));
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'\\' if escapes && !after.is_empty() => {
                parts.push(Part::Byte(after[0]));
                rest = &after[1..];
            }
            b'?' => parts.push(Part::One),
            b'*' if after.first() == Some(&b'*') => {
                let more = after.iter().take_while(|byte| **byte == b'*').count();
                parts.push(Part::All);
                rest = &after[more..];
            }
            b'*' => parts.push(Part::Many),
            b'[' => {
                let unclosed = || PatternError::Unclosed(String::from_utf8_lossy(text).into_owned());
                let (set, length) = set(after).ok_or_else(unclosed)?;
                parts.push(set);
                rest = &after[length..];
            }
            other => parts.push(Part::Byte(other)),
        }
    }
    Ok(parts)
}

/// A set, and how long it is with its bracket at the end. A bracket that comes first is in it.
fn set(text: &[u8]) -> Option<(Part, usize)> {
    let is_negated = matches!(text.first(), Some(b'!' | b'^'));
    let mut at = usize::from(is_negated);
    let (mut ranges, start) = (Vec::new(), at);
    loop {
        let first = match text.get(at)? {
            b']' if at > start => return Some((Part::Set(ranges, is_negated), at + 1)),
            b'[' if text[at + 1..].starts_with(b":") => {
                let end = at + text[at..].windows(2).position(|two| two == b":]")?;
                ranges.extend(class(&text[at + 2..end])?);
                at = end + 2;
                continue;
            }
            b'\\' => {
                at += 1;
                *text.get(at)?
            }
            byte => *byte,
        };
        at += 1;
        match (text.get(at), text.get(at + 1)) {
            (Some(b'-'), Some(&last)) if last != b']' => {
                ranges.push((first, last));
                at += 2;
            }
            _ => ranges.push((first, first)),
        }
    }
}

/// A named class, as in `[[:digit:]]`.
fn class(name: &[u8]) -> Option<Vec<(u8, u8)>> {
    Some(match name {
        b"digit" => vec![(b'0', b'9')],
        b"lower" => vec![(b'a', b'z')],
        b"upper" => vec![(b'A', b'Z')],
        b"alpha" => vec![(b'a', b'z'), (b'A', b'Z')],
        b"alnum" => vec![(b'0', b'9'), (b'a', b'z'), (b'A', b'Z')],
        b"xdigit" => vec![(b'0', b'9'), (b'a', b'f'), (b'A', b'F')],
        b"space" => vec![(b' ', b' '), (b'\t', b'\r')],
        b"punct" => vec![(b'!', b'/'), (b':', b'@'), (b'[', b'`'), (b'{', b'~')],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        let (path, is_directory) = path.strip_suffix('/').map_or((path, false), |path| (path, true));
        Pattern::parse(pattern.as_bytes()).expect(pattern).matches(path.as_bytes(), is_directory)
    }

    /// What rsync(1) says under "PATTERN MATCHING RULES", case by case.
    #[test]
    fn patterns_match_as_those_of_rsync_do() {
        for (pattern, yes, no) in [
            // Without a slash: the last name, wherever it is.
            ("foo", "foo a/foo a/b/foo foo/", "foobar a/foobar foo/bar"),
            ("*.o", "a.o .o x/y.o x.o/", "a.c a.o/b.c"),
            ("?", "a x/b", "ab "),
            ("[a-c]x", "ax x/bx", "dx x]"),
            ("[!a-c]x", "dx", "ax"),
            ("[^a]", "b", "a"),
            ("[]]", "]", "["),
            ("[a\\]b]", "] a b", "c \\"),
            ("[[:digit:]]", "7", "a :"),
            // A slash at the start: from the root of the source only.
            ("/foo", "foo foo/", "a/foo foobar"),
            ("/a/foo", "a/foo", "foo x/a/foo"),
            ("/*", "a b/", "a/b"),
            // A slash at the end: directories only.
            ("foo/", "foo/ a/foo/", "foo a/foo"),
            ("*/", "a/ a/b/", "a a/b"),
            // A slash within: the end of the path.
            ("foo/bar", "foo/bar a/foo/bar", "foo/x/bar xfoo/bar"),
            ("a/*/c", "a/b/c x/a/b/c", "a/c a/b/x/c"),
            ("a*/b", "axx/b z/a/b", "a/x/b"),
            // Two stars: slashes, too.
            ("a/**/c", "a/b/c a/b/x/c", "a/c"),
            ("/**/foo", "a/foo a/b/foo", "foo"),
            ("**/foo", "foo a/foo a/b/foo", "xfoo a/xfoo"),
            ("**", "a a/b a/b/", ""),
            ("a**b", "ab a/x/b axb x/ab", "ba"),
            // The directory and all in it.
            ("foo/***", "foo/ foo/a foo/a/b/ x/foo/y", "foo xfoo/a"),
            ("/foo/***", "foo/ foo/a", "x/foo/a foo"),
            // A backslash.
            ("a\\*", "a*", "ab a\\*"),
            ("a\\b", "a\\b", "ab"),
            ("a\\?", "a?", "ab"),
        ] {
            for path in yes.split(' ').filter(|path| !path.is_empty()) {
                assert!(matches(pattern, path), "{pattern} matches {path}");
            }
            for path in no.split(' ').filter(|path| !path.is_empty()) {
                assert!(!matches(pattern, path), "{pattern} does not match {path}");
            }
        }
    }

    #[test]
    fn the_first_that_matches_decides() {
        use Fate::{Exclude, Include};
        let patterns = |rules: &[(Fate, &str)]| {
            let mut patterns = Patterns::new();
            rules
                .iter()
                .for_each(|(fate, text)| patterns.push(*fate, Pattern::parse(text.as_bytes()).expect(text)));
            patterns
        };
        let some = patterns(&[(Include, "*.c"), (Include, "*/"), (Exclude, "*")]);
        for (path, is_directory, is_excluded) in
            [("a.c", false, false), ("d", true, false), ("d/x.c", false, false), ("d/x.o", false, true)]
        {
            assert_eq!(some.excludes(path.as_bytes(), is_directory), is_excluded, "{path}");
        }
        let other = patterns(&[(Exclude, "*"), (Include, "*.c")]);
        assert!(other.excludes(b"a.c", false));
        assert!(!Patterns::new().excludes(b"a", false) && Patterns::new().is_empty());
    }

    #[test]
    fn a_text_that_is_no_pattern_is_refused() {
        for text in ["", "/", "//"] {
            assert_eq!(Pattern::parse(text.as_bytes()), Err(PatternError::Empty), "{text}");
        }
        assert!(matches!(Pattern::parse(b"a[b"), Err(PatternError::Unclosed(_))));
        assert_eq!(Pattern::parse(&[b'a'; LONGEST + 1]), Err(PatternError::TooLong));
    }

    #[test]
    fn no_pattern_takes_long() {
        let pattern = Pattern::parse("*a".repeat(500).as_bytes()).expect("a pattern");
        assert!(!pattern.matches(&[b'b'; 255], false));
    }
}
