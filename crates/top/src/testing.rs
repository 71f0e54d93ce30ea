//! For tests: a server with two exports and three clients, as it was seen twice, two seconds apart.

use serde_json::{Value, json};

use super::look::TopLook;
use super::seen::Seen;

/// What happened between the two looks.
pub fn seen() -> Seen {
    Seen::between(Some(&look(0)), &look(1))
}

/// The first look, or the second.
pub fn look(number: u64) -> TopLook {
    TopLook {
        server: "howdah 0.1.0 on 10.0.0.1:2049 (process 4711)".to_owned(),
        process: 4711,
        exports: from(exports(number)),
        clients: from(clients()),
        tuning: from(tuning(number)),
        workers: from(json!({
            "workers": 32, "waiting": 29, "running": 1, "in_storage": 2,
            "reply_cache": {"calls": 0, "bytes": 0, "replayed": 0}
        })),
    }
}

fn from<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("as servers say it")
}

fn exports(number: u64) -> Value {
    let read = procedure("READ", number * 2400, 2e-3, json!({}));
    let getattr = procedure("GETATTR", number * 1200, 5e-5, json!({"STALE": number * 3}));
    let mount = json!({
        "export": "/srv/a directory with a rather long name", "id": 2,
        "procedures": [procedure("LOOKUP", 7, 1e-4, json!({}))]
    });
    json!({
        "seconds": 100.0 + number as f64 * 2.0,
        "exports": [{"export": "/data", "id": 1, "procedures": [getattr, read]}, mount]
    })
}

fn procedure(name: &str, calls: u64, seconds: f64, errors: Value) -> Value {
    let below = howdah_server::admin::Bucket { below_seconds: Some(seconds), calls };
    json!({
        "program": "nfs", "version": 3, "procedure": name, "calls": calls, "replayed": 0, "unanswered": 0,
        "errors": errors, "received": calls * 150, "sent": calls * 65_000,
        "storage_seconds": calls as f64 * seconds / 2.0,
        "latency": {
            "calls": calls, "seconds": calls as f64 * seconds,
            "p50_seconds": seconds, "p90_seconds": seconds, "p99_seconds": seconds, "buckets": [below]
        }
    })
}

/// Address, port, bytes read and written per second, verdict, of each connection.
const LANES: [(&str, u16, f64, f64, &str); 4] = [
    ("10.0.0.7", 1022, 0.0, 27e6, "client-send-buffer"),
    ("10.0.0.9", 900, 110e6, 2e3, "path-full"),
    ("10.0.0.9", 901, 0.0, 0.0, "idle"),
    ("fd00::12", 40_100, 0.0, 0.0, "idle"),
];

fn clients() -> Value {
    let client = |address: &str| {
        let lanes = LANES.iter().filter(|lane| lane.0 == address);
        let group = |lane: &(&str, u16, f64, f64, &str)| {
            let recent = json!({
                "seconds": 60.0, "sent": 1, "received": 1, "verdict_seconds": {lane.4: 50.0, "ramping": 10.0}
            });
            json!({
                "verdict": lane.4, "sent_per_second": lane.2, "received_per_second": lane.3,
                "connections": [{
                    "client": name(lane), "sent_per_second": lane.2, "received_per_second": lane.3,
                    "recent": recent.clone()
                }],
                "sentence": sentence(lane), "evidence": null, "advice": null, "recent": recent
            })
        };
        json!({
            "client": address, "is_local": false, "connections": lanes.clone().count(), "calls": 5,
            "sent_per_second": lanes.clone().map(|lane| lane.2).sum::<f64>(),
            "received_per_second": lanes.clone().map(|lane| lane.3).sum::<f64>(),
            "groups": lanes.map(group).collect::<Vec<_>>()
        })
    };
    let clients = ["10.0.0.9", "10.0.0.7", "fd00::12"].map(client);
    json!({"mode": "forced", "clients": clients})
}

fn name(lane: &(&str, u16, f64, f64, &str)) -> String {
    if lane.0.contains(':') { format!("[{}]:{}", lane.0, lane.1) } else { format!("{}:{}", lane.0, lane.1) }
}

fn sentence(lane: &(&str, u16, f64, f64, &str)) -> String {
    match lane.4 {
        "client-send-buffer" => "writes limited by the client's send buffer: 2.7 MB in flight per round trip of 100 ms; mount with \
                                 nconnect=8, or raise the max of net.ipv4.tcp_wmem there to 51840000"
            .to_owned(),
        "path-full" => "reads limited by the path, which is full: 110 MB/s".to_owned(),
        _ => "nothing limits it".to_owned(),
    }
}

fn tuning(number: u64) -> Value {
    let account = json!({
        "sending_seconds": {}, "receiving_seconds": {}, "events": {},
        "moved": {"sent": 1_000_000, "received": 5, "retransmitted": 1200, "spurious": 0, "reorderings": 0, "out_of_order": 0}
    });
    let connection = |lane: &(&str, u16, f64, f64, &str)| {
        let figures = json!({
            "age_seconds": 0.1, "rtt_seconds": f64::from(lane.1) * 1e-4, "min_rtt_seconds": 0.01, "segment": 1448,
            "sent": 1_000_000, "received": 5, "in_flight": 2_700_000, "unsent": 0, "congestion_window": 3_000_000,
            "peer_window": 16_000_000, "send_queue": 2_800_000, "send_buffer": 8_400_000, "unread": 12_000,
            "receive_buffer": 6_300_000, "window": 3_100_000, "window_limit": 1_073_000_000,
            "calls": number * 600, "outstanding": 3, "replies_waiting": 0
        });
        let verdict = json!({
            "verdict": lane.4, "sending": lane.4, "receiving": lane.4, "sent_per_second": lane.2,
            "received_per_second": lane.3, "sentence": sentence(lane), "evidence": "", "advice": null
        });
        let is_seen = lane.1 != 40_100;
        json!({
            "client": name(lane), "server": "10.0.0.1:2049", "transport": "tcp", "is_local": false, "is_held": false,
            "age_seconds": 10.0, "verdict": is_seen.then_some(verdict), "figures": is_seen.then_some(figures),
            "sizes": {"send_ceiling": 0, "unsent_mark": 0, "promised_window": 0, "used_window": 0},
            "account": account, "last_period": account
        })
    };
    json!({
        "mode": "forced", "said": "", "budget_bytes": 1_200_000_000u64, "promised_bytes": 5_000_000,
        "refused_connections": 0, "held_connections": 0, "times_held": 0, "period_seconds": 60.0,
        "used": {"sending": 8_400_000, "unread": 36_000, "host_tcp": 9_000_000}, "pressure": "none",
        "connections": LANES.iter().map(connection).collect::<Vec<_>>(), "clients": []
    })
}
