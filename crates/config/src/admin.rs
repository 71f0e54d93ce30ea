//! Where the server may be asked what it does.

use std::fmt;
use std::path::{Path, PathBuf};

/// The place of the admin socket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AdminSocket {
    /// Among the running servers of the state directory, where commands look for it.
    #[default]
    Auto,
    /// There.
    At(PathBuf),
    /// Nowhere.
    Off,
}

/// Reads what was typed: a path may be relative.
pub fn parse_admin(text: &str) -> Result<AdminSocket, String> {
    let absolute = |path: &Path| std::path::absolute(path).map_err(|error| error.to_string());
    named(text).map_or_else(|| Ok(AdminSocket::At(absolute(Path::new(text))?)), Ok)
}

/// Reads what the file says: a path starts with a slash.
pub fn admin_in_file(text: &str) -> Result<AdminSocket, String> {
    let at = |path: &Path| path.is_absolute().then(|| AdminSocket::At(path.to_owned()));
    let socket = named(text).or_else(|| at(Path::new(text)));
    socket.ok_or_else(|| "expected \"auto\", \"off\", or a path that starts with a slash".to_owned())
}

fn named(text: &str) -> Option<AdminSocket> {
    match text {
        "auto" => Some(AdminSocket::Auto),
        "off" => Some(AdminSocket::Off),
        _ => None,
    }
}

impl fmt::Display for AdminSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto: in the state directory"),
            Self::At(path) => path.display().fmt(f),
            Self::Off => f.write_str("off"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_or_a_path() {
        assert_eq!(parse_admin("auto"), Ok(AdminSocket::Auto));
        assert_eq!(admin_in_file("off"), Ok(AdminSocket::Off));
        let there = AdminSocket::At(PathBuf::from("/run/howdah"));
        assert_eq!(
            (parse_admin("/run/howdah"), admin_in_file("/run/howdah")),
            (Ok(there.clone()), Ok(there))
        );
        assert!(matches!(parse_admin("socket"), Ok(AdminSocket::At(path)) if path.is_absolute()));
        assert!(admin_in_file("socket").is_err() && parse_admin("").is_err());
    }
}
