//! An agent for compatibility kits: what it does is chosen by how the client's `messageId` begins.

use protocol_core::{Access, Agent, Done, Piece, Profile, Skill, Stopped, TaskCx, json::Json, time::Millis};

/// The agent. It keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conformance;

impl Conformance {
    /// What it says about itself. It takes everything: a kit sends a media type that nobody has, and expects success.
    pub const PROFILE: Profile<'static> = Profile {
        name: "Mote conformance agent",
        description: "Does what compatibility kits expect: the beginning of a messageId chooses what happens.",
        version: env!("CARGO_PKG_VERSION"),
        provider: None,
        documentation_url: None,
        input_modes: &["*/*"],
        output_modes: &["text/plain", "application/json"],
        skills: &[Skill {
            id: "conformance",
            name: "Conformance",
            description: "Completes, asks, rejects, streams or answers, as the beginning of the messageId says.",
            tags: &["conformance", "test"],
            examples: &["Any text, with a messageId that begins with tck-complete-task"],
            arguments: &[],
            access: Access::Read,
        }],
    };
}

impl Agent for Conformance {
    async fn run(&self, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
        let rule = RULES.iter().find(|(prefix, _)| task.message_id_begins(prefix));
        match rule.map_or(Act::Default, |(_, act)| *act) {
            Act::Complete => task.complete(format_args!("Hello from TCK")),
            Act::Artifact(content) => {
                content.send(task).await?;
                Ok(Done::Completed)
            }
            Act::Reply => task.reply(format_args!("Direct message response")),
            Act::Ask => task.ask(format_args!("More input, please")),
            Act::Reject => task.reject(format_args!("Rejected, as asked")),
            Act::Stream(content) => {
                task.working().await?;
                content.send(task).await?;
                Ok(Done::Completed)
            }
            Act::StreamChunks => {
                task.working().await?;
                task.artifact(ARTIFACT).more_to_come().text(format_args!("chunk-1 ")).await?;
                task.artifact(ARTIFACT).append().text(format_args!("chunk-2")).await?;
                Ok(Done::Completed)
            }
            Act::Work(span) => {
                task.working().await?;
                task.sleep(span).await?;
                task.complete(format_args!("Done"))
            }
            Act::Hold => {
                // Nobody else is asked by a kit meanwhile: whether others are slow as well does not matter.
                let _ = task.takes_long();
                task.working().await?;
                let until = task.now().after(HOLD_AT_MOST);
                while !task.has_new_message() && task.now() < until {
                    task.sleep(HOLD_STEP).await?;
                }
                default(task)
            }
            Act::Default => default(task),
        }
    }
}

/// What happens to a message that no rule is for: clients of the older dialects expect to go on with the task.
fn default(task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
    if task.is_left_open() {
        task.ask(format_args!("Anything else?"))
    } else {
        task.complete(format_args!("Hello from TCK"))
    }
}

/// What a rule does.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Completes at once.
    Complete,
    /// Completes with an artifact.
    Artifact(Content),
    /// Answers with a message.
    Reply,
    /// Asks for input, as often as it takes.
    Ask,
    /// Declines.
    Reject,
    /// Works, sends an artifact, completes.
    Stream(Content),
    /// The same with an artifact in two chunks.
    StreamChunks,
    /// Works for a while, then completes.
    Work(Millis),
    /// Works until the client says more.
    Hold,
    /// What the client's dialect expects.
    Default,
}

/// The one part of an artifact.
#[derive(Clone, Copy, Debug)]
enum Content {
    Text(&'static str),
    File,
    Link,
    Data,
}

impl Content {
    async fn send(self, task: &mut TaskCx<'_, '_>) -> Result<(), Stopped> {
        let (name, media_type) = ("output.txt", "text/plain");
        let artifact = task.artifact(ARTIFACT);
        match self {
            Self::Text(text) => artifact.text(format_args!("{text}")).await,
            // The kits take an empty file for none.
            Self::File => artifact.parts(&[Piece::File { name, media_type, content: format_args!("tck") }]).await,
            Self::Link => {
                artifact.parts(&[Piece::Link { name, media_type, url: "https://example.com/output.txt" }]).await
            }
            Self::Data => {
                let data = Json::parse(br#"{"key":"value","count":42}"#).unwrap_or(Json::EMPTY_OBJECT);
                artifact.parts(&[Piece::Data(data)]).await
            }
        }
    }
}

const ARTIFACT: &str = "output";

/// A held task that nobody talks to any more gives its worker back.
const HOLD_AT_MOST: Millis = Millis(60_000);
const HOLD_STEP: Millis = Millis(50);

/// The first that fits counts, so a longer beginning stands before a shorter one that it begins with.
#[rustfmt::skip]
const RULES: &[(&str, Act)] = &[
    ("tck-complete-task",           Act::Complete),
    ("tck-artifact-text",           Act::Artifact(Content::Text("Generated text content"))),
    ("tck-artifact-file-url",       Act::Artifact(Content::Link)),
    ("tck-artifact-file",           Act::Artifact(Content::File)),
    ("tck-artifact-data",           Act::Artifact(Content::Data)),
    ("tck-message-response",        Act::Reply),
    ("tck-input-required",          Act::Ask),
    ("tck-reject-task",             Act::Reject),
    ("tck-stream-001",              Act::Stream(Content::Text("Stream hello from TCK"))),
    ("tck-stream-002",              Act::Complete),
    ("tck-stream-003",              Act::Stream(Content::Text("Stream task lifecycle"))),
    ("tck-stream-ordering-001",     Act::Stream(Content::Text("Ordered output"))),
    ("tck-stream-artifact-text",    Act::Stream(Content::Text("Streamed text content"))),
    ("tck-stream-artifact-file",    Act::Stream(Content::File)),
    ("tck-stream-artifact-chunked", Act::StreamChunks),
    ("test-resubscribe-message-id", Act::Work(Millis(4_000))),
    ("test-state-message-id",       Act::Hold),
];

#[cfg(test)]
mod tests {
    extern crate std;
    use std::{format, string::String};

    use super::{Conformance, RULES};
    use crate::bench::{Bench, task_id, with_agent};

    fn with_bench(test: impl FnOnce(&Bench<'_>)) {
        with_agent(Conformance::PROFILE, &Conformance, test);
    }

    fn send(bench: &Bench<'_>, message_id: &str) -> String {
        bench.call(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{{"messageId":"{message_id}-1","role":"ROLE_USER","parts":[{{"text":"TCK"}}]}}}}}}"#
        ))
    }

    fn send_old(bench: &Bench<'_>, message_id: &str, task: &str) -> String {
        let task = if task.is_empty() { String::new() } else { format!(r#","taskId":"{task}""#) };
        bench.call(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"message/send","params":{{"message":{{"kind":"message","messageId":"{message_id}","role":"user","parts":[{{"kind":"text","text":"TCK"}}]{task}}}}}}}"#
        ))
    }

    #[test]
    fn no_rule_hides_a_later_one() {
        for (n, (prefix, _)) in RULES.iter().enumerate() {
            for (later, _) in &RULES[n + 1..] {
                assert!(!later.starts_with(prefix), "{prefix} hides {later}");
            }
        }
    }

    #[test]
    fn does_what_the_prefix_says() {
        with_bench(|bench| {
            for (id, expected) in [
                ("tck-complete-task", &["TASK_STATE_COMPLETED", "Hello from TCK"][..]),
                ("tck-artifact-text", &["TASK_STATE_COMPLETED", r#"{"text":"Generated text content"#]),
                ("tck-artifact-file-url", &[r#""url":"https://example.com/output.txt""#, "output.txt", "text/plain"]),
                ("tck-artifact-file", &[r#""raw":"dGNr""#, "output.txt", "text/plain"]),
                ("tck-artifact-data", &[r#""data":{"key":"value","count":42}"#]),
                ("tck-message-response", &[r#""result":{"message":"#, "Direct message response"]),
                ("tck-input-required", &["TASK_STATE_INPUT_REQUIRED"]),
                ("tck-reject-task", &["TASK_STATE_REJECTED"]),
                ("tck-stream-artifact-chunked", &["chunk-1 ", "chunk-2", "TASK_STATE_COMPLETED"]),
                ("tck-send-003", &["TASK_STATE_COMPLETED"]),
                ("t", &["TASK_STATE_COMPLETED"]),
            ] {
                let answer = send(bench, id);
                for part in expected {
                    assert!(answer.contains(part), "{id}: no {part} in {answer}");
                }
            }
        });
    }

    #[test]
    fn older_clients_may_go_on() {
        with_bench(|bench| {
            let answer = send_old(bench, "text-message-id-1", "");
            assert!(answer.contains(r#""state":"input-required""#), "{answer}");
        });
    }

    #[test]
    fn works_as_long_as_the_prefix_says() {
        with_bench(|bench| {
            let answer = send(bench, "test-resubscribe-message-id");
            assert!(answer.contains("TASK_STATE_COMPLETED"), "{answer}");
            assert_eq!(bench.now(), 4_000);
        });
    }

    #[test]
    fn holds_until_the_client_says_more() {
        with_bench(|bench| {
            let answer = send_old(bench, "test-state-message-id-1", "");
            assert!(answer.contains(r#""state":"working""#), "{answer}");
            let id = task_id(&answer);
            bench.pass(10_000);
            assert!(bench.get(&id).contains(r#""state":"working""#));
            let answer = send_old(bench, "text-message-id-2", &id);
            assert!(answer.contains(&id), "{answer}");
            bench.pass(1_000);
            let task = bench.get(&id);
            assert!(task.contains(r#""state":"input-required""#), "{task}");
            assert_eq!(task.matches(r#""role":"user""#).count(), 2, "{task}");
        });
    }
}
