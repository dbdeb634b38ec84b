use firmware::reach::Reach;

use super::*;

fn parse(line: &str) -> Result<Asked, BadArgs> {
    Args::parse(line.split_whitespace().map(str::to_owned))
}

fn run(line: &str) -> Args {
    match parse(line) {
        Ok(Asked::Run(args)) => args,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn everything_has_a_default() {
    assert_eq!(run(""), Args::default());
    assert_eq!(Served::parse(&Args::default().dialects.0), Some(Args::default().dialects.1));
}

#[test]
fn values_stand_behind_a_space_or_an_equals_sign() {
    let spaced = run("--port 0 --bind ::1 --url https://a.example/x?y=z --agent conformance --seed 7 --preset pico \
                      --dialects 1.0,0.3 --fault humidity:after=10 --token-file my.tokens --store my.flash --name Mote.local --mdns-name kitchen \
                      --allow-origin https://Panel.example:8443/ --log debug --token anna:read:annas-secret-token");
    let glued = run("--port=0 --bind=::1 --url=https://a.example/x?y=z --agent=conformance --seed=7 --preset=pico \
                     --dialects=1.0,0.3 --fault=humidity:after=10 --token-file=my.tokens --store=my.flash --name=mote.local --mdns-name=kitchen \
                     --allow-origin=https://panel.example:8443 --log=debug --token=anna:read:annas-secret-token");
    assert_eq!(spaced, glued);
    assert_eq!(
        spaced,
        Args {
            port: 0,
            bind: IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
            url: Some("https://a.example/x?y=z".into()),
            agent: Some(AgentName::Conformance),
            seed: Some(7),
            preset: Preset::Pico,
            dialects: ("1.0,0.3".into(), Served::parse("0.3,1.0").unwrap()),
            fault: Some(Fault { sensor: 1, after: 10 }),
            keys: Keys {
                given: vec![Grant::parse("anna:read:annas-secret-token").unwrap()],
                file: Some("my.tokens".into()),
                ..Keys::default()
            },
            store: Some("my.flash".into()),
            calls: Calls::default(),
            names: vec!["mote.local".into()],
            local: Wanted::new("kitchen"),
            origins: vec!["https://panel.example:8443".into()],
            log: Some(Level::Debug),
        }
    );
    assert_eq!(run("--port 1 --port 2").port, 2);
}

#[test]
fn help_and_version_need_nothing_else() {
    assert_eq!(parse("--port 1 --help"), Ok(Asked::Help));
    assert_eq!(parse("-V"), Ok(Asked::Version));
    for (name, _) in OPTIONS {
        assert!(HELP.contains(name), "{name}");
    }
    let words: Vec<_> = HELP.split_whitespace().collect();
    assert!(words.join(" ").contains("every call needs read"));
}

#[test]
fn an_error_names_the_option_and_what_it_takes() {
    for (line, sentence) in [
        ("--prot 1", "there is no option \"--prot\", see --help"),
        ("8080", "there is a word that belongs to no option, see --help"),
        ("--port", "--port needs a value: a number from 0 to 65535"),
        ("--port 65536", "--port cannot be \"65536\", it takes a number from 0 to 65535"),
        ("--log verbose", "--log cannot be \"verbose\", it takes debug, info, warn or error"),
        ("--port +1", "--port cannot be \"+1\", it takes a number from 0 to 65535"),
        ("--bind here", "--bind cannot be \"here\", it takes an IP address such as 127.0.0.1 or ::1"),
        ("--agent=dog", "--agent cannot be \"dog\", it takes sensor or conformance"),
        ("--seed -1", "--seed cannot be \"-1\", it takes a number from 0 to 18446744073709551615"),
        ("--preset tiny", "--preset cannot be \"tiny\", it takes host or pico"),
        ("--dialects 0.9", "--dialects cannot be \"0.9\", it takes a list of 1.0, 0.3 and 0.1 with commas"),
        ("--preset sixteen--letters", "--preset cannot have that value, it takes host or pico"),
        ("--preset fifteen-letters", "--preset cannot be \"fifteen-letters\", it takes host or pico"),
        ("--help=me", "--help takes no value"),
        ("--open=yes", "--open takes no value"),
        ("--no-push=yes", "--no-push takes no value"),
        ("--mdns=yes", "--mdns takes no value"),
        (
            "--mdns-name mote.local",
            "--mdns-name cannot be \"mote.local\", it takes letters, digits and hyphens between them, 32 at most",
        ),
        ("--token", "--token needs a value: NAME:CLASSES:TOKEN"),
        ("--name mote:80", "--name cannot be \"mote:80\", it takes a host name such as mote.local, without a port"),
    ] {
        assert_eq!(parse(line).expect_err(line).to_string(), sentence);
    }
    for line in [
        "--fault temperature",
        "--fault wind:after=1",
        "--fault temperature:after=",
        "--url=",
        "--url ftp://x",
        "--url http://",
        "--url http://a\"b",
        "--dialects=",
        "--token-file=",
        "--store=",
        "--trust=",
        "--webhooks=",
        "--webhooks https",
        "--webhooks none,http",
        "--webhook-host http://a",
        "--webhook-host a:0",
        "--challenge perhaps",
        "--name=",
        "--name [mote]",
        "--allow-origin panel.example",
        "--allow-origin https://panel.example/page",
        "--allow-origin https://panel.example:https",
        "--allow-origin https://",
    ] {
        assert!(matches!(parse(line), Err(BadArgs::BadValue(..))), "{line}");
    }
}

#[test]
fn what_can_be_said_again_adds_up() {
    let args = run("--token anna:read:annas-secret-token --token ben:act:bens-secret-token --name a --name [::1] \
                    --allow-origin http://a --allow-origin http://[::1]:80");
    assert_eq!(format!("{:?}", args.keys.given), "[anna:read:.., ben:act:..]");
    assert_eq!(args.names, ["a", "[::1]"]);
    assert_eq!(args.origins, ["http://a", "http://[::1]:80"]);
}

#[test]
fn it_has_a_name_where_others_can_reach_it() {
    assert_eq!(run("").local, None);
    assert_eq!(run("--mdns").local, Some(Wanted::default()));
    assert_eq!(run("--mdns --mdns-name kitchen --mdns").local, Wanted::new("kitchen"));
    for line in ["--mdns --bind 0.0.0.0 --open", "--mdns-name a --bind 192.168.0.7 --open"] {
        assert!(run(line).with_keys(None).is_ok(), "{line}");
    }
    for (line, why) in [
        ("--mdns", "127.0.0.1: nobody else can reach it; --bind 0.0.0.0"),
        ("--mdns-name a --bind ::1", "::1: mDNS is spoken over IPv4"),
        ("--mdns --bind :: --open", "::: mDNS is spoken over IPv4"),
    ] {
        let sentence = run(line).with_keys(None).expect_err(line).to_string();
        assert!(sentence.contains(why), "{sentence}");
    }
}

#[test]
fn whom_it_may_call_is_said_by_the_owner() {
    let calls =
        run("--webhooks http,private --webhook-host a.example --webhook-host=*.lan:8443 --challenge always").calls;
    let Reach { is_on, webhooks, roots } = calls.reach([0, 0, 0, 0].into());
    assert!(is_on && webhooks.rules.plain_http && webhooks.rules.ranges.private && roots.is_empty());
    assert_eq!(webhooks.rules.hosts, ["a.example", "*.lan:8443"]);
    assert_eq!(webhooks.challenge, Challenge::Always);
    assert!(!run("--no-push").calls.reach([127, 0, 0, 1].into()).is_on);
    assert!(HELP.contains("--no-push") && HELP.contains("--open"));
    let bad = run("--trust no-such-file.pem").with_keys(None).expect_err("there is no such file").to_string();
    assert!(bad.starts_with("--trust no-such-file.pem: "), "{bad}");
}

#[test]
fn nothing_that_is_said_about_a_command_line_has_a_token_in_it() {
    for line in [
        "--token secret-token-of-anna",
        "--token=anna:secret-token-of-anna",
        "--token anna:all:secret-token-of-anna",
        "--token anna:read:secret",
        "--token --token=anna:read:secret",
        "--tokens=anna:read:secret-token-of-anna",
        "--tokens:anna:read:secret-token-of-anna",
        "anna:read:secret-token-of-anna",
        "secret-token-of-anna",
        "--port 80 secret",
        "--open secret-token-of-anna",
        "--name anna:read:secret-token-of-anna",
        "--name=anna:read:secret",
        "--allow-origin anna:read:secret-token-of-anna",
        "--token-file anna:read:secret-token-of-anna",
        "--store anna:read:secret-token-of-anna",
        "--trust anna:read:secret-token-of-anna",
        "--webhook-host anna:read:secret-token-of-anna",
        "--no-push=secret-token-of-anna",
        "--port secret-token-of-anna",
    ] {
        let bad = parse(line).expect_err(line);
        assert!(!bad.to_string().contains("secret") && !format!("{bad:?}").contains("secret"), "{bad}");
    }
    let args = run("--token anna:read:secret-token-of-anna");
    assert!(!format!("{args:?}").contains("secret"));
}

#[test]
fn others_get_in_with_a_token_or_because_somebody_said_so() {
    let start = |line: &str, environment: Option<&str>| run(line).with_keys(environment);
    for line in ["", "--bind ::1", "--bind 0.0.0.0 --open", "--bind :: --token anna:read:annas-secret-token"] {
        assert!(start(line, None).is_ok(), "{line}");
    }
    assert!(start("--bind 0.0.0.0", Some("the-owners-own-token")).is_ok());
    for environment in [None, Some("")] {
        let sentence = start("--bind 0.0.0.0", environment).expect_err("everybody could come in").to_string();
        for word in ["0.0.0.0", "--token NAME:CLASSES:TOKEN", "--token-file", "MOTE_TOKEN", "--open"] {
            assert!(sentence.contains(word), "{sentence}");
        }
    }
    // The largest of a small board is not that of a laptop.
    let five: Vec<_> = (0..5).map(|n| format!("--token a{n}:read:secret-token-no-{n}")).collect();
    assert!(start(&five.join(" "), None).is_ok());
    assert!(start(&format!("{} --preset pico", five.join(" ")), None).is_err());
}

#[test]
fn the_sentence_for_a_fault_names_the_sensors_there_are() {
    let sentence = parse("--fault x").expect_err("it is wrong").to_string();
    for sensor in SENSORS {
        assert!(sentence.contains(sensor.name), "{sentence}");
    }
}
