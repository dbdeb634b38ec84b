//! The terminal: talks to any A2A agent over HTTP.
//!
//! What an agent says goes to the standard output, what there is to say about it to the standard error, and how it ended into
//! the exit code.

mod agent;
mod answer;
mod ask;
mod card;
mod clean;
mod http;
mod order;
mod series;
mod show;
mod tasks;
mod trouble;
mod watch;

use core::cell::RefCell;
use std::process::ExitCode;

use futures_util::future::{Either, select};

use self::{
    order::{Asked, HELP, Order, Verb},
    trouble::{End, Trouble},
};
use crate::board::say;

/// Whether a word is one of the terminal's commands.
pub fn is_command(word: &str) -> bool {
    Verb::parse(word).is_some()
}

/// Does what the command line says, until it is done or `stop` is. `token` is what `MOTE_TOKEN` has. `stop` is waited for once
/// more where there is something to do after it, and may then be done a second time or never.
pub async fn run(words: &[String], token: Option<&str>, stop: impl Future<Output = ()>) -> ExitCode {
    let order = match Order::parse(words, token) {
        Ok(Asked::Do(order)) => order,
        Ok(Asked::Help) => {
            say(format_args!("{}", HELP.trim_end()));
            return ExitCode::SUCCESS;
        }
        Err(bad) => return fail(&bad),
    };
    let task = RefCell::new(None);
    let work = Box::pin(obey(&order, &task));
    let mut stop = Box::pin(stop);
    match select(work, &mut stop).await {
        Either::Left((Ok(end), _)) => ExitCode::from(end.code()),
        Either::Left((Err(trouble), _)) => {
            let code = fail(&trouble);
            if let Some(task) = task.take().filter(|_| trouble.is_loss()) {
                leave("the task may go on", &order, &task);
            }
            code
        }
        Either::Right(((), work)) => {
            // The connection is closed before anything else is done.
            drop(work);
            let task = task.borrow().clone();
            interrupted(&order, task, stop).await
        }
    }
}

async fn obey(order: &Order, task: &RefCell<Option<String>>) -> Result<End, Trouble> {
    match order.verb {
        Verb::Card => card::show(order).await,
        Verb::Ask => ask::ask(order, task).await,
        Verb::Watch => watch::watch(order, task).await,
        Verb::Get => tasks::get(order).await,
        Verb::Tasks => tasks::list(order).await,
        Verb::Cancel => tasks::cancel(order, order.task_word()?).await,
    }
}

/// Somebody wants us to end: the task goes on without us, unless it was said that it shall not.
async fn interrupted(order: &Order, task: Option<String>, stop: impl Future<Output = ()> + Unpin) -> ExitCode {
    const INTERRUPTED: u8 = 130;
    if let Some(task) = task {
        if order.cancels {
            return match select(Box::pin(tasks::cancel(order, &task)), stop).await {
                Either::Left((Ok(_), _)) => ExitCode::from(INTERRUPTED),
                Either::Left((Err(trouble), _)) => fail(&trouble),
                Either::Right(_) => {
                    leave("the agent has not said that the task has ended", order, &task);
                    ExitCode::from(INTERRUPTED)
                }
            };
        }
        leave("the task goes on", order, &task);
    }
    ExitCode::from(INTERRUPTED)
}

/// Says how to come back to a task.
fn leave(how: &str, order: &Order, task: &str) {
    let (url, task) = (clean::word(&order.url), clean::word(task));
    note(format_args!(
        "{how}. To follow it: host-sim watch {url} --task {task}, to end it: host-sim cancel {url} {task}"
    ));
}

fn fail(trouble: &Trouble) -> ExitCode {
    note(format_args!("host-sim: {trouble}"));
    ExitCode::from(trouble.code())
}

/// Says something beside what the agent says. If nobody listens, that is no reason to end.
fn note(line: core::fmt::Arguments<'_>) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{line}");
}
