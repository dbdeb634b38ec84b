//! What happened lately, as a JSON document that is made a line at a time.

use core::fmt;

use protocol_core::{Line, Node, door::Caller, json::escape};

use crate::pieces::{self, Parts};

/// The log as one reader may see it, while it is being read. A line that is being given is given to its end, even if it has
/// made room for a newer one meanwhile.
pub struct Recent<'n, 's> {
    node: &'n Node<'s>,
    reader: Caller,
    /// The number of the first line that is not told any more: what comes while this is read is for the next time.
    end: u64,
    part: Part,
    given: usize,
}

enum Part {
    /// What is before the lines, and the number of the first one.
    Head(u64),
    Line {
        number: u64,
        line: Line,
        is_first: bool,
    },
    Tail,
    Done,
}

impl<'n, 's> Recent<'n, 's> {
    /// The lines from number `after` on, as far as they are still there.
    pub fn new(node: &'n Node<'s>, reader: Caller, after: u64) -> Self {
        Self { node, reader, end: node.next_line(), part: Part::Head(after), given: 0 }
    }

    /// Fills `out` with the next bytes and says how many; 0 is the end.
    pub fn fill(&mut self, out: &mut [u8]) -> usize {
        let mut given = self.given;
        let filled = pieces::fill(self, &mut given, out);
        self.given = given;
        filled
    }

    fn line(&self, from: u64, is_first: bool) -> Part {
        let next = self.node.line(from, self.reader).filter(|(number, _)| *number < self.end);
        next.map_or(Part::Tail, |(number, line)| Part::Line { number, line, is_first })
    }
}

impl Parts for Recent<'_, '_> {
    fn write(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        match &self.part {
            Part::Head(_) => write!(out, "{{\"next\":{},\"lines\":[", self.end),
            Part::Line { number, line, is_first } => {
                out.write_str(if *is_first { "\n" } else { ",\n" })?;
                let (at, level) = (line.at().0, line.level().as_str());
                write!(out, "{{\"n\":{number},\"atMs\":{at},\"level\":\"{level}\",")?;
                // An error stays with the writer.
                let mut put = |text: &str| _ = out.write_str(text);
                if let Some(task) = line.task() {
                    put("\"task\":\"");
                    escape(task, &mut put);
                    put("\",");
                }
                if let Some(trace) = line.trace() {
                    put("\"trace\":\"");
                    put(&trace);
                    put("\",");
                }
                put("\"text\":\"");
                line.write_text(&mut put);
                put("\"}");
                Ok(())
            }
            Part::Tail => out.write_str("]}\n"),
            Part::Done => Ok(()),
        }
    }

    fn go_on(&mut self) {
        self.part = match self.part {
            Part::Head(after) => self.line(after, true),
            Part::Line { number, .. } => self.line(number.saturating_add(1), false),
            Part::Tail | Part::Done => Part::Done,
        };
    }

    fn is_done(&self) -> bool {
        matches!(self.part, Part::Done)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::{string::String, vec, vec::Vec};

    use protocol_core::{
        Engine, Identity, Inbound, JournalStorage, Level, Note, Served, Storage,
        door::{Allowance, Door, DoorStorage},
        json::Json,
        time::{Clock, Millis},
    };

    use super::*;
    use crate::{agents::sensor, simulated::SplitMix};

    struct Stopped;

    impl Clock for Stopped {
        fn now(&self) -> Millis {
            Millis(u64::MAX)
        }
    }

    fn with_node(test: impl FnOnce(&Node<'_>)) {
        let mut storage = Storage::<4, 64, 1, 4>::new();
        let mut chance = SplitMix::new(1);
        let mut journal = JournalStorage::<4>::new();
        let mut known = DoorStorage::<1, 1>::new();
        let mut door = Door::new(&mut known, Allowance::UNLIMITED);
        door.set_open(true);
        let mut engine = Engine::new(&mut storage, &mut chance);
        engine.set_journal(&mut journal, Level::Info, |_| {});
        let identity = Identity { profile: sensor::PROFILE, url: None, served: Served::ALL };
        test(&Node::new(engine, door, &Stopped, identity));
    }

    fn read(node: &Node<'_>, after: u64, piece: usize, mut between: impl FnMut()) -> String {
        let mut recent = Recent::new(node, Caller::GUEST, after);
        let (mut all, mut buffer) = (Vec::new(), vec![0; piece]);
        loop {
            match recent.fill(&mut buffer) {
                0 => break,
                filled => all.extend_from_slice(&buffer[..filled]),
            }
            between();
        }
        let text = String::from_utf8(all).expect("it is text");
        assert!(Json::parse(text.as_bytes()).is_ok(), "{text}");
        text
    }

    fn send(node: &Node<'_>, id: &str) {
        let body = std::format!(
            r#"{{"id":1,"method":"tasks/send","params":{{"id":"{id}","message":{{"role":"user","parts":[{{"type":"text","text":"hello"}}]}}}}}}"#
        );
        let traceparent = Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
        drop(node.call(&Inbound { traceparent, body: body.as_bytes(), ..Inbound::GUEST }));
    }

    #[test]
    fn is_the_same_json_whatever_the_pieces() {
        with_node(|node| {
            assert_eq!(read(node, 0, 100, || {}), "{\"next\":0,\"lines\":[]}\n");
            send(node, r#"my \"task\" \\ \n"#);
            node.note(Note::because(Level::Error, "started", "panic"));
            let whole = read(node, 0, 4096, || {});
            let at = u64::MAX;
            let task = r#""task":"my \"task\" \\ \n","trace":"4bf92f3577b34da6a3ce929d0e0e4736","#;
            assert_eq!(
                whole,
                std::format!(
                    "{{\"next\":2,\"lines\":[\n{{\"n\":0,\"atMs\":{at},\"level\":\"info\",{task}\"text\":\"submitted\"}},\n\
                     {{\"n\":1,\"atMs\":{at},\"level\":\"error\",\"text\":\"started: panic\"}}]}}\n"
                )
            );
            for piece in [1, 2, 7, 64, 100] {
                assert_eq!(read(node, 0, piece, || {}), whole);
            }
            assert!(read(node, 1, 100, || {}).starts_with("{\"next\":2,\"lines\":[\n{\"n\":1,"));
            assert_eq!(read(node, 2, 100, || {}), "{\"next\":2,\"lines\":[]}\n");
            assert_eq!(read(node, u64::MAX, 100, || {}), "{\"next\":2,\"lines\":[]}\n");
        });
    }

    #[test]
    fn lines_that_go_while_they_are_read_are_whole_or_not_there() {
        let mut seen = 0;
        for piece in 1..100 {
            with_node(|node| {
                for number in 1..5_u16 {
                    node.note(Note::counting(Level::Info, "line", number, ""));
                }
                let mut number = 5;
                let text = read(node, 0, piece, || {
                    node.note(Note::counting(Level::Info, "line", number, ""));
                    number += 1;
                });
                assert!(text.starts_with("{\"next\":4,\"lines\":["), "{text}");
                let json = Json::parse(text.as_bytes()).expect("it is JSON");
                for line in json.member("lines").expect("there are some").items() {
                    let n: u16 = line.member("n").expect("a number").raw().parse().expect("a number");
                    let text = line.member("text").and_then(Json::text).expect("a text");
                    assert_eq!(text.escaped(), std::format!("line {}", n + 1));
                    assert!(n < 4);
                    seen += 1;
                }
            });
        }
        assert!(seen > 100, "{seen}");
    }
}
