//! What the scenarios share: the scripted agent, requests in each dialect, and a look at answers.

pub(crate) use mote_tests::script::{Script, about, member, send, send_01, send_03};

/// The state in an answer.
pub(crate) fn state_of(json: &str) -> String {
    member(json, "state")
}

/// The code of an error.
pub(crate) fn code_of(json: &str) -> i32 {
    let code = json.split("\"error\":{\"code\":").nth(1).unwrap_or_else(|| panic!("no error: {json}"));
    code.split(',').next().unwrap().parse().unwrap()
}

/// The texts of all parts in a document, in their order.
pub(crate) fn texts(json: &str) -> Vec<String> {
    json.split("\"text\":\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}
