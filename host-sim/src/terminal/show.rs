//! What is shown of answers.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal as _, Write as _},
};

use protocol_core::{
    client::{Artifact, Content, Message, Part, Status, Task, TaskState, Unreadable},
    json::{Json, compact},
};

use super::{
    clean, note,
    series::{Series, number_of_data, number_of_text},
};
use crate::board::say;

/// The answer in a body or an event as one line of JSON: the result, or an object with the error.
pub(super) fn json(bytes: &[u8]) {
    let Ok(answer) = Json::parse(bytes) else { return };
    if let Some(result) = answer.member("result") {
        say(format_args!("{}", in_one_line(result)));
    } else if let Some(error) = answer.member("error") {
        say(format_args!("{{\"error\":{}}}", in_one_line(error)));
    }
}

/// JSON without its white space, and fit for a terminal.
pub(super) fn in_one_line(value: Json<'_>) -> String {
    let mut line = String::new();
    compact(value, &mut |piece: &str| line.push_str(piece));
    clean::json(&line)
}

/// The words for a state.
pub(super) fn state(status: &Status<'_>) -> String {
    let known = match status.state {
        Some(TaskState::Submitted) => "submitted",
        Some(TaskState::Working) => "working",
        Some(TaskState::InputRequired) => "input required",
        Some(TaskState::AuthRequired) => "credential required",
        Some(TaskState::Completed) => "completed",
        Some(TaskState::Canceled) => "canceled",
        Some(TaskState::Failed) => "failed",
        Some(TaskState::Rejected) => "rejected",
        None => return clean::line(&status.word).to_string(),
    };
    known.to_owned()
}

/// Of so many artifacts it is remembered what was shown: an agent that makes more of them has them shown again.
const ARTIFACTS_MOST: usize = 1000;

type Parts<'a> = Vec<Result<Part<'a>, Unreadable>>;

/// What parts say. Data is for machines, and shown where no words stand beside it.
fn words(parts: &Parts<'_>) -> String {
    let has_text = parts.iter().flatten().any(|part| matches!(part.content, Content::Text(_)));
    let shown = parts.iter().filter_map(|part| match part {
        Ok(part) => match part.content {
            Content::Text(text) => Some(clean::lines(&text).to_string()),
            Content::Data(_) if has_text => None,
            Content::Data(data) => Some(in_one_line(data)),
            Content::Url(url) => Some(format!("{}at {}", about_file(part), clean::line(&url))),
            Content::Raw(raw) => Some(file(part, &raw.chars().collect::<String>())),
        },
        Err(why) => Some(format!("(a part that cannot be read: {why})")),
    });
    shown.collect::<Vec<_>>().join("\n").trim_end_matches('\n').to_owned()
}

/// A file: its content if that is text, else what it is.
fn file(part: &Part<'_>, base64: &str) -> String {
    let bytes = decoded(base64);
    let is_text = part.media_type.is_some_and(|media| media.chars().take(5).eq("text/".chars()));
    match String::from_utf8(bytes) {
        Ok(text) if is_text => clean::lines(&text).to_string(),
        Ok(text) => format!("{}of {} bytes", about_file(part), text.len()),
        Err(error) => format!("{}of {} bytes", about_file(part), error.as_bytes().len()),
    }
}

fn about_file(part: &Part<'_>) -> String {
    let name = part.filename.map_or(String::new(), |name| format!("{} ", clean::line(&name)));
    let media = part.media_type.map_or(String::new(), |media| format!("({}) ", clean::line(&media)));
    format!("file {name}{media}")
}

/// The bytes of base64 in either alphabet. The reader has looked whether it is that.
fn decoded(base64: &str) -> Vec<u8> {
    let digits = base64.bytes().filter_map(|digit| match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    });
    let (mut bytes, mut held, mut count) = (Vec::new(), 0_u32, 0);
    for digit in digits {
        held = held << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((held >> count) as u8);
            held &= (1 << count) - 1;
        }
    }
    bytes
}

/// The number that parts are about: of a data part, or else of words.
fn number(parts: &Parts<'_>) -> Option<f64> {
    let contents = || parts.iter().flatten().map(|part| part.content);
    let of_data = contents().find_map(|content| match content {
        Content::Data(data) => number_of_data(data),
        _ => None,
    });
    of_data.or_else(|| {
        contents().find_map(|content| match content {
            Content::Text(text) => number_of_text(text),
            _ => None,
        })
    })
}

/// What a message says.
pub(super) fn message(message: &Message<'_>) -> String {
    words(&message.parts.collect())
}

/// What was shown of a task, so that nothing is shown twice.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Of each artifact, so many parts.
    artifacts: BTreeMap<String, usize>,
    series: BTreeMap<String, Series>,
    said: String,
    /// A line stands there that the next number replaces.
    is_open: bool,
    is_live: bool,
}

impl Shown {
    /// Numbers are drawn where somebody looks.
    pub(super) fn live() -> Self {
        Self { is_live: io::stdout().is_terminal(), ..Self::default() }
    }

    /// All artifacts of a task, but for what was shown already.
    pub(super) fn artifacts(&mut self, task: &Task<'_>) {
        for artifact in task.artifacts {
            match artifact {
                Ok(artifact) => {
                    let shown = self.artifacts.get(&artifact.id.to_string()).copied().unwrap_or(0);
                    self.show(&artifact, artifact.parts.skip(shown).collect());
                    self.remember(artifact.id.to_string(), artifact.parts.count());
                }
                Err(why) => self.say(&format!("(an artifact that cannot be read: {why})")),
            }
        }
    }

    /// What a task has already is not shown.
    pub(super) fn pass_over(&mut self, task: &Task<'_>) {
        for artifact in task.artifacts.flatten() {
            self.remember(artifact.id.to_string(), artifact.parts.count());
        }
    }

    fn remember(&mut self, artifact: String, parts: usize) {
        if self.artifacts.len() >= ARTIFACTS_MOST {
            self.artifacts.clear();
            self.series.clear();
        }
        self.artifacts.insert(artifact, parts);
    }

    /// A chunk of an artifact.
    pub(super) fn chunk(&mut self, artifact: &Artifact<'_>, is_append: bool) {
        let parts = artifact.parts.collect::<Vec<_>>();
        let id = artifact.id.to_string();
        let before = self.artifacts.get(&id).copied().filter(|_| is_append).unwrap_or(0);
        self.remember(id, before + parts.len());
        self.show(artifact, parts);
    }

    fn show(&mut self, artifact: &Artifact<'_>, parts: Parts<'_>) {
        let words = words(&parts);
        match number(&parts).filter(|_| self.is_live && !words.contains('\n')) {
            Some(number) => {
                let series = self.series.entry(artifact.id.to_string()).or_default();
                series.push(number);
                let words = words.chars().take(30).collect::<String>();
                let _ = write!(io::stdout(), "\r\u{1b}[K{words}  {}", series.drawn());
                let _ = io::stdout().flush();
                self.is_open = true;
            }
            None if words.is_empty() => {}
            None => self.say(&words),
        }
    }

    /// Words of the agent, once.
    pub(super) fn message(&mut self, words: &str) {
        if !words.is_empty() && words != self.said {
            self.say(words);
            words.clone_into(&mut self.said);
        }
    }

    fn say(&mut self, words: &str) {
        self.close();
        say(format_args!("{words}"));
    }

    /// Goes on in a line of its own.
    pub(super) fn close(&mut self) {
        if core::mem::take(&mut self.is_open) {
            say(format_args!(""));
        }
    }
}

/// A task that has ended or asks for something, or is not waited for: how, which one, and what to do now.
pub(super) fn outcome(url: &str, task: &str, status: &Status<'_>) {
    let state = state(status);
    let said = status.message.as_ref().map_or(String::new(), message);
    let why = if said.is_empty() { String::new() } else { format!(": {said}") };
    match status.state {
        Some(TaskState::InputRequired | TaskState::AuthRequired) => {
            let (url, task) = (clean::word(url), clean::word(task));
            note(format_args!("{state}{why}\nto answer: host-sim ask {url} --task {task} WORDS..."));
        }
        Some(TaskState::Failed | TaskState::Rejected | TaskState::Canceled) => {
            note(format_args!("{state}{why} (task {})", clean::line(task)));
        }
        _ => note(format_args!("{state} (task {})", clean::line(task))),
    }
}

#[cfg(test)]
mod tests {
    use protocol_core::client::{Answer, Version};

    use super::*;

    #[test]
    fn base64_is_decoded_in_either_alphabet() {
        assert_eq!(decoded("aGVsbG8="), b"hello");
        assert_eq!(decoded("aGVsbG8"), b"hello");
        assert_eq!(decoded("-_8="), [0xfb, 0xff]);
        assert_eq!(decoded("+/8="), [0xfb, 0xff]);
        assert_eq!(decoded(""), b"");
    }

    #[test]
    fn words_come_before_data_and_text_files_are_text() {
        for (parts, shown) in [
            (r#"{"text":"21 °C"},{"data":{"value":21}}"#, "21 °C"),
            (r#"{"data":{"value": 21}}"#, r#"{"value":21}"#),
            (r#"{"text":"a\u001b[2J\nb"}"#, "a\\u{1b}[2J\nb"),
            (r#"{"raw":"YSxiCg==","mediaType":"text/csv","filename":"r.csv"}"#, "a,b"),
            (r#"{"raw":"AAEC","mediaType":"image/png","filename":"\u001bx"}"#, "file \\u{1b}x (image/png) of 3 bytes"),
            (r#"{"url":"http://x/y"}"#, "file at http://x/y"),
            (
                r#"{"text":"a"},{"what":1}"#,
                "a\n(a part that cannot be read: `message.parts` has a part without content)",
            ),
        ] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"message":{{"parts":[{parts}]}}}}}}"#);
            let Ok(Answer::Message(read)) = Version::newest().read(body.as_bytes(), 1) else { panic!("{body}") };
            assert_eq!(message(&read), shown);
        }
    }
}
