//! Looks at all that a client can look at, as somebody who shows it would.

use core::fmt::Write as _;

use protocol_core::{
    client::{Answer, Artifact, Card, Content, Message, Part, Status, Task, Unreadable, Version},
    json::Json,
};

/// The versions that a client speaks.
pub const VERSIONS: [&str; 3] = ["1.0", "0.3", "0.1"];

/// Everything that can be read of an answer, or of the data of an event: in words, for comparing.
///
/// # Errors
/// If it cannot be read.
pub fn answer(version: Version, bytes: &[u8], id: u32, is_event: bool) -> Result<String, Unreadable> {
    let answer = if is_event { version.read_event(bytes, id) } else { version.read(bytes, id) }?;
    let mut seen = String::new();
    match answer {
        Answer::Task(read) => task(&read, &mut seen),
        Answer::Message(read) => message(&read, &mut seen),
        Answer::Status(update) => {
            note(&mut seen, format_args!("{} {}", update.task, update.is_final));
            status(&update.status, &mut seen);
        }
        Answer::Artifact(update) => {
            note(&mut seen, format_args!("{} {} {}", update.task, update.is_append, update.is_last));
            artifact(&update.artifact, &mut seen);
        }
        Answer::Error(failure) => {
            let words = failure.message.map_or_else(String::new, |words| words.to_string());
            let reason = failure.reason.map_or_else(String::new, |reason| reason.to_string());
            note(&mut seen, format_args!("{} {:?} {words} {reason}", failure.code, failure.kind));
        }
    }
    Ok(seen)
}

/// As [`answer`], of a page of tasks.
///
/// # Errors
/// If it cannot be read.
pub fn page(version: Version, bytes: &[u8], id: u32) -> Result<String, Unreadable> {
    let mut seen = String::new();
    if let Ok(page) = version.read_page(bytes, id)? {
        for read in page.tasks().flatten() {
            task(&read, &mut seen);
        }
        note(&mut seen, format_args!("{:?}", page.next.map(|next| next.to_string())));
    }
    Ok(seen)
}

/// As [`answer`], of a card.
///
/// # Errors
/// If it cannot be read.
pub fn card(bytes: &[u8]) -> Result<String, Unreadable> {
    let card = Card::read(bytes)?;
    let mut seen = card.name.to_string();
    for skill in card.skills() {
        for text in [skill.id, skill.name, skill.description].into_iter().flatten().chain(skill.examples()) {
            note(&mut seen, format_args!("{text}"));
        }
    }
    for interface in card.interfaces() {
        note(&mut seen, format_args!("{}", interface.url));
    }
    for (name, scheme) in card.schemes() {
        note(&mut seen, format_args!("{name} {}", scheme.raw()));
    }
    for wanted in VERSIONS.map(Version::parse).into_iter().chain([None]) {
        if let Some(place) = card.place(wanted) {
            note(&mut seen, format_args!("{} {} {}", place.version.name(), place.url, place.is_sure));
            assert!(wanted.is_none_or(|wanted| wanted == place.version));
        }
    }
    Ok(seen)
}

fn note(seen: &mut String, what: core::fmt::Arguments<'_>) {
    // cannot fail: it is a String.
    let _ = writeln!(seen, "{what}");
}

fn task(task: &Task<'_>, seen: &mut String) {
    note(seen, format_args!("{} {:?}", task.id, task.context.map(|context| context.to_string())));
    status(&task.status, seen);
    for read in task.artifacts.flatten() {
        artifact(&read, seen);
    }
}

fn status(status: &Status<'_>, seen: &mut String) {
    note(seen, format_args!("{:?} {} {:?}", status.state, status.word, status.time.map(|time| time.to_string())));
    if let Some(said) = &status.message {
        message(said, seen);
    }
}

fn message(message: &Message<'_>, seen: &mut String) {
    let texts = [message.task, message.context].map(|text| text.map(|text| text.to_string()));
    note(seen, format_args!("{texts:?} {}", message.parts.count()));
    message.parts.flatten().for_each(|read| part(&read, seen));
}

fn artifact(artifact: &Artifact<'_>, seen: &mut String) {
    let texts = [artifact.name, artifact.description].map(|text| text.map(|text| text.to_string()));
    note(seen, format_args!("{} {texts:?}", artifact.id));
    artifact.parts.flatten().for_each(|read| part(&read, seen));
}

fn part(part: &Part<'_>, seen: &mut String) {
    match part.content {
        Content::Text(text) | Content::Raw(text) | Content::Url(text) => note(seen, format_args!("{text}")),
        Content::Data(data) => {
            assert!(Json::parse(data.raw().as_bytes()).is_ok());
            note(seen, format_args!("{}", data.raw()));
        }
    }
    for text in [part.media_type, part.filename].into_iter().flatten() {
        note(seen, format_args!("{text}"));
    }
}
