//! `watch`: shows what happens live, and takes a stream up again that was lost.

use core::{cell::RefCell, time::Duration};

use protocol_core::{
    client::{Answer, Events, Request, Status},
    time::Millis,
};

use super::{
    agent::{Agent, DOCUMENT_MOST},
    answer::{Reply, refused},
    ask::{Spoken, settle},
    http::{Body, Lost},
    note,
    order::Order,
    show::{self, Shown, outcome},
    trouble::{End, Trouble},
};

/// A stream that brings nothing is asked for again so often.
const TRIES: u32 = 5;
/// Unless the agent says how long to wait.
const PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Even if it says not to wait: a stream that ends as soon as it has begun would be asked for hundreds of times a second.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);

/// How long to wait before a stream is asked for again, for so many times in a row.
fn pause(tries: u32, retry: Option<Millis>) -> Duration {
    let pause = retry.map_or(PAUSE * 2_u32.pow(tries - 1), |retry| Duration::from_millis(retry.0));
    pause.clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
}

/// How a stream ended.
enum Ended {
    /// There is no more to come.
    Well(End),
    /// It broke off.
    Badly(Trouble),
}

struct Watcher<'a> {
    order: &'a Order,
    agent: Agent,
    current: &'a RefCell<Option<String>>,
    shown: Shown,
    /// Something came since the stream was asked for.
    has_moved: bool,
    /// The task has ended or asks for something, as far as is known.
    is_settled: bool,
    /// The stream is the answer to what was said to a task.
    is_answer: bool,
    /// The stream shows a task that was there before.
    is_taken_up: bool,
}

/// What may be over by the next time is no reason to end.
fn lost(trouble: Trouble) -> Result<Ended, Trouble> {
    if trouble.is_loss() { Ok(Ended::Badly(trouble)) } else { Err(trouble) }
}

pub(super) async fn watch(order: &Order, current: &RefCell<Option<String>>) -> Result<End, Trouble> {
    let agent = Agent::find(order).await?;
    let text = order.text();
    let spoken = Spoken::new(order, &text)?;
    let says_something = !text.is_empty() || order.data.is_some();
    current.borrow_mut().clone_from(&order.task);
    if !agent.is_streaming {
        note(format_args!("the agent does not show what happens live: it is asked how far it is"));
        let reply = match (&order.task, says_something) {
            (Some(task), false) => agent.call(&Request::Get { task }).await?,
            _ => agent.call(&Request::Send(spoken.say(order))).await?,
        };
        return settle(order, &agent, reply, current, &mut Shown::live()).await;
    }
    let is_answer = says_something && order.task.is_some();
    let mut watcher = Watcher {
        order,
        agent,
        current,
        shown: Shown::live(),
        has_moved: false,
        is_settled: false,
        is_answer,
        is_taken_up: false,
    };
    let mut buffer = vec![0; DOCUMENT_MOST];
    let mut events = Events::new(&mut buffer);
    let mut ended = match (&order.task, says_something) {
        (Some(task), false) => watcher.take_up(task, &mut events).await?,
        _ => watcher.begin(&Request::Stream(spoken.say(order)), &mut events).await?,
    };
    let mut tries = 0;
    loop {
        let trouble = match ended {
            Ended::Well(end) => {
                watcher.shown.close();
                return Ok(end);
            }
            Ended::Badly(trouble) => trouble,
        };
        let Some(task) = current.borrow().clone() else { return Err(trouble) };
        tries = if core::mem::take(&mut watcher.has_moved) { 1 } else { tries + 1 };
        watcher.shown.close();
        if tries > TRIES {
            return Err(trouble);
        }
        note(format_args!("{trouble}; the task is taken up again"));
        tokio::time::sleep(pause(tries, events.retry())).await;
        ended = watcher.take_up(&task, &mut events).await?;
    }
}

impl Watcher<'_> {
    async fn begin(&mut self, request: &Request<'_>, events: &mut Events<'_>) -> Result<Ended, Trouble> {
        match self.agent.follow(request, None).await? {
            Ok((id, body)) => self.follow(id, body, events).await,
            Err(reply) => self.settle(reply).await,
        }
    }

    /// Goes on with a task behind what was seen of it. Whoever cannot show it live any more is asked how it stands.
    async fn take_up(&mut self, task: &str, events: &mut Events<'_>) -> Result<Ended, Trouble> {
        let last_id = events.last_id().map(str::to_owned);
        events.restart();
        (self.is_answer, self.is_taken_up) = (false, true);
        let followed = self.agent.follow(&Request::Subscribe { task }, last_id.as_deref()).await;
        match followed {
            Ok(Ok((id, body))) => match self.follow(id, body, events).await {
                // Some say so as an event.
                Err(Trouble::Refused(..)) if !self.has_moved => {}
                ended => return ended,
            },
            Ok(Err(_)) => {}
            Err(trouble) => return lost(trouble),
        }
        self.look(task).await
    }

    /// Asks how a task stands.
    async fn look(&mut self, task: &str) -> Result<Ended, Trouble> {
        match self.agent.call(&Request::Get { task }).await {
            Ok(reply) => self.settle(reply).await,
            Err(trouble) => lost(trouble),
        }
    }

    /// Somebody who was to show what happens live has answered at once.
    async fn settle(&mut self, reply: Reply) -> Result<Ended, Trouble> {
        settle(self.order, &self.agent, reply, self.current, &mut self.shown).await.map(Ended::Well)
    }

    async fn follow(&mut self, id: u32, mut body: Body, events: &mut Events<'_>) -> Result<Ended, Trouble> {
        loop {
            let piece = match body.next().await {
                Ok(Some(piece)) => piece,
                Ok(None) if self.is_settled => {
                    let task = self.current.borrow().clone().unwrap_or_default();
                    return Box::pin(self.look(&task)).await;
                }
                Ok(None) => return Ok(Ended::Badly(Trouble::Lost("the stream ended before the task".to_owned()))),
                Err(lost @ (Lost::Garbled(_) | Lost::TooLarge(_))) => return Err(lost.into()),
                Err(lost) => return Ok(Ended::Badly(lost.into())),
            };
            let mut rest = piece.as_slice();
            while !rest.is_empty() {
                match events.push(&mut rest) {
                    Ok(Some(data)) => {
                        if let Some(end) = self.event(data, id)? {
                            return Ok(Ended::Well(end));
                        }
                    }
                    Ok(None) => {}
                    Err(long) => note(format_args!("{long}: it is passed over")),
                }
            }
        }
    }

    /// Shows an event, and says how it ended if it was the last.
    fn event(&mut self, data: &[u8], id: u32) -> Result<Option<End>, Trouble> {
        let answer = match self.agent.version().read_event(data, id) {
            Ok(answer) => answer,
            Err(why) => {
                self.shown.close();
                note(format_args!("an event is passed over: {why}"));
                return Ok(None);
            }
        };
        if let Answer::Error(failure) = answer {
            self.shown.close();
            // Where it only says that there is nothing live to show, the task says the rest.
            if self.order.is_json && (self.has_moved || !self.is_taken_up) {
                show::json(data);
            }
            return Err(refused(&failure));
        }
        self.has_moved = true;
        if self.order.is_json {
            show::json(data);
        }
        Ok(match answer {
            Answer::Error(_) => None,
            Answer::Message(message) => {
                if !self.order.is_json {
                    self.shown.message(&show::message(&message));
                }
                Some(End::Done)
            }
            Answer::Task(task) => {
                self.know(task.id.to_string());
                // A stream that answers a question begins with the task that still asks it, and with what was shown then.
                if self.is_answer && task.status.state.is_some_and(|state| state.is_interrupted()) {
                    self.shown.pass_over(&task);
                    self.is_settled = true;
                    return Ok(None);
                }
                if !self.order.is_json {
                    self.shown.artifacts(&task);
                }
                self.status(&task.status, false)
            }
            Answer::Status(update) => {
                self.know(update.task.to_string());
                self.status(&update.status, update.is_final)
            }
            Answer::Artifact(update) => {
                self.know(update.task.to_string());
                if !self.order.is_json {
                    self.shown.chunk(&update.artifact, update.is_append);
                }
                None
            }
        })
    }

    fn know(&self, task: String) {
        self.current.borrow_mut().replace(task);
    }

    fn status(&mut self, status: &Status<'_>, is_final: bool) -> Option<End> {
        let is_settled = is_final || status.state.is_some_and(|state| state.is_settled());
        self.is_settled = is_settled;
        let end = is_settled.then(|| End::of(status.state));
        if self.order.is_json {
            return end;
        }
        if let Some(message) = status.message.filter(|_| matches!(end, None | Some(End::Done))) {
            self.shown.message(&show::message(&message));
        }
        if is_settled {
            self.shown.close();
            let task = self.current.borrow().clone().unwrap_or_default();
            outcome(&self.order.url, &task, status);
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_says_how_long_to_wait_within_reason() {
        for (tries, retry, millis) in [
            (1, None, 500),
            (2, None, 1000),
            (TRIES, None, 8000),
            (TRIES, Some(2000), 2000),
            (1, Some(0), 100),
            (1, Some(999_999_999), 30_000),
        ] {
            assert_eq!(pause(tries, retry.map(Millis)), Duration::from_millis(millis), "{tries} {retry:?}");
        }
    }
}
