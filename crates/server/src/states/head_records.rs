//! Where the heads of a cluster keep what they know of their clients, each where the others can read it: a directory on the cluster
//! file system. `heads/HEAD/clients.log` holds the records of a head, `addresses/ADDRESS` says which head serves an address.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use howdah_state::RecoveryRecords;

use super::head_report::{HeadReport, SeenHead, seen_heads};
use super::head_run::HeadRun;
use super::head_settings::HeadSettings;
use super::lock_hosts::LockHost;
use super::own_rights::OwnRights;
use super::private_files::{private_directory, private_file, private_part};
use super::record_file::{RecordFile, read_records};

/// Where the heads of a cluster keep what they know of their clients.
#[derive(Debug, Clone)]
pub struct HeadRecords {
    directory: PathBuf,
    head: String,
    rights: OwnRights,
}

/// Which head serves an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressClaim {
    /// The head.
    pub head: String,
    /// The head before it whose clients it has not taken over yet.
    pub from: Option<String>,
}

impl HeadRecords {
    /// The records of this head, which has a number of its own, and of those, in this directory. It is made if it is not there.
    ///
    /// # Errors
    /// It cannot be made, or another user can change it.
    pub fn open(directory: &Path, head: u64, rights: OwnRights) -> io::Result<Self> {
        let records = Self { directory: directory.to_owned(), head: format!("{head:016x}"), rights };
        private_directory(directory)?;
        for part in [records.addresses(), directory.join("heads"), records.of_head(&records.head)] {
            private_part(&part)?;
        }
        Ok(records)
    }

    /// This process is the head from now on.
    ///
    /// # Errors
    /// Another process that lives is, or it cannot be read or written.
    pub fn begin_run(&self) -> io::Result<HeadRun> {
        HeadRun::begin(&self.of_head(&self.head))
    }

    /// Publishes what this head does, for viewers of the cluster.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn publish(&self, report: &HeadReport) -> io::Result<()> {
        report.write(&self.of_head(&self.head))
    }

    /// All heads whose records are in the directory.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn seen(&self) -> io::Result<Vec<SeenHead>> {
        self.rights.run(|| seen_heads(&self.directory))
    }

    /// The number of this head, in hexadecimal digits.
    pub fn head(&self) -> &str {
        &self.head
    }

    /// Compares what all heads must have alike, before anything else is written.
    ///
    /// # Errors
    /// Another head has something else, or it cannot be read or written.
    pub fn agree(&self, settings: &HeadSettings) -> io::Result<()> {
        settings.agree(&self.directory.join("heads"), &self.head)
    }

    /// This head's own records, without those of clients whose address another head serves now.
    ///
    /// # Errors
    /// They cannot be read or written.
    pub fn own(&self) -> io::Result<(RecordFile, RecoveryRecords)> {
        let directory = self.of_head(&self.head);
        let mut records = read_records(&directory)?;
        let hosts = records.earlier_hosts().chain(records.present_hosts());
        let mut called: Vec<IpAddr> = hosts.filter_map(|host| Some(LockHost::parse(host)?.server)).collect();
        called.extend(records.servers());
        let mut gone = Vec::new();
        for address in called {
            if self.claim(address)?.is_some_and(|claim| claim.head != self.head) {
                gone.push(address);
            }
        }
        records.leave(|address| gone.contains(&address), |host| gone.iter().any(|gone| calls(host, *gone)));
        Ok((RecordFile::begin(&directory, &records, self.rights)?, records))
    }

    /// What another head left.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(&self, head: &str) -> io::Result<RecoveryRecords> {
        self.rights.run(|| read_records(&self.of_head(head)))
    }

    /// Which head serves an address; `None` before the first one does.
    ///
    /// # Errors
    /// It cannot be read, or says something else.
    pub fn claim(&self, address: IpAddr) -> io::Result<Option<AddressClaim>> {
        let path = self.addresses().join(address.to_string());
        let text = match self.rights.run(|| fs::read_to_string(&path)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let [head, from] = match *words {
            [head] => [head, ""],
            [head, "from", from] => [head, from],
            _ => [""; 2],
        };
        let is_head = |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_head(head) || !(from.is_empty() || is_head(from)) {
            let what = format!("{}: no head is named there; remove the file", path.display());
            return Err(io::Error::new(ErrorKind::InvalidData, what));
        }
        Ok(Some(AddressClaim { head: head.to_owned(), from: (!from.is_empty()).then(|| from.to_owned()) }))
    }

    /// Whether this head serves an address, as far as all heads know.
    ///
    /// # Errors
    /// As [`Self::claim`].
    pub fn is_mine(&self, address: IpAddr) -> io::Result<bool> {
        Ok(self.claim(address)?.is_some_and(|claim| claim.head == self.head))
    }

    /// From now on this head serves an address. `from`: it has yet to take over the clients of that one. Durable when this returns.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn take(&self, address: IpAddr, from: Option<&str>) -> io::Result<()> {
        self.rights.run(|| self.write_claim(address, from))
    }

    fn write_claim(&self, address: IpAddr, from: Option<&str>) -> io::Result<()> {
        let directory = self.addresses();
        let new = directory.join(format!("{address}.{}", self.head));
        let mut file = private_file(&new)?;
        let from = from.map_or_else(String::new, |from| format!(" from {from}"));
        writeln!(file, "{}{from}", self.head)?;
        file.sync_all()?;
        fs::rename(&new, directory.join(address.to_string()))?;
        File::open(&directory)?.sync_all()
    }

    /// The head before this one of whose clients nothing was taken over yet, if there is one.
    ///
    /// # Errors
    /// As [`Self::claim`].
    pub fn predecessor(&self, address: IpAddr) -> io::Result<Option<String>> {
        let claim = self.claim(address)?;
        Ok(claim.and_then(|claim| if claim.head == self.head { claim.from } else { Some(claim.head) }))
    }

    fn addresses(&self) -> PathBuf {
        self.directory.join("addresses")
    }

    fn of_head(&self, head: &str) -> PathBuf {
        self.directory.join("heads").join(head)
    }
}

/// Whether an NLM host, as it is remembered, calls this address.
pub fn calls(host: &[u8], address: IpAddr) -> bool {
    LockHost::parse(host).is_some_and(|host| host.server == address)
}

#[cfg(test)]
mod tests {
    use howdah_state::{DurableRecord, Principal, Serial};

    use super::super::record_log::RecordLog;
    use super::*;

    fn address(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    fn client(owner: u8, server: IpAddr) -> DurableRecord {
        DurableRecord::AddClient {
            owner: [owner].into(),
            principal: Principal::default(),
            server: Some(server),
        }
    }

    #[test]
    fn an_address_is_one_heads_until_another_takes_it() {
        let home = tempfile::tempdir().expect("a directory");
        let head = |number| {
            HeadRecords::open(&home.path().join("records"), number, OwnRights::always()).expect("made")
        };
        let (one, other) = (head(1), head(2));
        assert_eq!(one.predecessor(address(7)).expect("read"), None);
        one.take(address(7), None).expect("written");
        assert!(one.is_mine(address(7)).expect("read") && !other.is_mine(address(7)).expect("read"));
        assert_eq!(one.predecessor(address(7)).expect("read"), None);
        let before = other.predecessor(address(7)).expect("read").expect("one has it");
        other.take(address(7), Some(&before)).expect("written");
        assert!(!one.is_mine(address(7)).expect("read"));
        // A head that died meanwhile takes the clients over when it is back.
        assert_eq!(head(2).predecessor(address(7)).expect("read"), Some(before));
        other.take(address(7), None).expect("written");
        assert_eq!(head(2).predecessor(address(7)).expect("read"), None);
        fs::write(home.path().join("records/addresses/192.0.2.7"), "else").expect("written");
        assert!(one.claim(address(7)).is_err_and(|error| error.to_string().contains("remove the file")));
    }

    #[test]
    fn a_head_forgets_at_its_start_who_went_to_another() {
        let home = tempfile::tempdir().expect("a directory");
        let head = |number| {
            HeadRecords::open(&home.path().join("records"), number, OwnRights::always()).expect("made")
        };
        let one = head(1);
        let (file, _) = one.own().expect("a new file");
        file.append(Serial(1), &client(1, address(7)));
        file.append(Serial(2), &client(2, address(8)));
        file.append(Serial(3), &DurableRecord::AddHost { host: b"192.0.2.9 192.0.2.7 h".as_slice().into() });
        file.wait(Serial(3), Serial(3)).expect("durable");
        drop(file);
        for last in [7, 8] {
            one.take(address(last), None).expect("written");
        }
        head(2).take(address(7), Some(&one.head)).expect("written");
        assert_eq!(head(2).of(&one.head).expect("read").present_hosts().count(), 1);
        let (_, records) = one.own().expect("the file");
        assert_eq!(records.present_clients().collect::<Vec<_>>(), [[2]]);
        assert_eq!(records.present_hosts().count(), 0);
    }
}
