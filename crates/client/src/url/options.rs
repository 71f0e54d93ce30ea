//! What the options of a URL ask for, parsed.

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use howdah_wire::rpc::GssService;

use super::refusal::Refusal;
use crate::channel::{LANES_MAX, Lanes, Transport};

/// The smallest transfer that may be asked for, in bytes: less makes every call mostly header.
const SIZE_MIN: u32 = 1024;
/// How long a soft mount waits for an answer unless it is told: as long as mount(8) has it (`timeo=600`).
const TIMEOUT_TENTHS: u32 = 600;
/// The longest that it waits, some 136 years: so much can be added to any time.
const PATIENCE_MAX: Duration = Duration::from_secs(u32::MAX as u64);
/// How often it waits that long again: as mount(8) has it (`retrans=2`).
const RETRANSMISSIONS: u32 = 2;

/// Who a server is told to act as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Security {
    /// The caller (AUTH_SYS).
    #[default]
    Sys,
    /// Nobody in particular (AUTH_NONE).
    None,
    /// The caller, by a Kerberos ticket: calls are signed so far.
    Kerberos(GssService),
}

/// How the transport is secured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WantedSecurity {
    /// Not at all.
    #[default]
    None,
    /// By TLS: the server proves who it is.
    Tls,
    /// By TLS: both prove who they are.
    MutualTls,
    /// By TLS from the first byte, as servers of clouds expect it; a client with a certificate shows it.
    DirectTls,
}

/// A version of NFS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NfsVersion {
    /// NFSv3.
    V3,
    /// NFSv4 of a minor version; without one, the highest that the server has of 4.2 and 4.1.
    V4(Option<u32>),
}

/// What a URL asks for; what is `None` is left to whoever connects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UrlOptions {
    /// `version`; without it, 3 where the server has that.
    pub version: Option<NfsVersion>,
    /// `uid`: acts as this user for all callers.
    pub user: Option<u32>,
    /// `gid`: acts as this group for all callers.
    pub group: Option<u32>,
    /// `nfsport`
    pub nfs_port: Option<u16>,
    /// `mountport`
    pub mount_port: Option<u16>,
    /// `rsize`, in bytes.
    pub read_size: Option<u32>,
    /// `wsize`, in bytes.
    pub write_size: Option<u32>,
    /// `readdir-buffer`, in bytes.
    pub listing_size: Option<u32>,
    /// `readahead`, in bytes.
    pub read_ahead: Option<u64>,
    /// `dircache`
    pub cache: Option<bool>,
    /// `sec`
    pub security: Security,
    /// `krb5name`
    pub kerberos_name: Option<String>,
    /// `xprtsec`
    pub transport_security: WantedSecurity,
    /// `tlsca`
    pub tls_authorities: Option<PathBuf>,
    /// `tlscert`
    pub tls_certificate: Option<PathBuf>,
    /// `tlskey`
    pub tls_key: Option<PathBuf>,
    /// `tlsname`
    pub tls_name: Option<String>,
    /// `proto`
    pub transport: Option<Transport>,
    /// `lanes`
    pub lanes: Option<Lanes>,
    /// `addresses`: further addresses of the same server.
    pub addresses: Vec<IpAddr>,
    /// Options that were given, and have no effect here.
    pub without_effect: Vec<&'static str>,
    pub(super) timeout_tenths: Option<u32>,
    pub(super) retransmissions: Option<u32>,
    soft: Option<Soft>,
}

/// How a URL asked to give up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Soft {
    /// After `timeo` and `retrans`.
    ByTimeout,
    /// After this time.
    After(Duration),
}

impl UrlOptions {
    /// After how long without an answer a call is given up; `None`: never.
    pub fn gives_up_after(&self) -> Option<Duration> {
        match self.soft? {
            Soft::After(time) => Some(time),
            Soft::ByTimeout => {
                let tenths = u64::from(self.timeout_tenths.unwrap_or(TIMEOUT_TENTHS));
                let tries = u64::from(self.retransmissions.unwrap_or(RETRANSMISSIONS)) + 1;
                let milliseconds = tenths.saturating_mul(100).saturating_mul(tries);
                Some(Duration::from_millis(milliseconds).min(PATIENCE_MAX))
            }
        }
    }
}

type Set = Result<(), Refusal>;

fn parsed<T: FromStr>(value: &str) -> Result<T, Refusal> {
    value.parse().map_err(|_| Refusal::Value)
}

fn checked<T: FromStr>(value: &str, fits: impl FnOnce(&T) -> bool) -> Result<T, Refusal> {
    parsed(value).and_then(|value| if fits(&value) { Ok(value) } else { Err(Refusal::Value) })
}

pub(super) fn number<T: FromStr>(value: &str, place: &mut Option<T>) -> Set {
    *place = Some(parsed(value)?);
    Ok(())
}

pub(super) fn positive(value: &str, place: &mut Option<u32>) -> Set {
    *place = Some(checked(value, |&number| number > 0)?);
    Ok(())
}

pub(super) fn port(value: &str, place: &mut Option<u16>) -> Set {
    *place = Some(checked(value, |&port| port > 0)?);
    Ok(())
}

pub(super) fn size(value: &str, place: &mut Option<u32>) -> Set {
    *place = Some(checked(value, |&size| size >= SIZE_MIN)?);
    Ok(())
}

pub(super) fn flag(value: &str, place: &mut Option<bool>) -> Set {
    *place = Some(match value {
        "0" => false,
        "1" => true,
        _ => return Err(Refusal::Value),
    });
    Ok(())
}

pub(super) fn without_effect(
    options: &mut UrlOptions,
    name: &'static str,
    value: &str,
    taken: &[&str],
) -> Set {
    if !taken.contains(&value) {
        return Err(Refusal::Value);
    }
    options.without_effect.push(name);
    Ok(())
}

pub(super) fn ignored_number(options: &mut UrlOptions, name: &'static str, value: &str) -> Set {
    parsed::<u64>(value)?;
    options.without_effect.push(name);
    Ok(())
}

pub(super) fn set_version(options: &mut UrlOptions, value: &str) -> Set {
    options.version = Some(match value {
        "3" => NfsVersion::V3,
        "4" => NfsVersion::V4(None),
        "4.1" => NfsVersion::V4(Some(1)),
        "4.2" => NfsVersion::V4(Some(2)),
        "4.0" => {
            return Err(Refusal::Unsupported(
                "NFSv4.0 has no sessions, and servers that speak it speak 3 or 4.1, too; use version=3 or version=4",
            ));
        }
        "2" => return Err(Refusal::Unsupported("servers no longer speak it; use version=3")),
        _ => return Err(Refusal::Value),
    });
    Ok(())
}

/// The names may take the first of two sizes, and the whole answer the second: one size for both is what counts.
pub(super) fn set_listing_size(options: &mut UrlOptions, value: &str) -> Set {
    let (names, whole) = value.split_once(',').unwrap_or((value, value));
    let mut ignored = None;
    size(names, &mut ignored)?;
    size(whole, &mut options.listing_size)
}

pub(super) fn set_reconnect(options: &mut UrlOptions, value: &str) -> Set {
    options.soft = match checked(value, |&times: &i32| times >= -1)? {
        -1 => None,
        _ => Some(Soft::ByTimeout),
    };
    Ok(())
}

pub(super) fn set_security(options: &mut UrlOptions, value: &str) -> Set {
    options.security = match value {
        "sys" => Security::Sys,
        "none" => Security::None,
        "krb5" => Security::Kerberos(GssService::None),
        "krb5i" => Security::Kerberos(GssService::Integrity),
        "krb5p" => Security::Kerberos(GssService::Privacy),
        _ => return Err(Refusal::Value),
    };
    Ok(())
}

pub(super) fn set_transport_security(options: &mut UrlOptions, value: &str) -> Set {
    options.transport_security = match value {
        "none" => WantedSecurity::None,
        "tls" => WantedSecurity::Tls,
        "mtls" => WantedSecurity::MutualTls,
        "direct" => WantedSecurity::DirectTls,
        _ => return Err(Refusal::Value),
    };
    Ok(())
}

pub(super) fn file(value: &str, place: &mut Option<PathBuf>) -> Set {
    *place = Some(checked(value, |path: &PathBuf| !path.as_os_str().is_empty())?);
    Ok(())
}

pub(super) fn word(value: &str, place: &mut Option<String>) -> Set {
    *place = Some(checked(value, |word: &String| !word.is_empty())?);
    Ok(())
}

pub(super) fn set_lanes(options: &mut UrlOptions, value: &str) -> Set {
    options.lanes = Some(match value {
        "auto" => Lanes::Auto,
        _ => Lanes::Fixed(checked(value, |lanes| (1..=LANES_MAX).contains(lanes))?),
    });
    Ok(())
}

pub(super) fn set_transport(options: &mut UrlOptions, value: &str) -> Set {
    options.transport = Some(match value {
        "tcp" | "tcp6" => Transport::Tcp,
        "udp" | "udp6" => Transport::Udp,
        "quic" | "quic6" => Transport::Quic,
        _ => return Err(Refusal::Value),
    });
    Ok(())
}

pub(super) fn set_soft(options: &mut UrlOptions, value: &str) -> Set {
    options.soft = Some(match value {
        "" => Soft::ByTimeout,
        _ => {
            let longest = PATIENCE_MAX.as_secs();
            Soft::After(Duration::from_secs(checked(value, |seconds| (1..=longest).contains(seconds))?))
        }
    });
    Ok(())
}

pub(super) fn set_addresses(options: &mut UrlOptions, value: &str) -> Set {
    options.addresses = value.split(',').map(parsed).collect::<Result<_, _>>()?;
    Ok(())
}
