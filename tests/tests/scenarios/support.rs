//! The agent of the scenarios, and requests in each dialect.

use protocol_core::{Agent, Done, Piece, Stopped, TaskCx, time::Millis};

/// Does what it is told, word by word: `say X`, `chunk X`, `wait MS`, `ask X`, `fail X`, `reject X`, `reply X`, `done`,
/// separated by semicolons.
pub(crate) struct Script;

impl Agent for Script {
    async fn run(&self, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
        let text = task.text().unwrap_or("fail too long").to_owned();
        let mut chunks = 0;
        for step in text.split(';') {
            let (word, rest) = step.trim().split_once(' ').unwrap_or((step.trim(), ""));
            match word {
                "slow" => {
                    task.takes_long();
                    task.working().await?;
                }
                "work" => task.working().await?,
                "say" => task.progress(format_args!("{rest}")).await?,
                "wait" => task.sleep(Millis(rest.parse().unwrap())).await?,
                "chunk" => {
                    chunks += 1;
                    let artifact = task.artifact("out").more_to_come();
                    let artifact = if chunks > 1 { artifact.append() } else { artifact };
                    artifact.text(format_args!("{rest}")).await?;
                }
                "chunks" => {
                    for n in 0..rest.parse().unwrap() {
                        let artifact = task.artifact("out").append().more_to_come();
                        artifact.text(format_args!("[{n}]")).await?;
                    }
                }
                "put" => task.artifact(rest).parts(&[Piece::Text(format_args!("{rest}"))]).await?,
                "ask" => return task.ask(format_args!("{rest}")),
                "fail" => return task.fail(format_args!("{rest}")),
                "reject" => return task.reject(format_args!("{rest}")),
                "reply" => return task.reply(format_args!("{rest}")),
                "end" => return task.complete(format_args!("{rest}")),
                "done" => return Ok(Done::Completed),
                other => panic!("what is {other}?"),
            }
        }
        Ok(Done::Completed)
    }
}

/// `SendMessage` and its kin of the newest dialect.
pub(crate) fn send(method: &str, text: &str, more: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{{"text":"{text}"}}]{more}}}}}}}"#
    )
}

/// A call about a task by its id.
pub(crate) fn about(method: &str, id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":2,"method":"{method}","params":{{"id":"{id}"}}}}"#)
}

/// The string behind the first `"name":"`.
pub(crate) fn member(json: &str, name: &str) -> String {
    let key = format!("\"{name}\":\"");
    let start = json.find(&key).unwrap_or_else(|| panic!("no {name} in {json}")) + key.len();
    json[start..].split('"').next().unwrap().to_owned()
}

/// `message/send` and its kin.
pub(crate) fn send_03(method: &str, text: &str, more: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"message":{{"kind":"message","messageId":"m","role":"user","parts":[{{"kind":"text","text":"{text}"}}]{more}}}}}}}"#
    )
}

/// `tasks/send` and its kin.
pub(crate) fn send_01(method: &str, id: &str, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"id":"{id}","message":{{"role":"user","parts":[{{"type":"text","text":"{text}"}}]}}}}}}"#
    )
}

/// The state in an answer.
pub(crate) fn state_of(json: &str) -> String {
    member(json, "state")
}

/// The code of an error.
pub(crate) fn code_of(json: &str) -> i32 {
    let code = json.split("\"error\":{\"code\":").nth(1).unwrap_or_else(|| panic!("no error: {json}"));
    code.split(',').next().unwrap().parse().unwrap()
}
