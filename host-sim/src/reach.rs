//! Whom the simulated device may call, as the command line has it.

use core::{fmt, net::IpAddr};
use std::{fs, io, path::PathBuf};

use firmware::{
    board::Trouble,
    console::What,
    pem::{self, Pem, Read},
    reach::Reach,
};
use protocol_core::push::{Challenge, Ranges, Rules, Webhooks};

/// What the owner allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Calls {
    /// Nobody is called.
    pub(crate) is_off: bool,
    /// What is allowed beside `https` to public addresses, if that was said.
    allowed: Option<Allowed>,
    hosts: Vec<String>,
    pub(crate) challenge: Challenge,
    files: Vec<PathBuf>,
    /// The certificates that were in the files.
    roots: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Allowed {
    plain_http: bool,
    ranges: Ranges,
}

impl Default for Calls {
    fn default() -> Self {
        Self {
            is_off: false,
            allowed: None,
            hosts: Vec::new(),
            challenge: Challenge::ByDialect,
            files: Vec::new(),
            roots: Vec::new(),
        }
    }
}

/// Why a file with root certificates is of no use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadTrust {
    /// It cannot be read.
    File(PathBuf, io::ErrorKind),
    /// There is no certificate in it.
    Empty(PathBuf),
    /// Something is wrong in that line.
    Line(PathBuf, usize, &'static str),
}

impl fmt::Display for BadTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::File(file, _) | Self::Empty(file) | Self::Line(file, ..)) = self;
        write!(f, "--trust {}: ", file.display())?;
        match self {
            Self::File(_, error) => write!(f, "{error}"),
            Self::Empty(_) => f.write_str("there is no certificate in it: -----BEGIN CERTIFICATE----- begins one"),
            Self::Line(_, line, why) => write!(f, "line {line}: {why}"),
        }
    }
}

impl core::error::Error for BadTrust {}

impl Calls {
    /// Takes a list of what is allowed. `None` if it is none.
    pub(crate) fn allow(&mut self, list: &str) -> Option<()> {
        let mut allowed = Allowed::default();
        for word in list.split(',').filter(|_| list != "none") {
            *match What::parse(word)? {
                What::Http => &mut allowed.plain_http,
                What::Loopback => &mut allowed.ranges.loopback,
                What::Private => &mut allowed.ranges.private,
                What::LinkLocal => &mut allowed.ranges.link_local,
            } = true;
        }
        self.allowed = Some(allowed);
        Some(())
    }

    /// Takes one more host. `None` if it is none.
    pub(crate) fn name(&mut self, host: &str) -> Option<()> {
        Rules::is_host(host).then(|| self.hosts.push(host.to_ascii_lowercase()))
    }

    /// Takes the name of one more file.
    pub(crate) fn trust(&mut self, file: &str) {
        self.files.push(file.into());
    }

    /// Reads the files.
    pub(crate) fn read(&mut self) -> Result<(), BadTrust> {
        self.roots.clear();
        for file in &self.files {
            let text = fs::read_to_string(file).map_err(|error| BadTrust::File(file.clone(), error.kind()))?;
            let roots = certificates(&text).map_err(|(line, why)| BadTrust::Line(file.clone(), line, why.0))?;
            if roots.is_empty() {
                return Err(BadTrust::Empty(file.clone()));
            }
            self.roots.extend(roots);
        }
        Ok(())
    }

    /// Whether it allows more than it was told to, because nobody but this machine can ask it.
    fn is_at_home(&self, bind: IpAddr) -> bool {
        self.allowed.is_none() && bind.is_loopback()
    }

    /// Whom it may call when it listens there.
    pub(crate) fn reach(&self, bind: IpAddr) -> Reach<'static> {
        let home = Allowed { plain_http: true, ranges: Ranges { loopback: true, ..Ranges::default() } };
        let default = if self.is_at_home(bind) { home } else { Allowed::default() };
        let Allowed { plain_http, ranges } = self.allowed.unwrap_or(default);
        let hosts = self.hosts.iter().map(|host| &*host.clone().leak()).collect::<Vec<_>>().leak();
        let roots = self.roots.iter().map(|root| &*root.clone().leak()).collect::<Vec<_>>().leak();
        let rules = Rules { plain_http, ranges, hosts };
        Reach { is_on: !self.is_off, webhooks: Webhooks { rules, challenge: self.challenge }, roots }
    }

    /// The same in words.
    pub(crate) fn words(&self, bind: IpAddr) -> String {
        if self.is_off {
            return "no push notifications".to_owned();
        }
        let mut words = String::new();
        // cannot fail: a string takes everything.
        let _ = firmware::reach::describe(&self.reach(bind).webhooks, &mut words);
        if self.roots.is_empty() {
            words += "; no https without --trust";
        }
        if self.is_at_home(bind) {
            words += "; http and loopback because only this machine reaches it, --webhooks none ends that";
        }
        words
    }
}

/// The certificates in a text, or which line is wrong.
fn certificates(text: &str) -> Result<Vec<Vec<u8>>, (usize, Trouble)> {
    let (mut pem, mut all, mut open) = (Pem::default(), Vec::new(), None);
    for (number, line) in text.lines().enumerate() {
        let wrong = |trouble| (number + 1, trouble);
        match pem.read(line).map_err(wrong)? {
            Read::Other => {}
            Read::Begin => open = Some(Vec::new()),
            Read::Bytes(bytes) => open.get_or_insert_default().extend_from_slice(bytes),
            Read::End => {
                let der: Vec<u8> = open.take().unwrap_or_default();
                let begins = der.first_chunk().copied().unwrap_or_default();
                if !pem::is_whole(begins, der.len()) {
                    return Err(wrong(Trouble("that is no certificate, or not all of one")));
                }
                all.push(der);
            }
        }
    }
    match open {
        Some(_) => Err((text.lines().count(), Trouble("the certificate has no end"))),
        None => Ok(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL: IpAddr = IpAddr::V4(core::net::Ipv4Addr::LOCALHOST);
    const ANY: IpAddr = IpAddr::V4(core::net::Ipv4Addr::UNSPECIFIED);

    /// A SEQUENCE of 300 zeros, which is all that is looked at here.
    fn pem() -> String {
        let lines =
            format!("MIIBLAAA{}\n{}{}==", "A".repeat(56), format!("{}\n", "A".repeat(64)).repeat(5), "A".repeat(22));
        format!("-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n")
    }

    #[test]
    fn on_loopback_it_may_call_loopback_and_says_so() {
        let calls = Calls::default();
        let reach = calls.reach(LOCAL);
        assert!(reach.is_on && reach.webhooks.rules.plain_http && reach.webhooks.rules.ranges.loopback);
        assert!(!reach.webhooks.rules.ranges.private && !reach.webhooks.rules.ranges.link_local);
        let words = calls.words(LOCAL);
        assert!(words.contains("http and loopback because") && words.contains("--webhooks none"), "{words}");
        assert_eq!(calls.reach(ANY).webhooks.rules, Rules::STRICT);
        assert_eq!(calls.words(ANY), "push notifications by https to public addresses; no https without --trust");
    }

    #[test]
    fn what_was_said_is_what_is_allowed() {
        let mut calls = Calls::default();
        calls.allow("none").expect("it is a word");
        assert_eq!(calls.reach(LOCAL).webhooks.rules, Rules::STRICT);
        calls.allow("http,private,link-local").expect("they are words");
        let ranges = Ranges { loopback: false, private: true, link_local: true };
        assert_eq!(calls.reach(LOCAL).webhooks.rules, Rules { plain_http: true, ranges, hosts: &[] });
        calls.allow("loopback").expect("it is a word");
        calls.name("Hooks.example:8443").expect("it is a host");
        calls.name("*.lan").expect("it is a host");
        let rules = calls.reach(ANY).webhooks.rules;
        assert_eq!(rules.hosts, ["hooks.example:8443", "*.lan"]);
        assert!(rules.ranges.loopback && !rules.ranges.private && !rules.plain_http);
        assert!(calls.words(ANY).contains("loopback addresses, and only to: hooks.example:8443 *.lan"));
        for bad in ["", "http,", "https", "none,http", "all"] {
            assert_eq!(calls.allow(bad), None, "{bad}");
        }
        assert_eq!(calls.name("http://a"), None);
        calls.is_off = true;
        assert!(!calls.reach(LOCAL).is_on);
        assert_eq!(calls.words(LOCAL), "no push notifications");
    }

    #[test]
    fn certificates_are_read_strictly() {
        let one = pem();
        let der = certificates(&one).expect("it is one").remove(0);
        assert_eq!((der.len(), &der[..4]), (304, &[0x30, 0x82, 0x01, 0x2c][..]));
        let two = format!("# two\nsubject=CN = a\n{one}\n\n{one}").replace('\n', "\r\n");
        assert_eq!(certificates(&two), Ok(vec![der.clone(), der]));
        assert_eq!(certificates(""), Ok(Vec::new()));
        for (text, line) in [
            (one.replace("-----END CERTIFICATE-----\n", ""), 8),
            (one.replacen('\n', "\n\n", 1), 2),
            (one.replacen("AAAA", "AA-A", 1), 2),
            (one.replacen("MIIBLA", "MIIBLQ", 1), 9),
            (one.replacen(&format!("{}\n", "A".repeat(64)), "", 1), 8),
            (one.replace("CERTIFICATE", "EC PRIVATE KEY"), 1),
        ] {
            assert_eq!(certificates(&text).map_err(|(line, _)| line), Err(line), "{text}");
        }
    }

    #[test]
    fn a_file_that_is_of_no_use_is_named() {
        let folder = std::env::temp_dir().join(format!("mote-trust-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let read = |name: &str| {
            let mut calls = Calls::default();
            calls.trust(folder.join(name).to_str().unwrap());
            calls.read().map(|()| calls.reach(LOCAL).roots.len()).map_err(|bad| bad.to_string())
        };
        fs::write(folder.join("good.pem"), pem() + &pem()).unwrap();
        fs::write(folder.join("empty.pem"), "nothing\n").unwrap();
        fs::write(folder.join("bad.pem"), pem() + "-----BEGIN RSA PRIVATE KEY-----\n").unwrap();
        let found = ["good.pem", "empty.pem", "bad.pem", "missing.pem"].map(read);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found[0], Ok(2));
        for (bad, words) in
            [(1, "there is no certificate in it"), (2, "line 10: that is no certificate"), (3, "not found")]
        {
            let sentence = found[bad].clone().expect_err("it is wrong");
            assert!(sentence.starts_with("--trust ") && sentence.contains(words), "{sentence}");
        }
    }
}
