//! Server-sent events, read as they arrive.

use core::mem;
use std::collections::VecDeque;

use crate::{
    board::{opened, result},
    client::{Client, field},
    talk::{Dialect, Refusal, State, Task, What},
};

/// A stream of a task's events.
#[derive(Debug)]
pub(crate) struct Stream {
    client: Client,
    dialect: Dialect,
    retry_after: Option<String>,
    /// What has arrived and is no whole line yet.
    text: Vec<u8>,
    /// The event that is being put together.
    event: Option<u64>,
    data: Option<String>,
    is_error: bool,
    arrived: VecDeque<Result<Event, Refusal>>,
    comments: usize,
    newest: u64,
    next_id: u64,
    is_over: bool,
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: u64,
    pub(crate) what: What,
}

impl Stream {
    /// Begins to read, behind the head of the answer.
    ///
    /// # Errors
    /// It was refused: with a document or, as some clients read nothing else, with an event.
    pub(crate) fn begin(mut client: Client, dialect: Dialect, status: u16, head: String) -> Result<Self, Refusal> {
        if field(&head, "content-type") == Some("application/json") {
            return match result(&client.try_body(status, head).expect("a body")) {
                Err(refusal) => Err(refusal),
                Ok(result) => panic!("no stream but {result}"),
            };
        }
        assert_eq!((status, field(&head, "content-type")), (200, Some("text/event-stream")), "{head}");
        assert_eq!(field(&head, "cache-control"), Some("no-cache, no-store"), "{head}");
        assert_eq!(field(&head, "transfer-encoding"), Some("chunked"), "{head}");
        let mut stream = Self {
            client,
            dialect,
            retry_after: field(&head, "retry-after").map(str::to_owned),
            text: Vec::new(),
            event: None,
            data: None,
            is_error: false,
            arrived: VecDeque::new(),
            comments: 0,
            newest: 0,
            next_id: 0,
            is_over: false,
        };
        if dialect.refuses_in_events() {
            while stream.arrived.is_empty() && stream.read() {}
            if let Some(Err(_)) = stream.arrived.front() {
                let refusal = stream.arrived.pop_front().and_then(Result::err).expect("it was there");
                assert!(!stream.read() && stream.arrived.is_empty(), "something follows a refusal");
                return Err(refusal);
            }
        }
        Ok(stream)
    }

    /// The next event; nothing at the proper end of the stream.
    pub(crate) fn next(&mut self) -> Option<Event> {
        while self.arrived.is_empty() && self.read() {}
        let event = self.arrived.pop_front()?.unwrap_or_else(|refusal| panic!("an error in mid-stream: {refusal:?}"));
        assert!(event.id >= self.next_id, "{event:?} comes again");
        // A task that is over is shown as it is, and then its end is told: that has the same place in its log.
        self.next_id = if matches!(event.what, What::Task(_)) { event.id } else { event.id + 1 };
        self.newest = event.id;
        Some(event)
    }

    /// The id of the newest event that was taken.
    pub(crate) fn newest(&self) -> u64 {
        self.newest
    }

    /// All events up to the end.
    pub(crate) fn rest(&mut self) -> Vec<Event> {
        core::iter::from_fn(|| self.next()).collect()
    }

    /// Events up to the first chunk of an artifact, and with it.
    pub(crate) fn until_chunk(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            let event = self.next().unwrap_or_else(|| panic!("it ended without a chunk: {events:?}"));
            let is_chunk = matches!(event.what, What::Chunk { .. });
            events.push(event);
            if is_chunk {
                return events;
            }
        }
    }

    /// Reads until the stream says that it is still there.
    pub(crate) fn until_comment(&mut self) {
        let before = self.comments;
        while self.comments == before {
            assert!(self.read(), "the stream ended");
        }
    }

    /// The task of a stream that was just begun.
    pub(crate) fn task_id(&mut self) -> String {
        match self.next().expect("a first event").what {
            What::Task(Task { id, .. }) | What::Status { task: id, .. } => id,
            other => panic!("the first event is {other:?}"),
        }
    }

    /// Asserts that the stream ends with its task, which was canceled.
    pub(crate) fn assert_canceled(&mut self) {
        let rest = self.rest();
        let Some((last, before)) = rest.split_last() else { panic!("it ended without a word") };
        assert!(matches!(last.what, What::Status { state: State::Canceled, .. }), "{last:?}");
        let is_end = |event: &Event| matches!(event.what, What::Status { state, .. } if state.is_settled());
        assert!(!before.iter().any(is_end), "{before:?}");
    }

    /// Gives the connection back, which outlives a stream that ended properly.
    pub(crate) fn into_client(self) -> Client {
        assert!(self.is_over && self.arrived.is_empty(), "the stream is not over");
        self.client
    }

    /// Reads one chunk. False at the end.
    fn read(&mut self) -> bool {
        if self.is_over {
            return false;
        }
        let chunk = self.client.chunk();
        self.is_over = chunk.is_empty();
        self.text.extend(chunk);
        while let Some(end) = self.text.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.text.drain(..=end).collect();
            self.take_line(core::str::from_utf8(&line[..end]).expect("text"));
        }
        if self.is_over {
            assert!(self.text.is_empty() && self.data.is_none(), "the stream ended within an event");
        }
        !self.is_over
    }

    fn take_line(&mut self, line: &str) {
        if let Some(id) = line.strip_prefix("id: ") {
            self.event = Some(id.parse().expect("a number"));
        } else if let Some(data) = line.strip_prefix("data: ") {
            assert!(self.data.replace(data.to_owned()).is_none(), "an event is one line");
        } else if line.starts_with(':') {
            self.comments += 1;
        } else if line == "event: error" {
            self.is_error = true;
        } else {
            assert_eq!(line, "", "no line of a stream");
            let data = self.data.take().expect("an event without data breaks some clients");
            let json = serde_json::from_str(&data).unwrap_or_else(|error| panic!("{error} in {data}"));
            let event = opened(json, self.retry_after.as_deref());
            assert_eq!(event.is_err(), mem::take(&mut self.is_error), "only an error is named one: {data}");
            self.arrived.push_back(event.map(|result| Event {
                id: self.event.take().expect("an id to resume from"),
                what: self.dialect.event(&result),
            }));
        }
    }
}
