//! All questions that the admin interface answers, in one table: the router, `GET /v1` and the OpenAPI description are made of it.
//! Nothing else imports handlers.

use axum::routing::{get, put};

use super::capture::{Captured, Order};
use super::client::Clients;
use super::counted::{Exports, Procedures, Workers};
use super::head_watch::ClusterHeads;
use super::index::{Index, index};
use super::kerberos::Kerberos;
use super::knobs::{KnobList, Turn};
use super::memory::Memory;
use super::metrics::metrics;
use super::openapi::{Description, openapi};
use super::question::{Parameter, Question, form};
use super::samples::RecentSamples;
use super::states::{Release, StateReport};
use super::udp::Udp;
use super::uplinks::Uplinks;
use super::{
    capture, clients, counts, heads, kerberos, knobs, memory, samples, states, tuning, udp, uplinks,
};
use crate::capture as calls;
use crate::tuning::{Knob, TuningReport};

/// All of them.
pub const QUESTIONS: &[Question] = &[
    Question::json::<Index>("/v1", "list of all requests", || get(index)),
    Question::json::<Description>("/v1/openapi.json", "OpenAPI description of all requests", || get(openapi)),
    Question::json::<TuningReport>(
        "/v1/tuning",
        "connections: sizes, bottleneck and figures of each",
        || get(tuning::tuning),
    ),
    Question::json::<Clients>(
        "/v1/clients",
        "clients: bottleneck of each, and its time per bottleneck",
        || get(clients::clients),
    ),
    Question::json::<StateReport>(
        "/v1/state",
        "NFSv4 clients: open files, locks, and waiting clients",
        || get(states::states),
    ),
    Question {
        method: "PUT",
        parameters: &[Parameter {
            name: "client",
            place: "path",
            kind: "string",
            about: "the id of an NFSv4 client, as /v1/state lists them",
        }],
        body: Some(form::<Release>),
        ..Question::json::<StateReport>(
            "/v1/state/{client}",
            "releases its opens and locks: {\"release\": true}",
            || put(states::release),
        )
    },
    Question {
        parameters: &[
            Parameter { name: "client", place: "query", kind: "string", about: "only this address" },
            Parameter {
                name: "since",
                place: "query",
                kind: "number",
                about: "only samples after this time: `now` of an earlier reply",
            },
        ],
        ..Question::json::<RecentSamples>(
            "/v1/samples",
            "samples of connections in the last two minutes; ?client=ADDRESS&since=SECONDS",
            || get(samples::samples),
        )
    },
    Question::json::<Memory>("/v1/memory", "kernel memory of all connections, and the budget", || {
        get(memory::memory)
    }),
    Question::json::<Udp>("/v1/udp", "UDP sockets and their traffic, by address and interface", || {
        get(udp::udp)
    }),
    Question::json::<Kerberos>(
        "/v1/kerberos",
        "Kerberos: contexts, calls that were refused, and why contexts were",
        || get(kerberos::kerberos),
    ),
    Question::json::<Uplinks>(
        "/v1/uplinks",
        "for exports of other servers: path to the other server, bottleneck, and caches",
        || get(uplinks::uplinks),
    ),
    Question::json::<ClusterHeads>(
        "/v1/heads",
        "heads of the cluster: state, addresses, and bottleneck of their clients",
        || get(heads::heads),
    ),
    Question::json::<Procedures>(
        "/v1/procedures",
        "calls, their results and latencies, by procedure",
        || get(counts::procedures),
    ),
    Question::json::<Exports>("/v1/exports", "the same by export", || get(counts::exports)),
    Question::json::<Workers>("/v1/workers", "workers: idle, running calls, in storage", || {
        get(counts::workers)
    }),
    Question {
        parameters: &[Parameter {
            name: "after",
            place: "query",
            kind: "integer",
            about: "only calls after this one: `last` of an earlier reply",
        }],
        ..Question::json::<Captured>(
            "/v1/capture",
            "the current capture: its state and its next calls; ?after=NUMBER",
            || get(capture::get),
        )
    },
    Question {
        method: "PUT",
        body: Some(form::<Order>),
        ..Question::json::<calls::State>(
            "/v1/capture",
            "starts a capture, {\"run\": true, \"seconds\": 60}, or stops it",
            || put(capture::put),
        )
    },
    Question::json::<KnobList>("/v1/knobs", "settings that can be changed while the server runs", || {
        get(knobs::list)
    }),
    Question {
        parameters: KNOB,
        ..Question::json::<Knob>("/v1/knobs/{name}", "one of them", || get(knobs::get))
    },
    Question {
        method: "PUT",
        parameters: KNOB,
        body: Some(form::<Turn>),
        ..Question::json::<Knob>("/v1/knobs/{name}", "sets it: {\"value\": \"16M\"}, or \"auto\"", || {
            put(knobs::put)
        })
    },
    Question::text(
        "/metrics",
        "metrics for Prometheus: see metrics.md",
        "application/openmetrics-text",
        || get(metrics),
    ),
];

const KNOB: &[Parameter] = &[Parameter {
    name: "name",
    place: "path",
    kind: "string",
    about: "the name of a knob, as /v1/knobs lists them",
}];
