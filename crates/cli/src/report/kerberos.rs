//! Kerberos contexts that a server refused, as people read it.

use howdah_server::admin::KerberosRefusal;
use howdah_units::counted;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// So many are shown, the latest.
const SHOWN: usize = 5;

/// A line for each reason: the client, the time, the cause and the remedy.
pub fn refused_contexts(refusals: &[KerberosRefusal]) -> String {
    let latest = refusals.iter().skip(refusals.len().saturating_sub(SHOWN));
    latest.map(|refusal| line(refusal, &TimeZone::system())).collect()
}

fn line(refusal: &KerberosRefusal, zone: &TimeZone) -> String {
    let KerberosRefusal { at, client, reason, times } = refusal;
    let at = i64::try_from(*at).ok().and_then(|at| Timestamp::from_second(at).ok());
    let at = at.map_or_else(String::new, |at| {
        format!(", last on {}", at.to_zoned(zone.clone()).strftime("%b %-d at %H:%M:%S"))
    });
    format!("Kerberos refused {client} {}{at}: {reason}\n", counted(*times, "time", "times"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(times: u64) -> KerberosRefusal {
        let client = "192.0.2.7".parse().expect("an address");
        KerberosRefusal { at: 1_796_000_000 + times, client, reason: format!("reason {times}; kinit"), times }
    }

    #[test]
    fn the_latest_refusals_are_shown() {
        assert_eq!(
            line(&refusal(3), &TimeZone::UTC),
            "Kerberos refused 192.0.2.7 3 times, last on Nov 30 at 00:53:23: reason 3; kinit\n"
        );
        let all: Vec<_> = (1..=7).map(refusal).collect();
        let shown = refused_contexts(&all);
        assert!(
            shown.lines().count() == SHOWN && shown.contains("reason 7;") && !shown.contains("reason 2;"),
            "{shown}"
        );
        assert_eq!(refused_contexts(&[]), "");
    }
}
