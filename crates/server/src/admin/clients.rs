//! `GET /v1/clients`: who is connected and what limits each, the busiest first. The connections of a client (lanes, nconnect)
//! that the same thing limits stand together.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use howdah_state::ClientView;
use howdah_tune::Verdict;

use super::asked::Asked;
use super::client::{Client, Clients, Group, Lane, Recent};
use crate::caps::{CapReport, show_bytes, show_calls};
use crate::room::one_client;
use crate::shared::Shared;
use crate::tuning::{ConnectionReport, report};

/// A verdict that is older than this tells nothing of now: a connection that moves something is judged more often, but for
/// a round trip of some seconds.
const STALE_SECONDS: f64 = 3.0;
/// Round trips between two looks at a connection that moves something, with some to spare.
const ROUND_TRIPS: f64 = 8.0;
/// The word for connections that nothing limits.
const IDLE: &str = "idle";
/// Bytes per second from which on a connection moves something.
const MOVING: f64 = 1_000.0;

/// What a connection is used for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moves {
    Nothing,
    Reads,
    Writes,
}

/// Tells it as it is now.
pub async fn clients(State(asked): State<Arc<Asked>>) -> Json<Clients> {
    let recents = recents(&asked);
    let mut clients: BTreeMap<IpAddr, Vec<ConnectionReport>> = BTreeMap::new();
    let report = report(&asked.shared, asked.knobs.are_on());
    for connection in report.connections {
        clients.entry(one_client(connection.client.ip())).or_default().push(connection);
    }
    let now = asked.shared.started.elapsed();
    let gone = asked.shared.gone.lock().list(now, |client| clients.contains_key(&client));
    let clients =
        clients.into_iter().map(|(key, connections)| client(name(key, &connections), connections, &recents));
    let mut clients: Vec<Client> = clients.collect();
    if let Some(states) = &asked.shared.service.states {
        let views = states.clients();
        clients.iter_mut().for_each(|client| name_slots(client, &views));
    }
    if asked.shared.caps.are_on() {
        let holding = holding(&asked.shared);
        clients.iter_mut().for_each(|client| name_caps(client, &holding));
    }
    clients.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
    let unwritable = asked.shared.service.states.as_ref().and_then(|states| states.unwritable());
    Json(Clients { mode: report.mode, clients, gone, unwritable })
}

/// The rule that held a reply of each connection last, by the client's end.
fn holding(shared: &Shared) -> BTreeMap<SocketAddr, CapReport> {
    let rules = shared.caps.report();
    let connections = shared.connections();
    let found = connections.iter().filter_map(|connection| {
        let rule = rules.get(connection.held().rule()? as usize)?;
        Some((connection.peer().ends.client, rule.clone()))
    });
    found.collect()
}

/// Names the rule that caps connections, with its rate and how to change it.
fn name_caps(client: &mut Client, holding: &BTreeMap<SocketAddr, CapReport>) {
    for group in client.groups.iter_mut().filter(|group| group.verdict == Verdict::Capped.to_string()) {
        let found = group.connections.iter().find_map(|lane| holding.get(&lane.client));
        let Some(CapReport { rule, .. }) = found else { continue };
        let (what, rate) = match group.received_per_second > group.sent_per_second {
            true => ("writes", ("write", rule.write.map(|rate| show_bytes(Some(rate))))),
            false => ("reads", ("read", rule.read.map(|rate| show_bytes(Some(rate))))),
        };
        let (key, rate) = match (rate, rule.calls) {
            ((key, Some(rate)), _) => (key, rate),
            ((key, None), None) => (key, "none".to_owned()),
            (_, calls) => ("calls", format!("{} calls", show_calls(calls))),
        };
        let evidence = format!("this server's [limit] rule \"{}\": {rate}", rule.name);
        let advice = format!("howdah set limit.{}.{key} RATE changes it", rule.name);
        group.sentence = format!("{what} capped by {evidence}; {advice}");
        (group.evidence, group.advice) = (Some(evidence), Some(advice));
    }
}

/// Says that the slots of its session are all that a client of NFSv4 can have under way, where it uses all of them.
fn name_slots(client: &mut Client, views: &[ClientView]) {
    let is_its = |view: &&ClientView| one_client(view.peer) == one_client(client.client);
    let full = views.iter().filter(is_its).find(|view| view.slots.0 >= view.slots.1 && view.slots.1 > 0);
    let Some((_, slots)) = full.map(|view| view.slots) else { return };
    for group in client.groups.iter_mut().filter(|group| group.verdict == Verdict::ClientSlots.to_string()) {
        let what = if group.received_per_second > group.sent_per_second { "writes" } else { "reads" };
        let evidence =
            format!("the {slots} slots of the client's NFSv4 session: it has a call under way in each");
        let advice = "set `options nfs max_session_slots=1024` in /etc/modprobe.d on the client, before its first mount";
        group.sentence = format!("{what} limited by {evidence}; {advice}");
        (group.evidence, group.advice) = (Some(evidence), Some(advice.to_owned()));
    }
}

/// What a client is called: by its address if it uses but one of those that count as one client.
fn name(client: IpAddr, connections: &[ConnectionReport]) -> IpAddr {
    let mut addresses = connections.iter().map(|connection| connection.client.ip());
    match addresses.next() {
        Some(first) if addresses.all(|address| address == first) => first,
        _ => client,
    }
}

fn rate(client: &Client) -> f64 {
    client.sent_per_second + client.received_per_second
}

/// Where the time of each connection went, by its two ends.
fn recents(asked: &Asked) -> BTreeMap<(SocketAddr, SocketAddr), Recent> {
    let connections = asked.shared.connections();
    let mut history = asked.history.lock();
    let tuner = asked.shared.tuner_now();
    let now = asked.shared.started.elapsed();
    history.forget(now);
    let known = connections.iter().filter_map(|connection| {
        let (token, peer) = (connection.token(), connection.peer());
        let recent = history.recent(now, connection.opened().elapsed(), token, tuner.get(token)?);
        Some(((peer.ends.client, peer.ends.server), recent))
    });
    known.collect()
}

fn client(
    address: IpAddr,
    mut connections: Vec<ConnectionReport>,
    recents: &BTreeMap<(SocketAddr, SocketAddr), Recent>,
) -> Client {
    let (is_local, count) = (connections.iter().any(|connection| connection.is_local), connections.len());
    let figures = connections.iter().filter_map(|connection| connection.figures.as_ref());
    let calls = figures.map(|figures| figures.calls).sum();
    forget_predecessors(&mut connections);
    let mut groups: BTreeMap<(String, Moves), Vec<ConnectionReport>> = BTreeMap::new();
    for connection in connections {
        let what = moves(&connection);
        groups.entry((limit(&connection, what), what)).or_default().push(connection);
    }
    let groups = groups.into_iter().map(|((verdict, what), members)| group(verdict, what, &members, recents));
    let mut groups: Vec<Group> = groups.collect();
    let rate = |group: &Group| group.sent_per_second + group.received_per_second;
    groups.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
    Client {
        client: address,
        is_local,
        connections: count,
        sent_per_second: groups.iter().map(|group| group.sent_per_second).sum(),
        received_per_second: groups.iter().map(|group| group.received_per_second).sum(),
        calls,
        groups,
    }
}

/// Drops the verdicts of connections that another connection of the client has replaced: their rates are of an earlier time, and added
/// up, the client would seem to move twice as much as it does.
fn forget_predecessors(connections: &mut [ConnectionReport]) {
    let all: Vec<_> = connections.iter().filter_map(JudgedTime::of).collect();
    for connection in connections {
        let own = JudgedTime::of(connection);
        if own.is_some_and(|own| all.iter().any(|other| other.replaces(own))) {
            connection.verdict = None;
        }
    }
}

/// The time that a verdict is about, in seconds before now.
#[derive(Debug, Clone, Copy)]
struct JudgedTime {
    /// When the connection was accepted.
    accepted: f64,
    began: f64,
    ended: f64,
}

impl JudgedTime {
    /// Of a connection that moves something.
    fn of(connection: &ConnectionReport) -> Option<Self> {
        let (verdict, figures) = (connection.verdict.as_ref()?, connection.figures.as_ref()?);
        let (accepted, ended) = (connection.age_seconds, figures.age_seconds);
        let moves = moves(connection) != Moves::Nothing;
        moves.then_some(Self { accepted, began: ended + verdict.interval_seconds, ended })
    }

    /// Whether a connection was accepted after the earlier one's interval began, and has moved something all the time since that one's
    /// last look: a connection that moves something is looked at as often.
    fn replaces(self, earlier: Self) -> bool {
        self.accepted <= earlier.began && self.began < earlier.ended
    }
}

/// What a connection moves now, bytes per second that left and came. Who moves nothing is not looked at any more, so that
/// an old figure means none.
fn rates(connection: &ConnectionReport) -> (f64, f64) {
    let is_fresh = connection
        .figures
        .as_ref()
        .is_some_and(|figures| figures.age_seconds <= STALE_SECONDS.max(ROUND_TRIPS * figures.rtt_seconds));
    let verdict = connection.verdict.as_ref().filter(|_| is_fresh);
    verdict.map_or((0.0, 0.0), |verdict| (verdict.sent_per_second, verdict.received_per_second))
}

/// What a connection moves now, bytes per second that left and came, and what limits it.
pub(crate) fn moves_now(connection: &ConnectionReport) -> ((f64, f64), String) {
    (rates(connection), limit(connection, moves(connection)))
}

fn moves(connection: &ConnectionReport) -> Moves {
    match rates(connection) {
        (sent, received) if sent.max(received) < MOVING => Moves::Nothing,
        (sent, received) if received > sent => Moves::Writes,
        _ => Moves::Reads,
    }
}

/// What limits it now.
fn limit(connection: &ConnectionReport, what: Moves) -> String {
    let verdict = connection.verdict.as_ref().filter(|_| what != Moves::Nothing);
    verdict.map_or(IDLE, |verdict| verdict.verdict.as_str()).to_owned()
}

fn group(
    verdict: String,
    what: Moves,
    members: &[ConnectionReport],
    recents: &BTreeMap<(SocketAddr, SocketAddr), Recent>,
) -> Group {
    let lanes = members.iter().map(|connection| {
        let (sent_per_second, received_per_second) = rates(connection);
        let (tls, quic) = (connection.tls.clone(), connection.quic.clone());
        let recent = recents.get(&(connection.client, connection.server)).cloned().unwrap_or_default();
        Lane { client: connection.client, sent_per_second, received_per_second, tls, quic, recent }
    });
    let mut lanes: Vec<Lane> = lanes.collect();
    lanes.sort_by_key(|lane| lane.client);
    let rate = |connection: &&ConnectionReport| rates(connection).0 + rates(connection).1;
    let busiest = members.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)));
    let said = busiest.and_then(|connection| connection.verdict.as_ref()).filter(|_| verdict != IDLE);
    let intervals = members.iter().filter_map(|connection| connection.verdict.as_ref());
    let intervals = intervals.map(|said| said.interval_seconds);
    Group {
        interval_seconds: if what == Moves::Nothing { 0.0 } else { intervals.fold(0.0, f64::max) },
        sent_per_second: lanes.iter().map(|lane| lane.sent_per_second).sum(),
        received_per_second: lanes.iter().map(|lane| lane.received_per_second).sum(),
        sentence: said.map_or_else(|| unlimited(what).to_owned(), |said| said.sentence.clone()),
        evidence: said.map(|said| said.evidence.clone()),
        advice: said.and_then(|said| said.advice.clone()),
        recent: together(&lanes),
        connections: lanes,
        verdict,
    }
}

fn unlimited(what: Moves) -> &'static str {
    match what {
        Moves::Nothing => "idle: the client asks for no more",
        Moves::Reads => "reads limited by the client, which asks for no more",
        Moves::Writes => "writes limited by the client, which sends no more",
    }
}

/// Seconds of several connections, added up.
fn together(lanes: &[Lane]) -> Recent {
    let mut sum = Recent::default();
    for lane in lanes {
        sum.seconds += lane.recent.seconds;
        sum.sent += lane.recent.sent;
        sum.received += lane.recent.received;
        for (verdict, seconds) in &lane.recent.verdict_seconds {
            *sum.verdict_seconds.entry(verdict.clone()).or_default() += seconds;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::{AccountReport, Figures, Sizes, VerdictReport};

    fn connection(port: u16, verdict: &str, rates: (f64, f64), age_seconds: f64) -> ConnectionReport {
        let said = VerdictReport {
            verdict: verdict.to_owned(),
            sending: verdict.to_owned(),
            receiving: verdict.to_owned(),
            interval_seconds: 0.1,
            sent_per_second: rates.0,
            received_per_second: rates.1,
            sentence: format!("limited by {verdict} of {port}"),
            evidence: "figures".to_owned(),
            advice: None,
        };
        let figures = Figures { age_seconds, calls: 2, ..Figures::default() };
        ConnectionReport {
            client: SocketAddr::from(([10, 0, 0, 7], port)),
            server: SocketAddr::from(([10, 0, 0, 1], 2049)),
            transport: "tcp".to_owned(),
            is_local: false,
            is_held: false,
            age_seconds: 100.0,
            tls: None,
            quic: None,
            verdict: Some(said),
            figures: Some(figures),
            sizes: Sizes::default(),
            account: AccountReport::default(),
            last_period: AccountReport::default(),
        }
    }

    #[test]
    fn a_client_is_called_by_its_address_and_one_of_several_by_its_network() {
        let from = |text: &str| {
            let client = text.parse().expect("an address");
            ConnectionReport { client, ..connection(1, "idle", (0.0, 0.0), 0.1) }
        };
        let [one, other] = [from("[fd00::7]:9"), from("[fd00::8]:9")];
        let network = one_client(one.client.ip());
        assert_eq!(network, one_client(other.client.ip()));
        assert_eq!(name(network, &[one.clone(), one.clone()]), one.client.ip());
        assert_eq!(name(network, &[one, other]), network);
    }

    /// A connection that writes 10 MB/s, of such an age, in an interval of so many seconds, which ended so many seconds ago.
    fn writing(port: u16, age_seconds: f64, interval_seconds: f64, ended: f64) -> ConnectionReport {
        let connection = connection(port, "client", (0.0, 1e7), ended);
        let said = VerdictReport { interval_seconds, ..connection.verdict.clone().expect("one") };
        ConnectionReport { age_seconds, verdict: Some(said), ..connection }
    }

    #[test]
    fn a_connection_and_the_next_one_are_not_counted_at_the_same_time() {
        let rate = |connections: &[ConnectionReport]| {
            let client = client(IpAddr::from([10, 0, 0, 7]), connections.to_vec(), &BTreeMap::new());
            assert_eq!(client.connections, connections.len());
            client.received_per_second
        };
        let next = writing(2, 0.9, 0.1, 0.05);
        assert_eq!(
            rate(&[writing(1, 60.0, 0.1, 1.0), next.clone()]),
            1e7,
            "it ended before the next one began"
        );
        assert_eq!(rate(&[next.clone(), writing(1, 60.0, 0.2, 0.8)]), 1e7, "it ended as the next one began");
        assert_eq!(
            rate(&[writing(1, 60.0, 0.1, 2.9), writing(2, 2.0, 0.1, 1.0), next.clone()]),
            1e7,
            "twice"
        );
        assert_eq!(rate(&[writing(1, 60.0, 0.1, 0.1), next.clone()]), 2e7, "both move something");
        assert_eq!(
            rate(&[writing(1, 60.0, 1.0, 0.7), writing(2, 1.2, 1.0, 0.1)]),
            2e7,
            "both are looked at seldom"
        );
        assert_eq!(
            rate(&[writing(1, 60.0, 0.1, 1.0), writing(2, 60.0, 0.1, 0.05)]),
            2e7,
            "it is no successor"
        );
        let idle = connection(3, "idle", (0.0, 0.0), 0.05);
        let idle = ConnectionReport { age_seconds: 0.9, ..idle };
        assert_eq!(rate(&[writing(1, 60.0, 0.1, 1.0), idle]), 1e7, "a new connection that moves nothing");
    }

    #[test]
    fn slots_are_named_where_a_client_uses_all_of_them() {
        let address = IpAddr::from([10, 0, 0, 7]);
        let view = |used, peer| ClientView {
            client: howdah_state::ClientId(1),
            owner: Box::default(),
            principal: howdah_state::Principal(Box::default()),
            peer,
            standing: howdah_state::ClientStanding::Active,
            silence: std::time::Duration::ZERO,
            sessions: 1,
            slots: (used, 64),
            opens: 0,
            locks: 0,
            delegations: 0,
        };
        let lanes = [connection(1, "client-slots", (1e6, 0.0), 0.1), connection(2, "loss", (1e5, 0.0), 0.1)];
        let before = client(address, lanes.to_vec(), &BTreeMap::new());
        for others in [view(63, address), view(64, IpAddr::from([10, 0, 0, 8]))] {
            let mut client = before.clone();
            name_slots(&mut client, &[others]);
            assert_eq!(client, before);
        }
        let mut client = before;
        name_slots(&mut client, &[view(64, address)]);
        let [slots, loss] = &client.groups[..] else { panic!("{client:?}") };
        assert!(slots.sentence.starts_with("reads limited by the 64 slots of the client's NFSv4 session"));
        assert!(slots.advice.as_ref().is_some_and(|advice| advice.contains("max_session_slots=1024")));
        assert_eq!(loss.sentence, "limited by loss of 2");
    }

    #[test]
    fn lanes_that_the_same_thing_limits_stand_together() {
        let lanes = vec![
            connection(1, "loss", (1e6, 0.0), 0.1),
            connection(2, "path-full", (5e6, 0.0), 0.1),
            connection(3, "path-full", (9e6, 0.0), 0.1),
            connection(4, "path-full", (0.0, 9e6), 0.1),
            // It has not been looked at for a while: whatever limited it does not now.
            connection(5, "storage", (9e9, 0.0), 30.0),
            connection(6, "idle", (0.0, 2e6), 0.1),
        ];
        let recent = Recent {
            seconds: 60.0,
            verdict_seconds: [("loss".to_owned(), 30.0)].into(),
            ..Recent::default()
        };
        let recents = lanes.iter().map(|lane| ((lane.client, lane.server), recent.clone())).collect();
        let client = client(IpAddr::from([10, 0, 0, 7]), lanes, &recents);
        let groups: Vec<_> =
            client.groups.iter().map(|group| (group.verdict.as_str(), group.connections.len())).collect();
        assert_eq!(groups, [("path-full", 2), ("path-full", 1), ("idle", 1), ("loss", 1), ("idle", 1)]);
        assert_eq!(client.groups[0].sentence, "limited by path-full of 3");
        assert_eq!(
            (client.groups[0].recent.seconds, client.groups[0].recent.verdict_seconds["loss"]),
            (120.0, 60.0)
        );
        assert!(client.groups[2].sentence.starts_with("writes limited by the client"));
        assert_eq!((client.connections, client.calls, client.sent_per_second), (6, 12, 15e6));
    }
}
