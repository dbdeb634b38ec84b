//! A relay that is on for some seconds, and off whatever happens.

use core::cell::Cell;

use firmware::board::{Board, Position};
use protocol_core::{Access, Argument, Done, Profile, Request, Skill, Skilled, Stopped, TaskCx, time::Millis};

const SECONDS: Argument<'static> = Argument::whole("seconds", 1..=60, "how long the relay is on").usually(5);
const PULSE: Skill<'static> = Skill {
    id: "pulse",
    name: "Pulse the relay",
    description: "Switches the relay on for some seconds, and off again.",
    tags: &["relay", "switch"],
    examples: &["pulse for 5 seconds", r#"{"skill":"pulse","seconds":5}"#],
    arguments: &[SECONDS],
    access: Access::Act,
};

pub(crate) struct Relay<'b, B: Board> {
    pub(crate) board: &'b B,
    pub(crate) is_on: Cell<bool>,
}

impl<B: Board> Skilled for Relay<'_, B> {
    const PROFILE: Profile<'static> = Profile {
        name: "Relay",
        description: "Switches something on for a while.",
        skills: &[PULSE],
        ..Profile::PLAIN
    };

    async fn perform(&self, request: &Request, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
        if self.is_on.replace(true) {
            return task.reject(format_args!("The relay is on already."));
        }
        let _off_at_the_end = Off(self);
        if let Err(trouble) = self.board.set(RELAY, Position::On) {
            return task.fail(format_args!("The relay {trouble}."));
        }
        let seconds = request.whole(&SECONDS);
        for left in (1..=seconds).rev() {
            task.progress(format_args!("On, for {left} s more.")).await?;
            task.sleep(Millis(1000)).await?;
        }
        task.complete(format_args!("The relay was on for {seconds} s."))
    }
}

/// The place of the relay among what the board can switch.
const RELAY: usize = 0;

/// However a pulse ends, by itself, by a cancellation or by a failure, this is dropped.
struct Off<'a, 'b, B: Board>(&'a Relay<'b, B>);

impl<B: Board> Drop for Off<'_, '_, B> {
    fn drop(&mut self) {
        let _ = self.0.board.set(RELAY, Position::Off);
        self.0.is_on.set(false);
    }
}
