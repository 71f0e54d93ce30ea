//! What a server reports of the way to another server: the client's figures and those of the caches, in the server's form.

use std::sync::Arc;

use howdah_client::Remote;
use howdah_client::channel::{ChannelReport, LaneLimit, LimitReport};
use howdah_layers::{Cached, CachedReport};
use howdah_server::uplink::{Uplink, UplinkCache, UplinkDisk, UplinkReport};

use crate::places::DiskCacheUse;

/// Of the memory for what is written, the part from which on writers wait for the far server.
const FULL: f64 = 0.9;

/// The way to the server of an export.
pub struct FarSide {
    /// What was opened.
    pub url: String,
    /// The client.
    pub client: Arc<dyn Remote>,
    /// The caches before it.
    pub cached: Option<Arc<Cached>>,
    /// The cache on disk, if one was asked for.
    pub disk: Option<DiskCacheUse>,
}

impl Uplink for FarSide {
    fn report(&self) -> UplinkReport {
        let cached = self.cached.as_ref().map(|cached| cached.report());
        let disk = self.disk.as_ref().map(|disk| {
            let report = cached.as_ref().and_then(|cached| cached.disk);
            let status = disk.status(report.as_ref());
            UplinkDisk {
                sentence: status.text(),
                directory: status.cache_dir,
                state: status.cache_state,
                bytes: status.cache_bytes,
                bytes_max: status.cache_bytes_max,
                hits: status.cache_hits,
                misses: status.cache_misses,
            }
        });
        UplinkReport { disk, ..uplink_report(&self.url, &self.client.channel().report(), cached.as_ref()) }
    }
}

fn uplink_report(url: &str, channel: &ChannelReport, cached: Option<&CachedReport>) -> UplinkReport {
    let (limited_by, sentence) = limit(channel, cached);
    let rate = |writes| channel.now.as_ref().filter(|now| now.writes == writes).map_or(0.0, |now| now.rate);
    let trip = channel.lanes.iter().filter_map(|lane| lane.round_trip).min();
    UplinkReport {
        url: url.to_owned(),
        is_up: !channel.is_away,
        connections: channel.lanes.iter().filter(|lane| lane.local.is_some()).count(),
        rtt_seconds: trip.map(|trip| trip.as_secs_f64()),
        calls_in_flight: channel.in_flight,
        calls_in_flight_max: channel.flight.target,
        bytes_per_call: channel.flight.bytes,
        read_bytes: channel.read,
        written_bytes: channel.written,
        read_per_second: rate(false),
        written_per_second: rate(true),
        limited_by: limited_by.to_owned(),
        sentence,
        cache: cached.map(caches),
        disk: None,
    }
}

fn caches(report: &CachedReport) -> UplinkCache {
    let (reading, writing) = (&report.reading, &report.writing);
    UplinkCache {
        attribute_hits: report.attributes.hits,
        attribute_misses: report.attributes.misses,
        data_hits: reading.hits,
        data_misses: reading.misses,
        read_ahead_bytes: reading.held as u64,
        read_ahead_bytes_max: reading.memory_budget as u64,
        dirty_bytes: writing.held as u64,
        dirty_bytes_max: writing.memory_budget as u64,
        full_waits: writing.waited_for_memory,
    }
}

/// The side that limits, and how to say it.
fn limit(channel: &ChannelReport, cached: Option<&CachedReport>) -> (&'static str, String) {
    if channel.is_away {
        return ("far", "the far server does not answer".to_owned());
    }
    let is_full =
        |cached: &CachedReport| cached.writing.held as f64 >= FULL * cached.writing.memory_budget as f64;
    match &channel.now {
        None => ("none", "no calls to the far server".to_owned()),
        Some(now) if side(now.limit) == "near" && now.writes && cached.is_some_and(is_full) => (
            "far",
            "writes limited by the far server: data that it has not made safe yet fills the memory here"
                .to_owned(),
        ),
        Some(now) if side(now.limit) == "near" => ("near", of_clients(now)),
        Some(now) => (side(now.limit), now.sentence()),
    }
}

fn of_clients(now: &LimitReport) -> String {
    let what = if now.writes { "writes" } else { "reads" };
    format!("{what} limited by the clients, which have no more calls in flight")
}

fn side(limit: LaneLimit) -> &'static str {
    match limit {
        LaneLimit::Idle => "none",
        LaneLimit::Requests => "near",
        LaneLimit::Slots | LaneLimit::Processor => "relay",
        LaneLimit::Server
        | LaneLimit::SessionSlots
        | LaneLimit::OurSendBuffer
        | LaneLimit::TheirSendBuffer
        | LaneLimit::OurWindow
        | LaneLimit::TheirWindow
        | LaneLimit::Loss
        | LaneLimit::Path
        | LaneLimit::PathOrTheirBuffer
        | LaneLimit::Start => "far",
    }
}
