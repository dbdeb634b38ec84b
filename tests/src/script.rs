//! An agent that does what it is told, and requests in every dialect that tell it.

use protocol_core::{Access, Agent, Done, Piece, Stopped, TaskCx, json::Json, time::Millis};

/// Does what the client says, step by step, separated by semicolons:
///
/// | step | does |
/// | --- | --- |
/// | `work`, `slow` | moves to working; `slow` says besides that it takes long |
/// | `say X` | moves to working with words |
/// | `wait MS` | sleeps |
/// | `chunk X`, `last X` | adds text to the artifact `out`; `last` ends it |
/// | `chunks N`, `says N` | so many chunks, so many words, numbered |
/// | `put X` | an artifact of that name with its name in it, described when the name begins with `d` |
/// | `add NAME X` | adds text to the artifact of that name |
/// | `data JSON`, `file X`, `link URL` | an artifact with a part of that kind |
/// | `refer` | ends with the data of the task that the message is about |
/// | `operate` | says whether it may |
/// | `act X` | ends with X if it may act, and asks for credentials if not |
/// | `ask X`, `auth X`, `end X`, `fail X`, `reject X`, `reply X`, `done` | ends the run |
///
/// Anything else is answered with a message that says it again; without text it completes. Nothing but a credential goes
/// on with what was said before.
pub struct Script;

impl Agent for Script {
    async fn run(&self, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
        let mut text = task.text().unwrap_or("fail too long").to_owned();
        if task.was_asked_for_credentials() && (text.is_empty() || text == "(withheld)") {
            text =
                task.earlier(|said| said.text.clone().filter(|text| !text.is_empty())).unwrap_or_default().to_string();
        }
        let mut chunks = 0;
        for step in text.split(';').map(str::trim).filter(|step| !step.is_empty()) {
            let (word, rest) = step.split_once(' ').unwrap_or((step, ""));
            match word {
                "slow" => {
                    if !task.takes_long() {
                        return task.reject(format_args!("too many"));
                    }
                    task.working().await?;
                }
                "work" => task.working().await?,
                "say" => task.progress(format_args!("{rest}")).await?,
                "says" => {
                    for n in 0..rest.parse().unwrap_or(1).min(1000) {
                        task.progress(format_args!("[{n}]")).await?;
                    }
                }
                "wait" => task.sleep(Millis(rest.parse().unwrap_or(1))).await?,
                "chunk" | "last" => {
                    chunks += 1;
                    let artifact = task.artifact("out");
                    let artifact = if word == "chunk" { artifact.more_to_come() } else { artifact };
                    let artifact = if chunks > 1 { artifact.append() } else { artifact };
                    artifact.text(format_args!("{rest}")).await?;
                }
                "chunks" => {
                    for n in 0..rest.parse().unwrap_or(1).min(1000) {
                        let artifact = task.artifact("out").append().more_to_come();
                        artifact.text(format_args!("[{n}]")).await?;
                    }
                }
                "put" if rest.starts_with('d') => {
                    task.artifact(rest).described("what it is").text(format_args!("{rest}")).await?;
                }
                "put" => task.artifact(rest).text(format_args!("{rest}")).await?,
                "add" => {
                    let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
                    task.artifact(name).append().more_to_come().text(format_args!("{text}")).await?;
                }
                "data" => {
                    let value = Json::parse(rest.as_bytes()).unwrap_or(Json::EMPTY_OBJECT);
                    task.artifact("data").parts(&[Piece::Data(value)]).await?;
                }
                "file" => {
                    let content = format_args!("{rest}");
                    let file = Piece::File { name: "out.txt", media_type: "text/plain", content };
                    task.artifact("file").parts(&[file]).await?;
                }
                "link" => {
                    let link = Piece::Link { name: "out.txt", media_type: "text/plain", url: rest };
                    task.artifact("link").parts(&[link]).await?;
                }
                "ask" => return task.ask(format_args!("{rest}")),
                "act" if task.may(Access::Act) => return task.complete(format_args!("{rest}")),
                "act" => return task.ask_for_credentials(format_args!("to {rest}")),
                "refer" => {
                    let json = task.reference().and_then(|other| other.json()).unwrap_or_default();
                    return task.complete(format_args!("found: {json}"));
                }
                "operate" if !task.may(Access::Operator) => task.progress(format_args!("may not operate")).await?,
                "operate" => task.progress(format_args!("may operate")).await?,
                "auth" => return task.ask_for_credentials(format_args!("{rest}")),
                "end" => return task.complete(format_args!("{rest}")),
                "fail" => return task.fail(format_args!("{rest}")),
                "reject" => return task.reject(format_args!("{rest}")),
                "reply" => return task.reply(format_args!("{rest}")),
                "done" => return Ok(Done::Completed),
                _ => return task.reply(format_args!("you said: {step}")),
            }
        }
        Ok(Done::Completed)
    }
}

/// `SendMessage` and its kin of 1.0. `more` are further members of the message.
pub fn send(method: &str, text: &str, more: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{{"text":"{text}"}}]{more}}}}}}}"#
    )
}

/// `message/send` and its kin of 0.3. `more` are further members of the message.
pub fn send_03(method: &str, text: &str, more: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"message":{{"kind":"message","messageId":"m","role":"user","parts":[{{"kind":"text","text":"{text}"}}]{more}}}}}}}"#
    )
}

/// `tasks/send` and its kin of 0.1.
pub fn send_01(method: &str, id: &str, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"id":"{id}","message":{{"role":"user","parts":[{{"type":"text","text":"{text}"}}]}}}}}}"#
    )
}

/// A call about a task by its id.
pub fn about(method: &str, id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":2,"method":"{method}","params":{{"id":"{id}"}}}}"#)
}

/// The string behind the first `"name":"`, or nothing.
pub fn member(json: &str, name: &str) -> String {
    let key = format!("\"{name}\":\"");
    json.split_once(&key).map_or("", |(_, rest)| rest.split('"').next().unwrap_or("")).to_owned()
}
