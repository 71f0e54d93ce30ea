//! The certificate of a server: read at its start, again on a reload or when the files change, and watched for its end.

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use howdah_tls::{CertificateFacts, ServerFiles, ServerTls};

use howdah_config::{days, ending};

/// How often it is looked whether the files changed.
const LOOK: Duration = Duration::from_secs(60);
/// How often the log says that the certificate ends soon.
const TELLING: Duration = Duration::from_secs(86_400);

/// The certificate, its files, and what was seen of them.
pub struct ServedCertificate {
    tls: ServerTls,
    files: ServerFiles,
    changed: Vec<Option<SystemTime>>,
    looked: Instant,
    warned: Option<Instant>,
}

impl ServedCertificate {
    /// Reads the files.
    pub fn read(files: &ServerFiles) -> Result<Self> {
        let changed = times(files);
        let tls = ServerTls::read(files).context("reading what TLS needs")?;
        let certificate = Self { tls, files: files.clone(), changed, looked: Instant::now(), warned: None };
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
        self.warned = None;
        self.log("the TLS certificate was read again");
        Ok(())
    }

    /// Reads the files again if they changed, and warns if the certificate ends soon: to be called often.
    pub fn look(&mut self) {
        if self.looked.elapsed() < LOOK {
            return;
        }
        self.looked = Instant::now();
        // A file that is being written is read when it has been left alone for a while.
        let now = times(&self.files);
        let is_at_rest =
            now.iter().flatten().all(|time| time.elapsed().is_ok_and(|age| age > Duration::from_secs(1)));
        if now != self.changed
            && is_at_rest
            && let Err(error) = self.renew()
        {
            tracing::error!("the new TLS files are not valid; the old certificate stays: {error:#}");
        }
        let warning = self.facts().and_then(|facts| ending(&facts, SystemTime::now()));
        if let Some(warning) =
            warning.filter(|_| self.warned.is_none_or(|warned| warned.elapsed() >= TELLING))
        {
            self.warned = Some(Instant::now());
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

/// When the files were last changed; links are followed, since some systems replace those.
fn times(files: &ServerFiles) -> Vec<Option<SystemTime>> {
    let time = |path: &PathBuf| path.metadata().and_then(|file| file.modified()).ok();
    files.paths().map(time).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use howdah_tls::{Authority, CertificatePurpose};

    use super::*;

    #[test]
    fn files_that_changed_are_read_again_once_they_are_whole() {
        let home = tempfile::tempdir().expect("a directory");
        let day = Duration::from_secs(86_400);
        let (authority, _) = Authority::new("test", day).expect("an authority");
        let path = |name: &str| home.path().join(name);
        let put = |name: &str, age: Duration| {
            let made = authority.issue(CertificatePurpose::Server, &[name.to_owned()], day).expect("issued");
            for (file, text) in [("pem", made.certificate), ("key", made.key)] {
                fs::write(path(file), text).expect("written");
                let file = File::options().write(true).open(path(file)).expect("there");
                file.set_modified(SystemTime::now() - age).expect("a time");
            }
        };
        put("a.test", Duration::from_secs(100));
        let files = ServerFiles {
            certificate: path("pem"),
            key: path("key"),
            authorities: Vec::new(),
            revocations: Vec::new(),
        };
        let mut certificate = ServedCertificate::read(&files).expect("good files");
        let look = |certificate: &mut ServedCertificate| {
            certificate.looked = Instant::now().checked_sub(LOOK).expect("the machine runs for a minute");
            certificate.look();
            certificate.facts().map(|facts| facts.names)
        };
        assert_eq!(look(&mut certificate), Some(vec!["a.test".to_owned()]));
        put("b.test", Duration::ZERO);
        assert_eq!(look(&mut certificate), Some(vec!["a.test".to_owned()]), "somebody still writes");
        put("b.test", Duration::from_secs(10));
        assert_eq!(look(&mut certificate), Some(vec!["b.test".to_owned()]));
        fs::write(path("key"), "no key").expect("written");
        File::options()
            .write(true)
            .open(path("key"))
            .expect("there")
            .set_modified(SystemTime::now() - LOOK)
            .expect("a time");
        assert_eq!(look(&mut certificate), Some(vec!["b.test".to_owned()]), "it stays");
    }
}
