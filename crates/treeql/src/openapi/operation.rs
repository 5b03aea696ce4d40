//! One operation of a path, its members in the order of php-crud-api.

use serde_json::{Map, Value as Json, json};

use crate::openapi::reference::{error_name, reference};

/// One operation of a path.
#[derive(Clone, Debug)]
pub struct OperationText<'a> {
    /// Names of shared parameters.
    pub parameters: &'a [&'a str],
    /// Parameters of its own.
    pub own_parameters: Vec<Json>,
    /// The name of its body among the components, if it takes one.
    pub body: Option<String>,
    /// The group that it is shown in.
    pub tag: &'a str,
    /// What generators call it; unique in a document.
    pub id: String,
    /// What it does.
    pub description: String,
    /// The name of its answer among the components, status 200.
    pub answer: String,
    /// Statuses of errors that it may answer with.
    pub statuses: &'a [u16],
}

impl OperationText<'_> {
    /// The operation; `common` are statuses that any operation may answer with.
    pub fn json(self, common: &[u16]) -> Json {
        let mut operation = Map::new();
        let mut parameters: Vec<Json> =
            self.parameters.iter().map(|name| reference("parameters", name)).collect();
        parameters.extend(self.own_parameters);
        if !parameters.is_empty() {
            operation.insert("parameters".to_owned(), parameters.into());
        }
        if let Some(body) = &self.body {
            operation.insert("requestBody".to_owned(), reference("requestBodies", body));
        }
        operation.insert("tags".to_owned(), json!([self.tag]));
        operation.insert("operationId".to_owned(), self.id.into());
        operation.insert("description".to_owned(), self.description.into());
        let mut responses = Map::new();
        responses.insert("200".to_owned(), reference("responses", &self.answer));
        let mut statuses: Vec<u16> = self.statuses.iter().chain(common).copied().collect();
        statuses.sort_unstable();
        statuses.dedup();
        for status in statuses {
            responses.insert(status.to_string(), reference("responses", &error_name(status)));
        }
        operation.insert("responses".to_owned(), responses.into());
        Json::Object(operation)
    }
}
