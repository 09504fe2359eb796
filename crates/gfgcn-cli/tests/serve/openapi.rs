//! The document says what the server does: every answer is checked against its schema.

use crate::client::Server;
use crate::sandbox::Sandbox;
use serde_json::{Value, json};

/// Why a value does not follow a schema; as much of JSON Schema as the document uses.
fn fault(document: &Value, schema: &Value, value: &Value, place: &str) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let schema = document.pointer(name.trim_start_matches('#')).expect(name);
        return fault(document, schema, value, place);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let faults: Option<Vec<String>> =
            choices.iter().map(|choice| fault(document, choice, value, place)).collect();
        return faults.map(|faults| faults.join(" and "));
    }
    if let Some(choices) = schema["enum"].as_array().filter(|choices| !choices.contains(value)) {
        return Some(format!("{place}: {value} is none of {choices:?}"));
    }
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("type {other} in the document"),
    };
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is(kind)) {
        return Some(format!("{place}: {value} is not of type {kinds:?}"));
    }
    if let (Some(items), false) = (value.as_array(), schema["items"].is_null()) {
        let faults = items.iter().enumerate();
        let mut faults = faults.filter_map(|(k, item)| {
            fault(document, &schema["items"], item, &format!("{place}[{k}]"))
        });
        return faults.next();
    }
    let fields = value.as_object()?;
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        if !fields.contains_key(name) {
            return Some(format!("{place}: {name} is missing"));
        }
    }
    for (name, value) in fields {
        let schema = match (&schema["properties"][name], &schema["additionalProperties"]) {
            (Value::Null, Value::Bool(false)) => {
                return Some(format!("{place}: {name} is not described"));
            }
            (Value::Null, Value::Null) if !schema["properties"].is_null() => {
                return Some(format!("{place}: {name} is not described"));
            }
            (Value::Null, other) => other,
            (own, _) => own,
        };
        if !schema.is_null()
            && let Some(fault) = fault(document, schema, value, &format!("{place}.{name}"))
        {
            return Some(fault);
        }
    }
    None
}

#[test]
fn answers_are_as_described() {
    let sandbox = Sandbox::new();
    sandbox.communities("data", 5);
    sandbox.ok("fit data --depth 2 --keep-training -o m.model");
    let server = Server::start(&sandbox, "serve m.model data");
    let document = server.got("/openapi.json");
    assert_eq!(document["openapi"], "3.1.0");
    let new = json!({ "id": "n", "features": [1, 0, 0.5], "edges": ["ants-0", { "to": "bees-1", "weight": 2.5 }] });
    let infer = json!({ "inputs": [{ "name": "node", "shape": [1], "datatype": "BYTES", "data": ["ants-0"] }] });
    let asked = [
        ("get", "/v1/info", "/v1/info", json!(null)),
        ("get", "/v1/nodes/{id}", "/v1/nodes/bees-3", json!(null)),
        (
            "post",
            "/v1/predict",
            "/v1/predict",
            json!({ "nodes": ["ants-1"], "new": [new], "coverage": 0.5 }),
        ),
        (
            "post",
            "/v1/explain",
            "/v1/explain",
            json!({ "node": "bees-3", "class": "ants", "top": 2 }),
        ),
        (
            "post",
            "/v1/update",
            "/v1/update",
            json!({ "labels": { "bees-3": "bees" }, "nodes": [new] }),
        ),
        (
            "post",
            "/v1/forget",
            "/v1/forget",
            json!({ "labels_of": ["bees-3"], "edges": [["ants-0", "bees-0"]] }),
        ),
        ("post", "/v1/rollback", "/v1/rollback", json!({ "to": 1 })),
        ("get", "/v1/versions", "/v1/versions", json!(null)),
        ("get", "/v2", "/v2", json!(null)),
        ("get", "/v2/health/live", "/v2/health/live", json!(null)),
        ("get", "/v2/health/ready", "/v2/health/ready", json!(null)),
        ("get", "/v2/models/{model}", "/v2/models/m", json!(null)),
        ("get", "/v2/models/{model}/ready", "/v2/models/m/ready", json!(null)),
        ("post", "/v2/models/{model}/infer", "/v2/models/m/infer", infer.clone()),
        ("get", "/v2/models/{model}/versions/{version}", "/v2/models/m/versions/4", json!(null)),
        (
            "get",
            "/v2/models/{model}/versions/{version}/ready",
            "/v2/models/m/versions/4/ready",
            json!(null),
        ),
        (
            "post",
            "/v2/models/{model}/versions/{version}/infer",
            "/v2/models/m/versions/4/infer",
            infer,
        ),
    ];
    let schema = |value: &Value| value["content"]["application/json"]["schema"].clone();
    for (method, path, actual, body) in &asked {
        let operation = &document["paths"][path][method];
        assert!(operation.is_object(), "{method} {path} is not described");
        let answer = match *method {
            "get" => server.got(actual),
            _ => {
                let wrong = fault(&document, &schema(&operation["requestBody"]), body, "request");
                assert_eq!(wrong, None, "{path}");
                server.posted(actual, body)
            }
        };
        let wrong = fault(&document, &schema(&operation["responses"]["200"]), &answer, "answer");
        assert_eq!(wrong, None, "{method} {path}: {answer}");
    }
    let (status, problem) = server.get("/v1/nodes/nobody");
    let expected = &document["paths"]["/v1/nodes/{id}"]["get"]["responses"][status.to_string()];
    assert_eq!(fault(&document, &schema(expected), &problem, "problem"), None);
}
