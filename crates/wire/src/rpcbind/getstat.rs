//! GETSTAT (RFC 1833 2.2.2, `RPCBPROC_GETSTAT`): how often rpcbind was asked for what.

use super::Text;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure, of version 4 alone; it has no arguments.
pub const PROCEDURE: u32 = 12;
/// The procedures that are counted (`RPCBSTAT_HIGHPROC`).
pub const PROCEDURES: usize = 13;
/// The versions that are counted: 2, 3 and 4 (`RPCBVERS_STAT`).
pub const VERSIONS: usize = 3;
/// The most programs that are taken from an answer. The protocol sets no limit.
const PROGRAMS_MAX: u32 = 65_536;

/// How often an address was asked for (`rpcbs_addrlist`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked<'a> {
    /// The program.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// How often there was an answer.
    pub found: u32,
    /// How often there was none.
    pub missed: u32,
    /// The network id.
    pub network: Text<'a>,
}

/// How often a call was passed on (`rpcbs_rmtcalllist`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassedOn<'a> {
    /// The program.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// The procedure.
    pub procedure: u32,
    /// How often it went well.
    pub done: u32,
    /// How often it did not.
    pub failed: u32,
    /// Whether by INDIRECT.
    pub indirect: u32,
    /// The network id.
    pub network: Text<'a>,
}

/// The counts of one version (`rpcb_stat`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts<'a> {
    /// Calls by procedure.
    pub calls: [u32; PROCEDURES],
    /// Registrations made.
    pub set: u32,
    /// Registrations taken back.
    pub unset: u32,
    /// Addresses asked for.
    pub asked: Vec<Asked<'a>>,
    /// Calls passed on.
    pub passed_on: Vec<PassedOn<'a>>,
}

/// Answer of GETSTAT (`rpcb_stat_byvers`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply<'a> {
    /// By version, lowest first.
    pub versions: [Counts<'a>; VERSIONS],
}

impl<'a> Decode<'a> for Asked<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            program: decoder.u32("program")?,
            version: decoder.u32("version")?,
            found: decoder.u32("found")?,
            missed: decoder.u32("missed")?,
            network: Text::decode(decoder)?,
        })
    }
}

impl Encode for Asked<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        for word in [self.program, self.version, self.found, self.missed] {
            encoder.u32(word);
        }
        self.network.encode(encoder);
    }
}

impl<'a> Decode<'a> for PassedOn<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            program: decoder.u32("program")?,
            version: decoder.u32("version")?,
            procedure: decoder.u32("procedure")?,
            done: decoder.u32("done")?,
            failed: decoder.u32("failed")?,
            indirect: decoder.u32("indirect")?,
            network: Text::decode(decoder)?,
        })
    }
}

impl Encode for PassedOn<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        for word in [self.program, self.version, self.procedure, self.done, self.failed, self.indirect] {
            encoder.u32(word);
        }
        self.network.encode(encoder);
    }
}

impl<'a> Decode<'a> for Counts<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let mut calls = [0; PROCEDURES];
        for count in &mut calls {
            *count = decoder.u32("calls")?;
        }
        Ok(Self {
            calls,
            set: decoder.u32("registrations made")?,
            unset: decoder.u32("registrations taken back")?,
            asked: decoder.list(PROGRAMS_MAX, "addresses asked for")?,
            passed_on: decoder.list(PROGRAMS_MAX, "calls passed on")?,
        })
    }
}

impl Encode for Counts<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.calls.iter().for_each(|&count| encoder.u32(count));
        encoder.u32(self.set);
        encoder.u32(self.unset);
        encoder.list(&self.asked);
        encoder.list(&self.passed_on);
    }
}

impl<'a> Decode<'a> for Reply<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let mut reply = Self::default();
        for counts in &mut reply.versions {
            *counts = Counts::decode(decoder)?;
        }
        Ok(reply)
    }
}

impl Encode for Reply<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.versions.iter().for_each(|counts| counts.encode(encoder));
    }
}
