//! Agents that are made of skills: what reaches a skill, and what is told to those who ask for something else.

use core::cell::Cell;

use firmware::bench::{Bench, OWNER, READER, Toy, task_id, with_skills};
use mote_tests::random::{Random, with_seeds};
use protocol_core::{Access, Argument, Done, Profile, Request, Skill, Skilled, Stopped, TaskCx};

const LEVEL: Argument<'static> = Argument::whole("level", 0..=100, "how bright");
const SECONDS: Argument<'static> = Argument::whole("seconds", 1..=60, "how long").usually(5);
const COLOUR: Argument<'static> = Argument::one_of("colour", &["red", "green"], "which light").usually(1);
const TIMES: Argument<'static> = Argument::whole("times", 1..=9, "how often").or_none();

const fn skill(id: &'static str, arguments: &'static [Argument<'static>], access: Access) -> Skill<'static> {
    Skill { id, name: id, description: "Does it.", tags: &[], examples: &[], arguments, access }
}

const SHINE: Skill<'static> = Skill {
    examples: &["shine green, level 40, for 5 seconds"],
    ..skill("shine", &[LEVEL, SECONDS, COLOUR, TIMES], Access::Read)
};
const BLOW: Skill<'static> = Skill { examples: &["blow for 5 seconds"], ..skill("blow-up", &[SECONDS], Access::Act) };
const WIPE: Skill<'static> = skill("wipe", &[], Access::Operator);

/// Tells what reaches it.
struct Parrot;

impl Skilled for Parrot {
    const PROFILE: Profile<'static> = Profile { name: "Parrot", skills: &[SHINE, BLOW, WIPE], ..Profile::PLAIN };

    async fn perform(&self, request: &Request, task: &mut TaskCx<'_, '_>) -> Result<Done, Stopped> {
        if request.is_for(&SHINE) {
            let (level, seconds) = (request.whole(&LEVEL), request.whole(&SECONDS));
            let (colour, times) = (request.choice(&COLOUR), request.said(&TIMES).unwrap_or(-1));
            return task.complete(format_args!("shine {level} {seconds} {colour} {times}"));
        }
        // What a skill has no argument for is nothing that could be out of range.
        let seconds = request.whole(&SECONDS);
        task.complete(format_args!("{} {seconds} {}", request.is_for(&BLOW), request.whole(&LEVEL)))
    }
}

fn with_parrot(test: impl FnOnce(&Bench<'_>)) {
    with_skills(&Parrot, test);
}

#[track_caller]
fn assert_has(answer: &str, words: &str) {
    assert!(answer.contains(words), "no {words} in {answer}");
}

#[test]
fn words_and_data_are_understood() {
    with_parrot(|bench| {
        for (said, told) in [
            ("shine level 40", "shine 40 5 green -1"),
            ("Shine, please: RED; level=40!", "shine 40 5 red -1"),
            ("please shine at level 40 for 7 seconds", "shine 40 7 green -1"),
            ("shine for 7 s, 3 times, level 0", "shine 0 7 green 3"),
            ("shine 1 second 40 level", "shine 40 1 green -1"),
            ("shine level 40 level 40.0", "shine 40 5 green -1"),
            ("shine level 40 for 7 seconds, a few seconds", "shine 40 7 green -1"),
            ("could you shine with the level 40 and the colour green, green is nice", "shine 40 5 green -1"),
        ] {
            let answer = bench.say(said, "");
            assert_has(&answer, &format!(r#""text":"{told}""#));
        }
        for (said, told) in [
            (r#"{"skill":"shine","level":40}"#, "shine 40 5 green -1"),
            (r#"{"times":"3","colour":"RED","level":4e1,"skill":"shine"}"#, ""),
            (
                r#"{"times":"3","colour":"RED","level":40.0,"seconds":null,"other":{},"skill":"shine"}"#,
                "shine 40 5 red 3",
            ),
        ] {
            let answer = bench.part(&format!(r#"{{"data":{said}}}"#), "");
            match told {
                "" => assert_has(&answer, "Out of range: level (how bright) must be a whole number from 0 to 100."),
                told => assert_has(&answer, &format!(r#""text":"{told}""#)),
            }
        }
        // Data means what it says, whatever stands beside it.
        let answer = bench.part(r#"{"text":"wipe 7 times"},{"data":{"skill":"blow-up","seconds":2}}"#, "");
        assert_has(&answer, r#""text":"true 2 0""#);
        assert_has(&bench.say("blow up 3", ""), r#""text":"true 3 0""#);
        assert_has(&bench.say("blow-up", ""), r#""text":"true 5 0""#);
    });
}

#[test]
fn what_is_out_of_range_is_refused_and_the_range_is_named() {
    with_parrot(|bench| {
        for (said, range) in [
            ("shine level 101", "level (how bright) must be a whole number from 0 to 100"),
            ("shine level -1", "level (how bright) must be a whole number from 0 to 100"),
            ("shine level 99999999999999999999", "level (how bright) must be a whole number from 0 to 100"),
            ("shine level 40 for 2.5 seconds", "seconds (how long) must be a whole number from 1 to 60"),
            ("shine level 40, 2 seconds, 3 seconds", "seconds (how long) must be a whole number from 1 to 60"),
            ("shine level 40 red or green", "colour (which light) must be one of red, green"),
        ] {
            let answer = bench.say(said, "");
            assert_has(&answer, "TASK_STATE_REJECTED");
            assert_has(&answer, range);
        }
        for value in ["-1", "4294967297", "true", "\"loud\"", "[4]", "1e99", "0.5"] {
            let answer = bench.part(&format!(r#"{{"data":{{"skill":"shine","level":{value}}}}}"#), "");
            assert_has(&answer, "level (how bright) must be a whole number from 0 to 100");
        }
        let answer = bench.part(r#"{"data":{"skill":"shine","level":1,"colour":"blue"}}"#, "");
        assert_has(&answer, "colour (which light) must be one of red, green");
    });
}

#[test]
fn a_number_that_belongs_to_nothing_is_not_passed_over() {
    with_parrot(|bench| {
        // Five minutes must not be five seconds, nor must ten be the usual ones.
        for (said, what) in [
            ("blow up for 5 minutes", "5"),
            ("blow up 5 ms", "5"),
            ("shine level 40 in 9 gardens", "9"),
            ("blow up for ten seconds", "ten"),
            ("blow up a Second", "a"),
            ("blow up seconds: ten", "seconds"),
            ("shine level 40 three times", "three"),
        ] {
            let answer = bench.say(said, "");
            assert_has(&answer, &format!("I did not understand what {what} is. Arguments: "));
            assert_has(&answer, "For example: ");
            assert!(!answer.contains("TASK_STATE_COMPLETED"), "{answer}");
        }
    });
}

#[test]
fn anything_else_is_answered_with_what_there_is() {
    with_parrot(|bench| {
        for said in ["", "hello", "do not blow up", "blow", "shines", "the wipe", "please"] {
            let answer = bench.say(said, "");
            assert_has(&answer, r"- shine: shine green, level 40, for 5 seconds\n- blow-up: blow for 5 seconds");
            assert!(!answer.contains("wipe:"), "{answer}");
        }
        let answer = bench.part(r#"{"data":{"skill":"shin\u00e9"}}"#, "");
        assert_has(&answer, "- shine: ");
    });
}

#[test]
fn what_is_missing_is_asked_for() {
    with_parrot(|bench| {
        let asked = bench.say("shine red for 7 seconds", "");
        assert_has(&asked, "TASK_STATE_INPUT_REQUIRED");
        assert_has(&asked, "This is needed, too: level (how bright): a whole number from 0 to 100.");
        let in_task = format!(r#","taskId":"{}""#, task_id(&asked));
        // A bare number could be two things here.
        assert_has(&bench.say("40", &in_task), "I did not understand what 40 is");
        let answer = bench.say("shine red for 7 seconds", "");
        let in_task = format!(r#","taskId":"{}""#, task_id(&answer));
        assert_has(&bench.say("hm", &in_task), "TASK_STATE_INPUT_REQUIRED");
        assert_has(&bench.say("level 40", &in_task), r#""text":"shine 40 7 red -1""#);

        let asked = bench.part(r#"{"data":{"skill":"shine","colour":"red"}}"#, "");
        let in_task = format!(r#","taskId":"{}""#, task_id(&asked));
        assert_has(&bench.part(r#"{"data":{"level":41}}"#, &in_task), r#""text":"shine 41 5 red -1""#);
    });
}

#[test]
fn who_may_not_does_not_reach_the_skill() {
    with_parrot(|bench| {
        bench.call_as(READER);
        let asked = bench.say("blow up for 3 seconds", "");
        assert_has(&asked, "TASK_STATE_AUTH_REQUIRED");
        let in_task = format!(r#","taskId":"{}""#, task_id(&asked));
        assert_has(&bench.say("go on", &in_task), "That credential does not allow it");
        let answer = bench.part(&format!(r#"{{"data":{{"credential":"{OWNER}"}}}}"#), &in_task);
        assert_has(&answer, r#""text":"true 3 0""#);
        // Nor does a class that is lent reach further than to act.
        assert_has(&bench.say("wipe", ""), "TASK_STATE_REJECTED");
        bench.call_as(OWNER);
        assert_has(&bench.say("wipe", ""), r#""text":"false 1 0""#);
    });
}

#[test]
fn a_task_that_is_over_is_not_done_again() {
    with_parrot(|bench| {
        let say = |text: &str| {
            bench.call(&format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{{"id":"mine","message":{{"role":"user","parts":[{{"type":"text","text":"{text}"}}]}}}}}}"#
            ))
        };
        assert_has(&say("blow up for 3 seconds"), "true 3 0");
        // The oldest dialect goes on with it: thanks are no wish.
        let answer = say("thank you");
        assert_has(&answer, "- shine: ");
        assert_eq!(answer.matches("true 3 0").count(), say("thanks").matches("true 3 0").count());
    });
}

#[test]
fn the_card_says_what_a_skill_has_to_be_told() {
    let board = Toy::default();
    let sensor = firmware::agents::sensor::SensorNode::<_, 4>::new(&board);
    let card = r#"{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}"#;
    firmware::bench::with_agent(firmware::agents::sensor::PROFILE, &sensor, |bench| {
        assert_has(
            &bench.call(card),
            "unless said otherwise. Arguments: times (how many readings): a whole number from 1 to 10000, may be left out; \
             everyMs (milliseconds between readings): a whole number from 0 to 3600000, 1000 unless said otherwise; forMs",
        );
    });
    with_parrot(|bench| {
        let card = bench.call(card);
        assert_has(
            &card,
            r#""description":"Does it. Arguments: level (how bright): a whole number from 0 to 100; seconds (how long): a whole number from 1 to 60, 5 unless said otherwise; colour (which light): one of red, green, green unless said otherwise; times (how often): a whole number from 1 to 9, may be left out.","tags""#,
        );
        assert_has(&card, r#""id":"wipe","name":"wipe","description":"Does it.","tags""#);
    });
}

#[test]
fn nonsense_is_answered_and_what_runs_is_in_its_ranges() {
    const WORDS: [&str; 24] = [
        "shine",
        "blow",
        "up",
        "blow-up",
        "wipe",
        "level",
        "levels",
        "l",
        "s",
        "seconds",
        "times",
        "red",
        "green",
        "please",
        "0",
        "7",
        "-1",
        "101",
        "99999999999",
        "2.5",
        "1,5",
        "größe",
        "\u{2028}",
        ",",
    ];
    let reached = Cell::new(0);
    with_seeds(600, |random| {
        with_parrot(|bench| {
            let pick = |random: &mut Random| *random.pick(&WORDS);
            let words: String = (0..random.below(9)).flat_map(|_| [pick(random), " "]).collect();
            let (name, value) = (pick(random), pick(random));
            let skill = pick(random);
            let part = match random.below(3) {
                0 => format!(r#"{{"data":{{"skill":"{skill}","{name}":"{value}","level":{}}}}}"#, random.below(120)),
                _ => format!(r#"{{"text":"{words}"}}"#),
            };
            let answer = bench.part(&part, "");
            assert!(answer.starts_with(r#"{"jsonrpc":"2.0","id":1,"result":{"#), "{part}: {answer}");
            let Some((_, told)) = answer.split_once(r#""text":"shine "#) else { return };
            // What it was asked stands in the history, too: only what it told has four more words.
            let told: Vec<_> = told.split('"').next().unwrap().split(' ').collect();
            let [level, seconds, colour, times] = told[..] else { return };
            let is_in = |text: &str, range: core::ops::RangeInclusive<i32>| range.contains(&text.parse().unwrap());
            if ["red", "green"].contains(&colour) && answer.contains("TASK_STATE_COMPLETED") {
                reached.set(reached.get() + 1);
                assert!(is_in(level, 0..=100) && is_in(seconds, 1..=60) && is_in(times, -1..=9), "{part}: {answer}");
            }
        });
    });
    assert!(reached.get() > 5, "{} got through", reached.get());
}
