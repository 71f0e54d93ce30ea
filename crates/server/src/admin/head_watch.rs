//! All heads of the cluster as their records show them. Records are on the cluster file system: they are read on a
//! thread beside the admin interface's own, so that a file system that does not answer keeps nobody waiting.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::locks::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use crate::states::{HeadClient, SeenHead, ServingHead, States};

/// How long the records have to be read, so that the answer is of now.
const PATIENCE: Duration = Duration::from_millis(500);

/// A head that writes nothing for so long is down: it writes each second that it lives.
const SILENCE: Duration = Duration::from_secs(4);

/// All heads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterHeads {
    /// By their numbers; none if this server shares no records with others.
    pub heads: Vec<ShownHead>,
    /// False if the records could not be read just now: heads are as they were last seen.
    pub is_current: bool,
}

/// A head.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShownHead {
    /// Its number, in hexadecimal digits.
    pub head: String,
    /// Whether it is the one that answers.
    pub is_this: bool,
    /// `up`, `stopped` (in order), `down` (silent for 4 s), or `unknown` (this server began to look less than 4 s ago).
    pub state: String,
    /// The name of its host.
    pub host: Option<String>,
    /// Addresses that it serves.
    pub addresses: Vec<IpAddr>,
    /// Who is connected, the busiest first; empty unless it is up.
    pub clients: Vec<HeadClient>,
    /// How many more there are.
    pub more_clients: usize,
}

/// What was seen of heads.
#[derive(Debug, Default)]
pub struct HeadWatch(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    last: Vec<ShownHead>,
    /// What each head wrote last to say that it lives, when this was first seen, and whether it followed another.
    beats: BTreeMap<String, (String, Instant, bool)>,
    is_asked: bool,
    failed: bool,
}

impl HeadWatch {
    /// All heads, as they are now.
    pub async fn look(self: &Arc<Self>, states: &Arc<States>) -> ClusterHeads {
        if let Some(reading) = self.read(states) {
            // A late answer is shown in the next reply.
            let _ = timeout(PATIENCE, reading).await;
        }
        let seen = self.0.lock();
        ClusterHeads { heads: seen.last.clone(), is_current: !seen.is_asked && !seen.failed }
    }

    /// Reads the records, unless they are being read.
    fn read(self: &Arc<Self>, states: &Arc<States>) -> Option<JoinHandle<()>> {
        if std::mem::replace(&mut self.0.lock().is_asked, true) {
            return None;
        }
        let (watch, states) = (Arc::clone(self), Arc::clone(states));
        Some(spawn_blocking(move || {
            let cluster = states.cluster();
            let read = cluster.map_or_else(|| Ok(Vec::new()), ServingHead::seen_heads);
            let mut seen = watch.0.lock();
            seen.is_asked = false;
            seen.failed = read.is_err();
            if let Ok(heads) = read {
                seen.take_in(heads, cluster.map_or("", ServingHead::name), Instant::now());
            }
        }))
    }
}

impl Seen {
    fn take_in(&mut self, heads: Vec<SeenHead>, this: &str, now: Instant) {
        self.beats.retain(|head, _| heads.iter().any(|seen| seen.head == *head));
        self.last = heads.into_iter().map(|head| self.judge(head, this, now)).collect();
    }

    fn judge(&mut self, seen: SeenHead, this: &str, now: Instant) -> ShownHead {
        let is_this = seen.head == this;
        let state = match seen.beat {
            _ if is_this => "up",
            None => {
                self.beats.remove(&seen.head);
                "stopped"
            }
            Some(beat) => self.judge_beat(&seen.head, beat, now),
        };
        let report = seen.report.unwrap_or_default();
        let (clients, more_clients) = match state {
            "up" => (report.clients, report.more_clients),
            _ => (Vec::new(), 0),
        };
        let host = Some(report.host).filter(|host| !host.is_empty());
        let state = state.to_owned();
        ShownHead { head: seen.head, is_this, state, host, addresses: seen.addresses, clients, more_clients }
    }

    fn judge_beat(&mut self, head: &str, beat: String, now: Instant) -> &'static str {
        let known = self.beats.get(head);
        if known.is_none_or(|(last, ..)| *last != beat) {
            let follows = known.is_some();
            self.beats.insert(head.to_owned(), (beat, now, follows));
            return if follows { "up" } else { "unknown" };
        }
        match known {
            Some((_, since, _)) if now.saturating_duration_since(*since) >= SILENCE => "down",
            Some((.., true)) => "up",
            _ => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::HeadReport;

    fn head(beat: Option<&str>) -> SeenHead {
        let report = HeadReport { host: "nfs2".into(), clients: Vec::new(), more_clients: 7 };
        SeenHead {
            head: "2".into(),
            addresses: vec![[192, 0, 2, 1].into()],
            beat: beat.map(str::to_owned),
            report: Some(report),
        }
    }

    #[test]
    fn a_head_is_judged_by_what_it_writes() {
        let (mut seen, start) = (Seen::default(), Instant::now());
        for (seconds, beat, state) in [
            (0, Some("1"), "unknown"),
            (3, Some("1"), "unknown"),
            (4, Some("1"), "down"),
            (5, Some("2"), "up"),
            (6, Some("2"), "up"),
            (9, Some("2"), "down"),
            (10, None, "stopped"),
            (11, Some("3"), "unknown"),
        ] {
            seen.take_in(vec![head(beat)], "1", start + Duration::from_secs(seconds));
            let [found] = &seen.last[..] else { panic!("one head") };
            assert_eq!(found.state, state, "after {seconds} s");
            assert_eq!(found.more_clients, if state == "up" { 7 } else { 0 });
            assert!(!found.is_this && found.host.as_deref() == Some("nfs2"));
        }
        seen.take_in(vec![head(Some("3"))], "2", start);
        assert_eq!((seen.last[0].state.as_str(), seen.last[0].is_this), ("up", true));
        seen.take_in(Vec::new(), "2", start);
        assert!(seen.last.is_empty() && seen.beats.is_empty());
    }
}
