//! The name of an export: what clients write after `HOST:`.

use std::fmt;
use std::str::FromStr;

/// Longest name: MOUNT carries at most this many bytes (RFC 1813 5.1.2, `MNTPATHLEN`).
const LONGEST: usize = 1024;

/// An absolute, normalised path: starts with `/`, no empty part, no `.` or `..`, no `/` at its end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExportName(String);

impl ExportName {
    /// The name as clients write it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ExportName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let say = |what: &str| Err(format!("an export's name {what}, like / or /data"));
        let Some(rest) = text.strip_prefix('/') else { return say("starts with a slash") };
        if text.len() > LONGEST {
            return say("has at most 1024 bytes");
        }
        if text.chars().any(char::is_control) {
            return say("holds no control characters");
        }
        if rest.ends_with('/') {
            return say("does not end with a slash");
        }
        if !rest.is_empty() && rest.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return say("has no empty part, no . and no ..");
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for ExportName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_normalised_absolute_names() {
        for good in ["/", "/data", "/a/b c/ü"] {
            assert_eq!(good.parse::<ExportName>().expect(good).as_str(), good);
        }
        for bad in ["", "data", "/data/", "//", "/a//b", "/a/./b", "/..", "/a\nb"] {
            assert!(bad.parse::<ExportName>().is_err(), "{bad:?}");
        }
        assert!(format!("/{}", "x".repeat(LONGEST)).parse::<ExportName>().is_err());
    }
}
