//! HTTP as strict as RFC 9112 has it: which requests are in some bytes, and whether bytes are answers to them.

/// A request as a strict reader finds it.
#[derive(Debug, Default)]
pub struct Request<'a> {
    pub method: &'a str,
    pub body: &'a [u8],
    pub is_http_1_0: bool,
}

/// What a strict reader finds in some bytes.
#[derive(Debug, Default)]
pub struct Found<'a> {
    pub requests: Vec<Request<'a>>,
    /// Something follows them that is no request, or not all of one. It may get one answer, the last: as it is for HEAD if
    /// that much could be read.
    pub rest: Option<Request<'a>>,
}

/// Reads requests until the first that is malformed or incomplete.
pub fn requests(mut bytes: &[u8]) -> Found<'_> {
    let mut found = Found::default();
    loop {
        let empty = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        bytes = &bytes[empty..];
        if bytes.is_empty() {
            return found;
        }
        let Some((request, rest)) = request(bytes) else {
            let method = if bytes.starts_with(b"HEAD ") { "HEAD" } else { "" };
            found.rest = Some(Request { method, ..Request::default() });
            return found;
        };
        found.requests.push(request);
        bytes = rest;
    }
}

fn request(bytes: &[u8]) -> Option<(Request<'_>, &[u8])> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let (head, behind) = (&bytes[..end], &bytes[end + 4..]);
    let mut lines = lines(head);
    let mut words = lines.next()?.split(|byte| *byte == b' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    let is_http_1_0 = version == b"HTTP/1.0";
    if words.next().is_some()
        || !is_token(method)
        || target.is_empty()
        || !target.iter().all(u8::is_ascii_graphic)
        || !(is_http_1_0 || version == b"HTTP/1.1")
    {
        return None;
    }
    let (mut length, mut hosts) = (None, 0);
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        if !is_token(name) || !value.iter().all(|byte| matches!(byte, b'\t' | b' '..=0x7e | 0x80..)) {
            return None;
        }
        match name.to_ascii_lowercase().as_slice() {
            b"transfer-encoding" => return None,
            b"host" => hosts += 1,
            b"content-length" => {
                let digits = str::from_utf8(value).ok()?.trim_matches([' ', '\t']);
                let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                if !is_number || length.replace(digits.parse().ok()?).is_some() {
                    return None;
                }
            }
            _ => {}
        }
    }
    if hosts > 1 || (hosts == 0 && !is_http_1_0) {
        return None;
    }
    let (body, rest) = behind.split_at_checked(length.unwrap_or(0))?;
    Some((Request { method: str::from_utf8(method).ok()?, body, is_http_1_0 }, rest))
}

fn is_token(bytes: &[u8]) -> bool {
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !bytes.is_empty() && bytes.iter().all(is_token)
}

/// The lines of a head, which end in CRLF and in nothing else: what else there is stays inside of them.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(head);
    std::iter::from_fn(move || {
        let here = rest?;
        match here.windows(2).position(|window| window == b"\r\n") {
            Some(end) => {
                rest = Some(&here[end + 2..]);
                Some(&here[..end])
            }
            None => rest.take(),
        }
    })
}

/// An answer, without its framing.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// It was cut off in its body.
    pub is_cut: bool,
}

impl Answer {
    /// The value of a header field.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Reads one answer to that request. `None` if it was cut off in its head.
    ///
    /// # Panics
    /// If these bytes are no answer.
    pub fn read<'a>(bytes: &'a [u8], request: &Request<'_>) -> Option<(Self, &'a [u8])> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let rest = &bytes[end + 4..];
        let mut lines = lines(&bytes[..end]);
        let status = lines.next().and_then(|line| str::from_utf8(line).ok()).unwrap_or_default();
        assert!(status.starts_with("HTTP/1.1 ") && status.as_bytes().get(12) == Some(&b' '), "no status: {status:?}");
        let status: u16 = status[9..12].parse().expect("a status");
        let mut fields: Vec<(String, String)> = Vec::new();
        for line in lines {
            let line = str::from_utf8(line).expect("a field is text");
            let (name, value) = line.split_once(": ").unwrap_or_else(|| panic!("no field: {line:?}"));
            assert!(is_token(name.as_bytes()), "no name: {line:?}");
            assert!(value.bytes().all(|byte| matches!(byte, b' '..=b'~')), "no value: {line:?}");
            let name = name.to_ascii_lowercase();
            // What is a list may come in several lines (RFC 9110 §5.3).
            let is_list = matches!(name.as_str(), "www-authenticate" | "vary");
            let is_new = is_list || fields.iter().all(|(other, _)| *other != name);
            assert!(is_new, "{name} stands there twice");
            fields.push((name, value.to_owned()));
        }
        let mut answer = Self { status, fields, body: Vec::new(), is_cut: false };
        let rest = answer.read_body(rest, request);
        Some((answer, rest))
    }

    fn read_body<'a>(&mut self, rest: &'a [u8], request: &Request<'_>) -> &'a [u8] {
        let coding = self.field("transfer-encoding").map(str::to_owned);
        let length = self.field("content-length").map(|length| length.parse::<usize>().expect("a length"));
        assert!(length.is_none() || coding.is_none(), "two ways to end a body");
        if matches!(self.status, 100..=199 | 204 | 304) || request.method == "HEAD" {
            return rest;
        }
        match (length, coding.as_deref()) {
            (Some(length), _) => {
                let (body, rest) = rest.split_at(length.min(rest.len()));
                self.is_cut = body.len() < length;
                self.body.extend_from_slice(body);
                rest
            }
            (None, Some("chunked")) => self.read_chunks(rest),
            (None, Some(other)) => panic!("a coding that nobody knows: {other}"),
            (None, None) => {
                assert_eq!(self.field("connection"), Some("close"), "a body without an end");
                self.body.extend_from_slice(rest);
                &[]
            }
        }
    }

    fn read_chunks<'a>(&mut self, mut rest: &'a [u8]) -> &'a [u8] {
        loop {
            let Some(end) = rest.windows(2).position(|window| window == b"\r\n") else { break };
            let size = str::from_utf8(&rest[..end]).expect("a chunk's size is text");
            let size = usize::from_str_radix(size, 16).unwrap_or_else(|_| panic!("no size: {size:?}"));
            let Some((chunk, behind)) = rest[end + 2..].split_at_checked(size) else { break };
            self.body.extend_from_slice(chunk);
            let Some((line_end, behind)) = behind.split_at_checked(2) else { break };
            assert_eq!(line_end, b"\r\n", "no end of a chunk");
            if size == 0 {
                return behind;
            }
            rest = behind;
        }
        self.is_cut = true;
        &[]
    }
}
