//! `howdah certificate`: an authority in a directory, and certificates that it issues.

use std::fmt::Write as _;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::net::IpAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use howdah_daemon::host::own_addresses;
use howdah_tls::{Authority, CertificateFacts, CertificatePurpose, Made};
use serde_json::{Value, json};

use super::Failure;
use crate::arguments::CertificateArguments;
use crate::report;

const DAY: Duration = Duration::from_secs(86_400);
/// How long an authority is valid.
const AUTHORITY: Duration = Duration::from_secs(3650 * 86_400);
/// Who may read a certificate, and a key.
const ANYBODY: u32 = 0o644;
const OWNER: u32 = 0o600;

/// Makes what was asked for, and says what to do with it.
pub fn run(arguments: &CertificateArguments) -> Result<(), Failure> {
    let directory = &arguments.directory;
    if let Some(certificate) = &arguments.revoke {
        return Ok(revoke(arguments, certificate)?);
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(directory)
        .with_context(|| format!("making the directory {}", directory.display()))?;
    let mut wanted: Vec<(CertificatePurpose, Vec<String>)> = Vec::new();
    if !arguments.server.is_empty() {
        wanted.push((CertificatePurpose::Server, arguments.server.clone()));
    }
    wanted.extend(arguments.client.clone().map(|name| (CertificatePurpose::Client, vec![name])));
    if wanted.is_empty() {
        wanted.push((CertificatePurpose::Server, own_names()?));
    }
    for (_, names) in &wanted {
        must_be_new(&files(directory, &names[0])?)?;
    }
    let (authority, is_new) = authority(directory)?;
    let mut text = if is_new { new_authority(directory) } else { String::new() };
    let mut issued = Vec::new();
    for (purpose, names) in wanted {
        let user = arguments.user.as_deref().filter(|_| purpose == CertificatePurpose::Client);
        let lifetime = DAY * u32::try_from(arguments.days).unwrap_or(1);
        let made = authority.issue_for_user(purpose, &names, user, lifetime);
        let made = made.map_err(|why| anyhow!("issuing a certificate to {}: {why}", names.join(", ")))?;
        let (certificate, key) = files(directory, &names[0])?;
        write(&certificate, &key, &made)?;
        text.push_str(&next(purpose, &names, directory, &certificate, &key));
        issued.push(as_json(purpose, &names, &certificate, &key)?);
    }
    let json = || -> Result<Value> {
        let (certificate, key) = (directory.join("ca.pem"), directory.join("ca.key"));
        let mut authority = files_json(&certificate, &key)?;
        authority["new"] = json!(is_new);
        Ok(json!({ "authority": authority, "certificates": issued }))
    };
    Ok(tell(arguments, &text, json)?)
}

/// Prints what was made, as it was asked for.
fn tell(arguments: &CertificateArguments, text: &str, json: impl FnOnce() -> Result<Value>) -> Result<()> {
    match (arguments.json, arguments.quiet) {
        (true, _) => report::print(&format!("{:#}\n", json()?)),
        (false, true) => {}
        (false, false) => report::print(text),
    }
    Ok(())
}

/// A certificate that was issued, for machines.
fn as_json(purpose: CertificatePurpose, names: &[String], certificate: &Path, key: &Path) -> Result<Value> {
    let mut issued = files_json(certificate, key)?;
    issued["purpose"] = json!(match purpose {
        CertificatePurpose::Server => "server",
        CertificatePurpose::Client => "client",
    });
    issued["names"] = json!(names);
    Ok(issued)
}

/// The files of a certificate, and until when it is valid (RFC 3339).
fn files_json(certificate: &Path, key: &Path) -> Result<Value> {
    let facts = CertificateFacts::of_file(certificate)?;
    let end = facts.first().and_then(|facts| jiff::Timestamp::from_second(facts.not_after).ok());
    Ok(json!({
        "certificate": certificate.to_string_lossy(),
        "key": key.to_string_lossy(),
        "valid_until": end.map(|end| end.to_string()),
    }))
}

/// Adds a certificate to the list of the authority in a directory. A server may read it at any time, so it is replaced as a whole.
fn revoke(arguments: &CertificateArguments, certificate: &Path) -> Result<()> {
    let directory = &arguments.directory;
    let (ca, list) = (directory.join("ca.pem"), directory.join("ca.crl"));
    if !ca.exists() {
        bail!(
            "no authority in {}: expected ca.pem and ca.key, as howdah certificate makes them",
            directory.display()
        );
    }
    let (authority, _) = authority(directory)?;
    let read =
        |path: &Path| std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()));
    let before = if list.exists() { Some(read(&list)?) } else { None };
    let text = authority
        .revoke(before.as_deref(), &read(certificate)?)
        .map_err(|why| anyhow!("revoking {}: {why}", certificate.display()))?;
    let step = || format!("writing {}", list.display());
    let draft = directory.join("ca.crl.new");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(ANYBODY)
        .open(&draft)
        .with_context(step)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).with_context(step)?;
    std::fs::rename(&draft, &list).with_context(step)?;
    let text = format!(
        "revoked       {}, in {}\n\nServers refuse it for new connections, a minute after the list changes, if they have:\n  \
         --tls-client-crl {}   (tls_client_crl in the configuration)\n",
        certificate.display(),
        list.display(),
        list.display()
    );
    let json = || json!({ "revoked": { "certificate": certificate.to_string_lossy(), "list": list.to_string_lossy() } });
    tell(arguments, &text, || Ok(json()))
}

/// The authority of a directory, and whether it was made because there was none.
fn authority(directory: &Path) -> Result<(Authority, bool)> {
    let (certificate, key) = (directory.join("ca.pem"), directory.join("ca.key"));
    let read =
        |path: &Path| std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()));
    if certificate.exists() || key.exists() {
        return Authority::from_pem(&read(&certificate)?, &read(&key)?)
            .map(|authority| (authority, false))
            .map_err(|why| anyhow!("the authority in {}: {why}", directory.display()));
    }
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let (authority, made) =
        Authority::new(&format!("howdah authority of {host}, {}", jiff::Timestamp::now()), AUTHORITY)
            .map_err(|why| anyhow!("making an authority: {why}"))?;
    write(&certificate, &key, &made)?;
    Ok((authority, true))
}

/// That an authority was made.
fn new_authority(directory: &Path) -> String {
    format!(
        "authority     {}: give it to every client and server\n              {}: keep it here\n",
        directory.join("ca.pem").display(),
        directory.join("ca.key").display()
    )
}

/// The files of a certificate. A name with a slash would lead elsewhere.
fn files(directory: &Path, name: &str) -> Result<(PathBuf, PathBuf)> {
    if name.is_empty() || name.contains('/') || name.starts_with('.') || name == "ca" {
        bail!("{name:?} cannot name a certificate: expected a host name or an address");
    }
    let file = name.replace(':', "_").replace('*', "wildcard");
    Ok((directory.join(format!("{file}.pem")), directory.join(format!("{file}.key"))))
}

fn must_be_new((certificate, key): &(PathBuf, PathBuf)) -> Result<()> {
    for path in [certificate, key] {
        if path.symlink_metadata().is_ok() {
            bail!("{} is there already: remove it first, or choose another directory", path.display());
        }
    }
    Ok(())
}

/// The key first: a certificate without one is of no use.
fn write(certificate: &Path, key: &Path, made: &Made) -> Result<()> {
    for (path, text, mode) in [(key, &made.key, OWNER), (certificate, &made.certificate, ANYBODY)] {
        let step = || format!("writing {}", path.display());
        let mut file = new_file(path, mode).with_context(step)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).with_context(step)?;
    }
    Ok(())
}

fn new_file(path: &Path, mode: u32) -> Result<File> {
    match OpenOptions::new().write(true).create_new(true).mode(mode).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => bail!("it is there already"),
        outcome => Ok(outcome?),
    }
}

/// The name and the addresses of this host.
fn own_names() -> Result<Vec<String>> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() || name == "(none)" {
        bail!("this host has no name: say which one clients use, with --server NAME");
    }
    let is_shown = |address: &IpAddr| match address {
        IpAddr::V4(_) => true,
        // A link-local address means another host elsewhere.
        IpAddr::V6(address) => !address.is_unicast_link_local(),
    };
    let addresses = own_addresses().into_iter().filter(is_shown).map(|address| address.to_string());
    let local = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let mut names: Vec<String> = std::iter::once(name).chain(local).collect();
    for address in addresses {
        if !names.contains(&address) {
            names.push(address);
        }
    }
    Ok(names)
}

/// What was made, and the commands that use it.
fn next(
    purpose: CertificatePurpose,
    names: &[String],
    directory: &Path,
    certificate: &Path,
    key: &Path,
) -> String {
    let (certificate, key, ca) = (certificate.display(), key.display(), directory.join("ca.pem"));
    let ca = ca.display();
    let mut text = String::new();
    let (word, first) = match purpose {
        CertificatePurpose::Server => ("server", names.join(", ")),
        CertificatePurpose::Client => ("client", names[0].clone()),
    };
    let _ = writeln!(text, "{word:<14}{certificate} and {key}, for {first}");
    let _ = match purpose {
        CertificatePurpose::Server => writeln!(
            text,
            "\nServe with TLS:\n  howdah serve DIR --tls-certificate {certificate} --tls-key {key}\n\
             Require it, and a certificate of each client:\n  … --tls-client-ca {ca} --tls client-certificate\n\
             Copy over it:\n  howdah cp 'nfs://{}/FILE?xprtsec=tls&tlsca={ca}' .\n\
             Mount over it on Linux 6.5 and later (ca.pem named by x509.truststore in /etc/tlshd.conf):\n  \
             mount -t nfs -o xprtsec=tls {}:/ /mnt",
            names[0], names[0]
        ),
        CertificatePurpose::Client => writeln!(
            text,
            "\nCopy with it:\n  howdah cp 'nfs://HOST/FILE?xprtsec=mtls&tlsca={ca}&tlscert={certificate}&tlskey={key}' .\n\
             Mount with it on Linux 6.5 and later (its files named in /etc/tlshd.conf):\n  \
             mount -t nfs -o xprtsec=mtls HOST:/ /mnt"
        ),
    };
    text
}
