//! An agent that does what an example shows.

use core::task::{Context, Poll, Waker};

use mote_tests::world::{PROFILE, World};
use protocol_core::{
    Agent, Artifact, Done, Piece, Profile, Provider, Skill, Stopped, TaskCx, json::Json, time::Millis,
};
use serde_json::Value;

/// Does what it has, one after the other.
pub(crate) struct Mirror {
    acts: Vec<Value>,
}

impl Mirror {
    /// Completes with these words.
    pub(crate) fn saying(words: &str) -> Self {
        Self { acts: vec![serde_json::json!({"result": {"status": {"message": {"parts": [{"text": words}]}}}})] }
    }

    /// Does what the answers or events show.
    pub(crate) fn of(examples: &[Value]) -> Self {
        Self { acts: examples.to_vec() }
    }
}

impl Agent for Mirror {
    async fn run(&self, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
        let last = self.acts.len().saturating_sub(1);
        for (number, act) in self.acts.iter().enumerate() {
            let result = &act["result"];
            if let Some(event) = result.get("artifact") {
                show(task, event).await?;
            }
            for artifact in result["artifacts"].as_array().into_iter().flatten() {
                show(task, artifact).await?;
            }
            let state = result["status"]["state"].as_str().unwrap_or_default();
            let words = result["status"]["message"]["parts"][0]["text"].as_str().unwrap_or_default();
            match state {
                "canceled" => task.sleep(Millis(1_000_000)).await?,
                "input-required" => return task.ask(format_args!("{words}")),
                _ if number < last => task.progress(format_args!("{words}")).await?,
                _ if words.is_empty() => return Ok(Done::Completed),
                _ => return task.complete(format_args!("{words}")),
            }
        }
        Ok(Done::Completed)
    }
}

async fn show(task: &mut TaskCx<'_, '_>, example: &Value) -> Result<(), Stopped> {
    let name = example["name"].as_str().unwrap_or("artifact");
    let mut artifact: Artifact<'_, '_, '_> = task.artifact(name);
    if let Some(description) = example["description"].as_str() {
        artifact = artifact.described(description);
    }
    if example["append"] == true {
        artifact = artifact.append();
    }
    if example.get("lastChunk").is_some_and(|last| last != true) {
        artifact = artifact.more_to_come();
    }
    let part = &example["parts"][0];
    let (text, data) = (part["text"].as_str().unwrap_or_default(), part["data"].to_string());
    let file = |member: &str| part["file"][member].as_str().unwrap_or_default();
    let data = Json::parse(data.as_bytes()).unwrap_or(Json::EMPTY_OBJECT);
    let (name, media_type) = (file("name"), file("mimeType"));
    let words = format_args!("{text}");
    let content = format_args!("content");
    let piece = match part["type"].as_str().or(part["kind"].as_str()) {
        Some("data") => Piece::Data(data),
        Some("file") if part["file"].get("uri").is_some() => Piece::Link { name, media_type, url: file("uri") },
        Some("file") => Piece::File { name, media_type, content },
        _ => Piece::Text(words),
    };
    artifact.parts(&[piece]).await
}

/// What an agent says about itself that has such a card.
pub(crate) fn profile_of(card: &Value) -> Profile<'static> {
    let text = |value: &Value| -> &'static str { Box::leak(value.as_str().unwrap_or("x").to_owned().into_boxed_str()) };
    let texts = |value: &Value| -> &'static [&'static str] {
        value.as_array().map_or(&["text/plain"], |items| Box::leak(items.iter().map(text).collect()))
    };
    let skills = card["skills"].as_array().map(|skills| {
        let skills = skills.iter().map(|skill| Skill {
            id: text(&skill["id"]),
            name: text(&skill["name"]),
            description: text(&skill["description"]),
            tags: texts(&skill["tags"]),
            examples: texts(&skill["examples"]),
            ..PROFILE.skills[0]
        });
        &*Box::leak(skills.collect::<Box<[_]>>())
    });
    let provider = &card["provider"];
    Profile {
        name: text(&card["name"]),
        description: text(&card["description"]),
        version: text(&card["version"]),
        provider: Some(Provider { organization: text(&provider["organization"]), url: text(&provider["url"]) }),
        documentation_url: card.get("documentationUrl").map(text),
        input_modes: texts(&card["defaultInputModes"]),
        output_modes: texts(&card["defaultOutputModes"]),
        skills: skills.unwrap_or(PROFILE.skills),
    }
}

/// The card of a world's node.
pub(crate) fn card_of(world: &World, host: &str) -> String {
    let mut card = world.node.card(host);
    let mut bytes = vec![0; 1 << 16];
    match card.poll_fill(&mut Context::from_waker(Waker::noop()), &mut bytes) {
        Poll::Ready(Ok(n)) => String::from_utf8(bytes[..n].to_vec()).expect("cards are UTF-8"),
        other => panic!("no card: {other:?}"),
    }
}
