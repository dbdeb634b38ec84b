//! The command line of the terminal.

use core::time::Duration;

use protocol_core::{client::Version, json::Json, push::Url};

use super::trouble::Trouble;

/// What `host-sim ask --help` says.
pub(super) const HELP: &str = "\
Talks to an A2A agent, this one or any other, in the newest version of A2A that both speak.

host-sim card   URL                 what it is and can do
host-sim ask    URL WORDS...        says something and waits for the answer
host-sim watch  URL WORDS...        says something and shows what happens live; without words, with --task, follows a task
host-sim get    URL TASK            how a task stands
host-sim tasks  URL                 all of them
host-sim cancel URL TASK            ends one

URL is where the agent is (http://127.0.0.1:8080), or where its card is. A token is taken from the variable MOTE_TOKEN.

  --json              what the agent answers, as JSON: one document in a line
  --data JSON         a data part, instead of words or beside them
  --task ID           goes on with that task, which asked for something
  --context ID        stays in that conversation
  --no-wait           ask: does not wait until the task has ended
  --cancel            watch, ask: Ctrl-C ends the task, too; without this it goes on
  --timeout SECONDS   how long the agent may be silent (60)
  --a2a VERSION       1.0, 0.3 or 0.1 instead of the newest that the card has
  --here              asks at URL itself, wherever the card says the agent is
  --elsewhere         sends the token even if the card says that the agent is on another host
  --help              this

What the agent says goes to the standard output, everything else to the standard error. Exit codes:

  0   done: completed, or answered          4   the agent answered with an error
  1   failed, rejected or canceled          5   not let in: no token, an unknown one, or not allowed
  2   wrong, or not in its version of A2A   6   the agent waits for an answer or a credential: --task ID
  3   cannot be reached, silent, lost       7   no A2A agent there, or none that is understood
  130 ended by Ctrl-C
";

/// What the command line asks for.
#[derive(Debug)]
pub(super) enum Asked {
    Do(Order),
    Help,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Card,
    Ask,
    Watch,
    Get,
    Tasks,
    Cancel,
}

impl Verb {
    pub(super) fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "card" => Self::Card,
            "ask" => Self::Ask,
            "watch" => Self::Watch,
            "get" => Self::Get,
            "tasks" => Self::Tasks,
            "cancel" => Self::Cancel,
            _ => return None,
        })
    }
}

/// What to do.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) verb: Verb,
    pub(super) url: String,
    /// Behind the URL: what is said, or a task.
    pub(super) words: Vec<String>,
    pub(super) data: Option<String>,
    pub(super) task: Option<String>,
    pub(super) context: Option<String>,
    pub(super) token: Option<String>,
    pub(super) version: Option<Version>,
    pub(super) patience: Duration,
    pub(super) is_json: bool,
    pub(super) is_at_once: bool,
    pub(super) cancels: bool,
    pub(super) is_here: bool,
    pub(super) is_elsewhere: bool,
}

const NO_HTTPS: &str = "https is not spoken here: let something that does stand between, such as \
     socat TCP-LISTEN:8443,bind=127.0.0.1,fork OPENSSL:HOST:443, and ask http://127.0.0.1:8443 with --here";

/// An address that can be asked.
pub(super) fn address(url: &str) -> Result<Url<'_>, String> {
    let parsed = Url::parse(url).map_err(|why| format!("the URL {url:?} {why}"))?;
    if parsed.is_https { Err(NO_HTTPS.to_owned()) } else { Ok(parsed) }
}

impl Order {
    /// Reads a command line that begins with a command.
    pub(super) fn parse(words: &[String], token: Option<&str>) -> Result<Asked, Trouble> {
        let bad = |why: String| Trouble::Usage(format!("{why}; see host-sim ask --help"));
        let mut order = Self {
            verb: words.first().and_then(|word| Verb::parse(word)).unwrap_or(Verb::Card),
            url: String::new(),
            words: Vec::new(),
            data: None,
            task: None,
            context: None,
            token: token.and_then(bare_token),
            version: None,
            patience: Duration::from_secs(60),
            is_json: false,
            is_at_once: false,
            cancels: false,
            is_here: false,
            is_elsewhere: false,
        };
        let mut rest = words.iter().skip(1);
        let mut has_options = true;
        let mut url = None;
        while let Some(word) = rest.next() {
            if !has_options || !word.starts_with("--") {
                match &url {
                    None => url = Some(word.clone()),
                    Some(_) => order.words.push(word.clone()),
                }
                continue;
            }
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            let flag = match name {
                "--json" => Some(&mut order.is_json),
                "--no-wait" => Some(&mut order.is_at_once),
                "--cancel" => Some(&mut order.cancels),
                "--here" => Some(&mut order.is_here),
                "--elsewhere" => Some(&mut order.is_elsewhere),
                "--" => Some(&mut has_options),
                "--help" => return Ok(Asked::Help),
                _ => None,
            };
            if let Some(flag) = flag {
                if value.is_some() {
                    return Err(bad(format!("{name} takes no value")));
                }
                *flag = name != "--";
                continue;
            }
            if !matches!(name, "--data" | "--task" | "--context" | "--timeout" | "--a2a") {
                return Err(bad(format!("there is no option {name:?}")));
            }
            let value = value.or_else(|| rest.next().cloned()).ok_or_else(|| bad(format!("{name} needs a value")))?;
            match name {
                "--data" => {
                    Json::parse(value.as_bytes()).map_err(|error| bad(format!("--data is no JSON: {error}")))?;
                    order.data = Some(value);
                }
                "--task" => order.task = Some(value),
                "--context" => order.context = Some(value),
                "--timeout" => {
                    let seconds = value.parse::<f64>().ok().filter(|seconds| (0.01..=86_400.0).contains(seconds));
                    let seconds = seconds.ok_or_else(|| bad("--timeout takes a number of seconds".to_owned()))?;
                    order.patience = Duration::from_secs_f64(seconds);
                }
                _ => {
                    let version = Version::parse(&value);
                    order.version = Some(version.ok_or_else(|| bad(format!("--a2a cannot be {value:?}")))?);
                }
            }
        }
        if !order.token.as_ref().is_none_or(|token| token.bytes().all(|byte| byte.is_ascii_graphic())) {
            return Err(bad("MOTE_TOKEN has a character that no token has".to_owned()));
        }
        order.url = url.ok_or_else(|| bad("where is the agent? There is no URL".to_owned()))?;
        address(&order.url).map_err(Trouble::Usage)?;
        order.check().map_err(bad)?;
        Ok(Asked::Do(order))
    }

    fn check(&self) -> Result<(), String> {
        let says_something = !self.words.is_empty() || self.data.is_some();
        match self.verb {
            Verb::Ask if !says_something => Err("there is nothing to say".to_owned()),
            Verb::Watch if !says_something && self.task.is_none() => {
                Err("there is nothing to say, and no --task to follow".to_owned())
            }
            Verb::Get | Verb::Cancel if self.words.len() != 1 => Err("one task is needed".to_owned()),
            Verb::Card | Verb::Tasks if says_something => Err("there is a word too many".to_owned()),
            _ => Ok(()),
        }
    }

    /// What is said, as one text.
    pub(super) fn text(&self) -> String {
        self.words.join(" ")
    }

    /// The task that the command is about.
    pub(super) fn task_word(&self) -> Result<&str, Trouble> {
        self.words.first().map(String::as_str).ok_or_else(|| Trouble::Usage("one task is needed".to_owned()))
    }
}

/// The token alone, of what a server has in the same variable: `NAME:CLASSES:TOKEN`, and more of them with spaces between.
/// Nobody's token has a colon.
fn bare_token(value: &str) -> Option<String> {
    let first = value.split_ascii_whitespace().next()?;
    Some(first.rsplit(':').next().unwrap_or(first).to_owned()).filter(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Order, String> {
        let words = line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        match Order::parse(&words, Some("owner:read+act:the-token-of-the-owner other:read:another-token")) {
            Ok(Asked::Do(order)) => Ok(order),
            Ok(Asked::Help) => Err("help".to_owned()),
            Err(trouble) => Err(trouble.to_string()),
        }
    }

    #[test]
    fn options_stand_anywhere_and_words_are_what_is_left() {
        let order = parse("ask --json http://x:1/a read --task=t1 temperature -5 -- --not-an-option").unwrap();
        assert_eq!(order.url, "http://x:1/a");
        assert_eq!(order.text(), "read temperature -5 --not-an-option");
        assert!(order.is_json && !order.cancels);
        assert_eq!(order.task.as_deref(), Some("t1"));
        assert_eq!(order.token.as_deref(), Some("the-token-of-the-owner"));
        assert_eq!(bare_token("a-token-alone").as_deref(), Some("a-token-alone"));
        assert_eq!(bare_token(" "), None);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (line, words) in [
            ("ask", "no URL"),
            ("ask http://x", "nothing to say"),
            ("watch http://x", "no --task"),
            ("cancel http://x", "one task"),
            ("get http://x a b", "one task"),
            ("tasks http://x a", "a word too many"),
            ("card x", "must begin with"),
            ("card https://x", "https is not spoken here"),
            ("card http://x --what", "no option \"--what\""),
            ("card http://x --json=1", "--json takes no value"),
            ("ask http://x a --data {", "no JSON"),
            ("ask http://x a --data", "needs a value"),
            ("ask http://x a --timeout 0", "seconds"),
            ("ask http://x a --a2a 9.9", "cannot be \"9.9\""),
        ] {
            let said = parse(line).unwrap_err();
            assert!(said.contains(words), "{line}: {said}");
        }
        assert_eq!(parse("watch --help").unwrap_err(), "help");
    }
}
