//! What a file may hold: what was written last, what of it is promised to be there after a loss, and what else may be
//! there instead. Knows no file.

/// Data that was written and may be lost.
#[derive(Debug, Clone)]
struct Loose {
    at: usize,
    bytes: Vec<u8>,
}

/// The content of a file, as far as it is known.
#[derive(Debug, Clone, Default)]
pub struct Content {
    latest: Vec<u8>,
    stable: Vec<u8>,
    loose: Vec<Loose>,
    /// While it is being cut: how short it may be already.
    cut_to: Option<usize>,
}

/// Puts bytes into a file that may have to grow for them; what lies between is zeros.
fn put(into: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let end = at + bytes.len();
    if into.len() < end {
        into.resize(end, 0);
    }
    into[at..end].copy_from_slice(bytes);
}

impl Content {
    /// Bytes that are kept for it.
    pub fn kept(&self) -> usize {
        let loose: usize = self.loose.iter().map(|loose| loose.bytes.len()).sum();
        self.latest.len() + self.stable.len() + loose
    }

    /// What a reader sees as long as nothing is lost.
    pub fn latest(&self) -> &[u8] {
        &self.latest
    }

    /// Data was written; if it is `stable` it is promised to be there from here on.
    pub fn write(&mut self, at: usize, bytes: &[u8], stable: bool) {
        if bytes.is_empty() {
            return;
        }
        put(&mut self.latest, at, bytes);
        if stable {
            put(&mut self.stable, at, bytes);
            self.forget(at, at + bytes.len());
        } else {
            self.loose.push(Loose { at, bytes: bytes.to_vec() });
        }
    }

    /// Nothing older than what is there now can come back in this range.
    fn forget(&mut self, from: usize, to: usize) {
        let parts = std::mem::take(&mut self.loose);
        for Loose { at, bytes } in parts {
            let end = at + bytes.len();
            if at < from {
                let keep = from.min(end) - at;
                self.loose.push(Loose { at, bytes: bytes[..keep].to_vec() });
            }
            if end > to {
                let skip = to.max(at) - at;
                self.loose.push(Loose { at: at + skip, bytes: bytes[skip..].to_vec() });
            }
        }
    }

    /// All of it is promised from here on.
    pub fn settle(&mut self) {
        self.loose.clear();
        self.stable.clone_from(&self.latest);
    }

    /// It was cut or grew, and that is promised.
    pub fn resize(&mut self, size: usize) {
        self.latest.resize(size, 0);
        self.settle();
    }

    /// It is being cut or grows. A file system may have written zeros behind the new end before the old end goes.
    pub fn resize_openly(&mut self, size: usize) {
        match self.latest.len().checked_sub(size) {
            Some(less) => {
                self.loose.push(Loose { at: size, bytes: vec![0; less] });
                self.cut_to = Some(size);
            }
            None => self.latest.resize(size, 0),
        }
    }

    /// Whether a file may hold these bytes after a loss; else why not.
    pub fn judge(&self, found: &[u8]) -> Result<(), String> {
        if found == self.latest {
            return Ok(());
        }
        let (stable, latest) = (self.stable.len(), self.latest.len());
        if !(self.cut_to.unwrap_or(stable).min(stable)..=latest).contains(&found.len()) {
            return Err(format!(
                "is {} bytes long; {stable} are promised and {latest} were written",
                found.len()
            ));
        }
        match (0..found.len()).find(|&at| !self.may_hold(at, found[at])) {
            None => Ok(()),
            Some(at) => Err(format!(
                "holds {:#04x} at byte {at} of {}, where {} was written{}",
                found[at],
                found.len(),
                shown(self.latest.get(at)),
                if self.stable.get(at) == self.latest.get(at) { " and promised" } else { "" },
            )),
        }
    }

    fn may_hold(&self, at: usize, byte: u8) -> bool {
        let covers =
            |loose: &Loose| at.checked_sub(loose.at).and_then(|offset| loose.bytes.get(offset)).copied();
        self.stable.get(at).copied().unwrap_or(0) == byte
            || self.loose.iter().any(|loose| covers(loose) == Some(byte))
    }
}

fn shown(byte: Option<&u8>) -> String {
    byte.map_or("nothing".to_owned(), |byte| format!("{byte:#04x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_promised_must_be_there_and_what_was_not_may() {
        let mut content = Content::default();
        content.write(0, b"promised", true);
        content.write(4, b"LOOSE", false);
        for (found, fits) in [
            (&b"promLOOSE"[..], true),
            (b"promised", true),
            (b"promiOOd", true),
            (b"promLOOS\0", true),
            (b"prom", false),
            (b"xromLOOSE", false),
            (b"promLOOSEx", false),
            (b"promXOOSE", false),
        ] {
            assert_eq!(content.judge(found).is_ok(), fits, "{}", found.escape_ascii());
        }
        content.settle();
        assert!(content.judge(b"promised").is_err());
        assert_eq!(content.judge(b"promLOOSE"), Ok(()));
    }

    #[test]
    fn what_was_written_over_stably_does_not_come_back() {
        let mut content = Content::default();
        content.write(0, b"aaaaaaaa", false);
        content.write(2, b"BBB", true);
        assert_eq!(content.judge(b"aaBBBaaa"), Ok(()));
        assert_eq!(content.judge(b"\0\0BBB"), Ok(()));
        assert!(content.judge(b"aaaBBaaa").is_err());
    }

    #[test]
    fn what_was_cut_off_does_not_come_back() {
        let mut content = Content::default();
        content.write(0, b"aaaaaaaa", true);
        content.resize(5);
        content.resize(7);
        assert_eq!(content.judge(b"aaaaa\0\0"), Ok(()));
        assert!(content.judge(b"aaaaaaa").is_err());
        assert!(content.judge(b"aaaaa").is_err());
    }

    #[test]
    fn what_is_being_cut_is_as_it_was_or_shorter_or_zeros() {
        let mut content = Content::default();
        content.write(0, b"aaaaaaaa", true);
        content.resize_openly(5);
        for found in [&b"aaaaaaaa"[..], b"aaaaa\0\0\0", b"aaaaa"] {
            assert_eq!(content.judge(found), Ok(()), "{}", found.escape_ascii());
        }
        for found in [&b"aaaa\0\0\0\0"[..], b"aaaa", b"aaaaaxxx"] {
            assert!(content.judge(found).is_err(), "{}", found.escape_ascii());
        }
    }
}
