//! What network interfaces carry, as people read it, as bars, and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write;

use howdah_net::{InterfaceCounters, InterfaceTraffic};
use howdah_units::rate;
use serde_json::{Value, json};

/// Letters of a bar.
const BAR: usize = 20;

/// An interface's rates.
#[derive(Debug, Clone, PartialEq)]
pub struct NicRates {
    name: String,
    bits_per_second: Option<u64>,
    is_full_duplex: Option<bool>,
    mtu: u64,
    received: WayRates,
    sent: WayRates,
}

/// One way's.
#[derive(Debug, Clone, Copy, PartialEq)]
struct WayRates {
    packets: f64,
    bytes: f64,
    errors: f64,
    dropped: f64,
}

/// What a full bar means: the most that each interface carried so far.
#[derive(Debug, Default)]
pub struct NicScale(BTreeMap<String, f64>);

impl NicRates {
    /// Between two looks, so many seconds apart.
    pub fn between(before: &InterfaceCounters, now: &InterfaceCounters, seconds: f64) -> Self {
        Self {
            name: now.name.clone(),
            bits_per_second: now.bits_per_second,
            is_full_duplex: now.is_full_duplex,
            mtu: now.mtu,
            received: WayRates::between(before.received, now.received, seconds),
            sent: WayRates::between(before.sent, now.sent, seconds),
        }
    }

    /// Whether it carried anything, or lost it.
    pub fn is_busy(&self) -> bool {
        [self.received, self.sent].iter().any(|way| way.packets + way.errors + way.dropped > 0.0)
    }

    /// The part of the link that is used.
    fn used(&self) -> Option<f64> {
        let (received, sent) = (self.received.bytes * 8.0, self.sent.bytes * 8.0);
        let bits = if self.is_full_duplex == Some(false) { received + sent } else { received.max(sent) };
        self.bits_per_second.map(|speed| bits / speed as f64)
    }
}

impl WayRates {
    fn between(before: InterfaceTraffic, now: InterfaceTraffic, seconds: f64) -> Self {
        // Counters begin anew when a driver does.
        let rate = |before: u64, now: u64| now.saturating_sub(before) as f64 / seconds;
        Self {
            packets: rate(before.packets, now.packets),
            bytes: rate(before.bytes, now.bytes),
            errors: rate(before.errors, now.errors),
            dropped: rate(before.dropped, now.dropped),
        }
    }

    fn size(&self) -> f64 {
        if self.packets > 0.0 { self.bytes / self.packets } else { 0.0 }
    }
}

impl NicScale {
    /// These were seen.
    pub fn see(&mut self, all: &[NicRates]) {
        for rates in all {
            let most = self.0.entry(rates.name.clone()).or_default();
            *most = most.max(rates.received.bytes).max(rates.sent.bytes);
        }
    }

    /// Bytes per second of a full bar.
    fn full(&self, rates: &NicRates) -> f64 {
        let speed = rates.bits_per_second.map(|bits| bits as f64 / 8.0);
        speed.or_else(|| self.0.get(&rates.name).copied()).unwrap_or_default()
    }
}

/// A line for each, in 80 columns.
pub fn nics(all: &[NicRates], time: Option<&str>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{:<12} {:>10} {:>10} {:>8} {:>8} {:>5} {:>5} {:>5} {:>4} {:>4}",
        time.unwrap_or("interface"),
        "in",
        "out",
        "pk in",
        "pk out",
        "size",
        "size",
        "used",
        "err",
        "drop"
    );
    for rates in all {
        let (received, sent) = (&rates.received, &rates.sent);
        let _ = writeln!(
            text,
            "{:<12} {:>10} {:>10} {:>8.0} {:>8.0} {:>5.0} {:>5.0} {:>5} {:>4.0} {:>4.0}",
            rates.name,
            rate(received.bytes),
            rate(sent.bytes),
            received.packets,
            sent.packets,
            received.size(),
            sent.size(),
            rates.used().map_or("-".to_owned(), |used| format!("{:.0}%", used * 100.0)),
            received.errors + sent.errors,
            received.dropped + sent.dropped,
        );
    }
    if all.is_empty() {
        text.push_str("nothing was carried\n");
    }
    text
}

/// Two bars for each.
pub fn nics_plot(all: &[NicRates], scale: &NicScale, time: Option<&str>) -> String {
    let mut text = time.map(|time| format!("{time}\n")).unwrap_or_default();
    for rates in all {
        let full = scale.full(rates);
        let bar = |bytes: f64| {
            let letters = if full > 0.0 { (bytes / full * BAR as f64).round() as usize } else { 0 };
            format!("|{:<BAR$}|", "#".repeat(letters.min(BAR)))
        };
        let _ = writeln!(
            text,
            "{:<12} in {} {:>10} out {} {:>10}",
            rates.name,
            bar(rates.received.bytes),
            rate(rates.received.bytes),
            bar(rates.sent.bytes),
            rate(rates.sent.bytes)
        );
    }
    text
}

/// An object on one line.
pub fn nics_json(all: &[NicRates]) -> String {
    let way = |way: &WayRates| {
        json!({
            "bytes_per_second": way.bytes,
            "packets_per_second": way.packets,
            "errors_per_second": way.errors,
            "dropped_per_second": way.dropped,
        })
    };
    let each = |rates: &NicRates| {
        json!({
            "name": rates.name,
            "bits_per_second": rates.bits_per_second,
            "is_full_duplex": rates.is_full_duplex,
            "mtu": rates.mtu,
            "used": rates.used(),
            "received": way(&rates.received),
            "sent": way(&rates.sent),
        })
    };
    let all: Vec<Value> = all.iter().map(each).collect();
    format!("{}\n", json!({ "interfaces": all }))
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn interface(name: &str, speed: Option<u64>, packets: u64) -> InterfaceCounters {
        let carried = |factor: u64| InterfaceTraffic {
            packets: packets * factor,
            bytes: packets * factor * 1000,
            errors: 0,
            dropped: packets / 100,
        };
        InterfaceCounters {
            name: name.to_owned(),
            is_up: true,
            bits_per_second: speed,
            is_full_duplex: speed.map(|_| true),
            mtu: 1500,
            received: carried(1),
            sent: carried(4),
        }
    }

    #[test]
    fn a_line_and_bars_for_each() {
        let pair = |name, speed| {
            NicRates::between(&interface(name, speed, 1000), &interface(name, speed, 11_000), 2.0)
        };
        let all = [pair("eth0", Some(1_000_000_000)), pair("wireguard0", None)];
        let mut scale = NicScale::default();
        scale.see(&all);
        assert_data_eq!(
            nics(&all, None),
            str![[r#"
interface            in        out    pk in   pk out  size  size  used  err drop
eth0           5.0 MB/s  20.0 MB/s     5000    20000  1000  1000   16%    0  100
wireguard0     5.0 MB/s  20.0 MB/s     5000    20000  1000  1000     -    0  100

"#]]
        );
        assert_data_eq!(
            nics_plot(&all, &scale, Some("12:00:00")),
            str![[r#"
12:00:00
eth0         in |#                   |   5.0 MB/s out |###                 |  20.0 MB/s
wireguard0   in |#####               |   5.0 MB/s out |####################|  20.0 MB/s

"#]]
        );
        assert_eq!(nics(&[], None).lines().last(), Some("nothing was carried"));
        let half = NicRates { is_full_duplex: Some(false), ..all[0].clone() };
        assert!((half.used().expect("a speed") - 0.2).abs() < 1e-9);
        assert!(all[0].is_busy());
    }
}
