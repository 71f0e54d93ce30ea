//! A knob as its user sees it: what was set, what holds, and what bounds it.

use std::fmt;

use howdah_tune::{Algorithm, Setting, Settings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parse::{parse_congestion, parse_memory_budget, parse_receive_buffer, parse_send_buffer};
use super::words::{self, Words};

/// What somebody may set, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Knob {
    /// Its name, as in flags and the configuration file.
    pub name: String,
    /// What it is of, in a line.
    pub help: String,
    /// What was set: `auto`, or what somebody chose.
    pub set: String,
    /// What holds because of it.
    pub in_force: String,
    /// What keeps it from being more, or else.
    pub bounded_by: String,
}

/// Why a knob was not turned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "error", rename_all = "kebab-case")]
pub enum KnobError {
    /// There is none of that name.
    Unknown {
        /// What was asked for.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// It cannot be set to that.
    Refused {
        /// Of which knob.
        name: String,
        /// To what.
        value: String,
        /// Why, and what would do.
        why: String,
    },
    /// Nobody sizes connections (`--no-tuning`).
    Off,
}

/// The knobs of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnobName {
    /// `tcp_sndbuf`
    SendBuffer,
    /// `tcp_rcvbuf`
    ReceiveBuffer,
    /// `tcp_congestion`
    Congestion,
    /// `memory_budget`
    MemoryBudget,
}

/// A knob turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The send buffer of each connection.
    SendBuffer(Setting),
    /// The receive buffer of each connection.
    ReceiveBuffer(Setting),
    /// By what each connection sends.
    Congestion(Setting<Algorithm>),
    /// The memory of all connections.
    MemoryBudget(Setting),
}

impl KnobName {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::SendBuffer, Self::ReceiveBuffer, Self::Congestion, Self::MemoryBudget];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::SendBuffer => "tcp_sndbuf",
            Self::ReceiveBuffer => "tcp_rcvbuf",
            Self::Congestion => "tcp_congestion",
            Self::MemoryBudget => "memory_budget",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::SendBuffer => "send buffer of each connection, in bytes",
            Self::ReceiveBuffer => "receive buffer of each connection, in bytes",
            Self::Congestion => "congestion control that each connection sends by",
            Self::MemoryBudget => "what all connections together may hold in the kernel, in bytes",
        }
    }

    /// Which one has that name.
    pub fn parse(name: &str) -> Result<Self, KnobError> {
        let known = || Self::ALL.iter().map(|name| name.word().to_owned()).collect();
        let found = Self::ALL.into_iter().find(|known| known.word() == name);
        found.ok_or_else(|| KnobError::Unknown { name: name.to_owned(), known: known() })
    }

    /// What it means to set it to that.
    pub fn turn(self, value: &str) -> Result<Turn, KnobError> {
        let turn = match self {
            Self::SendBuffer => parse_send_buffer(value).map(Turn::SendBuffer),
            Self::ReceiveBuffer => parse_receive_buffer(value).map(Turn::ReceiveBuffer),
            Self::Congestion => parse_congestion(value).map(Turn::Congestion),
            Self::MemoryBudget => parse_memory_budget(value).map(Turn::MemoryBudget),
        };
        turn.map_err(|why| KnobError::Refused { name: self.word().to_owned(), value: value.to_owned(), why })
    }

    /// It, under these settings.
    pub fn show(self, settings: &Settings) -> Knob {
        let Words { set, in_force, bounded_by } = match self {
            Self::SendBuffer => words::send_buffer(settings),
            Self::ReceiveBuffer => words::receive_buffer(settings),
            Self::Congestion => words::congestion(settings),
            Self::MemoryBudget => words::memory_budget(settings),
        };
        Knob { name: self.word().to_owned(), help: self.help().to_owned(), set, in_force, bounded_by }
    }
}

impl fmt::Display for KnobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, known } => write!(f, "no knob is called {name}: {}", known.join(", ")),
            Self::Refused { name, value, why } => write!(f, "{name} = {value}: {why}"),
            Self::Off => f.write_str("connections are not sized (tuning is off): no knob does anything"),
        }
    }
}

impl std::error::Error for KnobError {}
