use super::{Choice, DIALECTS, Dialect, Method, Served, fallback, select};
use crate::model::FaultKind;

/// Who answers, by the first version it answers for; `task` if the task decides; or the fault and who tells it.
fn chosen(method: &str, version: Option<&str>) -> (&'static str, Option<FaultKind>) {
    match select(Served::ALL, method, version) {
        Ok(Choice::One(dialect, _)) => (dialect.name(), None),
        Ok(Choice::ByTask(..)) => ("task", None),
        Err((dialect, fault)) => (dialect.name(), Some(fault.kind)),
    }
}

#[test]
fn a_method_and_a_version_choose_as_the_specification_says() {
    const OLD: &str = "0.1";
    const MIDDLE: &str = "0.2";
    const NEW: &str = "1.";
    let unknown = Some(FaultKind::MethodNotFound);
    let unspoken = Some(FaultKind::VersionNotSupported);
    for (method, version, expected) in [
        ("SendMessage", Some("1.0"), (NEW, None)),
        ("SendMessage", Some("1.7.3"), (NEW, None)),
        ("SendMessage", Some(" 1.0 "), (NEW, None)),
        ("SendMessage", None, (NEW, None)),
        ("SendMessage", Some(""), (NEW, None)),
        ("SendMessage", Some("9.9"), (NEW, unspoken)),
        ("SendMessage", Some("one"), (NEW, unspoken)),
        ("SendMessage", Some("1"), (NEW, unspoken)),
        ("message/send", None, (MIDDLE, None)),
        ("message/send", Some("0.3"), (MIDDLE, None)),
        ("message/send", Some("0.3.0"), (MIDDLE, None)),
        ("message/send", Some("1.0"), (MIDDLE, None)),
        ("message/send", Some("9.9"), (MIDDLE, unspoken)),
        ("message.send", None, (MIDDLE, None)),
        ("tasks/send", None, (OLD, None)),
        ("tasks/get", None, ("task", None)),
        ("tasks/get", Some("0.3"), (MIDDLE, None)),
        ("tasks/get", Some("0.1"), (OLD, None)),
        ("tasks/get", Some("1.0"), ("task", None)),
        ("tasks/foo", None, (MIDDLE, unknown)),
        ("Foo", None, (NEW, unknown)),
        ("", Some("1.0"), (NEW, unknown)),
        ("sendmessage", None, (MIDDLE, unknown)),
    ] {
        assert_eq!(chosen(method, version), expected, "{method} {version:?}");
    }
}

#[test]
fn what_is_not_served_is_not_found() {
    let served = Served::parse("1.0").unwrap();
    assert!(select(served, "SendMessage", None).is_ok());
    let Err((dialect, fault)) = select(served, "message/send", None) else { panic!("served") };
    assert_eq!((dialect.name(), fault.kind), ("1.", FaultKind::MethodNotFound));
    assert_eq!(fallback(served, Some("0.3")).name(), "1.");
    assert_eq!(Served::parse("1.0,0.3, 0.1"), Some(Served::ALL));
    assert_eq!(Served::parse("2.0"), None);
    assert_eq!(Served::parse(""), None);
}

#[test]
fn tables_are_where_their_numbers_say() {
    for (number, dialect) in DIALECTS.into_iter().enumerate() {
        assert_eq!(usize::from(dialect.number), number);
        assert!(!has_twice(dialect));
        for method in [Method::Send, Method::Stream, Method::Get, Method::Cancel, Method::Subscribe, Method::SetPush] {
            assert!(dialect.methods.iter().any(|(_, known)| *known == method), "{} lacks {method:?}", dialect.name());
        }
    }
}

fn has_twice(dialect: &Dialect) -> bool {
    let count = |name: &str| dialect.methods.iter().filter(|(other, _)| *other == name).count();
    dialect.methods.iter().any(|(name, _)| count(name) > 1)
}
