//! A guest in the middle: what comes to a host over a wire goes through the guest first, whose netem does to it what it
//! does. What goes back does not.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::placing::Placing;
use super::session::GuestSession;
use super::tap::{Tap, run_all};
use crate::network::LabNetwork;

/// Packets that netem holds at most: more than any path here has on the way.
const LIMIT: u32 = 100_000;
/// What takes no time in a guest still waits for a busy machine.
const MOMENT: Duration = Duration::from_secs(30);

/// Boots the guest behind a host, and leads through it what comes to that host over the wire. `words` are netem's.
pub fn through(network: &LabNetwork, wire: &str, placing: &Placing, words: &str) -> Result<GuestSession> {
    ensure!(
        words.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" .%".contains(&byte)),
        "netem \"{words}\": letters, digits, blanks, . and % are allowed"
    );
    let mut session = placing.boot(network)?;
    session.must(&script(words), Instant::now() + MOMENT).context("netem in the guest")?;
    let host = network.host(&placing.host);
    run_all(&detour(Tap::new(placing.number), wire), |program| host.command(program))
        .with_context(|| format!("leading packets through the guest in host {}", placing.host))?;
    Ok(session)
}

/// Routes of the host: local addresses are looked up after the detour of what comes in over the wire.
fn detour(tap: Tap, wire: &str) -> Vec<Vec<String>> {
    let (device, guest) = (tap.name(), tap.guest());
    [
        format!("ip route add default via {guest} dev {device} table 100"),
        "ip rule add pref 200 lookup local".to_owned(),
        format!("ip rule add pref 100 iif {wire} lookup 100"),
        "ip rule del pref 0".to_owned(),
    ]
    .iter()
    .map(|line| line.split(' ').map(str::to_owned).collect())
    .collect()
}

/// The guest sends back out what comes in, without a word about the detour.
fn script(words: &str) -> String {
    format!(
        "for name in all default vec0; do\n\
         echo 0 >/proc/sys/net/ipv4/conf/$name/send_redirects\n\
         echo 0 >/proc/sys/net/ipv4/conf/$name/rp_filter\n\
         done\n\
         echo 1 >/proc/sys/net/ipv4/ip_forward\n\
         /run/modprobe sch_netem\n\
         tc qdisc add dev vec0 root netem limit {LIMIT} {words}\n\
         tc qdisc show dev vec0\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_over_the_wire_goes_to_the_guest_before_it_is_local() {
        let lines: Vec<String> = detour(Tap::new(9), "path0").iter().map(|words| words.join(" ")).collect();
        assert_eq!(lines[0], "ip route add default via 10.78.9.2 dev guest9 table 100");
        assert_eq!(lines[2], "ip rule add pref 100 iif path0 lookup 100");
    }

    #[test]
    fn netem_gets_the_words_of_the_plan() {
        let script = script("delay 30ms loss 1%");
        assert!(
            script.contains("tc qdisc add dev vec0 root netem limit 100000 delay 30ms loss 1%\n"),
            "{script}"
        );
    }
}
