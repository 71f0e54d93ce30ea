//! Who calls: AUTH_NONE, AUTH_SYS and RPCSEC_GSS (RFC 5531 8.2 and 14, `opaque_auth`, `authsys_parms`; RFC 2203).

use super::flavor::AuthFlavor;
use super::gss_credential::GssCredential;
use crate::limits::{CREDENTIALS_MAX, GROUPS_MAX, MACHINE_NAME_MAX};
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Why credentials are refused (`auth_stat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AuthStatus {
    /// Bad credentials (seal broken).
    BadCredentials,
    /// Client must begin a new session.
    RejectedCredentials,
    /// Bad verifier.
    BadVerifier,
    /// Verifier expired or replayed.
    RejectedVerifier,
    /// Rejected for security reasons: the flavor is too weak, or not one of ours.
    TooWeak,
    /// RPCSEC_GSS: there is no such context, or the call is not signed by it (`RPCSEC_GSS_CREDPROBLEM`).
    NoContext,
    /// RPCSEC_GSS: the context is of no more use (`RPCSEC_GSS_CTXPROBLEM`).
    ContextEnded,
    /// Whatever else: `AUTH_FAILED` (7) and what other flavors have. A server says no, and why matters little.
    Other(u32),
}

/// The credentials of a call, decoded as far as we know their flavor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credentials<'a> {
    /// AUTH_NONE.
    None,
    /// AUTH_SYS.
    Sys(AuthSys<'a>),
    /// RPCSEC_GSS: a context that both ends have, or the wish for one. Who is behind it, the context says.
    Gss(GssCredential<'a>),
    /// AUTH_TLS: no identity, but the question whether TLS may begin (RFC 9289 4.1).
    Tls(TlsProbe),
    /// A flavor we do not take.
    Other(AuthFlavor),
    /// AUTH_SYS or RPCSEC_GSS whose body is malformed: an answer AUTH_BADCRED, not a dropped call.
    Malformed(DecodeError),
}

/// How the question whether TLS may begin is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsProbe {
    /// As it should be: with no body, and no verifier.
    Plain,
    /// Its credentials have a body.
    WithBody,
    /// It has a verifier.
    WithVerifier,
}

/// AUTH_SYS credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthSys<'a> {
    /// An arbitrary number of the client's (usually a time).
    pub stamp: u32,
    /// The client's own name.
    pub machine: &'a [u8],
    /// User id.
    pub user: u32,
    /// Group id.
    pub group: u32,
    /// Number of further groups.
    group_count: usize,
    /// Further groups; those beyond `group_count` are zero.
    groups: [u32; GROUPS_MAX],
}

impl<'a> AuthSys<'a> {
    /// Credentials of a user; groups beyond 16 do not fit the wire and are left out.
    pub fn new(machine: &'a [u8], user: u32, group: u32, groups: &[u32]) -> Self {
        let group_count = groups.len().min(GROUPS_MAX);
        let mut list = [0; GROUPS_MAX];
        list[..group_count].copy_from_slice(&groups[..group_count]);
        Self { stamp: 0, machine, user, group, group_count, groups: list }
    }

    /// Further groups.
    pub fn groups(&self) -> &[u32] {
        &self.groups[..self.group_count]
    }
}

impl<'a> Decode<'a> for AuthSys<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let stamp = decoder.u32("stamp")?;
        let machine = decoder.opaque(MACHINE_NAME_MAX, "machine name")?;
        let (user, group) = (decoder.u32("user id")?, decoder.u32("group id")?);
        let group_count = decoder.length(GROUPS_MAX as u32, "groups")?;
        let mut groups = [0; GROUPS_MAX];
        for group in &mut groups[..group_count] {
            *group = decoder.u32("group")?;
        }
        Ok(Self { stamp, machine, user, group, group_count, groups })
    }
}

impl Encode for AuthSys<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u32(self.stamp);
        encoder.opaque(self.machine);
        encoder.u32(self.user);
        encoder.u32(self.group);
        encoder.u32(self.group_count as u32);
        self.groups().iter().for_each(|&group| encoder.u32(group));
    }
}

impl<'a> Decode<'a> for Credentials<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let flavor = AuthFlavor(decoder.u32("credentials flavor")?);
        let body = decoder.opaque(CREDENTIALS_MAX, "credentials")?;
        Ok(match flavor {
            AuthFlavor::NONE => Self::None,
            AuthFlavor::SYS => {
                let mut inner = Decoder::new(body);
                AuthSys::decode(&mut inner).map_or_else(Self::Malformed, Self::Sys)
            }
            AuthFlavor::GSS => GssCredential::from_body(body).map_or_else(Self::Malformed, Self::Gss),
            AuthFlavor::TLS if body.is_empty() => Self::Tls(TlsProbe::Plain),
            AuthFlavor::TLS => Self::Tls(TlsProbe::WithBody),
            other => Self::Other(other),
        })
    }
}

impl Encode for Credentials<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match self {
            Self::Sys(sys) => {
                encoder.u32(AuthFlavor::SYS.0);
                encoder.opaque(&Encoder::to_vec(sys));
            }
            Self::Gss(credential) => {
                encoder.u32(AuthFlavor::GSS.0);
                encoder.opaque(&Encoder::to_vec(credential));
            }
            Self::None | Self::Malformed(_) => encode_none(encoder),
            Self::Tls(_) => {
                encoder.u32(AuthFlavor::TLS.0);
                encoder.u32(0);
            }
            Self::Other(flavor) => {
                encoder.u32(flavor.0);
                encoder.u32(0);
            }
        }
    }
}

/// An empty verifier or empty credentials (`AUTH_NONE`).
pub(super) fn encode_none(encoder: &mut Encoder<'_>) {
    encoder.u32(AuthFlavor::NONE.0);
    encoder.u32(0);
}

/// A verifier, which AUTH_NONE and AUTH_SYS leave without meaning: bounded and skipped. Whether it says nothing.
pub(super) fn skip_verifier(decoder: &mut Decoder<'_>) -> Result<bool, DecodeError> {
    let flavor = AuthFlavor(decoder.u32("verifier flavor")?);
    let body = decoder.opaque(CREDENTIALS_MAX, "verifier")?;
    Ok(flavor == AuthFlavor::NONE && body.is_empty())
}

impl AuthStatus {
    pub(super) fn to_wire(self) -> u32 {
        match self {
            Self::BadCredentials => 1,
            Self::RejectedCredentials => 2,
            Self::BadVerifier => 3,
            Self::RejectedVerifier => 4,
            Self::TooWeak => 5,
            Self::NoContext => 13,
            Self::ContextEnded => 14,
            Self::Other(number) => number,
        }
    }

    pub(super) fn from_wire(number: u32) -> Self {
        match number {
            1 => Self::BadCredentials,
            2 => Self::RejectedCredentials,
            3 => Self::BadVerifier,
            4 => Self::RejectedVerifier,
            5 => Self::TooWeak,
            13 => Self::NoContext,
            14 => Self::ContextEnded,
            other => Self::Other(other),
        }
    }
}
