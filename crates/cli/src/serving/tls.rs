//! The certificate of a server: read at its start, again when it is told to or the files change, and watched for its end.

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use howdah_tls::{CertificateFacts, ServerFiles, ServerTls};

/// How often it is looked whether the files changed.
const LOOK: Duration = Duration::from_secs(60);
/// How often the log tells that the certificate ends soon.
const TELLING: Duration = Duration::from_secs(86_400);
/// How long before its end it is told.
pub const SOON: Duration = Duration::from_secs(30 * 86_400);

/// The certificate, its files, and what was seen of them.
pub struct Certificate {
    tls: ServerTls,
    files: ServerFiles,
    changed: Vec<Option<SystemTime>>,
    looked: Instant,
    told: Option<Instant>,
}

impl Certificate {
    /// Reads the files.
    pub fn read(files: &ServerFiles) -> Result<Self> {
        let changed = times(files);
        let tls = ServerTls::read(files).context("reading what TLS needs")?;
        let certificate = Self { tls, files: files.clone(), changed, looked: Instant::now(), told: None };
        certificate.log("TLS is offered");
        Ok(certificate)
    }

    /// For connections.
    pub fn tls(&self) -> ServerTls {
        self.tls.clone()
    }

    /// Reads the files again; if they are no good, all stays as it was.
    pub fn renew(&mut self) -> Result<()> {
        self.changed = times(&self.files);
        self.tls.renew(&self.files).context("reading what TLS needs")?;
        self.told = None;
        self.log("the TLS certificate was read again");
        Ok(())
    }

    /// Reads the files again if they changed, and tells if the certificate ends soon: to be called often.
    pub fn look(&mut self) {
        if self.looked.elapsed() < LOOK {
            return;
        }
        self.looked = Instant::now();
        // A file that is being written is read when it has been left alone for a while.
        let now = times(&self.files);
        let is_at_rest =
            now.iter().flatten().all(|time| time.elapsed().is_ok_and(|age| age > Duration::from_secs(1)));
        if now != self.changed && is_at_rest {
            if let Err(error) = self.renew() {
                tracing::error!(
                    "the files of TLS changed and are no good; the old certificate stays: {error:#}"
                );
            }
        }
        let warning = self.facts().and_then(|facts| ending(&facts, SystemTime::now()));
        if let Some(warning) = warning.filter(|_| self.told.is_none_or(|told| told.elapsed() >= TELLING)) {
            self.told = Some(Instant::now());
            tracing::warn!("{warning}");
        }
    }

    fn facts(&self) -> Option<CertificateFacts> {
        self.tls.facts().into_iter().next()
    }

    fn log(&self, what: &str) {
        let Some(facts) = self.facts() else { return };
        let left = facts
            .left(SystemTime::now())
            .map_or_else(|| "expired".to_owned(), |left| format!("{} left", days(left)));
        let names = facts.names.join(", ");
        tracing::info!(
            names,
            subject = facts.subject,
            validity = left,
            clients_asked = self.tls.asks_clients(),
            "{what}"
        );
    }
}

/// What a person should know of a certificate that ends soon, or has ended.
pub fn ending(facts: &CertificateFacts, now: SystemTime) -> Option<String> {
    let name = facts.names.first().unwrap_or(&facts.subject);
    match facts.left(now) {
        None => Some(format!(
            "the TLS certificate for {name} has expired: clients refuse it; replace its file, which is read within a minute"
        )),
        Some(left) if left < SOON => Some(format!(
            "the TLS certificate for {name} expires in {}; replace its file, which is read within a minute",
            days(left)
        )),
        Some(_) => None,
    }
}

fn days(left: Duration) -> String {
    match left.as_secs() / 86_400 {
        0 => "less than a day".to_owned(),
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    }
}

/// When the files were last changed; links are followed, since some systems replace those.
fn times(files: &ServerFiles) -> Vec<Option<SystemTime>> {
    let all = [&files.certificate, &files.key].into_iter().chain(&files.authorities);
    let time = |path: &PathBuf| path.metadata().and_then(|file| file.modified()).ok();
    all.map(time).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_told_in_time() {
        let now = SystemTime::now();
        let second = |time: SystemTime| {
            time.duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs() as i64
        };
        let facts = |left: u64| CertificateFacts {
            subject: "CN=a".to_owned(),
            names: vec!["a.test".to_owned()],
            not_before: 0,
            not_after: second(now) + left as i64,
        };
        assert_eq!(ending(&facts(31 * 86_400), now), None);
        let soon = ending(&facts(29 * 86_400), now).expect("soon");
        assert!(soon.starts_with("the TLS certificate for a.test expires in 29 days"), "{soon}");
        let over = CertificateFacts { not_after: second(now) - 1, ..facts(0) };
        assert!(ending(&over, now).is_some_and(|told| told.contains("has expired")));
    }
}
