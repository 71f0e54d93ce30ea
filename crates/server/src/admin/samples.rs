//! `GET /v1/samples`: what was seen of connections in the last two minutes.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::Query;
use axum::extract::State;
use axum::extract::rejection::QueryRejection;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::asked::Asked;
use super::failure::Failure;
use crate::limits::POINTS_MAX;
use crate::samples::{Point, SPAN, Taken};

/// Whose samples, and since when.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Which {
    client: Option<IpAddr>,
    since: Option<f64>,
}

/// What was seen of late.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecentSamples {
    /// Now, in seconds of the server's clock: since it started. The next question's `since`.
    pub now: f64,
    /// How far back samples go.
    pub span_seconds: f64,
    /// How far they are apart, while a connection moves something.
    pub step_seconds: f64,
    /// What all samples hold.
    pub memory_bytes: u64,
    /// What they may hold, but for what connections without samples take.
    pub memory_most_bytes: u64,
    /// Oldest first; those that closed of late included. One that has no samples since then is left out, unless it closed since then.
    pub connections: Vec<ConnectionSamples>,
}

/// Those of a connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionSamples {
    /// The client's address and port.
    pub client: SocketAddr,
    /// Ours.
    pub server: SocketAddr,
    /// Whether it is there.
    pub is_open: bool,
    /// What was seen, oldest first.
    pub samples: Columns,
}

/// Columns of the same length: the first of each belong together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Columns {
    /// Seconds of the server's clock.
    pub at: Vec<f64>,
    /// Bytes per second since the sample before.
    pub sent_per_second: Vec<f64>,
    /// Bytes per second since the sample before.
    pub received_per_second: Vec<f64>,
    /// The smoothed round trip.
    pub rtt_seconds: Vec<f64>,
    /// The shortest of late.
    pub min_rtt_seconds: Vec<f64>,
    /// The most that was sent and not acknowledged since the sample before.
    pub in_flight: Vec<u64>,
    /// In the socket and not sent.
    pub unsent: Vec<u64>,
    /// The congestion window.
    pub congestion_window: Vec<u64>,
    /// The window that the client offers.
    pub peer_window: Vec<Option<u64>>,
    /// The window that we offer.
    pub window: Vec<Option<u64>>,
    /// The send buffer.
    pub send_buffer: Vec<u64>,
    /// The receive buffer.
    pub receive_buffer: Vec<u64>,
    /// Received and not read.
    pub unread: Vec<u64>,
    /// Calls received and not answered.
    pub outstanding: Vec<u32>,
    /// What limited it for the longest part since the sample before.
    pub verdict: Vec<Option<String>>,
}

/// Answers with the samples.
pub async fn samples(
    State(asked): State<Arc<Asked>>,
    which: Result<Query<Which>, QueryRejection>,
) -> Result<Json<RecentSamples>, Failure> {
    let Query(which) = which.map_err(|rejection| {
        let hint = "as in /v1/samples?client=10.0.0.7&since=12.5, both of which may be left out";
        Failure::new(StatusCode::BAD_REQUEST, rejection.body_text(), hint)
    })?;
    let since = Duration::try_from_secs_f64(which.since.unwrap_or_default()).unwrap_or_default();
    let now = asked.shared.started.elapsed();
    let (tokens, step, memory) = {
        let mut samples = asked.shared.samples.lock();
        samples.forget(now);
        (samples.tokens(which.client), samples.step(), samples.memory())
    };
    // One at a time, so that the thread that looks at connections never waits for all of it.
    let taken = tokens.into_iter().filter_map(|token| asked.shared.samples.lock().take(token, since));
    let connections = taken.map(connection_samples).collect();
    Ok(Json(RecentSamples {
        now: now.as_secs_f64(),
        span_seconds: SPAN.as_secs_f64(),
        step_seconds: step.as_secs_f64(),
        memory_bytes: memory as u64,
        memory_most_bytes: (POINTS_MAX * size_of::<Point>()) as u64,
        connections,
    }))
}

fn connection_samples(taken: Taken) -> ConnectionSamples {
    let mut columns = Columns::default();
    taken.points.iter().for_each(|point| columns.push(point));
    ConnectionSamples { client: taken.client, server: taken.server, is_open: taken.is_open, samples: columns }
}

impl Columns {
    fn push(&mut self, point: &Point) {
        let ((sent, received), (rtt, min_rtt)) = (point.rates(), point.round_trips());
        let ((peer_window, window), (send, receive)) = (point.windows(), point.buffers());
        self.at.push(point.at().as_secs_f64());
        self.sent_per_second.push(sent);
        self.received_per_second.push(received);
        self.rtt_seconds.push(rtt.as_secs_f64());
        self.min_rtt_seconds.push(min_rtt.as_secs_f64());
        self.in_flight.push(point.flight());
        self.unsent.push(point.unsent());
        self.congestion_window.push(point.congestion_window());
        self.peer_window.push(peer_window);
        self.window.push(window);
        self.send_buffer.push(send);
        self.receive_buffer.push(receive);
        self.unread.push(point.unread());
        self.outstanding.push(point.outstanding());
        self.verdict.push(point.verdict().map(|verdict| verdict.word().to_owned()));
    }
}
