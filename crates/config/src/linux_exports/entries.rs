//! Entries and words of an exports file: comments, continued lines, quotes and octal escapes (exports(5)).

/// A word, without its quotes and escapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryWord {
    /// The line where it begins, from 1.
    pub line: usize,
    /// Its bytes: paths may hold any.
    pub bytes: Vec<u8>,
    /// A quote in it is not closed: it took in the rest of its line.
    pub is_open: bool,
}

impl EntryWord {
    /// The word as text; bytes that are none are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// The entries: a path and its clients each. None is empty.
pub fn entries(text: &[u8]) -> Vec<Vec<EntryWord>> {
    let mut reader = Reader { rest: text, line: 1 };
    let mut entries = Vec::new();
    let mut entry = Vec::new();
    while let Some(byte) = reader.peek() {
        match byte {
            b'\n' => {
                entries.push(std::mem::take(&mut entry));
                reader.next();
            }
            b'#' => reader.skip_comment(),
            byte if byte.is_ascii_whitespace() => _ = reader.next(),
            _ => entry.push(reader.word()),
        }
    }
    entries.push(entry);
    entries.retain(|entry| !entry.is_empty());
    entries
}

/// Reads bytes, and counts lines.
struct Reader<'t> {
    rest: &'t [u8],
    line: usize,
}

impl Reader<'_> {
    /// The next byte; a backslash at the end of a line, with that end, is a space.
    fn peek(&self) -> Option<u8> {
        if self.rest.starts_with(b"\\\n") { Some(b' ') } else { self.rest.first().copied() }
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        let taken = if self.rest.starts_with(b"\\\n") { 2 } else { 1 };
        self.line += usize::from(self.rest[taken - 1] == b'\n');
        self.rest = &self.rest[taken..];
        Some(byte)
    }

    /// A backslash at the end of a comment does not continue it.
    fn skip_comment(&mut self) {
        let end = self.rest.iter().position(|byte| *byte == b'\n').unwrap_or(self.rest.len());
        self.rest = &self.rest[end..];
    }

    fn word(&mut self) -> EntryWord {
        let line = self.line;
        let mut bytes = Vec::new();
        let mut is_quoted = false;
        while let Some(byte) = self.peek() {
            // A quote that is still open at the end of a line was forgotten.
            if byte == b'\n' || (!is_quoted && byte.is_ascii_whitespace()) {
                break;
            }
            if let Some(escaped) = octal(self.rest) {
                bytes.push(escaped);
                self.rest = &self.rest[4..];
                continue;
            }
            self.next();
            if byte == b'"' { is_quoted = !is_quoted } else { bytes.push(byte) }
        }
        EntryWord { line, bytes, is_open: is_quoted }
    }
}

/// The byte that `\040` and the like stand for.
fn octal(text: &[u8]) -> Option<u8> {
    let [b'\\', digits @ ..] = text.get(..4)? else { return None };
    let digits = std::str::from_utf8(digits).ok()?;
    let is_octal = digits.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
    u8::from_str_radix(digits, 8).ok().filter(|_| is_octal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&[(usize, &str)]]) {
        let found: Vec<Vec<(usize, String)>> = entries(text.as_bytes())
            .into_iter()
            .map(|entry| entry.into_iter().map(|word| (word.line, word.text())).collect())
            .collect();
        let expected: Vec<Vec<(usize, String)>> = expected
            .iter()
            .map(|entry| entry.iter().map(|(line, word)| (*line, (*word).to_owned())).collect())
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn lines_become_entries_of_words() {
        check("", &[]);
        check("\n \t\n# nothing\n", &[]);
        check("/a b(rw) c\n/d\te", &[&[(1, "/a"), (1, "b(rw)"), (1, "c")], &[(2, "/d"), (2, "e")]]);
        check("  /a *(rw) # all\n", &[&[(1, "/a"), (1, "*(rw)")]]);
        check("/a b#c\n", &[&[(1, "/a"), (1, "b#c")]]);
    }

    #[test]
    fn a_backslash_continues_a_line_but_no_comment() {
        check("/a \\\n  b \\\n  c\n/d e", &[&[(1, "/a"), (2, "b"), (3, "c")], &[(4, "/d"), (4, "e")]]);
        check("# a \\\n/b c", &[&[(2, "/b"), (2, "c")]]);
        // As for exportfs: the end of a line parts words.
        check("/a b(rw,\\\nsync)", &[&[(1, "/a"), (1, "b(rw,"), (2, "sync)")]]);
    }

    #[test]
    fn quotes_and_octal_escapes_hold_spaces() {
        check("\"/a b\" c", &[&[(1, "/a b"), (1, "c")]]);
        check("/a\\040b\\134x c", &[&[(1, "/a b\\x"), (1, "c")]]);
        check("/a\\0 c", &[&[(1, "/a\\0"), (1, "c")]]);
        check("\"/a b\n/c d", &[&[(1, "/a b")], &[(2, "/c"), (2, "d")]]);
        assert!(entries(b"\"/a b")[0][0].is_open && !entries(b"\"/a\" b")[0][0].is_open);
        assert_eq!(entries(b"/\\377 a")[0][0].bytes, b"/\xff");
        assert_eq!(octal(b"\\777"), None);
    }
}
