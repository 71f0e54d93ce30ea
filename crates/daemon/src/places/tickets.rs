//! Kerberos tickets of users, by the system's library, which a helper process asks.

use std::path::Path;

use howdah_client::channel::KerberosError;
use howdah_client::gss::{EstablishedContext, TicketSource, TokenExchange};
use howdah_kerberos::{GssFailure, Helper, HelperError, HelperSettings};
use rustix::process::geteuid;

/// This program, as a process starts it again.
const OWN_PROGRAM: &str = "/proc/self/exe";
/// The command that is a helper.
const HELPER_COMMAND: &str = "kerberos-helper";
/// The keys of this host, by which root has tickets without a cache.
const HOST_KEYTAB: &str = "/etc/krb5.keytab";

/// The group of helpers that act as other users (`nogroup`): tickets are the user's own, and a group may have more rights.
const NO_GROUP: u32 = 65_534;

/// `KRB5KRB_AP_ERR_SKEW` and `KRB5KRB_AP_ERR_TKT_NYV`.
const CLOCK_SKEW: i32 = -1_765_328_347;
const NOT_YET_VALID: i32 = -1_765_328_351;
/// Codes of MIT Kerberos (`krb5_err.et`).
const SERVICE_UNKNOWN: i32 = -1_765_328_377;
const TICKET_EXPIRED: i32 = -1_765_328_352;
const CACHE_NOT_FOUND: i32 = -1_765_328_243;
const REALM_UNKNOWN: i32 = -1_765_328_230;
const KDC_UNREACHABLE: i32 = -1_765_328_228;
const NO_CACHE_FILE: i32 = -1_765_328_189;
/// Routine errors of GSS-API (RFC 2743 1.2.1.1): no credentials, and such that have ended.
const NO_CREDENTIALS: u32 = 7;
const CREDENTIALS_EXPIRED: u32 = 11;

/// Tickets as `kinit` leaves them: each user's own, and for root the keytab of this host where there are none.
#[derive(Debug, Default)]
pub struct SystemTickets {
    /// Helpers with tickets of this process's user, in the order in which they are asked. None: one is started for each context.
    kept: Vec<Helper>,
}

impl SystemTickets {
    /// Those of this process's user alone, by helpers that are started now: for a server, which may start no program later.
    ///
    /// # Errors
    /// A helper cannot be started, or there is no library.
    pub fn kept() -> Result<Self, HelperError> {
        let keytab = (geteuid().is_root() && Path::new(HOST_KEYTAB).exists()).then(by_keytab);
        let settings = [plain().inherited()].into_iter().chain(keytab);
        let kept = settings.map(|settings| Helper::start(&settings, 1)).collect::<Result<_, _>>()?;
        Ok(Self { kept })
    }
}

impl TicketSource for SystemTickets {
    fn establish(
        &self,
        user: u32,
        service: &str,
        exchange: &mut TokenExchange<'_>,
    ) -> Result<EstablishedContext, KerberosError> {
        let ask = |helper: &Helper, exchange: &mut TokenExchange<'_>| by(helper, (user, service), exchange);
        if let [first, others @ ..] = &self.kept[..] {
            let made = ask(first, exchange);
            return match others {
                [next, ..] if is_without_ticket(&made) => with_ticket(ask(next, exchange), made),
                _ => made,
            };
        }
        // A helper ends with the context: a user needs one in hours.
        let made = ask(&start(&settings_of(user)?)?, exchange);
        if !(is_without_ticket(&made) && user == 0 && Path::new(HOST_KEYTAB).exists()) {
            return made;
        }
        with_ticket(ask(&start(&by_keytab())?, exchange), made)
    }
}

/// What the keytab came to, or if it has no key the failure before: that names what a person can get.
fn with_ticket(
    by_keytab: Result<EstablishedContext, KerberosError>,
    before: Result<EstablishedContext, KerberosError>,
) -> Result<EstablishedContext, KerberosError> {
    if is_without_ticket(&by_keytab) { before } else { by_keytab }
}

fn is_without_ticket(made: &Result<EstablishedContext, KerberosError>) -> bool {
    matches!(made, Err(KerberosError::NoTicket(_) | KerberosError::Expired(_)))
}

fn start(settings: &HelperSettings) -> Result<Helper, KerberosError> {
    Helper::start(settings, 1).map_err(|error| KerberosError::Unavailable(error.to_string()))
}

fn by(
    helper: &Helper,
    (user, service): (u32, &str),
    exchange: &mut TokenExchange<'_>,
) -> Result<EstablishedContext, KerberosError> {
    let begun = helper.initiate(service).map_err(|error| explain(user, service, error))?;
    let token = exchange(begun.token())?;
    let made = begun.finish(&token).map_err(|error| match error {
        HelperError::Gss(_) => KerberosError::NotGenuine,
        other => KerberosError::Unavailable(other.to_string()),
    })?;
    Ok(EstablishedContext { client: made.client, lucid: made.lucid })
}

fn by_keytab() -> HelperSettings {
    plain().with_client_keytab(Path::new(HOST_KEYTAB))
}

fn plain() -> HelperSettings {
    let settings = HelperSettings::new(Path::new(OWN_PROGRAM), &[HELPER_COMMAND]);
    match std::env::var_os("KRB5_CONFIG") {
        Some(path) => settings.with("KRB5_CONFIG", path),
        None => settings,
    }
}

/// A helper with the tickets of a user. Those of others only root may use.
fn settings_of(user: u32) -> Result<HelperSettings, KerberosError> {
    match geteuid().as_raw() {
        own if own == user => Ok(plain().inherited()),
        0 => Ok(plain().as_user(user, NO_GROUP)),
        _ => Err(KerberosError::NoTicket(format!(
            "only root can use the Kerberos tickets of another user (uid {user})"
        ))),
    }
}

fn explain(user: u32, service: &str, error: HelperError) -> KerberosError {
    let HelperError::Gss(GssFailure { major, minor, text }) = error else {
        return KerberosError::Unavailable(error.to_string());
    };
    match (major >> 16 & 0xff, minor as i32) {
        (CREDENTIALS_EXPIRED, _) | (_, TICKET_EXPIRED) => KerberosError::Expired(format!(
            "the Kerberos ticket of uid {user} has expired ({text}); get a new one with kinit"
        )),
        (NO_CREDENTIALS, _) | (_, NO_CACHE_FILE | CACHE_NOT_FOUND) => {
            KerberosError::NoTicket(format!("uid {user} has no Kerberos ticket ({text}); get one with kinit"))
        }
        (_, SERVICE_UNKNOWN) => KerberosError::Unavailable(format!(
            "the KDC does not know the service {service} ({text}); create its principal there, or name the one that it knows with \
             krb5name=HOST"
        )),
        (_, KDC_UNREACHABLE | REALM_UNKNOWN) => KerberosError::Unavailable(format!(
            "cannot get a Kerberos ticket for {service}: no KDC answers ({text}); check /etc/krb5.conf and the network"
        )),
        (_, CLOCK_SKEW | NOT_YET_VALID) => KerberosError::Unavailable(format!(
            "cannot get a Kerberos ticket for {service}: {text}; this host's clock differs from the KDC's: set both by NTP"
        )),
        _ => KerberosError::Unavailable(format!("cannot get a Kerberos ticket for {service}: {text}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_says_what_to_do() {
        let said = |major: u32, minor: i32| {
            let failure = GssFailure { major: major << 16, minor: minor as u32, text: "why".to_owned() };
            explain(1000, "nfs@server", HelperError::Gss(failure))
        };
        assert!(matches!(said(11, 0), KerberosError::Expired(text) if text.contains("kinit")));
        assert!(matches!(said(13, TICKET_EXPIRED), KerberosError::Expired(_)));
        assert!(
            matches!(said(13, NO_CACHE_FILE), KerberosError::NoTicket(text) if text.contains("uid 1000 has no"))
        );
        for (minor, advice) in [
            (SERVICE_UNKNOWN, "krb5name="),
            (KDC_UNREACHABLE, "krb5.conf"),
            (REALM_UNKNOWN, "krb5.conf"),
            (CLOCK_SKEW, "NTP"),
            (NOT_YET_VALID, "NTP"),
            (1, "cannot get a Kerberos ticket for nfs@server: why"),
        ] {
            assert!(said(13, minor).to_string().contains(advice), "{minor}");
        }
    }
}
