//! Whose journal it is: a file in its directory, written when it is made.

use rustix::rand::{GetRandomFlags, getrandom};

use super::disk::JournalDisk;
use super::error::JournalError;
use super::fields::Fields;
use super::segments;

/// The file, and what it is called until it is complete.
const FILE: &str = "identity";
const NEW_FILE: &str = "identity.new";
/// The version of the form of all files.
const FORMAT: u32 = 1;
/// The field with the version of NFS.
const VERSION: &str = "version";

/// Whose changes a journal holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalIdentity {
    /// The server that they are for.
    pub server: String,
    /// Its export.
    pub export: String,
    /// The user who mounted it.
    pub user: String,
    /// The host that wrote the journal.
    pub host: String,
    /// The version of NFS by which files of the server got the handles in it. None: it is not known, as in journals of older versions.
    pub version: Option<u32>,
}

impl JournalIdentity {
    fn fields(&self, id: &[u8; 16]) -> Fields {
        let mut fields = Fields::default();
        fields.set("format", FORMAT.to_string().as_bytes());
        fields.set("id", id);
        for (name, value) in self.owner().into_iter().chain([("host", &self.host)]) {
            fields.set(name, value.as_bytes());
        }
        if let Some(version) = self.version {
            fields.set(VERSION, version.to_string().as_bytes());
        }
        fields
    }

    fn owner(&self) -> [(&'static str, &String); 3] {
        [("server", &self.server), ("export", &self.export), ("user", &self.user)]
    }
}

/// Whose journal it is.
pub(super) fn read(disk: &dyn JournalDisk) -> Result<JournalIdentity, JournalError> {
    let path = disk.path(FILE);
    let bytes = disk.open(FILE).and_then(|file| file.read());
    let bytes = bytes.map_err(JournalError::disk("reading", &path))?;
    let fields = Fields::parse(&bytes);
    let text = |name| Some(fields.as_ref()?.text(name)?.to_owned());
    let identity = || {
        let (server, export) = (text("server")?, text("export")?);
        let version = fields.as_ref().and_then(version);
        Some(JournalIdentity { server, export, user: text("user")?, host: text("host")?, version })
    };
    identity().ok_or(JournalError::Unidentified { path })
}

fn version(fields: &Fields) -> Option<u32> {
    fields.text(VERSION)?.parse().ok()
}

/// Its id, and the version of NFS that its handles are of.
pub(super) type Checked = ([u8; 16], Option<u32>);

/// Checks that a journal is this one's, or makes it so if there is none; `adopt` takes that of another host.
pub(super) fn check(
    disk: &dyn JournalDisk,
    identity: &JournalIdentity,
    adopt: bool,
) -> Result<Checked, JournalError> {
    let path = disk.path(FILE);
    let names = disk.list().map_err(JournalError::disk("listing", &disk.path("")))?;
    let unidentified = || JournalError::Unidentified { path: path.clone() };
    if !names.iter().any(|name| name == FILE) {
        let has_records = names.iter().any(|name| segments::number(name).is_some());
        return if has_records && !adopt { Err(unidentified()) } else { make(disk, identity) };
    }
    let bytes = disk.open(FILE).and_then(|file| file.read());
    let bytes = bytes.map_err(JournalError::disk("reading", &path))?;
    let Some(fields) = Fields::parse(&bytes) else {
        return if adopt { make(disk, identity) } else { Err(unidentified()) };
    };
    match fields.text("format").and_then(|format| format.parse::<u32>().ok()) {
        Some(FORMAT) => {}
        Some(_) => return Err(JournalError::Newer { path }),
        None => return Err(unidentified()),
    }
    for (field, wanted) in identity.owner() {
        let found = fields.text(field).unwrap_or_default().to_owned();
        if found != *wanted {
            return Err(JournalError::OtherOwner { path, field, found });
        }
    }
    let id = fields.bytes("id").and_then(|id| id.try_into().ok()).ok_or_else(unidentified)?;
    let (found, version) = (fields.text("host").unwrap_or_default().to_owned(), version(&fields));
    match found == identity.host {
        true => Ok((id, version)),
        false if adopt => {
            write(disk, &JournalIdentity { version, ..identity.clone() }.fields(&id))?;
            Ok((id, version))
        }
        false => Err(JournalError::OtherHost { path, found }),
    }
}

/// Checks that records of this version of NFS may follow those in a journal. Without any, it is of this version from now on.
pub(super) fn check_version(
    disk: &dyn JournalDisk,
    identity: &JournalIdentity,
    (id, found): Checked,
    is_empty: bool,
) -> Result<(), JournalError> {
    match found {
        _ if identity.version.is_none() || found == identity.version => Ok(()),
        Some(found) if !is_empty => Err(JournalError::OtherVersion { path: disk.path(FILE), found }),
        None if !is_empty => Ok(()),
        _ => write(disk, &identity.fields(&id)),
    }
}

fn make(disk: &dyn JournalDisk, identity: &JournalIdentity) -> Result<Checked, JournalError> {
    let mut id = [0; 16];
    let drawn = getrandom(&mut id, GetRandomFlags::empty());
    drawn.map_err(|cause| JournalError::disk("drawing an id for", &disk.path(""))(cause.into()))?;
    write(disk, &identity.fields(&id))?;
    Ok((id, identity.version))
}

fn write(disk: &dyn JournalDisk, fields: &Fields) -> Result<(), JournalError> {
    let bytes = fields.to_bytes();
    let replace = || {
        if disk.list()?.iter().any(|name| name == NEW_FILE) {
            disk.remove(NEW_FILE)?;
        }
        let file = disk.create(NEW_FILE, bytes.len() as u64)?;
        file.write_at(0, &mut [std::io::IoSlice::new(&bytes)])?;
        file.sync()?;
        disk.rename(NEW_FILE, FILE)?;
        disk.sync_names()
    };
    replace().map_err(JournalError::disk("writing", &disk.path(FILE)))
}
