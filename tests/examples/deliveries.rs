//! How many notifications host-sim delivers in a second, plain and over TLS, each signed:
//!
//! ```sh
//! cargo build --release -p host-sim && cargo run --release -p mote-tests --example deliveries [HOST_SIM]
//! ```
//! A number of one machine: the two compare with each other, and with nothing else. Webhooks and clients run in this
//! process, on the other core if there is one.

use core::{
    error::Error,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};
use std::{
    io::{BufRead as _, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
    time::Instant,
};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Readings that are asked for; each comes to several notifications.
const READINGS: usize = 1000;
const CLIENTS: usize = 8;
const PATIENCE: Duration = Duration::from_secs(120);

type Result<T> = core::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result<()> {
    let binary = std::env::args().nth(1).unwrap_or_else(|| "target/release/host-sim".into());
    let authority = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
    let root = std::env::temp_dir().join(format!("mote-deliveries-{}.pem", std::process::id()));
    std::fs::write(&root, authority.cert.pem())?;
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(authority.signing_key.serialize_der());
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![authority.cert.der().clone()], key.into())?;
    for (name, tls) in [("plain", None), ("TLS", Some(Arc::new(config)))] {
        let sim = Sim::start(&binary, &root)?;
        let (delivered, took) = measure(&sim.url, tls)?;
        let rate = delivered as f64 / took.as_secs_f64();
        println!("{name}: {delivered} deliveries in {:.1} s, {rate:.0} a second", took.as_secs_f64());
    }
    std::fs::remove_file(root)?;
    Ok(())
}

/// Asks for readings that are to be pushed, and waits until all were.
fn measure(url: &str, tls: Option<Arc<ServerConfig>>) -> Result<(usize, Duration)> {
    let (delivered, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let hook = format!("{scheme}://localhost:{}/", listener.local_addr()?.port());
    for _ in 0..CLIENTS {
        let (listener, tls) = (listener.try_clone()?, tls.clone());
        let (delivered, ended) = (delivered.clone(), ended.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let taken = match &tls {
                    Some(tls) => ServerConnection::new(tls.clone())
                        .map_err(Into::into)
                        .and_then(|connection| take(StreamOwned::new(connection, stream))),
                    None => take(stream),
                };
                if let Ok(body) = taken {
                    delivered.fetch_add(1, Ordering::Relaxed);
                    ended.fetch_add(usize::from(body.contains("TASK_STATE_COMPLETED")), Ordering::Relaxed);
                }
            }
        });
    }
    let begun = Instant::now();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (url, hook) = (url.to_owned(), hook.clone());
            thread::spawn(move || (0..READINGS / CLIENTS).try_for_each(|_| ask(&url, &hook)))
        })
        .collect();
    for client in clients {
        client.join().map_err(|_| "a client is gone")??;
    }
    while ended.load(Ordering::Relaxed) < READINGS / CLIENTS * CLIENTS {
        if begun.elapsed() > PATIENCE {
            return Err(
                format!("only {} of {READINGS} tasks were told to the end", ended.load(Ordering::Relaxed)).into()
            );
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok((delivered.load(Ordering::Relaxed), begun.elapsed()))
}

/// A webhook takes a notification.
fn take(mut stream: impl Read + Write) -> Result<String> {
    let body = read_message(&mut BufReader::new(&mut stream))?;
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
    stream.flush()?;
    Ok(body)
}

/// A client asks for a reading. When there are as many configurations as there may be, it asks again.
fn ask(url: &str, hook: &str) -> Result<()> {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{{"messageId":"m","role":"ROLE_USER",
        "parts":[{{"text":"read temperature"}}]}},"configuration":{{"taskPushNotificationConfig":{{"url":"{hook}"}}}}}}}}"#
    );
    loop {
        let mut stream = TcpStream::connect(url)?;
        write!(
            stream,
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let answer = read_message(&mut BufReader::new(stream))?;
        match answer {
            answer if answer.contains("TASK_STATE") => return Ok(()),
            answer if answer.contains("-32000") => thread::sleep(Duration::from_millis(20)),
            answer => return Err(answer.into()),
        }
    }
}

/// The body of an HTTP message that says how long it is.
fn read_message(reader: &mut impl std::io::BufRead) -> Result<String> {
    let mut length = None;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = Some(value.trim().parse::<usize>()?);
        }
    }
    let mut body = Vec::new();
    match length {
        Some(length) => _ = reader.take(length as u64).read_to_end(&mut body)?,
        None => _ = reader.read_to_end(&mut body)?,
    }
    Ok(String::from_utf8(body)?)
}

struct Sim {
    process: Child,
    url: String,
}

impl Sim {
    fn start(binary: &str, root: &std::path::Path) -> Result<Self> {
        let mut command = Command::new(binary);
        command.args(["--port", "0", "--trust"]).arg(root).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().map_err(|error| format!("{binary}: {error}"))?;
        let mut lines = BufReader::new(process.stdout.take().ok_or("it says nothing")?).lines();
        let url = lines.by_ref().find_map(|line| {
            let line = line.ok()?;
            let rest = line.split_once("http://")?.1;
            Some(rest.split(['/', ' ']).next()?.to_owned())
        });
        // What it says later must not stop it.
        thread::spawn(move || lines.for_each(drop));
        Ok(Self { process, url: url.ok_or("it does not say where it is")? })
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
