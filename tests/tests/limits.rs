//! The table of docs/limits.md is the one that the code keeps to.

use core::{fmt::Display, time::Duration};

use firmware::http::Limits;
use protocol_core::door::Rate;

#[test]
fn the_page_has_the_limits_of_the_code() {
    let page = include_str!("../../docs/limits.md");
    for row in rows() {
        assert!(page.contains(&row), "docs/limits.md lacks this row:\n{row}\nall of them:\n{}", rows().join("\n"));
    }
}

fn rows() -> Vec<String> {
    let row = |what: &str, of: &dyn Fn(&Limits) -> String, beyond: &str| {
        format!("| {what} | {} | {} | {beyond} |", of(&Limits::DEVICE), of(&Limits::HOST))
    };
    vec![
        row("request head, of it the target", &|it| two(bytes(it.head_bytes), bytes(it.target_bytes)), "431, 414"),
        row("request body", &|it| bytes(it.body_bytes), "413"),
        row(
            "time for a head, for a body",
            &|it| two(seconds(it.head.as_millis()), seconds(it.body.as_millis())),
            "408",
        ),
        row("idle connection", &|it| seconds(it.idle.as_millis()), "closed"),
        row("requests on one connection", &|it| it.requests.to_string(), "closed"),
        row("reader that takes nothing", &|it| seconds(it.write.as_millis()), "cut off"),
        row("blocking send", &|it| seconds(it.allowance.blocking.0), "the task as it is"),
        row("connections from one address", &|it| it.connections_per_address.to_string(), "503"),
        row("answers that a principal waits for or follows", &|it| it.allowance.readers.to_string(), "busy"),
        row("tasks of a principal", &|it| it.allowance.tasks.to_string(), "its oldest finished one goes, or busy"),
        row("calls of a principal", &|it| rate(it.allowance.principal), "an error in 200"),
        row("requests of strangers from one address", &|it| rate(it.allowance.address), "429"),
        row("what a wrong token counts for", &|it| it.allowance.failure_cost.to_string(), ""),
    ]
}

fn two(one: impl Display, other: impl Display) -> String {
    format!("{one}, {other}")
}

fn bytes(bytes: usize) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1024 * 1024) => format!("{} MiB", bytes / 1024 / 1024),
        _ if bytes.is_multiple_of(1024) => format!("{} KiB", bytes / 1024),
        _ => format!("{bytes} B"),
    }
}

fn seconds(millis: u64) -> String {
    format!("{} s", Duration::from_millis(millis).as_secs())
}

fn rate(rate: Rate) -> String {
    format!("{} a second, {} at once", rate.per_second, rate.burst)
}
