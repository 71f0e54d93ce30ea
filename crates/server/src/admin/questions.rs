//! All questions that the admin interface answers, in one table: the router, `GET /v1` and the OpenAPI description are made of it.
//! Nothing else imports handlers.

use std::sync::Arc;

use axum::routing::{MethodRouter, get, put};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::capture::{Captured, Order};
use super::client::Clients;
use super::counted::{Exports, Procedures, Workers};
use super::index::{Index, index};
use super::knobs::{KnobList, Turn};
use super::memory::Memory;
use super::metrics::metrics;
use super::openapi::{Description, openapi};
use super::routes::Asked;
use super::samples::RecentSamples;
use super::udp::Udp;
use super::{capture, clients, counts, knobs, memory, samples, tuning, udp};
use crate::capture as calls;
use crate::tuning::{Knob, TuningReport};

/// A question.
pub struct Question {
    /// `GET` or `PUT`.
    pub method: &'static str,
    /// `{name}` stands for a name.
    pub path: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// What may be said with it.
    pub parameters: &'static [Parameter],
    /// The body that it has, if it has one.
    pub body: Option<Form>,
    /// What is answered.
    pub answer: Answer,
    /// Who answers.
    pub answered: fn() -> MethodRouter<Arc<Asked>>,
}

/// A form of JSON, put among those that are described already.
pub type Form = fn(&mut SchemaGenerator) -> Schema;

/// What may be said with a question.
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// `path`, where it must be there, or `query`.
    pub place: &'static str,
    /// A type of JSON.
    pub kind: &'static str,
    /// What it is about.
    pub about: &'static str,
}

/// What is answered.
pub enum Answer {
    /// JSON of this form.
    Json(Form),
    /// Text of this type.
    Text(&'static str),
}

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
    Question::json::<Procedures>(
        "/v1/procedures",
        "what was asked, how it ended and how long it took, by procedure",
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

/// Method, path and subject of those that are answered with JSON.
pub fn json_questions() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let questions = QUESTIONS.iter().filter(|question| matches!(question.answer, Answer::Json(_)));
    questions.map(|question| (question.method, question.path, question.about))
}

const KNOB: &[Parameter] = &[Parameter {
    name: "name",
    place: "path",
    kind: "string",
    about: "the name of a knob, as /v1/knobs lists them",
}];

impl Question {
    const fn json<T: JsonSchema>(
        path: &'static str,
        about: &'static str,
        answered: fn() -> MethodRouter<Arc<Asked>>,
    ) -> Self {
        let answer = Answer::Json(form::<T>);
        Self { method: "GET", path, about, parameters: &[], body: None, answer, answered }
    }

    const fn text(
        path: &'static str,
        about: &'static str,
        of_type: &'static str,
        answered: fn() -> MethodRouter<Arc<Asked>>,
    ) -> Self {
        let answer = Answer::Text(of_type);
        Self { method: "GET", path, about, parameters: &[], body: None, answer, answered }
    }
}

fn form<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}
