//! `GET /v1/openapi.json`: the questions and their answers as OpenAPI 3.1 (<https://spec.openapis.org/oas/v3.1.0>), made of the table
//! of questions and of the types that are answered.

use std::sync::OnceLock;

use axum::{Extension, Json};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::failure;
use super::question::{Answer, Parameter, Question, Questions};

/// The version of OpenAPI whose words these are.
const OPENAPI: &str = "3.1.0";
/// What the token is called here.
const TOKEN: &str = "token";
/// Where forms are.
const FORMS: &str = "/components/schemas";

static DESCRIPTION: OnceLock<Description> = OnceLock::new();

/// A description of this interface.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Description {
    /// The version of OpenAPI that it follows.
    openapi: String,
    /// What it is of.
    info: Map<String, Value>,
    /// Questions, by path and method.
    paths: Map<String, Value>,
    /// The forms of their answers, and what may be needed to ask.
    components: Map<String, Value>,
    /// One of these is needed.
    security: Vec<Map<String, Value>>,
}

/// Answers with the description.
pub async fn openapi(Extension(Questions(all)): Extension<Questions>) -> Json<Description> {
    Json(DESCRIPTION.get_or_init(|| description(all)).clone())
}

fn description(questions: &[Question]) -> Description {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with(|settings| settings.definitions_path = FORMS.into());
    let mut generator = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for question in questions {
        let methods = paths.entry(question.path).or_insert_with(|| json!({}));
        methods[question.method.to_lowercase()] = described(question, &mut generator);
    }
    let token = json!({ "type": "http", "scheme": "bearer", "description": "over TCP, where it was printed at start" });
    let forms = generator.take_definitions(true);
    Description {
        openapi: OPENAPI.to_owned(),
        info: object(json!({
            "title": "howdah's admin interface",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Bytes, seconds, bytes per second. Fields and paths may be added to a version: ignore what you do not \
                            know. docs/protocols/admin.md tells more.",
        })),
        paths,
        components: object(json!({ "schemas": forms, "securitySchemes": { TOKEN: token } })),
        // Callers that may reach the socket need none.
        security: vec![object(json!({ TOKEN: [] })), Map::new()],
    }
}

fn described(question: &Question, generator: &mut SchemaGenerator) -> Value {
    let answer = match &question.answer {
        Answer::Json(form) => json!({ "application/json": { "schema": form(generator) } }),
        Answer::Text(of_type) => json!({ *of_type: { "schema": { "type": "string" } } }),
    };
    let refusal = json!({ "schema": generator.subschema_for::<failure::Body>() });
    let mut described = json!({
        "summary": question.about,
        "responses": {
            "200": { "description": question.about, "content": answer },
            "default": { "description": "what is wrong, and what to do", "content": { "application/json": refusal } },
        },
    });
    if !question.parameters.is_empty() {
        described["parameters"] = question.parameters.iter().map(parameter).collect();
    }
    if let Some(form) = question.body {
        let content = json!({ "application/json": { "schema": form(generator) } });
        described["requestBody"] = json!({ "required": true, "content": content });
    }
    described
}

fn parameter(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.place == "path",
        "description": parameter.about,
        "schema": { "type": parameter.kind },
    })
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
