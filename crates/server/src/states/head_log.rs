//! The log of a head of a cluster, and the addresses that it serves. Nothing is granted to clients that another head may have
//! taken over.

use std::collections::{BTreeSet, HashSet};
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::locks::Mutex;
use howdah_state::{DurableRecord, Serial};

use super::head_records::HeadRecords;
use super::head_run::HeadRun;
use super::record_file::RecordFile;
use super::record_log::RecordLog;

/// For how long a look at the claims of addresses is believed: less than the grace of a head that takes one over.
const TRUST: Duration = Duration::from_secs(5);

/// The addresses that a head serves.
pub struct HeadAddresses {
    /// What all heads know.
    pub records: HeadRecords,
    /// This process, by which the head goes on.
    run: HeadRun,
    /// Those that move between heads.
    moving: BTreeSet<IpAddr>,
    held: Mutex<HashSet<IpAddr>>,
    /// When it was last seen that no other head has taken one.
    seen: Mutex<Instant>,
    /// For how long that is believed.
    trust: Duration,
}

impl HeadAddresses {
    /// None yet, of those that move between heads. A head that takes one over gives clients at least a lease to reclaim.
    pub fn new(records: HeadRecords, run: HeadRun, moving: BTreeSet<IpAddr>, lease: Duration) -> Self {
        Self {
            records,
            run,
            moving,
            held: Mutex::default(),
            seen: Mutex::new(Instant::now()),
            trust: TRUST.min(lease / 2),
        }
    }

    /// Whether this head is known to serve an address.
    pub fn holds(&self, address: IpAddr) -> bool {
        self.held.lock().contains(&address)
    }

    /// Whether an address moves between heads.
    pub fn moves(&self, address: IpAddr) -> bool {
        self.moving.contains(&address)
    }

    /// This head serves an address, and has taken over its clients.
    pub fn add(&self, address: IpAddr) {
        self.held.lock().insert(address);
    }

    /// Those that another head has taken: this one serves them no more.
    ///
    /// # Errors
    /// It cannot be read who serves them, or another process is this head.
    pub fn lost(&self) -> io::Result<Vec<IpAddr>> {
        let now = Instant::now();
        self.run.beat()?;
        let held: Vec<IpAddr> = self.held.lock().iter().copied().collect();
        let mut lost = Vec::new();
        for address in held {
            if !self.records.is_mine(address)? {
                self.held.lock().remove(&address);
                lost.push(address);
            }
        }
        *self.seen.lock() = now;
        Ok(lost)
    }

    /// Nothing may be granted that another head may have granted to others by now.
    fn must_be_fresh(&self) -> io::Result<()> {
        if self.seen.lock().elapsed() < self.trust {
            return Ok(());
        }
        let what = "it is not known whether another head has taken this one's clients over";
        Err(io::Error::new(ErrorKind::TimedOut, what))
    }

    /// Every address is still this head's.
    fn must_hold_all(&self) -> io::Result<()> {
        let held: Vec<IpAddr> = self.held.lock().iter().copied().collect();
        for address in held {
            if !self.records.is_mine(address)? {
                return Err(io::Error::other(format!("another head has taken over {address}")));
            }
        }
        Ok(())
    }
}

/// The log of a head.
pub struct HeadLog {
    file: RecordFile,
    addresses: Arc<HeadAddresses>,
    /// The last record that named a client or host.
    added: AtomicU64,
    /// Up to this one, clients were recorded while their addresses were this head's: who took one over since then has read of them.
    checked: Mutex<Serial>,
}

impl HeadLog {
    /// The log in this file.
    pub fn new(file: RecordFile, addresses: Arc<HeadAddresses>) -> Self {
        Self { file, addresses, added: AtomicU64::new(0), checked: Mutex::new(Serial(0)) }
    }
}

impl RecordLog for HeadLog {
    fn append(&self, serial: Serial, record: &DurableRecord) {
        self.file.append(serial, record);
        if matches!(record, DurableRecord::AddClient { .. } | DurableRecord::AddHost { .. }) {
            self.added.store(serial.0, Ordering::SeqCst);
        }
    }

    fn wait(&self, serial: Serial, own: Serial) -> io::Result<()> {
        self.file.wait(serial, own)?;
        if serial == Serial(0) {
            return Ok(());
        }
        self.addresses.must_be_fresh()?;
        let mut checked = self.checked.lock();
        let added = Serial(self.added.load(Ordering::SeqCst));
        if *checked < added {
            self.addresses.must_hold_all()?;
            *checked = added.min(serial);
        }
        Ok(())
    }

    fn look(&self) -> io::Result<()> {
        self.file.look()?;
        self.addresses.run.written()
    }
}

#[cfg(test)]
mod tests {
    use howdah_state::Principal;

    use super::super::own_rights::OwnRights;
    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 7));

    struct Head {
        log: HeadLog,
        addresses: Arc<HeadAddresses>,
    }

    fn head(home: &std::path::Path, number: u64, lease: Duration) -> Head {
        let records = HeadRecords::open(&home.join("records"), number, OwnRights::always()).expect("made");
        let (file, _) = records.own().expect("a new file");
        let run = records.begin_run().expect("it is the only one");
        let addresses = Arc::new(HeadAddresses::new(records, run, BTreeSet::from([ADDRESS]), lease));
        Head { log: HeadLog::new(file, Arc::clone(&addresses)), addresses }
    }

    fn client(owner: u8) -> DurableRecord {
        DurableRecord::AddClient {
            owner: [owner].into(),
            principal: Principal::default(),
            server: Some(ADDRESS),
        }
    }

    #[test]
    fn a_client_that_came_after_another_head_took_over_gets_nothing() {
        let home = tempfile::tempdir().expect("a directory");
        let lease = Duration::from_secs(3_600);
        let (one, other) = (head(home.path(), 1, lease), head(home.path(), 2, lease));
        one.addresses.records.take(ADDRESS, None).expect("written");
        one.addresses.add(ADDRESS);
        one.log.append(Serial(1), &client(1));
        one.log.wait(Serial(1), Serial(1)).expect("it is the head's");
        other.addresses.records.take(ADDRESS, None).expect("written");
        one.log.wait(Serial(1), Serial(1)).expect("this client is in the records that the other head reads");
        one.log.append(Serial(2), &client(2));
        assert!(
            one.log.wait(Serial(2), Serial(2)).is_err_and(|error| error.to_string().contains("taken over"))
        );
        assert_eq!(one.addresses.lost().expect("read"), [ADDRESS]);
        assert!(!one.addresses.holds(ADDRESS));
    }

    #[test]
    fn a_head_that_cannot_look_grants_nothing() {
        let home = tempfile::tempdir().expect("a directory");
        let one = head(home.path(), 1, Duration::ZERO);
        one.log.append(Serial(1), &client(1));
        one.log.wait(Serial(0), Serial(0)).expect("nothing is granted");
        assert_eq!(
            one.log.wait(Serial(1), Serial(1)).map_err(|error| error.kind()),
            Err(ErrorKind::TimedOut)
        );
    }
}
