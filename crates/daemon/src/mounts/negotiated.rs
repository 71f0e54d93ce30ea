//! What was negotiated with the server of a mount, for `howdah mount --verbose`.

use howdah_client::channel::{ChannelReport, Transport};
use howdah_client::url::{NfsUrl, WantedSecurity};
use howdah_client::{Remote, Sizes};
use howdah_units::{counted, power_of_two, time};

use super::options::MountSettings;

/// A line each: protocol and connections, sizes, options in effect.
pub fn negotiated(client: &dyn Remote, settings: &MountSettings) -> String {
    let connections = connections(client.protocol(), &client.channel().report(), &settings.url);
    format!("  {connections}\n  {}\n  {}\n", sizes(client.sizes()), options(client, settings))
}

fn connections(protocol: &str, channel: &ChannelReport, url: &NfsUrl) -> String {
    let Some(lane) = channel.lanes.first() else { return protocol.to_owned() };
    let is_datagrams = url.options.transport.is_some_and(Transport::is_datagrams);
    let over = if is_datagrams { "UDP" } else { "TCP" };
    let count = channel.lanes.iter().filter(|lane| lane.local.is_some()).count();
    let secured = match url.options.transport_security {
        WantedSecurity::None => "without TLS",
        WantedSecurity::Tls => "with TLS",
        WantedSecurity::MutualTls => "with TLS and a client certificate",
        WantedSecurity::DirectTls => "with TLS from the first byte",
    };
    let trip = lane.round_trip.map_or(String::new(), |trip| format!(", round trip {}", time(trip)));
    format!(
        "{protocol} over {over} {secured} to {}, {}{trip}",
        lane.server,
        counted(count as u64, "connection", "connections")
    )
}

fn sizes(sizes: Sizes) -> String {
    let shown = |bytes: u32| power_of_two(u64::from(bytes));
    format!("rsize {}, wsize {}, directories {}", shown(sizes.read), shown(sizes.write), shown(sizes.listing))
}

fn options(client: &dyn Remote, settings: &MountSettings) -> String {
    let believed = &settings.believed;
    let mut words = vec![if settings.read_only { "ro" } else { "rw" }.to_owned()];
    words.extend(settings.allow_other.then(|| "allow_other".to_owned()));
    words.extend(settings.synchronous.then(|| "sync".to_owned()));
    words.extend(settings.acls.then(|| "acl".to_owned()));
    if settings.alone {
        words.push("alone".to_owned());
    } else {
        let times = [
            ("acregmin", believed.file_min),
            ("acregmax", believed.file_max),
            ("acdirmin", believed.directory_min),
            ("acdirmax", believed.directory_max),
        ];
        words.extend(times.map(|(name, time)| format!("{name}={}", time.as_secs())));
    }
    let are_shared = settings.shares_locks() && client.file_locks().is_some();
    words.push(format!("local_lock={}", if are_shared { "none" } else { "all" }));
    words.join(",")
}
