//! Document: a description that grows, group of paths by group of paths.

use serde_json::{Map, Value as Json, json};

use crate::openapi::components::{error_response, error_schemas};
use crate::openapi::operation::OperationText;
use crate::openapi::reference::{error_name, reference};

/// A description that grows. Components are kept under their kinds: `schemas`, `responses`, `requestBodies`, `parameters`.
#[derive(Debug, Default)]
pub struct Document {
    paths: Map<String, Json>,
    responses: Map<String, Json>,
    schemas: Map<String, Json>,
    request_bodies: Map<String, Json>,
    parameters: Map<String, Json>,
    tags: Vec<Json>,
    /// Statuses that any operation may answer with.
    common: Vec<u16>,
}

impl Document {
    /// A document whose operations may all answer with these statuses, besides their own.
    pub fn new(common: &[u16]) -> Document {
        Document { common: common.to_vec(), ..Document::default() }
    }

    /// Adds an operation to a path: its method in lower case.
    pub fn operation(&mut self, path: &str, method: &str, operation: OperationText<'_>) {
        for status in operation.statuses.iter().chain(&self.common) {
            let name = error_name(*status);
            self.responses.entry(name).or_insert_with(|| error_response(*status));
        }
        let operation = operation.json(&self.common);
        let methods = self.paths.entry(path.to_owned()).or_insert_with(|| json!({}));
        methods[method] = operation;
    }

    /// Lets an operation that was added answer with a status and a response of its own.
    pub fn respond(&mut self, path: &str, method: &str, status: u16, name: &str) {
        self.paths[path][method]["responses"][status.to_string()] = reference("responses", name);
    }

    /// Adds a response.
    pub fn response(&mut self, name: impl Into<String>, response: Json) {
        self.responses.insert(name.into(), response);
    }

    /// Adds a schema.
    pub fn schema(&mut self, name: impl Into<String>, schema: Json) {
        self.schemas.insert(name.into(), schema);
    }

    /// Adds a body of requests.
    pub fn request_body(&mut self, name: impl Into<String>, body: Json) {
        self.request_bodies.insert(name.into(), body);
    }

    /// Adds parameters.
    pub fn add_parameters(&mut self, parameters: impl IntoIterator<Item = (String, Json)>) {
        self.parameters.extend(parameters);
    }

    /// Adds a group that operations are shown in.
    pub fn tag(&mut self, name: &str, description: &str) {
        self.tags.push(json!({"name": name, "description": description}));
    }

    /// The members `paths`, `components` and `tags`.
    pub fn finish(mut self, security_schemes: &Map<String, Json>) -> Map<String, Json> {
        for (name, schema) in error_schemas() {
            self.schemas.insert(name, schema);
        }
        let mut components = Map::new();
        let parts = [
            ("responses", self.responses),
            ("schemas", self.schemas),
            ("requestBodies", self.request_bodies),
            ("parameters", self.parameters),
            ("securitySchemes", security_schemes.clone()),
        ];
        for (name, part) in parts.into_iter().filter(|(_, part)| !part.is_empty()) {
            components.insert(name.to_owned(), part.into());
        }
        let mut members = Map::new();
        members.insert("paths".to_owned(), self.paths.into());
        members.insert("components".to_owned(), components.into());
        members.insert("tags".to_owned(), self.tags.into());
        members
    }
}
