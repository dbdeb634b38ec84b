//! Makes the corpora to start from: `seeds FOLDER` writes a folder for each target, and a dictionary for each language.
//!
//! Texts come from the golden files, so nothing is stored twice.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use firmware::mdns::{LocalName, PACKET_MAX, Place, Responder, Wanted};
use mote_fuzz::{
    input::{self, BETWEEN, METHODS},
    mutate::NAMES,
};
use mote_tests::{corpus, random::Random};
use protocol_core::time::Millis;
use serde_json::Value;

fn main() -> io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).expect("usage: seeds FOLDER"));
    let requests = corpus::requests();
    let conversations = corpus::conversations();

    put(&folder, "json", requests.iter().map(|body| body.clone().into_bytes()))?;

    let pieces = |requests: &[corpus::Request]| requests.iter().map(input::write).collect::<Vec<_>>().join(&BETWEEN);
    let alone = requests.iter().map(|body| corpus::Request { body: body.clone(), ..Default::default() });
    put(
        &folder,
        "call",
        conversations.iter().map(|requests| pieces(requests)).chain(alone.map(|request| input::write(&request))),
    )?;

    let calls = |requests: &[corpus::Request]| {
        let calls = requests.iter().filter_map(|request| call(&request.body));
        calls.collect::<Vec<_>>().join(&BETWEEN)
    };
    put(
        &folder,
        "dialect",
        conversations.iter().map(|requests| calls(requests)).chain(requests.iter().filter_map(|body| call(body))),
    )?;

    edge(&folder, &conversations)?;

    let urls = URLS.iter().flat_map(|url| HOSTS.iter().map(move |host| format!("{host}{url}").into_bytes()));
    put(&folder, "webhook", urls)?;
    fs::write(folder.join("webhook.dict"), dictionary(URL_WORDS.iter().map(|word| (*word).to_owned())))?;

    // How it is torn and how long an event may be, and then what an agent says.
    let answers = ANSWERS.iter().flat_map(|answer| {
        let events = format!(": hello\nid: 1\ndata: {answer}\n\nretry: 9\r\ndata: {answer}\r\n\r\n");
        [[&[1, 255], answer.as_bytes()].concat(), [&[7, 32], events.as_bytes()].concat()]
    });
    put(&folder, "client", answers)?;
    put(&folder, "mdns", packets().into_iter())?;

    // What these read is no text: any bytes are operations.
    let mut random = Random::new(1);
    for target in ["engine", "log"] {
        let inputs = (0..64).map(|number| (0..8 * (number + 1)).map(|_| random.number() as u8).collect());
        put(&folder, target, inputs)?;
    }

    let mut words: BTreeSet<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    for body in &requests {
        if let Ok(value) = serde_json::from_str(body) {
            strings(&value, &mut words);
        }
    }
    fs::write(folder.join("json.dict"), dictionary(words.iter().map(|word| format!("\"{word}\""))))
}

/// What another device of the same name sends, alone and in a row, to one that wants the name and to one that has it.
fn packets() -> Vec<Vec<u8>> {
    let own = LocalName::new();
    let mut other = Responder::new(Wanted::default(), 80, &own, 2);
    other.set_place(Millis(0), Some(Place { address: [10, 0, 0, 8].into(), prefix: 24 }));
    let mut packets = Vec::new();
    while let Some(due) = other.poll_timeout() {
        let mut out = [0; PACKET_MAX];
        while let Some(length) = other.poll_packet(due, &mut out) {
            packets.push(out[..length].to_vec());
        }
    }
    let framed = |how: u8, packet: &Vec<u8>| [&[how][..], &(packet.len() as u16).to_be_bytes(), packet].concat();
    let mut inputs = Vec::new();
    for how in [1, 3, 1 | 10 << 2, 1 | 63 << 2, 3 | 63 << 2] {
        inputs.extend(packets.iter().map(|packet| framed(how, packet)));
        inputs.push(packets.iter().flat_map(|packet| framed(how, packet)).collect());
    }
    inputs
}

/// Requests as they stand on the wire, behind the bytes that say how they get there.
fn edge(folder: &Path, conversations: &[Vec<corpus::Request>]) -> io::Result<()> {
    let post = |request: &corpus::Request| {
        let mut text = "POST / HTTP/1.1\r\nHost: mote.local\r\nContent-Type: application/json\r\n".to_owned();
        for (name, value) in [("A2A-Version", &request.version), ("Last-Event-ID", &request.last_event_id)] {
            if let Some(value) = value {
                text += &format!("{name}: {value}\r\n");
            }
        }
        text + &format!("Content-Length: {}\r\n\r\n{}", request.body.len(), request.body)
    };
    let calls = conversations.iter().map(|requests| requests.iter().map(post).collect::<String>());
    let heads = HEADS.iter().map(|head| (*head).to_owned());
    let after = HEADS.iter().map(|head| format!("{head}GET /status HTTP/1.1\r\nHost: mote.local\r\n\r\n"));
    let texts: Vec<String> = calls.chain(heads).chain(after).collect();
    // In one piece and hanging up politely; byte by byte; with pauses, and staying.
    let ways = [[0, 0, 255], [0, 1, 255], [2 | 1, 40, 30], [8, 0, 3]];
    let inputs = texts.iter().enumerate().map(|(number, text)| [&ways[number % ways.len()], text.as_bytes()].concat());
    put(folder, "edge", inputs)?;
    fs::write(folder.join("edge.dict"), dictionary(WORDS.iter().map(|word| (*word).to_owned())))
}

/// Where webhooks might lead.
const URLS: &[&str] = &[
    "https://hooks.example/notify?task=1",
    "http://127.0.0.1:8080/",
    "http://127.1/",
    "http://0x7f000001/",
    "http://user@hooks.example/",
    "http://[::ffff:127.0.0.1]:8080/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://169.254.169.254/latest",
    "https://xn--mte-sna.example:8443/%41",
    "http://localhost\\@hooks.example/#x",
];

/// Hosts that an owner might have named, and that none is.
const HOSTS: &[&str] = &["", "hooks.example\n", "*.example:8443\n", "127.0.0.1\n", "[::1]:8080\n"];

const URL_WORDS: &[&str] = &[
    "http://",
    "https://",
    "localhost",
    ".example",
    "127.0.0.1",
    "0x7f",
    "0177",
    "[::1]",
    "[::ffff:",
    "64:ff9b::",
    "2002:",
    "169.254.169.254",
    "10.0.0.1",
    "xn--",
    ":80",
    ":443",
    ":65535",
    "*.",
    "@",
    "#",
    "?",
    "%2e",
    "%00",
    "\\",
    "..",
    "\n",
];

const HEADS: &[&str] = &[
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /.well-known/agent-card.json HTTP/1.1\r\nHost: mote.local:8080\r\n\r\n",
    "HEAD /.well-known/agent.json HTTP/1.1\r\nHost: [::1]:80\r\nIf-None-Match: \"x\"\r\n\r\n",
    "GET /status HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{   }",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 44\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: mote.local\r\n\r\n",
    "POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{}",
    "POST /a2a HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer annas-first-token\r\nContent-Length: 2\r\n\r\n{}",
    "GET /status HTTP/1.1\r\nHost: a\r\nAuthorization: Basic YW5uYTphbm5hcy1maXJzdC10b2tlbg==\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nOrigin: http://evil.example\r\nX-API-Key: annas-first-token\r\n\r\n",
    "GET /agent/authenticatedExtendedCard HTTP/1.1\r\nHost: a\r\n\r\n",
    "\r\n\r\nGET http://mote.local/status?A2A-Version=1.0&x HTTP/1.1\r\nHost: mote.local\r\nConnection: close\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
    "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\nHost: a\n\n",
    "BAD\r\n\r\n",
];

const WORDS: &[&str] = &[
    "\r\n",
    "\r\n\r\n",
    "\r",
    "\n",
    "GET ",
    "HEAD ",
    "POST ",
    "OPTIONS ",
    " HTTP/1.1\r\n",
    " HTTP/1.0\r\n",
    "HTTP/2.0",
    "Host: a\r\n",
    "Host:",
    "Content-Length: 2\r\n",
    "Content-Length: 0\r\n",
    "Content-Length:",
    "Transfer-Encoding:",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding : chunked\r\n",
    "Content-Type: application/json\r\n",
    "Connection: close\r\n",
    "Connection: keep-alive, upgrade\r\n",
    "Expect: 100-continue\r\n",
    "Expect: x\r\n",
    "A2A-Version: 1.0\r\n",
    "Last-Event-ID: 3\r\n",
    "Authorization: Bearer ",
    "Authorization: Basic ",
    "X-API-Key: ",
    "annas-first-token",
    "Origin: null\r\n",
    "Origin: http://a\r\n",
    "If-None-Match: *\r\n",
    "If-Modified-Since: ",
    "/",
    "/a2a",
    "/rpc",
    "/status",
    "/.well-known/agent-card.json",
    "http://a/",
    "*",
    "{}",
    "0\r\n\r\n",
    "\u{0}",
    "\t",
    "é",
];

/// The number of the method and the parameters.
fn call(body: &str) -> Option<Vec<u8>> {
    let request: Value = serde_json::from_str(body).ok()?;
    let method = METHODS.iter().position(|(_, name)| request["method"] == **name)?;
    let mut call = vec![method as u8];
    call.extend_from_slice(request.get("params")?.to_string().as_bytes());
    Some(call)
}

fn strings(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if text.len() <= 40 => drop(words.insert(text.clone())),
        Value::Array(items) => items.iter().for_each(|item| strings(item, words)),
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            words.insert(name.clone());
            strings(member, words);
        }),
        _ => {}
    }
}

fn put(folder: &Path, target: &str, inputs: impl Iterator<Item = Vec<u8>>) -> io::Result<()> {
    let folder = folder.join(target);
    fs::create_dir_all(&folder)?;
    let inputs: BTreeSet<Vec<u8>> = inputs.filter(|input| !input.is_empty()).collect();
    for (number, input) in inputs.iter().enumerate() {
        fs::write(folder.join(format!("{number:04}")), input)?;
    }
    println!("{target}: {} seeds", inputs.len());
    Ok(())
}

/// In libFuzzer's form: one quoted word a line.
fn dictionary(words: impl Iterator<Item = String>) -> String {
    let quote = |byte: u8| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    words.map(|word| format!("\"{}\"\n", word.bytes().map(quote).collect::<String>())).collect()
}

/// Answers to the request of number 1, and cards.
const ANSWERS: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING","message":{"parts":[{"text":"m"}]}},"artifacts":[{"artifactId":"a","parts":[{"data":1},{"raw":"AA=="},{"url":"u"}]}]}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"a","parts":[{"text":"x"}]},"append":true}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","contextId":"c","status":{"state":"input-required"},"artifacts":[{"artifactId":"a","parts":[{"kind":"file","file":{"bytes":"AA==","mimeType":"x/y","name":"n"}}]}]}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t","status":{"state":"working"},"final":true}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"id":"t","sessionId":"c","status":{"state":"completed"},"artifacts":[{"index":0,"parts":[{"type":"text","text":"x"}]}]}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"id":"t","artifact":{"index":1,"parts":[{"type":"data","data":{}}],"append":true}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"tasks":[{"id":"t","status":{"state":"TASK_STATE_FAILED"}}],"nextPageToken":"n"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no","data":[{"reason":"TASK_NOT_FOUND"}]}}"#,
    r#"{"name":"n","supportedInterfaces":[{"url":"u","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"skills":[{"id":"s","examples":["e"]}],"securitySchemes":{"b":{"type":"http"}}}"#,
    r#"{"name":"n","url":"u","protocolVersion":"0.3.0","preferredTransport":"JSONRPC","additionalInterfaces":[{"url":"v","transport":"GRPC"}],"authentication":{"schemes":["Basic"]}}"#,
];
