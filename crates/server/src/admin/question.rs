//! A question that the admin interface answers: how it is asked, and the form of its answer.

use std::sync::Arc;

use axum::routing::MethodRouter;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::asked::Asked;

/// All questions that there are, for those that list them.
#[derive(Clone, Copy)]
pub struct Questions(pub &'static [Question]);

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

impl Question {
    /// One that is answered with JSON.
    pub const fn json<T: JsonSchema>(
        path: &'static str,
        about: &'static str,
        answered: fn() -> MethodRouter<Arc<Asked>>,
    ) -> Self {
        let answer = Answer::Json(form::<T>);
        Self { method: "GET", path, about, parameters: &[], body: None, answer, answered }
    }

    /// One that is answered with text.
    pub const fn text(
        path: &'static str,
        about: &'static str,
        of_type: &'static str,
        answered: fn() -> MethodRouter<Arc<Asked>>,
    ) -> Self {
        let answer = Answer::Text(of_type);
        Self { method: "GET", path, about, parameters: &[], body: None, answer, answered }
    }
}

/// The form of a type.
pub fn form<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}
