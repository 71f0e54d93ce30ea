//! A name that is safe to hand to a file system: parsed once, at the door.

use std::fmt;

use crate::{FsError, Shown};

/// One component of a path: 1 to 255 bytes, without slash or NUL, and neither `.` nor `..`.
///
/// Nothing behind the parser checks again: code that holds a `Name` may pass it to a system call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name<'a>(&'a [u8]);

/// Why bytes are not a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameError {
    /// No byte at all.
    Empty,
    /// `.`, the directory itself.
    Dot,
    /// `..`, the parent directory.
    DotDot,
    /// A slash or a NUL byte.
    ForbiddenByte,
    /// More than [`Name::MAX`] bytes.
    TooLong,
}

impl<'a> Name<'a> {
    /// The longest name, in bytes.
    pub const MAX: usize = 255;

    /// The name in these bytes.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, NameError> {
        match bytes {
            b"" => Err(NameError::Empty),
            b"." => Err(NameError::Dot),
            b".." => Err(NameError::DotDot),
            _ if bytes.len() > Self::MAX => Err(NameError::TooLong),
            _ if bytes.iter().any(|&byte| byte == b'/' || byte == 0) => Err(NameError::ForbiddenByte),
            _ => Ok(Self(bytes)),
        }
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.0
    }
}

impl NameError {
    /// The refusal that RFC 1813 3.2 gives for such a name. What `.` and `..` mean differs by procedure, so a
    /// procedure that knows better answers for itself.
    pub fn refusal(self) -> FsError {
        match self {
            Self::Empty | Self::ForbiddenByte => FsError::AccessDenied,
            Self::Dot | Self::DotDot => FsError::Invalid,
            Self::TooLong => FsError::NameTooLong,
        }
    }
}

impl fmt::Debug for Name<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "\"{self}\"")
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shown(self.0).fmt(formatter)
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Empty => "the name is empty",
            Self::Dot => "the name is `.`",
            Self::DotDot => "the name is `..`",
            Self::ForbiddenByte => "the name holds a slash or a NUL",
            Self::TooLong => "the name is longer than 255 bytes",
        })
    }
}

impl std::error::Error for NameError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_components_are_names() {
        let longest = [b'x'; Name::MAX];
        let too_long = [b'x'; Name::MAX + 1];
        for good in [&b"a"[..], b"...", b".hidden", b"\xff\x01 \n", &longest] {
            assert_eq!(Name::parse(good).map(|name| name.0), Ok(good));
        }
        for (bad, why) in [
            (&b""[..], NameError::Empty),
            (b".", NameError::Dot),
            (b"..", NameError::DotDot),
            (b"/etc/passwd", NameError::ForbiddenByte),
            (b"a\0b", NameError::ForbiddenByte),
            (&too_long, NameError::TooLong),
        ] {
            assert_eq!(Name::parse(bad), Err(why));
        }
    }
}
