//! All questions that the admin interface answers, in one table: the router, `GET /v1` and the OpenAPI description are made of it.
//! Nothing else imports handlers.

use axum::routing::{get, put};

use super::capture::{Captured, Order};
use super::client::Clients;
use super::counted::{Exports, Procedures, Workers};
use super::head_watch::ClusterHeads;
use super::index::{Index, index};
use super::knobs::{KnobList, Turn};
use super::memory::Memory;
use super::metrics::metrics;
use super::openapi::{Description, openapi};
use super::question::{Parameter, Question, form};
use super::samples::RecentSamples;
use super::states::{Release, StateReport};
use super::udp::Udp;
use super::uplinks::Uplinks;
use super::{capture, clients, counts, heads, knobs, memory, samples, states, tuning, udp, uplinks};
use crate::capture as calls;
use crate::tuning::{Knob, TuningReport};

/// All of them.
pub const QUESTIONS: &[Question] = &[
    Question::json::<Index>("/v1", "what there is", || get(index)),
    Question::json::<Description>("/v1/openapi.json", "all of this for programs, as OpenAPI", || {
        get(openapi)
    }),
    Question::json::<TuningReport>(
        "/v1/tuning",
        "how connections are sized, what limits each, and its figures",
        || get(tuning::tuning),
    ),
    Question::json::<Clients>(
        "/v1/clients",
        "who is connected, what limits each, and where the time went",
        || get(clients::clients),
    ),
    Question::json::<StateReport>(
        "/v1/state",
        "what clients have open and locked, and who waits for whom",
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
            "takes everything from it: {\"release\": true}",
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
                about: "only what came after: `now` of an earlier answer",
            },
        ],
        ..Question::json::<RecentSamples>(
            "/v1/samples",
            "what was seen of connections in the last two minutes; ?client=ADDRESS&since=SECONDS",
            || get(samples::samples),
        )
    },
    Question::json::<Memory>(
        "/v1/memory",
        "what all connections together hold in the kernel, of what they may",
        || get(memory::memory),
    ),
    Question::json::<Udp>("/v1/udp", "what UDP's sockets have carried, by address and interface", || {
        get(udp::udp)
    }),
    Question::json::<Uplinks>(
        "/v1/uplinks",
        "the way to the other server, of exports of other servers, and the caches before it",
        || get(uplinks::uplinks),
    ),
    Question::json::<ClusterHeads>(
        "/v1/heads",
        "all heads of the cluster: which are up, what each serves, what limits its clients",
        || get(heads::heads),
    ),
    Question::json::<Procedures>(
        "/v1/procedures",
        "calls, their results and latencies, by procedure",
        || get(counts::procedures),
    ),
    Question::json::<Exports>("/v1/exports", "the same by export", || get(counts::exports)),
    Question::json::<Workers>(
        "/v1/workers",
        "what workers do now: wait for calls, run them, wait for storage",
        || get(counts::workers),
    ),
    Question {
        parameters: &[Parameter {
            name: "after",
            place: "query",
            kind: "integer",
            about: "only calls after that: `last` of an earlier answer",
        }],
        ..Question::json::<Captured>(
            "/v1/capture",
            "a record of calls that was begun: how it stands, and its next calls; ?after=NUMBER",
            || get(capture::get),
        )
    },
    Question {
        method: "PUT",
        body: Some(form::<Order>),
        ..Question::json::<calls::State>(
            "/v1/capture",
            "begins a record of calls, {\"run\": true, \"seconds\": 60}, or ends it",
            || put(capture::put),
        )
    },
    Question::json::<KnobList>("/v1/knobs", "what may be set while the server runs", || get(knobs::list)),
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
    Question::text("/metrics", "for monitors: see metrics.md", "application/openmetrics-text", || {
        get(metrics)
    }),
];

const KNOB: &[Parameter] = &[Parameter {
    name: "name",
    place: "path",
    kind: "string",
    about: "the name of a knob, as /v1/knobs lists them",
}];
