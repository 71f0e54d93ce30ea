//! Certificates, keys and authorities from files of PEM.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};

/// A file that does not hold what it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// Which file.
    pub path: PathBuf,
    /// What is wrong.
    pub why: String,
}

impl FileError {
    pub(crate) fn new(path: &Path, why: String) -> Self {
        Self { path: path.to_owned(), why }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for FileError {}

/// All certificates of a file, at least one.
pub fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, FileError> {
    all(path, "certificate")
}

/// All PEM items of one kind in a file, at least one. `what` names the kind in an error.
fn all<T: PemObject>(path: &Path, what: &str) -> Result<Vec<T>, FileError> {
    let read = T::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.and_then(|list| if list.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(list) });
    read.map_err(|error| FileError::new(path, in_words(&error, what)))
}

/// The private key of a file.
pub fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, FileError> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| FileError::new(path, in_words(&error, "private key")))
}

/// The authorities of these files.
pub fn authorities(paths: &[PathBuf]) -> Result<RootCertStore, FileError> {
    let mut store = RootCertStore::empty();
    for path in paths {
        for certificate in certificates(path)? {
            store.add(certificate).map_err(|error| {
                FileError::new(path, format!("it is no certificate of an authority: {error}"))
            })?;
        }
    }
    Ok(store)
}

/// The revocation lists of these files, at least one in each.
pub fn revocations(paths: &[PathBuf]) -> Result<Vec<CertificateRevocationListDer<'static>>, FileError> {
    let lists = paths.iter().map(|path| all(path, "list of revoked certificates"));
    Ok(lists.collect::<Result<Vec<_>, _>>()?.concat())
}

fn in_words(error: &pem::Error, what: &str) -> String {
    match error {
        pem::Error::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            "there is no such file".to_owned()
        }
        pem::Error::Io(error) => error.to_string(),
        pem::Error::NoItemsFound => format!("it contains no {what} in PEM (-----BEGIN ...)"),
        other => format!("reading PEM: {other}"),
    }
}
