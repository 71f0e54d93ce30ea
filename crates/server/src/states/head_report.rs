//! What a head says of itself to viewers of the cluster: `heads/HEAD/report`, and what is found of all heads.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::net::IpAddr;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::head_run::NAME as RUNNING;
use super::private_files::private_file;

const NAME: &str = "report";
const NEW_NAME: &str = "report.new";

/// What a head says of itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HeadReport {
    /// The name of its host.
    pub host: String,
    /// Who is connected, the busiest first.
    pub clients: Vec<HeadClient>,
    /// How many more there are than are named.
    pub more_clients: usize,
}

/// A client of a head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeadClient {
    /// Its address.
    pub client: IpAddr,
    /// The address that it calls.
    pub server: IpAddr,
    /// TCP connections.
    pub connections: usize,
    /// Bytes per second that leave the head.
    pub sent_per_second: f64,
    /// Bytes per second that come.
    pub received_per_second: f64,
    /// What limits the busiest of them; `idle` if nothing does.
    pub verdict: String,
}

/// A head as its records show it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeenHead {
    /// Its number.
    pub head: String,
    /// Addresses that it serves.
    pub addresses: Vec<IpAddr>,
    /// What it wrote last to say that it lives; `None` after it stopped.
    #[serde(skip)]
    pub beat: Option<String>,
    /// What it says of itself.
    pub report: Option<HeadReport>,
}

impl HeadReport {
    /// Leaves it where others read it: not durable, since it is of now.
    pub(super) fn write(&self, head: &Path) -> io::Result<()> {
        let new = head.join(NEW_NAME);
        private_file(&new)?.write_all(&serde_json::to_vec(self)?)?;
        fs::rename(new, head.join(NAME))
    }
}

/// All heads whose records are in this directory, by their numbers.
///
/// # Errors
/// It holds no records of heads, or they cannot be read.
pub fn seen_heads(records: &Path) -> io::Result<Vec<SeenHead>> {
    let mut addresses: BTreeMap<String, Vec<IpAddr>> = BTreeMap::new();
    for entry in fs::read_dir(records.join("addresses"))? {
        let entry = entry?;
        // A claim that is being written has a name that is no address.
        let Some(address) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let claim = fs::read_to_string(entry.path())?;
        let head = claim.split_whitespace().next().unwrap_or_default();
        addresses.entry(head.to_owned()).or_default().push(address);
    }
    let mut seen = Vec::new();
    for entry in fs::read_dir(records.join("heads"))? {
        let (directory, head) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        let head = head.to_string_lossy().into_owned();
        let report = read(&directory.join(NAME))?;
        seen.push(SeenHead {
            addresses: addresses.remove(&head).unwrap_or_default(),
            beat: read(&directory.join(RUNNING))?,
            report: report.and_then(|text| serde_json::from_str(&text).ok()),
            head,
        });
    }
    seen.sort_by(|one, other| one.head.cmp(&other.head));
    Ok(seen)
}

fn read(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        text => text.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::super::head_records::HeadRecords;
    use super::super::own_rights::OwnRights;
    use super::*;

    #[test]
    fn all_heads_are_seen_with_what_they_serve() {
        let home = tempfile::tempdir().expect("a directory");
        let head = |number| {
            HeadRecords::open(&home.path().join("records"), number, OwnRights::always()).expect("made")
        };
        let (one, other) = (head(1), head(2));
        let address = IpAddr::from([192, 0, 2, 1]);
        other.take(address, None).expect("written");
        let run = other.begin_run().expect("it is the only one");
        let client = HeadClient {
            client: [192, 0, 2, 9].into(),
            server: address,
            connections: 2,
            sent_per_second: 1e6,
            received_per_second: 0.0,
            verdict: "idle".into(),
        };
        let report = HeadReport { host: "b".into(), clients: vec![client], more_clients: 0 };
        other.publish(&report).expect("written");
        let seen = seen_heads(&home.path().join("records")).expect("read");
        let [first, second] = &seen[..] else { panic!("{seen:?}") };
        assert_eq!((&first.addresses[..], &first.beat, &first.report), (&[][..], &None, &None));
        assert_eq!((&second.addresses[..], second.report.as_ref()), (&[address][..], Some(&report)));
        run.beat().expect("it lives");
        assert_ne!(
            seen_heads(&home.path().join("records")).expect("read")[1].beat,
            second.beat,
            "each beat is another one"
        );
        drop(run);
        assert_eq!(seen_heads(&home.path().join("records")).expect("read")[1].beat, None);
        drop(one);
    }
}
