//! Small files of named values, a line each, with a checksum at the end: people can read them, and bytes that are no text are escaped.

use std::collections::BTreeMap;

use siphasher::sip::SipHasher13;

/// What the last line begins with.
const SUM: &str = "sum ";

/// Named values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Fields(BTreeMap<String, Vec<u8>>);

impl Fields {
    /// Sets a value. Names are words of ours.
    pub(super) fn set(&mut self, name: &str, value: &[u8]) {
        self.0.insert(name.to_owned(), value.to_vec());
    }

    /// A value.
    pub(super) fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// A value that is text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.bytes(name)?).ok()
    }

    /// The file.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut text = String::new();
        for (name, value) in &self.0 {
            text.push_str(name);
            text.push(' ');
            escape(value, &mut text);
            text.push('\n');
        }
        let sum = checksum(text.as_bytes());
        text.push_str(&format!("{SUM}{sum:016x}\n"));
        text.into_bytes()
    }

    /// Reads a file; nothing if any of it is damaged.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let (start, _) = text.trim_end_matches('\n').rmatch_indices('\n').next().unwrap_or((0, ""));
        let (lines, last) = text.split_at(if start == 0 { 0 } else { start + 1 });
        if last != format!("{SUM}{:016x}\n", checksum(lines.as_bytes())) {
            return None;
        }
        let line = |line: &str| {
            let (name, value) = line.split_once(' ')?;
            Some((name.to_owned(), unescape(value)?))
        };
        lines.lines().map(line).collect::<Option<_>>().map(Self)
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    SipHasher13::new().hash(bytes)
}

/// Text that is one line and says the same bytes.
fn escape(bytes: &[u8], into: &mut String) {
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            if letter == '\\' || letter.is_control() {
                let mut buffer = [0; 4];
                letter.encode_utf8(&mut buffer).bytes().for_each(|byte| escape_byte(byte, into));
            } else {
                into.push(letter);
            }
        }
        chunk.invalid().iter().for_each(|byte| escape_byte(*byte, into));
    }
}

fn escape_byte(byte: u8, into: &mut String) {
    into.push_str(&format!("\\x{byte:02x}"));
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split("\\x");
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_come_back() {
        let mut fields = Fields::default();
        assert_eq!(Fields::parse(&fields.to_bytes()), Some(fields.clone()));
        let all: Vec<u8> = (0..=255).chain(*b"\\x41 \n\\").collect();
        for (name, value) in [("path", &b"/a b/c"[..]), ("bytes", &all), ("empty", b""), ("sum", b"x\nsum y")]
        {
            fields.set(name, value);
        }
        fields.set("line", "\u{2028}\u{85}ü".as_bytes());
        assert_eq!(Fields::parse(&fields.to_bytes()), Some(fields));
    }

    #[test]
    fn nothing_that_is_damaged_is_read() {
        let mut fields = Fields::default();
        fields.set("path", b"/a/b");
        fields.set("user", b"1000");
        let bytes = fields.to_bytes();
        for length in 0..bytes.len() {
            assert_eq!(Fields::parse(&bytes[..length]), None, "cut at {length}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(Fields::parse(&damaged), None, "byte {at}");
        }
    }
}
