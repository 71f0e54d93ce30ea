//! Fills in the report.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use howdah_net::{Token, is_local};
use howdah_tune::account::{Account, Events, Moved};
use howdah_tune::budget::Pressure;
use howdah_tune::host::SizingMode;
use howdah_tune::meter::{Meter, PERIOD};
use howdah_tune::{Sample, Tuner, Verdict};

use super::gone::Ended;
use super::report::{
    AccountReport, ClientReport, ConnectionReport, ConnectionTlsReport, Figures, MemoryReport, MovedReport,
    QuicReport, Sizes, TuningReport, VerdictReport,
};
use crate::connection::Connection;
use crate::shared::Shared;

/// All that is known now.
pub fn report(shared: &Shared, is_on: bool) -> TuningReport {
    let mut connections = shared.connections();
    connections.sort_by_key(|connection| connection.token());
    let tuner = shared.tuner_now();
    let now = shared.started.elapsed();
    let settings = tuner.settings();
    let used = tuner.used();
    TuningReport {
        mode: mode(is_on, settings.host.mode()).to_owned(),
        said: if is_on {
            settings.host.explain()
        } else {
            "connections have the kernel's buffers and congestion control".into()
        },
        budget_bytes: settings.budget.total(),
        promised_bytes: tuner.promised(),
        used: MemoryReport { sending: used.sending, unread: used.unread, host_tcp: used.host_tcp },
        pressure: pressure(tuner.pressure()).to_owned(),
        refused_connections: shared.pressing.refused(),
        held_connections: connections.iter().filter(|connection| connection.is_held()).count() as u64,
        times_held: shared.pressing.held(),
        period_seconds: PERIOD.as_secs_f64(),
        connections: connections.iter().map(|connection| of(&tuner, now, connection)).collect(),
        clients: clients(&tuner, now),
    }
}

fn mode(is_on: bool, mode: SizingMode) -> &'static str {
    match mode {
        _ if !is_on => "off",
        SizingMode::Forced => "forced",
        SizingMode::Unprivileged => "unprivileged",
    }
}

/// The word for a level of pressure.
pub fn pressure(level: Pressure) -> &'static str {
    match level {
        Pressure::None => "none",
        Pressure::StopGrowing => "stop-growing",
        Pressure::TakeBack => "take-back",
        Pressure::Refuse => "refuse",
    }
}

/// What a level means, for a person.
pub fn pressure_in_words(level: Pressure) -> &'static str {
    match level {
        Pressure::None => "below the limit again",
        Pressure::StopGrowing => "three quarters of the budget are in use: buffers stop growing",
        Pressure::TakeBack => {
            "the budget is used up: windows shrink, and clients that do not read their replies are paused, then disconnected"
        }
        Pressure::Refuse => "a quarter over the budget: only the first connection of each client is accepted",
    }
}

fn of(tuner: &Tuner<Token>, now: Duration, connection: &Connection) -> ConnectionReport {
    let peer = connection.peer();
    let tuned = tuner.get(connection.token());
    ConnectionReport {
        client: peer.ends.client,
        server: peer.ends.server,
        transport: peer.transport.name().to_lowercase(),
        is_local: is_local(peer.ends.client.ip(), peer.ends.server.ip()),
        is_held: connection.is_held(),
        age_seconds: Instant::now().saturating_duration_since(connection.opened()).as_secs_f64(),
        tls: tls(connection),
        quic: quic(connection),
        verdict: tuned.and_then(verdict),
        figures: tuned.and_then(|tuned| tuned.last()).map(|sample| figures(now, sample)),
        sizes: tuned.map(|tuned| sizes(now, tuned)).unwrap_or_default(),
        account: tuned.map(|tuned| account(tuned.account())).unwrap_or_default(),
        last_period: tuned.map(|tuned| account(&tuned.meter().last(now))).unwrap_or_default(),
    }
}

/// What the connection of QUIC knows that it is a stream of.
fn quic(connection: &Connection) -> Option<QuicReport> {
    let lane = connection.stream().quic()?;
    let (facts, socket) = lane.facts();
    Some(QuicReport {
        moved_to: lane.moved_to(),
        moves: facts.moves,
        packets_sent: facts.packets_sent,
        packets_lost: facts.packets_lost,
        packet_size: facts.packet_size,
        black_holes: facts.black_holes,
        receive_buffer: socket.receive_buffer,
        packets_dropped: socket.drops.into(),
    })
}

/// TLS as it protects a connection, once the handshake is done.
fn tls(connection: &Connection) -> Option<ConnectionTlsReport> {
    let (stream, shown) = (connection.stream(), connection.peer().certificate.as_deref());
    if !connection.peer().security.is_encrypted() {
        return None;
    }
    Some(ConnectionTlsReport {
        suite: stream.suite()?.to_owned(),
        records: "user-space".to_owned(),
        certificate: shown.map(|shown| shown.name().to_owned()),
        user: shown.and_then(|shown| shown.user.as_deref()).map(str::to_owned),
        valid_until: shown.map(|shown| shown.not_after),
    })
}

fn clients(tuner: &Tuner<Token>, now: Duration) -> Vec<ClientReport> {
    let ledger = tuner.ledger(now);
    let told = tuner.clients().map(|(address, client)| {
        let meter = ledger.get(address).cloned().unwrap_or_else(Meter::default);
        ClientReport {
            client: *address,
            connections: client.totals().connections,
            opened: client.opened(),
            promised_bytes: client.totals().promised,
            seen_seconds_ago: now.saturating_sub(client.seen()).as_secs_f64(),
            account: account(meter.total()),
            last_period: account(&meter.last(now)),
        }
    });
    told.collect()
}

/// What limits a connection; none before it has moved something twice.
pub(super) fn verdict(tuned: &howdah_tune::Connection) -> Option<VerdictReport> {
    let (judgement, explanation) = (tuned.judgement()?, tuned.explanation()?);
    Some(VerdictReport {
        verdict: judgement.verdict().to_string(),
        sending: judgement.sending.to_string(),
        receiving: judgement.receiving.to_string(),
        interval_seconds: tuned.judged_over().as_secs_f64(),
        sent_per_second: judgement.sent_per_second,
        received_per_second: judgement.received_per_second,
        sentence: explanation.to_string(),
        evidence: explanation.evidence,
        advice: explanation.advice,
    })
}

/// What there is to tell of a connection that ends now, and was there so long.
pub(super) fn ended(tuned: &howdah_tune::Connection, age: Duration, said: Option<VerdictReport>) -> Ended {
    let AccountReport { sending_seconds, receiving_seconds, moved, .. } = account(tuned.account());
    let verdict_seconds = if moved.received > moved.sent { receiving_seconds } else { sending_seconds };
    let (sent, received) = (moved.sent - moved.retransmitted.min(moved.sent), moved.received);
    Ended { is_local: tuned.is_local(), age, sent, received, said, verdict_seconds }
}

fn figures(now: Duration, sample: &Sample) -> Figures {
    let (sending, receiving, gauges) = (&sample.sending, &sample.receiving, &sample.gauges);
    Figures {
        age_seconds: now.saturating_sub(sample.at).as_secs_f64(),
        rtt_seconds: sample.path.rtt.as_secs_f64(),
        min_rtt_seconds: sample.path.min_rtt.as_secs_f64(),
        segment: sample.path.segment,
        sent: sending.sent,
        received: receiving.received,
        in_flight: sending.flight,
        unsent: sending.unsent,
        congestion_window: sending.congestion_window,
        peer_window: sending.peer_window,
        send_queue: sending.queued,
        send_buffer: sending.buffer,
        unread: receiving.unread,
        receive_buffer: receiving.buffer,
        window: receiving.window,
        window_limit: receiving.window_limit,
        calls: gauges.calls,
        outstanding: gauges.outstanding.into(),
        replies_waiting: gauges.replies_waiting,
    }
}

fn sizes(now: Duration, tuned: &howdah_tune::Connection) -> Sizes {
    Sizes {
        send_ceiling: tuned.send_ceiling(),
        unsent_mark: tuned.unsent_mark(),
        promised_window: tuned.promised(),
        used_window: tuned.used_window(now),
    }
}

fn account(account: &Account) -> AccountReport {
    AccountReport {
        sending_seconds: seconds(&account.sending),
        receiving_seconds: seconds(&account.receiving),
        events: events(&account.events),
        moved: moved(&account.moved),
    }
}

fn moved(moved: &Moved) -> MovedReport {
    let Moved { sent, received, retransmitted, spurious, reorderings, out_of_order } = *moved;
    MovedReport { sent, received, retransmitted, spurious, reorderings, out_of_order }
}

fn seconds(times: &BTreeMap<Verdict, Duration>) -> BTreeMap<String, f64> {
    times.iter().map(|(verdict, time)| (verdict.to_string(), time.as_secs_f64())).collect()
}

fn events(events: &Events) -> BTreeMap<String, u64> {
    let Events {
        send_buffer_full,
        send_buffer_empty,
        receive_buffer_full,
        receive_buffer_empty,
        window_cut,
        grown,
        taken_back,
    } = *events;
    let named = [
        ("send_buffer_full", send_buffer_full),
        ("send_buffer_empty", send_buffer_empty),
        ("receive_buffer_full", receive_buffer_full),
        ("receive_buffer_empty", receive_buffer_empty),
        ("window_cut", window_cut),
        ("grown", grown),
        ("taken_back", taken_back),
    ];
    named.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
}
