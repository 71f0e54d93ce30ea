//! Under which addresses others reach what listens here.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The addresses to put into a mount command, the best first: what listens on every address is reached under the
/// machine's own ones, `own`; without any, only from this machine.
pub fn reachable(listening: &[SocketAddr], own: &[IpAddr]) -> Vec<SocketAddr> {
    let mut hosts = Vec::new();
    for socket in listening {
        match socket.ip() {
            ip if !ip.is_unspecified() => hosts.push(*socket),
            ip => {
                // [::] takes IPv4 too.
                let fits = own.iter().filter(|own| ip.is_ipv6() || own.is_ipv4());
                let before = hosts.len();
                hosts.extend(fits.map(|own| SocketAddr::new(*own, socket.port())));
                if hosts.len() == before {
                    hosts.push(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), socket.port()));
                }
            }
        }
    }
    hosts.sort_by_key(|host| rank(host.ip()));
    hosts.dedup();
    hosts
}

/// Loopback last, as it serves one machine; IPv4 first, as it is shorter to type.
fn rank(ip: IpAddr) -> u8 {
    match ip {
        ip if ip.is_loopback() => 2,
        IpAddr::V4(_) => 0,
        IpAddr::V6(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(listening: &[&str], own: &[&str], expected: &[&str]) {
        let listening: Vec<SocketAddr> = listening.iter().map(|text| text.parse().expect("socket")).collect();
        let own: Vec<IpAddr> = own.iter().map(|text| text.parse().expect("address")).collect();
        let found: Vec<String> = reachable(&listening, &own).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn every_address_means_the_machines_own() {
        check(&["[::]:2049"], &["fd00::1", "10.0.0.1"], &["10.0.0.1:2049", "[fd00::1]:2049"]);
        check(&["0.0.0.0:2049"], &["fd00::1", "10.0.0.1"], &["10.0.0.1:2049"]);
        check(&["[::]:2049"], &[], &["127.0.0.1:2049"]);
        check(&["127.0.0.1:9", "10.0.0.1:9"], &["10.0.0.2"], &["10.0.0.1:9", "127.0.0.1:9"]);
    }
}
