//! The node as a client sees it, in virtual time.

extern crate std;

use std::{format, string::String, vec::Vec};

use super::{PROFILE, SensorNode};
use crate::{
    bench::{Bench, OWNER, READER, Toy, task_id, text_of, with_agent},
    board::Position,
};

fn with_node(test: impl FnOnce(&Bench<'_>, &Toy)) {
    let board = Toy::default();
    with_agent(PROFILE, &SensorNode::<_, 4>::new(&board), |bench| test(bench, &board));
}

#[track_caller]
fn assert_has(answer: &str, parts: &[&str]) {
    for part in parts {
        assert!(answer.contains(part), "no {part} in {answer}");
    }
}

const COMPLETED: &str = "TASK_STATE_COMPLETED";

#[test]
fn reads_once_and_completes() {
    with_node(|bench, _| {
        let answer = bench.say("read temperature", "");
        assert_has(
            &answer,
            &[
                COMPLETED,
                r#""name":"temperature""#,
                r#"{"text":"temperature 21.5 °C"#,
                r#""data":{"sensor":"temperature","value":21.5,"unit":"°C"}"#,
            ],
        );
        bench.set_wall_time(1_767_225_600_000);
        assert_has(&bench.say("Humidity?", ""), &[r#""unit":"%","time":"2026-01-01T00:00:00.000Z""#]);
        let answer = bench.part(r#"{"data":{"skill":"read","sensor":"temperature","unit":"fahrenheit"}}"#, "");
        assert_has(&answer, &["temperature 71.06 °F"]);
    });
}

#[test]
fn gives_only_what_the_client_can_use() {
    with_node(|bench, _| {
        let ask = |modes: &str, part: &str| {
            bench.call(&format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"configuration":{{"acceptedOutputModes":{modes},"historyLength":0}},"message":{{"messageId":"m","role":"ROLE_USER","parts":[{part}]}}}}}}"#
            ))
        };
        let read = r#"{"text":"read temperature"}"#;
        let json = ask(r#"["application/json"]"#, read);
        assert!(json.contains(r#""data":"#) && !json.contains(r#""text":"#), "{json}");
        let text = ask(r#"["text/plain"]"#, read);
        assert!(!text.contains(r#""data":"#) && text.contains(r#""text":"temperature 21.6 °C"#), "{text}");
        let schema = ask("[]", r#"{"text":"read temperature","metadata":{"mediaType":"application/json"}}"#);
        assert!(schema.contains(r#""data":"#) && !schema.contains(r#""text":"#), "{schema}");
        // Words are data, too, for a client that asked for data.
        for said in ["hello", "set led on", "read moon phase"] {
            let part = format!(r#"{{"text":"{said}","metadata":{{"schema":{{"type":"object"}}}}}}"#);
            let answer = ask("[]", &part);
            assert!(answer.contains(r#""data":{"message":""#) && !answer.contains(r#""text":"#), "{answer}");
        }
        let report = ask(r#"["application/json"]"#, r#"{"text":"report temperature"}"#);
        assert_has(&report, &[r#""data":{"sensor":"temperature","unit":"°C","values":[21.5,21.6,21.7]}"#]);
        assert_has(&ask(r#"["text/plain"]"#, r#"{"text":"report temperature"}"#), &[r#""text":"uptimeMs,sensor"#]);
    });
}

#[test]
fn watches_in_time_and_in_chunks() {
    with_node(|bench, _| {
        let stream = |words: &str| {
            bench.call(&format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{{"text":"{words}"}}]}}}}}}"#
            ))
        };
        let events = stream("watch temperature 3 times every 200 ms");
        assert_eq!(bench.now(), 400);
        let chunks: Vec<_> = events.lines().filter(|line| line.contains("artifactUpdate")).collect();
        assert_eq!(chunks.len(), 3, "{events}");
        assert_has(chunks[0], &["temperature 21.5 °C", r#""value":21.5"#]);
        assert!(!chunks[0].contains(r#""append":true"#) && !chunks[0].contains(r#""lastChunk":true"#), "{events}");
        assert_has(chunks[1], &[r#""append":true"#, "21.6"]);
        assert!(!chunks[1].contains(r#""lastChunk":true"#), "{events}");
        assert_has(chunks[2], &[r#""append":true"#, r#""lastChunk":true"#, "21.7"]);
        assert_has(&events, &["TASK_STATE_WORKING", COMPLETED]);

        let begun = bench.now();
        let events = stream("watch humidity for 5 seconds");
        assert_eq!(events.matches("artifactUpdate").count(), 5);
        assert_eq!(bench.now() - begun, 4_000);

        let begun = bench.now();
        let events = stream("watch temperature 20 times every 0 ms");
        assert_eq!(events.matches("artifactUpdate").count(), 20);
        assert_eq!(bench.now(), begun);
    });
}

#[test]
fn refuses_arguments_out_of_range_and_names_the_range() {
    with_node(|bench, _| {
        let answer = bench.say("watch temperature 20000 times", "");
        assert_has(&answer, &["TASK_STATE_REJECTED", "from 1 to 10000"]);
        let answer = bench.part(r#"{"data":{"skill":"watch","sensor":"temperature","everyMs":-1}}"#, "");
        assert_has(
            &answer,
            &[
                "TASK_STATE_REJECTED",
                "everyMs (milliseconds between readings) must be a whole number from 0 to 3600000",
            ],
        );
    });
}

#[test]
fn alerts_when_it_is_true_and_lets_others_work_meanwhile() {
    with_node(|bench, board| {
        let sent = bench.call(
            r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"alert when temperature above 21.9"}]}}}"#,
        );
        assert_has(&sent, &[r#""state":"working""#, "Waiting until temperature is above 21.9 °C"]);
        let id = task_id(&sent);
        bench.pass(3_000);
        assert_has(&bench.get(&id), &[r#""state":"working""#]);
        assert_has(&bench.say("read humidity", ""), &[COMPLETED]);
        bench.pass(1_000);
        assert_has(&bench.get(&id), &[r#""state":"completed""#, r#""value":22,"#]);
        let reads = board.reads.get();
        bench.pass(3_000);
        assert_eq!(board.reads.get(), reads);
    });
}

#[test]
fn calibrates_with_a_question_and_remembers() {
    with_node(|bench, board| {
        let asked = bench.say("calibrate temperature", "");
        assert_has(&asked, &["TASK_STATE_INPUT_REQUIRED", "It reads 21.5 °C"]);
        let follow_up = format!(r#","taskId":"{}""#, task_id(&asked));
        let again = bench.say("quite warm, I think", &follow_up);
        assert_has(&again, &["TASK_STATE_INPUT_REQUIRED", "one number in °C"]);
        let done = bench.say("the temperature is 20", &follow_up);
        assert_has(
            &done,
            &[COMPLETED, r#""data":{"sensor":"temperature","offset":-1.7,"unit":"°C"}"#, "offset is -1.7 °C"],
        );
        assert_has(&bench.say("read temperature", ""), &["temperature 20.1 °C"]);
        assert_has(&bench.say("read humidity", ""), &["humidity 45 %"]);

        let restarted = SensorNode::<_, 4>::new(board);
        with_agent(PROFILE, &restarted, |bench| {
            assert_has(&bench.say("read temperature", ""), &["temperature 20.3 °C"]);
        });
    });
}

#[test]
fn calibrates_at_once_if_the_number_is_there() {
    with_node(|bench, _| {
        let answer = bench.part(r#"{"data":{"skill":"calibrate","sensor":"humidity","reference":50.5}}"#, "");
        assert_has(&answer, &[COMPLETED, r#""offset":5.5"#]);
    });
}

#[test]
fn reports_what_was_read() {
    with_node(|bench, _| {
        let report = bench.say("report temperature", "");
        assert_has(&report, &[COMPLETED, r#""filename":"temperature.csv""#, r#""mediaType":"text/csv""#]);
        // "uptimeMs,sensor,value,unit\r\n0,temperature,21.5,°C\r\n"
        assert_eq!(text_of(&report, "raw"), "dXB0aW1lTXMsc2Vuc29yLHZhbHVlLHVuaXQNCjAsdGVtcGVyYXR1cmUsMjEuNSzCsEMNCg==");
    });
}

#[test]
fn acts_on_the_board() {
    with_node(|bench, board| {
        assert_has(&bench.say("turn the led on", ""), &[COMPLETED, "led is on."]);
        assert_eq!(board.led.get(), Some(Position::On));
        assert_has(&bench.say("set led off", ""), &["led is off."]);
        assert_eq!(board.led.get(), Some(Position::Off));
        assert_has(&bench.say("reboot", ""), &[COMPLETED]);
        assert_has(&bench.say("forget wifi", ""), &[COMPLETED]);
        assert_eq!((board.reboots.get(), board.forgets.get()), (1, 1));
    });
}

#[test]
fn answers_with_a_message_that_helps() {
    with_node(|bench, _| {
        let message = r#""result":{"message":"#;
        for words in ["hello", "help", "what can you do?", "make me a coffee"] {
            assert_has(&bench.say(words, ""), &[message, "- alert: alert when temperature above 30"]);
        }
        assert_has(&bench.say("read wind", ""), &[message, "Sensors: temperature, humidity."]);
        assert_has(&bench.say("set fan on", ""), &[message, "Actuators: led."]);
        let long = "x".repeat(1000);
        assert_has(&bench.say(&long, ""), &[message, "I am a sensor node"]);
        let old = bench.call(
            r#"{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"t","message":{"role":"user","parts":[{"type":"text","text":"hello"}]}}}"#,
        );
        assert_has(&old, &[r#""state":"completed""#, "I am a sensor node"]);
    });
}

#[test]
fn follows_up_on_other_tasks() {
    with_node(|bench, _| {
        let first = bench.say("read temperature", "");
        let context = format!(r#","contextId":"{}""#, text_of(&first, "contextId"));
        let other = bench.say("read humidity", &context);
        let about_first = format!(r#"{context},"referenceTaskIds":["{}"]"#, task_id(&first));
        let about_other = format!(r#","referenceTaskIds":["{}"]"#, task_id(&other));
        assert_has(&bench.say("in fahrenheit", &about_first), &["temperature 70.7 °F", r#""unit":"°F""#]);
        assert_has(&bench.say("and in celsius?", &context), &["temperature 21.5 °C"]);
        assert_has(&bench.say("again", &about_first), &["temperature 21.7 °C"]);
        assert_has(&bench.say("again", &context), &["temperature 21.8 °C"]);
        assert_has(&bench.say("again in fahrenheit, please", &context), &["temperature 71.42 °F"]);
        assert_has(&bench.say("in fahrenheit", &about_other), &["humidity is no temperature"]);
        assert_has(&bench.say("in fahrenheit", ""), &[r#""message":"#, "there is no reading to convert"]);
        assert_has(&bench.say("again", ""), &[r#""message":"#, "there is nothing to repeat"]);
    });
}

#[test]
fn repeats_a_request_that_was_data() {
    with_node(|bench, _| {
        let first = bench.part(r#"{"data":{"skill":"watch","sensor":"humidity","times":2,"everyMs":0}}"#, "");
        let again = bench.say("again", &format!(r#","referenceTaskIds":["{}"]"#, task_id(&first)));
        assert_eq!(again.matches("humidity 45 %").count(), 2, "{again}");
    });
}

#[test]
fn tells_why_a_sensor_failed() {
    with_node(|bench, board| {
        board.fails_after.set(Some(2));
        let answer = bench.say("watch temperature 5 times every 0 ms", "");
        assert_has(&answer, &["TASK_STATE_FAILED", "temperature: no answer on the bus", "21.6"]);
        for words in ["read humidity", "calibrate temperature", "alert when temperature above 1"] {
            assert_has(&bench.say(words, ""), &["TASK_STATE_FAILED", "no answer on the bus"]);
        }
        assert_has(&bench.say("report temperature", ""), &[COMPLETED]);
    });
}

#[test]
fn several_tasks_share_the_node() {
    with_node(|bench, _| {
        let tasks: Vec<String> = (0..3)
            .map(|_| {
                task_id(&bench.call(
                    r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"configuration":{"returnImmediately":true},"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"watch temperature 3 times every 100 ms"}]}}}"#,
                ))
            })
            .collect();
        bench.pass(250);
        for id in tasks {
            let task = bench.get(&id);
            assert_has(&task, &[r#""state":"completed""#]);
            assert_eq!(task.matches(r#""unit":"#).count(), 3, "{task}");
        }
    });
}

#[test]
fn who_may_only_look_is_asked_for_a_credential_and_the_task_goes_on_with_it() {
    with_node(|bench, board| {
        bench.call_as(READER);
        let asked = bench.say("set led on", "");
        assert_has(&asked, &["TASK_STATE_AUTH_REQUIRED", "access class act", "\"schemes\":[\"Bearer\"]"]);
        assert_eq!(board.led.get(), None);
        let id = task_id(&asked);
        let more = format!(r#","taskId":"{id}""#);
        // Its own does not do, nor do words.
        for part in [format!(r#"{{"data":{{"credential":"{READER}"}}}}"#), r#"{"text":"I have none"}"#.into()] {
            assert_has(&bench.part(&part, &more), &["TASK_STATE_AUTH_REQUIRED", "does not allow it"]);
            assert_eq!(board.led.get(), None);
        }
        let done = bench.part(&format!(r#"{{"data":{{"credential":"{OWNER}"}}}}"#), &more);
        assert_has(&done, &["TASK_STATE_COMPLETED", "led is on."]);
        assert_eq!(board.led.get(), Some(Position::On));
        for told in [done, bench.get(&id)] {
            assert!(!told.contains(OWNER) && !told.contains(READER), "{told}");
        }
        // It was lent to that task, and to no other.
        assert_has(&bench.say("set led off", ""), &["TASK_STATE_AUTH_REQUIRED"]);
        assert_eq!(board.led.get(), Some(Position::On));
    });
}

#[test]
fn a_credential_that_is_a_text_or_comes_before_it_is_asked_for_will_do() {
    with_node(|bench, board| {
        bench.call_as(READER);
        let id = task_id(&bench.say("set led on", ""));
        let done = bench.say(&format!(" {OWNER} "), &format!(r#","taskId":"{id}""#));
        assert_has(&done, &["TASK_STATE_COMPLETED", "(withheld)"]);
        assert!(!done.contains(OWNER), "{done}");
        let data = format!(r#"{{"data":{{"skill":"set","actuator":"led","state":"off","credential":"{OWNER}"}}}}"#);
        let done = bench.part(&data, "");
        assert_has(&done, &["TASK_STATE_COMPLETED", "led is off.", "\"credential\":null"]);
        assert!(!done.contains(OWNER), "{done}");
        assert_eq!(board.led.get(), Some(Position::Off));
    });
}

#[test]
fn a_question_can_follow_the_credential() {
    with_node(|bench, board| {
        bench.call_as(READER);
        let id = task_id(&bench.say("calibrate temperature", ""));
        let more = format!(r#","taskId":"{id}""#);
        let asked = bench.part(&format!(r#"{{"data":{{"credential":"{OWNER}"}}}}"#), &more);
        assert_has(&asked, &["TASK_STATE_INPUT_REQUIRED", "What should temperature read now?"]);
        assert_has(&bench.say("30", &more), &["TASK_STATE_COMPLETED", "temperature is calibrated"]);
        assert_eq!(board.store.borrow().len(), 1);
    });
}

#[test]
fn what_changes_the_device_is_for_operators() {
    with_node(|bench, board| {
        bench.call_as(READER);
        for words in ["reboot", "forget wifi"] {
            assert_has(&bench.say(words, ""), &["TASK_STATE_REJECTED", "operators"]);
        }
        assert_eq!((board.reboots.get(), board.forgets.get()), (0, 0));
        bench.call_as(OWNER);
        assert_has(&bench.say("reboot", ""), &["TASK_STATE_COMPLETED"]);
        assert_eq!(board.reboots.get(), 1);
    });
}
