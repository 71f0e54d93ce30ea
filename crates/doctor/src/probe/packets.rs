//! Round trip, loss, overtaking and the longest packet of a path: by a doctor at the other end, else by echoes.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use howdah_net::Echo;

use super::{Bouncing, echoes, longest};
use crate::facts::{MtuFacts, PathFacts, TooLargePacket, TrainFacts};
use crate::peer::{Bouncer, Peer};

/// Small packets that are sent, and how far apart: what 10 Mb/s carry ten times.
const PACKETS: u16 = 1000;
const APART: Duration = Duration::from_millis(1);
/// And once more, if some echoes did not come back.
const FEW_PACKETS: u16 = 100;
const FAR_APART: Duration = Duration::from_millis(10);

/// Looks.
pub fn packets(path: &mut PathFacts, server: SocketAddr, peer: Option<&Peer>) {
    if let Some(mut bouncer) = peer.and_then(|peer| peer.bouncer().ok()) {
        let outcome = by_peer(path, server, &mut bouncer);
        // A firewall may let its TCP through, and no UDP.
        if outcome.is_ok() && path.train.is_some() {
            return;
        }
        path.could_not.push("no datagrams come back from howdah doctor at the other end".to_owned());
    }
    let echo = match Echo::open(server) {
        Ok(echo) => echo,
        Err(why) => {
            path.could_not.push(format!(
                "losses and the longest packet: this user cannot send pings ({why}); run as root, or add a group to net.ipv4.ping_group_range"
            ));
            return;
        }
    };
    if let Err(why) = by_echoes(path, server, &echo) {
        path.could_not.push(format!("losses and the longest packet: {why}"));
    }
}

fn by_peer(path: &mut PathFacts, server: SocketAddr, bouncer: &mut Bouncer) -> io::Result<()> {
    let train = echoes::train(bouncer, 0, PACKETS, APART)?;
    if train.came == 0 {
        return Ok(());
    }
    path.round_trip = train.least;
    path.train = Some(TrainFacts { arrived: Some(bouncer.arrived()?), ..train });
    let round_trip = Duration::from_secs_f64(path.round_trip.unwrap_or_default());
    let mut mtu = longest_of(path, server, bouncer)?;
    if let Some(mtu) = mtu.as_mut().filter(|mtu| mtu.too_large == TooLargePacket::Vanishes) {
        bouncer.want_short();
        mtu.arrives_there = Some(longest::arrives(bouncer, mtu.believed as usize, round_trip)?);
    }
    path.mtu = mtu;
    Ok(())
}

fn by_echoes(path: &mut PathFacts, server: SocketAddr, echo: &Echo) -> io::Result<()> {
    let first = std::process::id() as u16;
    let train = echoes::train(echo, first, PACKETS, APART)?;
    if train.came == 0 {
        path.could_not
            .push("losses and the longest packet: the host does not answer pings (ICMP)".to_owned());
        return Ok(());
    }
    path.round_trip = train.least;
    if train.came < train.sent {
        path.slow_train = echoes::train(echo, first.wrapping_add(PACKETS), FEW_PACKETS, FAR_APART).ok();
    }
    path.train = Some(train);
    path.mtu = longest_of(path, server, echo)?;
    Ok(())
}

/// The longest packet; on this very host there is nothing to find.
fn longest_of(path: &PathFacts, server: SocketAddr, by: &dyn Bouncing) -> io::Result<Option<MtuFacts>> {
    if path.is_local {
        return Ok(None);
    }
    let round_trip = Duration::from_secs_f64(path.round_trip.unwrap_or_default());
    longest::longest(by, howdah_net::path_mtu(server), round_trip).map(Some)
}
