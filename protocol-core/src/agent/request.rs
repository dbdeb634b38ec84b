//! Agents that are made of skills: what is asked for is found, allowed and in its ranges before a skill runs.

use core::fmt;

use super::{Agent, Done, Said, Stopped, TaskCx};
use crate::{
    json::Json,
    model::{Access, Argument, Arguments, Outside, Profile, Skill, Takes, Unsaid, whole},
    words::{Number, Words, is},
};

/// An agent that does what its skills say, and nothing else.
///
/// It is an [`Agent`] by that. Which skill a message asks for, whether the client may have it, and whether every argument is
/// in its range is settled before [`Skilled::perform`]; whoever asks for something else hears what there is.
///
/// A message asks for a skill by a data part that names it (`{"skill":"pulse","seconds":5}`), or by words that begin with it
/// (`pulse for 5 seconds`). In words a number belongs to the argument whose name, or the beginning of its name, stands behind
/// it, or whose name stands before it; a number with nothing behind it belongs to the only one that takes numbers. A number
/// that belongs to nothing is not passed over, but asked about; so is a name without a number (`for ten seconds`).
pub trait Skilled {
    /// What it says about itself, its skills among it.
    const PROFILE: Profile<'static>;

    /// Does what was asked for. `request` tells one skill from the other, and has the arguments.
    ///
    /// # Cancellation
    /// As in [`Agent::run`]: what must not stay on belongs into a guard whose `Drop` turns it off.
    #[expect(async_fn_in_trait, reason = "one executor, one thread: no future of ours is Send")]
    async fn perform(&self, request: &Request, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped>;
}

impl<S: Skilled> Agent for S {
    async fn run(&self, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
        const { assert!(fit(S::PROFILE.skills), "a skill has more arguments than a request has places") };
        match settle(const { &S::PROFILE }, task) {
            Ok(request) => self.perform(&request, task).await,
            Err(told) => told,
        }
    }
}

/// What a client asks for: a skill that it may have, with arguments that are in their ranges.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    skill: &'static Skill<'static>,
    /// In the order of the skill's arguments.
    values: [Option<i32>; ARGUMENTS_MAX],
}

/// Arguments that a skill can have.
const ARGUMENTS_MAX: usize = 6;

const fn fit(skills: &[Skill<'_>]) -> bool {
    let mut rest = skills;
    while let [skill, behind @ ..] = rest {
        if skill.arguments.len() > ARGUMENTS_MAX {
            return false;
        }
        rest = behind;
    }
    true
}

impl Request {
    /// Whether it asks for that skill.
    #[must_use]
    pub fn is_for(&self, skill: &Skill<'_>) -> bool {
        self.skill.id == skill.id
    }

    /// The number that was said for an argument of the skill, or the usual one. Always in its range: the first of it where the
    /// skill has no such argument, or nobody has to say it.
    #[must_use]
    pub fn whole(&self, argument: &Argument<'_>) -> i32 {
        self.said(argument).unwrap_or(*argument.range().start())
    }

    /// The word that was chosen for an argument, as [`Request::whole`] has it.
    #[must_use]
    pub fn choice<'a>(&self, argument: &Argument<'a>) -> &'a str {
        let Takes::OneOf(choices) = argument.takes else { return "" };
        usize::try_from(self.whole(argument)).ok().and_then(|place| choices.get(place)).copied().unwrap_or_default()
    }

    /// The number for an argument that may be left out, or the place of the word.
    #[must_use]
    pub fn said(&self, argument: &Argument<'_>) -> Option<i32> {
        let place = self.skill.arguments.iter().position(|known| known.name == argument.name)?;
        self.values.get(place).copied().flatten()
    }
}

/// Finds what a task asks for, or tells it why there is nothing to run.
fn settle(profile: &'static Profile<'static>, task: &mut TaskCx<'_, '_>) -> Result<Request, Result<Done, Stopped>> {
    let said = task.said();
    let heard = Heard::new(profile.skills, &said);
    // What an earlier message asked for, if this one only answers a question. Anything else would be a repetition that
    // nobody wants: clients of the oldest dialect go on with a task that is over.
    let is_answer = heard.skill.is_none() && task.was_asked();
    let asked_for = |said: &Said| Heard::new(profile.skills, said).skill;
    let skill = if is_answer { task.earlier(asked_for) } else { heard.skill };
    let Some(skill) = skill else { return Err(task.reply(format_args!("{}", Help(profile)))) };
    if !task.may(skill.access) {
        return Err(task.refuse(skill.access));
    }
    if let Some(number) = heard.stray(skill) {
        return Err(task.reply(format_args!("I did not understand what {number} is.{}", Usage(skill))));
    }
    let mut values = [None; ARGUMENTS_MAX];
    for (argument, value) in skill.arguments.iter().zip(&mut values) {
        let before = |said: &Said| Heard::new(profile.skills, said).find(skill, argument);
        let found = match heard.find(skill, argument) {
            None if is_answer => task.earlier(before),
            found => found,
        };
        *value = match (found, argument.unsaid) {
            (Some(Ok(value)), _) => Some(value),
            (Some(Err(outside)), _) => return Err(task.reject(format_args!("Out of range: {outside}."))),
            (None, Unsaid::Usual(value)) => Some(value),
            (None, Unsaid::Left) => None,
            (None, Unsaid::Asked) => return Err(task.ask(format_args!("This is needed, too: {argument}."))),
        };
    }
    Ok(Request { skill, values })
}

/// A message, taken for a request.
struct Heard<'a> {
    skill: Option<&'static Skill<'static>>,
    data: Option<Json<'a>>,
    /// What stands behind the skill, if that was said in words; all of it, if no skill was said.
    words: Words<'a>,
}

impl<'a> Heard<'a> {
    fn new(skills: &'static [Skill<'static>], said: &'a Said) -> Self {
        let data = said.data.as_ref().and_then(|data| Json::parse(data.as_bytes()).ok());
        if let Some(name) = data.and_then(|data| data.member("skill")?.text()) {
            // Who names a skill in data means that: words beside it are for people.
            return Self { skill: skills.iter().find(|skill| name.is(skill.id)), data, words: Words::new("") };
        }
        let words = Words::new(said.text.as_deref().unwrap_or_default());
        let begin = behind_courtesies(words);
        match skills.iter().find_map(|skill| Some((skill, behind_id(begin, skill.id)?))) {
            Some((skill, words)) => Self { skill: Some(skill), data, words },
            None => Self { skill: None, data, words },
        }
    }

    /// What it says about an argument.
    fn find<'g>(&self, skill: &Skill<'_>, argument: &'g Argument<'static>) -> Option<Result<i32, Outside<'g>>> {
        if let Some(in_data) = self.data.and_then(|data| argument.find(data).transpose()) {
            return Some(in_data);
        }
        let mut found = None;
        for (before, word, number) in walk(self.words) {
            let value = match (number, argument.takes) {
                (Some(number), _) if owner(skill, before, number).is_some_and(|owner| owner.name == argument.name) => {
                    whole(number.text)
                }
                (None, Takes::OneOf(choices)) => match choices.iter().position(|choice| is(choice, word)) {
                    Some(place) => i64::try_from(place).ok(),
                    None => continue,
                },
                _ => continue,
            };
            let value = argument.check(value);
            // Two that differ are none.
            if found.is_some_and(|before| before != value) {
                return Some(Err(Outside(argument)));
            }
            found = Some(value);
        }
        found
    }

    /// The first number that belongs to no argument, or what stands where one should be: `ten seconds` must not become the
    /// usual ones.
    fn stray(&self, skill: &Skill<'static>) -> Option<&'a str> {
        let is_open = |argument: &Argument<'static>| {
            matches!(argument.takes, Takes::Whole(..))
                && argument.unsaid != Unsaid::Asked
                && self.find(skill, argument).is_none()
        };
        walk(self.words).find_map(|(before, word, number)| {
            let is_stray = match number {
                Some(number) => owner(skill, before, number).is_none(),
                None => skill.arguments.iter().any(|argument| is_one_or_many(argument.name, word) && is_open(argument)),
            };
            is_stray.then_some(if number.is_some() || before.is_empty() { word } else { before })
        })
    }
}

/// Every word with the one before it, and as a number if it is one.
fn walk(mut words: Words<'_>) -> impl Iterator<Item = (&str, &str, Option<Number<'_>>)> {
    let mut before = "";
    core::iter::from_fn(move || {
        let number = words.number();
        let word = words.next()?;
        Some((core::mem::replace(&mut before, word), word, number))
    })
}

/// The argument that a number in a sentence is for: `5 seconds`, `5 s`, `seconds: 5`, or `5` and nothing else.
fn owner<'a>(skill: &Skill<'a>, before: &str, number: Number<'_>) -> Option<&'a Argument<'a>> {
    let mut numbers = skill.arguments.iter().filter(|argument| matches!(argument.takes, Takes::Whole(..)));
    let behind = behind_courtesies(number.behind).next();
    let is_behind = |argument: &&Argument<'_>| behind.is_some_and(|word| is_one_or_many(argument.name, word));
    let is_begun = |argument: &&Argument<'_>| behind.is_some_and(|word| begins(argument.name, word));
    let is_before = |argument: &&Argument<'_>| is_one_or_many(argument.name, before);
    let find = |is_it: &dyn Fn(&&Argument<'_>) -> bool| numbers.clone().find(|argument| is_it(argument));
    let named = find(&is_behind).or_else(|| find(&is_begun)).or_else(|| find(&is_before));
    named.or_else(|| numbers.next().filter(|_| numbers.next().is_none() && behind.is_none()))
}

fn begins(name: &str, word: &str) -> bool {
    name.get(..word.len()).is_some_and(|begin| is(begin, word))
}

/// Whether it is that word, with or without an s behind it.
fn is_one_or_many(name: &str, word: &str) -> bool {
    let one = |word: &str| word.len() - usize::from(word.len() > 1 && word.ends_with(['s', 'S']));
    name.get(..one(name)).zip(word.get(..one(word))).is_some_and(|(name, word)| is(name, word))
}

/// What stands behind a skill's id, if the words begin with it; an id of two words has a hyphen between them.
fn behind_id<'a>(mut words: Words<'a>, id: &str) -> Option<Words<'a>> {
    for part in id.split('-') {
        if !is(words.next()?, part) {
            return None;
        }
    }
    Some(words)
}

/// The words without those that say nothing. "Not" is not among them, nor is anything else that turns a request around.
fn behind_courtesies(mut words: Words<'_>) -> Words<'_> {
    while let Some(((), behind)) = words.at_front(COURTESIES) {
        words = behind;
    }
    words
}

const COURTESIES: &[(&str, ())] = &[("please", ()), ("now", ()), ("can", ()), ("could", ()), ("you", ())];

/// All that there is, with an example each.
struct Help<'a>(&'a Profile<'a>);

impl fmt::Display for Help<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "I am {}. I can do this, for example:{}", self.0.name, Examples(self.0.skills))
    }
}

/// Skills with their first example, a line each with a line break before it: words that let a model correct itself. Those
/// for operators are not among them.
#[derive(Clone, Copy, Debug)]
pub struct Examples<'a>(pub &'a [Skill<'a>]);

impl fmt::Display for Examples<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for skill in self.0.iter().filter(|skill| skill.access < Access::Operator) {
            write!(f, "\n- {}: {}", skill.id, skill.examples.first().unwrap_or(&skill.name))?;
        }
        Ok(())
    }
}

/// How a skill is asked for.
struct Usage<'a>(&'a Skill<'a>);

impl fmt::Display for Usage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Skill { arguments, examples, .. } = self.0;
        write!(f, "{}", Arguments(arguments))?;
        match examples.first() {
            Some(example) => write!(f, " For example: {example}"),
            None => Ok(()),
        }
    }
}
