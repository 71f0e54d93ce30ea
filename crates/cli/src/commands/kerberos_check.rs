//! `howdah doctor --kerberos`: what a client needs for Kerberos, step by step, up to the first that is missing.

use std::net::{IpAddr, SocketAddr};
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};
use howdah_client::channel::KerberosError;
use howdah_client::connect::{ConnectOptions, resolve};
use howdah_client::gss::TicketSource;
use howdah_client::url::{NfsUrl, Security, url_of};
use howdah_daemon::mounts::root;
use howdah_daemon::places::{SystemTickets, connect_to};

use super::Failure;
use crate::report;

/// The port of NFS.
const PORT: u16 = 2049;

/// A line of the ladder.
type Step = Result<String, String>;

/// Takes one step after the other.
pub fn run(typed: &str) -> Result<(), Failure> {
    let url = url(typed).map_err(Failure::Usage)?;
    let name = url.options.kerberos_name.as_ref().unwrap_or(&url.host).to_lowercase();
    let steps: [(&str, &dyn Fn() -> Step); 4] = [
        ("name", &|| names(&url, &name)),
        ("reverse name", &|| reverse_names(&url, &name)),
        ("ticket", &|| ticket(&url, &name)),
        ("server", &|| server(&url)),
    ];
    for (title, step) in steps {
        match step() {
            Ok(found) => report::print(&format!("ok    {title}: {found}\n")),
            Err(why) => {
                report::print(&format!("FAIL  {title}: {why}\n"));
                return Err(Failure::Ended(ExitCode::FAILURE));
            }
        }
    }
    Ok(())
}

/// The URL, with Kerberos: `sec=krb5` unless it asks for more.
fn url(typed: &str) -> Result<NfsUrl> {
    let Some(text) = url_of(typed)? else {
        bail!("{typed} is no export of a server: type nfs://HOST/EXPORT");
    };
    let url: NfsUrl = text.parse()?;
    if let Security::Kerberos(_) = url.options.security {
        return Ok(url);
    }
    let joint = if text.contains('?') { '&' } else { '?' };
    Ok(format!("{text}{joint}sec=krb5").parse()?)
}

fn names(url: &NfsUrl, name: &str) -> Step {
    if name.parse::<IpAddr>().is_ok() {
        return Err(format!(
            "{name} is an address, and the KDC knows servers by name: type the name, or add krb5name=NAME"
        ));
    }
    let addresses = addresses(url)?;
    let listed: Vec<String> = addresses.iter().map(|address| address.ip().to_string()).collect();
    Ok(format!("{} is at {}; its service is nfs@{name}", url.host, listed.join(", ")))
}

fn addresses(url: &NfsUrl) -> Result<Vec<SocketAddr>, String> {
    resolve(&url.host, PORT).map_err(|error| format!("{} has no address: {error}", url.host))
}

/// What the system calls the addresses. The library may ask for a ticket for that name.
fn reverse_names(url: &NfsUrl, name: &str) -> Step {
    let found: Vec<String> =
        addresses(url)?.iter().filter_map(|address| reverse_name(address.ip())).collect();
    Ok(match found.iter().find(|found| found.as_str() != name) {
        None if found.is_empty() => {
            "none; if krb5.conf says rdns = true, that does not matter here".to_owned()
        }
        None => format!("{name}, too"),
        Some(other) => format!(
            "{other}, not {name}; if tickets for a wrong name are asked for, set rdns = false and dns_canonicalize_hostname = false \
             in krb5.conf"
        ),
    })
}

fn reverse_name(address: IpAddr) -> Option<String> {
    let output = Command::new("getent").args(["hosts", &address.to_string()]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.split_whitespace().nth(1)?.to_lowercase())
}

/// Everything up to the token for the server: library, own ticket, KDC, and that it knows the service.
fn ticket(url: &NfsUrl, name: &str) -> Step {
    let caller = url.caller(ConnectOptions::default().caller);
    let service = format!("nfs@{name}");
    let mut length = None;
    let asked = SystemTickets::default().establish(caller.user, &service, &mut |token| {
        length = Some(token.len());
        // This is all that was to be seen.
        Err(KerberosError::NotGenuine)
    });
    match (length, asked) {
        (Some(length), _) => {
            Ok(format!("uid {} has one for {service} (its token has {length} bytes)", caller.user))
        }
        (None, Err(why)) => Err(why.to_string()),
        (None, Ok(_)) => Err("the Kerberos library gave no token".to_owned()),
    }
}

/// The server takes the ticket, and lets the caller look at the export.
fn server(url: &NfsUrl) -> Step {
    let client = connect_to(url, &ConnectOptions::default()).map_err(|error| format!("{error:#}"))?;
    let caller = url.caller(ConnectOptions::default().caller);
    let seen = root(&*client, &caller).and_then(|root| Ok(client.attributes(&caller, &root)?)).map_err(|error| {
        format!("it accepts the ticket, and refuses to look at {url}: {error:#}; which user does it take this principal for?")
    })?;
    Ok(format!(
        "it accepts the ticket over {}; the export belongs to uid {}, mode {:o}",
        client.protocol(),
        seen.user,
        seen.mode
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_without_kerberos_is_looked_at_with_it() {
        for (typed, wanted) in [
            ("nfs://host/x", "sec=krb5"),
            ("nfs://host/x?version=4", "version=4&sec=krb5"),
            ("host:/x", "sec=krb5"),
            ("nfs://host/x?sec=krb5p", "sec=krb5p"),
        ] {
            let shown = url(typed).expect("a URL").to_string();
            assert!(shown.ends_with(wanted), "{typed}: {shown}");
        }
        assert!(url("./x").is_err());
    }

    #[test]
    fn an_address_is_no_name() {
        let url = url("nfs://127.0.0.1/x").expect("a URL");
        assert!(names(&url, "127.0.0.1").expect_err("refused").contains("krb5name="));
        assert!(names(&url, "server.test").expect("a name").contains("nfs@server.test"));
    }
}
