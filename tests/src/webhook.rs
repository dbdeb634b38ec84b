//! Webhooks in virtual time: senders that take what is due, write down what they would send, and are answered as a test
//! wants it.

use core::cell::{Ref, RefCell};
use std::rc::Rc;

use protocol_core::{
    push::{Outcome, Secret},
    time::{Clock, Millis},
};

use crate::world::World;

/// What a webhook was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When, in milliseconds.
    pub at: u64,
    /// By which sender.
    pub sender: usize,
    /// The id of the event.
    pub id: String,
    /// Where to.
    pub url: String,
    /// The id of the task.
    pub task: String,
    /// What the client wants to see.
    pub token: Option<String>,
    /// Scheme and credentials.
    pub authorization: Option<String>,
    /// The media type.
    pub content_type: &'static str,
    /// The body; nothing for a challenge.
    pub body: Option<String>,
    /// The id of the trace that its task belongs to.
    pub trace: Option<String>,
    /// The log lost a piece of the body while it was being sent.
    pub is_broken: bool,
}

/// How a webhook answers.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// At once, like this.
    Now(Outcome),
    /// After so many milliseconds, like this.
    After(u64, Outcome),
    /// After so many milliseconds its sender loses it.
    Dropped(u64),
}

/// It was taken, or not.
pub const TAKEN: Answer = Answer::Now(Outcome::Delivered);
/// See [`TAKEN`].
pub const FAILED: Answer = Answer::Now(Outcome::Failed { retry_after: None });

type Script = Box<dyn FnMut(&Sent) -> Answer>;

/// All webhooks of a world.
#[derive(Clone)]
pub struct Webhooks {
    sent: Rc<RefCell<Vec<Sent>>>,
    script: Rc<RefCell<Script>>,
}

impl Webhooks {
    /// Starts so many senders, whose webhooks answer as the script says.
    pub fn start(world: &mut World, senders: usize, script: impl FnMut(&Sent) -> Answer + 'static) -> Self {
        let webhooks = Self { sent: Rc::default(), script: Rc::new(RefCell::new(Box::new(script))) };
        for sender in 0..senders {
            let (webhooks, node, clock) = (webhooks.clone(), world.node, world.clock);
            world.spawn(async move {
                loop {
                    let delivery = node.next_delivery(sender).await;
                    let (body, is_broken) = match delivery.body() {
                        Some(mut reply) => {
                            let (mut body, mut window) = (Vec::new(), [0; 61]);
                            let is_broken = loop {
                                match reply.fill(&mut window).await {
                                    Ok(0) => break false,
                                    Ok(n) => body.extend_from_slice(&window[..n]),
                                    Err(_) => break true,
                                }
                            };
                            (Some(String::from_utf8(body).expect("bodies are UTF-8")), is_broken)
                        }
                        None => (None, false),
                    };
                    assert_eq!(delivery.is_challenge(), body.is_none());
                    let secret = |secret| delivery.secret(secret).map(|text| text.as_str().to_owned());
                    // A scheme alone says nothing of who we are.
                    let authorization = secret(Secret::Scheme)
                        .zip(secret(Secret::Credentials))
                        .map(|(scheme, credentials)| format!("{scheme} {credentials}"));
                    let sent = Sent {
                        at: clock.now().0,
                        sender,
                        id: delivery.id().as_str().to_owned(),
                        url: delivery.url().expect("nobody deleted it yet").as_str().to_owned(),
                        task: delivery.task_id().expect("it is there").as_str().to_owned(),
                        token: secret(Secret::Token),
                        authorization,
                        content_type: delivery.content_type(),
                        trace: delivery.trace().map(|trace| trace.id().as_str().to_owned()),
                        body,
                        is_broken,
                    };
                    let answer = webhooks.script.borrow_mut()(&sent);
                    webhooks.sent.borrow_mut().push(sent);
                    let (millis, outcome) = match answer {
                        Answer::Now(outcome) => (0, Some(outcome)),
                        Answer::After(millis, outcome) => (millis, Some(outcome)),
                        Answer::Dropped(millis) => (millis, None),
                    };
                    clock.sleep_until(Millis(clock.now().0 + millis)).await;
                    match outcome {
                        Some(outcome) => delivery.done(outcome),
                        None => drop(delivery),
                    }
                }
            });
        }
        world.settle();
        webhooks
    }

    /// Answers otherwise from now on.
    pub fn answer(&self, script: impl FnMut(&Sent) -> Answer + 'static) {
        *self.script.borrow_mut() = Box::new(script);
    }

    /// Everything that was sent so far.
    pub fn sent(&self) -> Ref<'_, [Sent]> {
        Ref::map(self.sent.borrow(), Vec::as_slice)
    }

    /// Forgets what was sent so far, and gives it.
    pub fn take(&self) -> Vec<Sent> {
        self.sent.take()
    }

    /// The bodies that were sent so far.
    pub fn bodies(&self) -> Vec<String> {
        self.sent().iter().filter_map(|sent| sent.body.clone()).collect()
    }
}
