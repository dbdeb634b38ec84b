//! `ask`: says something, and waits for what comes of it.

use core::{cell::RefCell, time::Duration};

use protocol_core::{
    client::{Answer, Events, Request, Say, Saying},
    json::Json,
};

use super::{
    agent::{Agent, DOCUMENT_MOST},
    answer::Reply,
    order::Order,
    show::{self, Shown, outcome},
    trouble::{End, Trouble},
};
use crate::board::say;

/// How often a task is looked at: soon, and then less and less.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// What the command line says, as it is sent.
pub(super) struct Spoken<'a> {
    message: String,
    parts: Vec<Saying<'a>>,
}

impl<'a> Spoken<'a> {
    /// `text` is the words of the order, and has to outlive them.
    pub(super) fn new(order: &'a Order, text: &'a str) -> Result<Self, Trouble> {
        let mut name = [0; 16];
        getrandom::fill(&mut name)
            .map_err(|error| Trouble::Usage(format!("the operating system gives no randomness: {error}")))?;
        let mut parts = Vec::new();
        if !text.is_empty() {
            parts.push(Saying::Text(text));
        }
        // It was looked at when the command line was read.
        let data = order.data.as_deref().and_then(|data| Json::parse(data.as_bytes()).ok());
        parts.extend(data.map(Saying::Data));
        Ok(Self { message: name.iter().map(|byte| format!("{byte:02x}")).collect(), parts })
    }

    pub(super) fn say<'s>(&'s self, order: &'s Order) -> Say<'s> {
        Say {
            message: &self.message,
            parts: &self.parts,
            task: order.task.as_deref(),
            context: order.context.as_deref(),
            // Who waits for an end in silence knows neither whether there will be one nor which task it is. What is
            // said to a task is waited for: until it is taken in, the task may look as if it still asked.
            is_at_once: order.is_at_once || order.task.is_none(),
        }
    }
}

pub(super) async fn ask(order: &Order, current: &RefCell<Option<String>>) -> Result<End, Trouble> {
    let agent = Agent::find(order).await?;
    let text = order.text();
    let spoken = Spoken::new(order, &text)?;
    let say = spoken.say(order);
    current.borrow_mut().clone_from(&order.task);
    let is_begun = order.is_at_once || (order.task.is_none() && agent.is_streaming);
    let reply = loop {
        // Which version it is may be known only after it was asked in another one.
        if is_begun && !agent.version().can_answer_at_once() {
            break begin(&agent, &Request::Stream(say)).await?;
        }
        if let Some(reply) = agent.try_call(&Request::Send(say)).await? {
            break reply;
        }
    };
    settle(order, &agent, reply, current, &mut Shown::default()).await
}

/// Asks for a stream to learn which task it is about, and how that stands.
async fn begin(agent: &Agent, request: &Request<'_>) -> Result<Reply, Trouble> {
    let (id, mut body) = match agent.follow(request, None).await? {
        Ok(stream) => stream,
        Err(reply) => return Ok(reply),
    };
    let mut buffer = vec![0; DOCUMENT_MOST];
    let mut events = Events::new(&mut buffer);
    while let Some(piece) = body.next().await? {
        let mut rest = piece.as_slice();
        // Nothing is left of a piece that does not end an event.
        if let Some(data) = events.push(&mut rest)? {
            let task = match agent.version().read_event(data, id).map_err(Trouble::unreadable)? {
                Answer::Error(_) | Answer::Message(_) => {
                    return Ok(Reply { bytes: data.to_vec(), id, version: agent.version() });
                }
                Answer::Task(task) => task.id,
                Answer::Status(update) => update.task,
                Answer::Artifact(update) => update.task,
            };
            let task = task.to_string();
            // Not everybody has a second connection for us.
            drop(body);
            return agent.call(&Request::Get { task: &task }).await;
        }
    }
    Err(Trouble::Lost("the stream ended before it began".to_owned()))
}

/// Shows an answer; a task that goes on is looked at again until it does not.
pub(super) async fn settle(
    order: &Order,
    agent: &Agent,
    mut reply: Reply,
    current: &RefCell<Option<String>>,
    shown: &mut Shown,
) -> Result<End, Trouble> {
    let mut pause = FIRST_PAUSE;
    loop {
        let task = match reply.read() {
            Err(trouble) => {
                if order.is_json {
                    show::json(&reply.bytes);
                }
                return Err(trouble);
            }
            Ok(Answer::Message(message)) => {
                if order.is_json {
                    show::json(&reply.bytes);
                } else {
                    shown.message(&show::message(&message));
                }
                return Ok(End::Done);
            }
            Ok(Answer::Task(task)) => task,
            Ok(_) => return Err(Trouble::NoAgent("the answer is news of a task, and no task".to_owned())),
        };
        let is_settled = task.status.state.is_none_or(|state| state.is_settled());
        if is_settled || order.is_at_once {
            if order.is_json {
                // However it was asked for: not every answer has it inside of something.
                say(format_args!("{}", show::in_one_line(task.raw)));
            } else {
                shown.artifacts(&task);
                let end = End::of(task.status.state);
                if let Some(message) = task.status.message.filter(|_| end == End::Done) {
                    shown.message(&show::message(&message));
                }
                shown.close();
                outcome(&order.url, &task.id.to_string(), &task.status);
            }
            return Ok(End::of(task.status.state));
        }
        let id = task.id.to_string();
        *current.borrow_mut() = Some(id.clone());
        tokio::time::sleep(pause).await;
        pause = (pause * 3 / 2).min(LONGEST_PAUSE);
        reply = agent.call(&Request::Get { task: &id }).await?;
    }
}
