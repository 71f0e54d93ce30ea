//! Why a text is no URL of ours: each says what was typed and what would do.

use std::fmt;

use howdah_vfs::Shown;

use super::KNOWN_OPTIONS;

/// Why a text is no `nfs://` URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlError {
    /// It does not start with `nfs://`.
    Scheme(String),
    /// No host, or one that cannot be.
    Host(String),
    /// A port that is not 1 to 65535.
    Port(String),
    /// `%` without two hexadecimal digits after it.
    Escape(String),
    /// Bytes that are no text.
    NotText(Vec<u8>),
    /// A part of the path that cannot be a name on a server.
    PathPart {
        /// The part, decoded.
        part: String,
        /// Why not.
        problem: &'static str,
    },
    /// An option that nobody here knows.
    UnknownOption(String),
    /// A value that the option does not take.
    OptionValue {
        /// The option.
        option: &'static str,
        /// What was given.
        value: String,
        /// What it takes.
        takes: &'static str,
    },
    /// An option that libnfs has and that cannot be left out silently, but is not done here.
    Unsupported {
        /// The option with its value.
        option: String,
        /// Why, and what to do.
        why: &'static str,
    },
}

impl fmt::Display for UrlError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme(text) => {
                write!(
                    formatter,
                    "{text:?} is no NFS URL: one looks like nfs://host[:port]/path[?option=value&...]"
                )
            }
            Self::Host(host) => {
                write!(
                    formatter,
                    "host {host:?}: a name, an IPv4 address, or an IPv6 address in brackets is needed"
                )
            }
            Self::Port(port) => write!(formatter, "port {port:?}: a number from 1 to 65535 is needed"),
            Self::Escape(text) => {
                write!(formatter, "{text:?}: % must be followed by two hexadecimal digits; % itself is %25")
            }
            Self::NotText(typed) => {
                write!(
                    formatter,
                    "{}: in a URL, bytes that are no text are written as % and two hexadecimal digits",
                    Shown(typed)
                )
            }
            Self::PathPart { part, problem } => write!(formatter, "path part {part:?} {problem}"),
            Self::UnknownOption(option) => {
                write!(formatter, "option {option:?} is not known; known are")?;
                KNOWN_OPTIONS.iter().try_for_each(|known| write!(formatter, " {}", known.name))
            }
            Self::OptionValue { option, value, takes } => {
                write!(formatter, "option {option}={value}: {takes} is needed")
            }
            Self::Unsupported { option, why } => write!(formatter, "option {option}: {why}"),
        }
    }
}

impl std::error::Error for UrlError {}
