//! The names of what a workload makes, and only these: what has another name is somebody else's.

use howdah_vfs::Name;

/// What the directory of a run is called begins with this.
pub(super) const DIRECTORY: &str = "howdah-bench-";

/// Kinds of names: data files, files of the metadata workload before and after their renaming.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Data,
    Empty,
    Moved,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Data, Self::Empty, Self::Moved];

    fn prefix(self) -> &'static str {
        match self {
            Self::Data => "data-",
            Self::Empty => "empty-",
            Self::Moved => "moved-",
        }
    }

    /// The name of a file, by its number.
    pub(super) fn name(self, number: u64) -> String {
        format!("{}{number:08}", self.prefix())
    }
}

/// A name made here, as the file system wants it.
pub(super) fn parsed(name: &str) -> Name<'_> {
    Name::parse(name.as_bytes()).expect("made here from letters, digits and hyphens")
}

/// Kind and number, if this is a name that a workload makes.
pub(super) fn ours(name: &[u8]) -> Option<(Kind, u64)> {
    let name = str::from_utf8(name).ok()?;
    Kind::ALL.into_iter().find_map(|kind| {
        let number = name.strip_prefix(kind.prefix())?.parse().ok()?;
        (kind.name(number) == name).then_some((kind, number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_ours() {
        assert_eq!(ours(Kind::Moved.name(7).as_bytes()), Some((Kind::Moved, 7)));
        assert_eq!(ours(b"data-123456789"), Some((Kind::Data, 123_456_789)));
        for name in [&b"data-7"[..], b"data-+0000007", b"data-00000007.bak", b"letter", b".", b"\xff"] {
            assert_eq!(ours(name), None, "{}", name.escape_ascii());
        }
    }
}
