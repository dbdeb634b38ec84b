//! What a document looks like: the path of every member, with the type of its value.

use serde_json::Value;

/// Paths like `result.artifacts[].parts[].text: string`.
pub(crate) fn paths(value: &Value) -> Vec<String> {
    let mut all = Vec::new();
    walk(value, "", &mut all);
    all
}

fn walk(value: &Value, path: &str, all: &mut Vec<String>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    all.push(format!("{path}: {kind}"));
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let dot = if path.is_empty() { "" } else { "." };
                walk(member, &format!("{path}{dot}{name}"), all);
            }
        }
        Value::Array(items) => {
            for item in items {
                walk(item, &format!("{path}[]"), all);
            }
        }
        _ => {}
    }
}
