//! `get`, `tasks` and `cancel`: an agent's tasks, one or all of them.

use core::cell::RefCell;

use protocol_core::client::{Answer, Request};

use super::{
    agent::Agent,
    ask::settle,
    clean,
    order::Order,
    show::{self, Shown, outcome},
    trouble::{End, Trouble},
};
use crate::board::say;

/// Nobody reads more.
const PAGES_MOST: usize = 100;

pub(super) async fn get(order: &Order) -> Result<End, Trouble> {
    let agent = Agent::find(order).await?;
    let reply = agent.call(&Request::Get { task: order.task_word()? }).await?;
    let order = Order { is_at_once: true, ..order.clone() };
    settle(&order, &agent, reply, &RefCell::new(None), &mut Shown::default()).await
}

pub(super) async fn cancel(order: &Order, task: &str) -> Result<End, Trouble> {
    let agent = Agent::find(order).await?;
    let reply = agent.call(&Request::Cancel { task }).await?;
    if order.is_json {
        show::json(&reply.bytes);
    }
    let Answer::Task(task) = reply.read()? else {
        return Err(Trouble::NoAgent("the answer is no task".to_owned()));
    };
    if !order.is_json {
        outcome(&order.url, &task.id.to_string(), &task.status);
    }
    // That it has ended is what was wanted, or is on its way.
    Ok(End::Done)
}

pub(super) async fn list(order: &Order) -> Result<End, Trouble> {
    let agent = Agent::find(order).await?;
    let mut page: Option<String> = None;
    let (mut is_empty, mut has_more) = (true, false);
    for _ in 0..PAGES_MOST {
        let request = Request::List { context: order.context.as_deref(), page: page.as_deref() };
        if !agent.version().has(&request) {
            let version = agent.version().name();
            return Err(Trouble::Usage(format!(
                "the agent speaks A2A {version}, in which nobody can ask for all tasks: ask for one with host-sim get"
            )));
        }
        let reply = agent.call(&request).await?;
        if order.is_json {
            show::json(&reply.bytes);
        }
        let tasks = reply.read_page()?;
        for task in tasks.tasks().filter(|_| !order.is_json) {
            is_empty = false;
            match task {
                Ok(task) => {
                    let time = task.status.time.map_or(String::new(), |time| clean::line(&time).to_string());
                    let (id, state) = (clean::line(&task.id).to_string(), show::state(&task.status));
                    say(format_args!("{}", format!("{id}  {state:<20}{time}").trim_end()));
                }
                Err(why) => say(format_args!("(a task that cannot be read: {why})")),
            }
        }
        let next = tasks.next.map(|next| next.to_string());
        has_more = next.is_some() && next != page;
        if !has_more {
            break;
        }
        page = next;
    }
    if has_more {
        super::note(format_args!(
            "there are more than {PAGES_MOST} pages of tasks: --context ID shows those of one conversation"
        ));
    }
    if is_empty && !order.is_json {
        super::note(format_args!("no tasks"));
    }
    Ok(End::Done)
}
