//! Deadlines, in virtual time and without a network.

use core::{
    cell::{Cell, RefCell},
    future::pending,
    net::Ipv6Addr,
};

use firmware::http::{self, Bodies, Buffers, Crowd, Ending, Limits, Names, Site};
use picoserve::{
    Timeouts, Timer, TokioRuntime,
    io::{BaseWrite, ErrorKind, ErrorType, Read, Socket, Write},
    mem::{BorrowedBuffer, BorrowedCursor},
    time::TokioTimer,
};
use protocol_core::door::Address;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf},
    net::{TcpListener, TcpStream},
    runtime::Builder,
    time::Instant,
};

use crate::{client::call, toy::Toy};

const NAMES: Names<'static> = Names { hosts: &["mote.local", "a"], origins: &[], local: None };

/// Serves one end of a pipe and runs `client` on the other; says how it ended and after how many ms.
fn run(client: impl AsyncFnOnce(DuplexStream)) -> (Ending, u128) {
    let (ending, after, _) = run_counted(client);
    (ending, after)
}

/// Also says how many writes it took.
fn run_counted(client: impl AsyncFnOnce(DuplexStream)) -> (Ending, u128, u32) {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        let (ours, theirs) = tokio::io::duplex(600);
        let mut room = vec![0; Limits::DEVICE.body_bytes];
        let shelf = [RefCell::new(&mut room[..])];
        let bodies = Bodies::new(&shelf);
        let places = [const { Cell::new(None) }; 1];
        let crowd = Crowd::new(&places);
        let site =
            Site { service: &Toy::open(), bodies: &bodies, crowd: &crowd, limits: &Limits::DEVICE, names: NAMES };
        let (mut request, mut answer, mut transmit) = ([0; 2048], [0; 1024], [0; 512]);
        let buffers = Buffers { request: &mut request, answer: &mut answer, transmit: &mut transmit };
        let writes = Cell::new(0);
        let start = Instant::now();
        let serve = async {
            let ending =
                http::serve(Pipe(ours, &writes), Address::default(), &TokioTimer, &site, buffers, pending()).await;
            (ending, start.elapsed().as_millis())
        };
        let ((ending, after), ()) = futures(serve, client(theirs)).await;
        (ending, after, writes.get())
    })
}

async fn futures<A: Future, B: Future>(a: A, b: B) -> (A::Output, B::Output) {
    let (mut a, mut b) = (Box::pin(a), Box::pin(b));
    let (mut a_output, mut b_output) = (None, None);
    core::future::poll_fn(|cx| {
        use core::task::Poll;
        if a_output.is_none()
            && let Poll::Ready(output) = a.as_mut().poll(cx)
        {
            a_output = Some(output);
        }
        if b_output.is_none()
            && let Poll::Ready(output) = b.as_mut().poll(cx)
        {
            b_output = Some(output);
        }
        if a_output.is_some() && b_output.is_some() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    (a_output.expect("done"), b_output.expect("done"))
}

async fn read_all(mut pipe: DuplexStream) -> String {
    let mut text = String::new();
    pipe.read_to_string(&mut text).await.expect("text");
    text
}

fn millis(of: picoserve::time::Duration) -> u128 {
    of.as_millis().into()
}

#[test]
fn a_connection_without_a_request_is_closed() {
    let (ending, after) = run(async |pipe| assert_eq!(read_all(pipe).await, ""));
    assert_eq!((ending, after), (Ending::Closed, millis(Limits::DEVICE.head)));
}

#[test]
fn an_idle_connection_is_closed() {
    let (ending, after) = run(async |mut pipe| {
        pipe.write_all(call("{}").as_bytes()).await.expect("a server");
        assert!(read_all(pipe).await.starts_with("HTTP/1.1 200 "));
    });
    assert_eq!((ending, after), (Ending::Closed, millis(Limits::DEVICE.idle)));
}

#[test]
fn a_head_that_drips_is_answered_with_408() {
    let (ending, after) = run(async |pipe| {
        let (read, mut write) = tokio::io::split(pipe);
        let drip = async {
            for byte in "GET / HTTP/1.1\r\nX: ".bytes().chain(core::iter::repeat(b'x')) {
                if write.write_all(&[byte]).await.is_err() {
                    break;
                }
                tokio::time::sleep(core::time::Duration::from_millis(400)).await;
            }
        };
        let hear = async {
            let mut read = read;
            let mut text = String::new();
            read.read_to_string(&mut text).await.expect("text");
            text
        };
        let ((), text) = futures(drip, hear).await;
        assert!(text.starts_with("HTTP/1.1 408 ") && text.contains("\r\nConnection: close\r\n"), "{text}");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        assert!(head.contains(&format!("\r\nContent-Length: {}", body.len())), "{text}");
        assert!(body.starts_with(r#"{"error":{"code":408,"status":"DEADLINE_EXCEEDED""#), "{text}");
    });
    let (head, linger) = (millis(Limits::DEVICE.head), millis(Limits::DEVICE.linger));
    assert_eq!(ending, Ending::TimedOut);
    assert!((head..=head + linger).contains(&after), "{after}");
}

#[test]
fn a_head_that_does_not_come_has_no_body_if_it_is_of_a_head() {
    for (begun, has_body) in [("HEAD / HTTP/1.1\r\nX: ", false), ("GET / HTTP/1.1\r\nX: ", true), ("HEA", false)] {
        let (ending, _) = run(async |mut pipe| {
            pipe.write_all(begun.as_bytes()).await.expect("a server");
            let text = read_all(pipe).await;
            assert!(text.starts_with("HTTP/1.1 408 "), "{begun}: {text}");
            assert_eq!(text.ends_with("}}"), has_body, "{begun}: {text}");
            assert_eq!(text.contains("Content-Length: "), has_body, "{begun}: {text}");
        });
        assert_eq!(ending, Ending::TimedOut);
    }
}

#[test]
fn a_last_word_that_is_not_read_ends_badly() {
    let (ending, _) = run(async |mut pipe| {
        // Two answers that nobody reads leave no room in the pipe for all of the last one.
        let request = call(r#"{"do":"document","n":100}"#);
        pipe.write_all(request.as_bytes()).await.expect("a server");
        pipe.write_all(request.as_bytes()).await.expect("a server");
        pipe.write_all(b"GET / HTTP/1.1\r\n").await.expect("a server");
        tokio::time::sleep(core::time::Duration::from_secs(100)).await;
        let mut text = String::new();
        pipe.read_to_string(&mut text).await.expect("text");
        assert!(text.contains("HTTP/1.1 408 ") && !text.ends_with("}}"), "{text}");
    });
    assert_eq!(ending, Ending::Aborted);
}

#[test]
fn a_body_that_does_not_come_is_answered_with_408() {
    for (length, limit) in [(100, Limits::DEVICE.head), (5000, Limits::DEVICE.body)] {
        let (ending, after) = run(async |mut pipe| {
            let request = call(&" ".repeat(length));
            pipe.write_all(&request.as_bytes()[..request.len() - 1]).await.expect("a server");
            let text = read_all(pipe).await;
            assert!(text.starts_with("HTTP/1.1 408 ") && text.contains("did not arrive in time"), "{text}");
        });
        assert_eq!((ending, after), (Ending::Closed, millis(limit)), "{length}");
    }
}

#[test]
fn a_reader_that_stalls_is_cut_off_after_the_write_limit() {
    let (ending, after) = run(async |mut pipe| {
        pipe.write_all(call(r#"{"do":"endless"}"#).as_bytes()).await.expect("a server");
        // Longer than any limit.
        tokio::time::sleep(core::time::Duration::from_secs(100)).await;
    });
    assert_eq!((ending, after), (Ending::Aborted, millis(Limits::DEVICE.write)));
}

#[test]
fn a_reader_that_is_only_slow_gets_everything() {
    let (ending, _) = run(async |mut pipe| {
        pipe.write_all(call(r#"{"do":"document","n":5000}"#).replace("1.1", "1.0").as_bytes()).await.expect("a server");
        let mut total = 0;
        let mut piece = [0; 64];
        loop {
            tokio::time::sleep(core::time::Duration::from_secs(1)).await;
            match pipe.read(&mut piece).await.expect("bytes") {
                0 => break,
                read => total += read,
            }
        }
        assert!(total > 5000, "{total}");
    });
    assert_eq!(ending, Ending::Closed);
}

#[test]
fn an_answer_leaves_in_as_few_pieces_as_it_can() {
    for (body, pieces) in [
        ("{}", 1),
        (r#"{"do":"stream","n":3}"#, 1),
        (r#"{"do":"stream","n":0}"#, 1),
        (r#"{"do":"document","n":200}"#, 1),
    ] {
        let (_, _, writes) = run_counted(async |mut pipe| {
            pipe.write_all(call(body).as_bytes()).await.expect("a server");
            read_all(pipe).await;
        });
        assert_eq!(writes, pieces, "{body}");
    }
}

#[test]
fn whatever_is_sent_is_answered_and_never_by_picoserve() {
    let words = [
        "GET ",
        "POST ",
        "HEAD ",
        "/ ",
        "/rpc ",
        "HTTP/1.1\r\n",
        "HTTP/1.0\r\n",
        "HTTP/1.1",
        "\r\n",
        "\r\n\r\n",
        "Host: a\r\n",
        "Content-Length: ",
        "2\r\n",
        "18446744073709551615\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Expect: 100-continue\r\n",
        "Content-Type: application/json\r\n",
        "{}",
        "\0",
        "\u{e4}",
        ":",
        " ",
        "\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n",
    ];
    let mut state = 0x9e37_79b9_u32;
    for _ in 0..3000 {
        let mut input = String::new();
        for _ in 0..8 {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            input += words[state as usize % words.len()];
        }
        let (ending, _) = run(async |mut pipe| {
            pipe.write_all(input.as_bytes()).await.expect("a server");
            pipe.shutdown().await.expect("a server");
            let text = read_all(pipe).await;
            assert_eq!(
                text.starts_with("HTTP/1.1 "),
                !input.trim_matches(['\r', '\n']).is_empty(),
                "{input:?} got {text:?}"
            );
            for own in ["Bad Request Line", "Invalid Header line", "Unexpected EOF"] {
                assert!(!text.contains(own), "{input:?} got {text:?}");
            }
        });
        assert_eq!(ending, Ending::Closed, "{input:?}");
    }
}

/// How a second connection ends, from `address`, while another one from there is in the way for `busy` milliseconds.
fn second(address: Address, busy: u64) -> (Ending, u128, String) {
    const HERE: Address = Address::v4([10, 0, 0, 1]);
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        let mut limits = Limits::DEVICE;
        limits.connections_per_address = 1;
        let places = [const { Cell::new(None) }; 2];
        let (bodies, crowd, toy) = (Bodies::new(&[]), Crowd::new(&places), Toy::open());
        let site = Site { service: &toy, bodies: &bodies, crowd: &crowd, limits: &limits, names: NAMES };
        let start = Instant::now();
        let serve = async |address, pipe| {
            let (mut request, mut answer, mut transmit) = ([0; 2048], [0; 1024], [0; 512]);
            let buffers = Buffers { request: &mut request, answer: &mut answer, transmit: &mut transmit };
            let ending = http::serve(Pipe(pipe, &Cell::new(0)), address, &TokioTimer, &site, buffers, pending()).await;
            (ending, start.elapsed().as_millis())
        };
        let ((ours, theirs), (our_second, mut their_second)) = (tokio::io::duplex(600), tokio::io::duplex(600));
        let first = async {
            tokio::time::sleep(core::time::Duration::from_millis(busy)).await;
            drop(theirs);
        };
        let ask = async {
            their_second.write_all(call("{}").as_bytes()).await.expect("a server");
            their_second.shutdown().await.expect("a server");
            read_all(their_second).await
        };
        let served = futures(serve(HERE, ours), serve(address, our_second));
        let ((_, (ending, after)), ((), text)) = futures(served, futures(first, ask)).await;
        (ending, after, text)
    })
}

#[test]
fn a_connection_too_many_of_an_address_waits_a_moment_and_is_turned_away() {
    let here = Address::v4([10, 0, 0, 1]);
    let patience = millis(Limits::DEVICE.patience);
    let (ending, after, text) = second(here, 1000);
    assert_eq!((ending, after), (Ending::TurnedAway, patience));
    assert!(text.starts_with("HTTP/1.1 503 ") && text.contains("\r\nRetry-After: 1\r\n"), "{text}");
    assert!(text.ends_with(r#""message":"All connections are in use, try again later"}}"#), "{text}");
    let (ending, after, text) = second(here, 5);
    assert_eq!((ending, after), (Ending::Closed, patience));
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
    let (ending, after, text) = second(Address::v4([10, 0, 0, 2]), 1000);
    assert_eq!((ending, after), (Ending::Closed, 0));
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
}

#[test]
fn the_future_of_a_connection_has_a_size() {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let limits = Limits::DEVICE;
        let mut room = vec![0; limits.body_bytes];
        let shelf = [RefCell::new(&mut room[..])];
        let bodies = Bodies::new(&shelf);
        let places = [const { Cell::new(None) }; 1];
        let crowd = Crowd::new(&places);
        let site = Site { service: &Toy::open(), bodies: &bodies, crowd: &crowd, limits: &limits, names: NAMES };
        let (mut request, mut answer, mut transmit) = ([0; 2048], [0; 1024], [0; 512]);
        let buffers = Buffers { request: &mut request, answer: &mut answer, transmit: &mut transmit };
        let listener = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).await.expect("a free port");
        let stream = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("a connection");
        let bytes = size_of_val(&http::serve(stream, Address::default(), &TokioTimer, &site, buffers, pending()));
        println!("one connection's future: {bytes} bytes");
        assert!(bytes <= 5 * 1024, "{bytes}");
    });
}

/// One end of a pipe as a socket that counts its writes.
struct Pipe<'w>(DuplexStream, &'w Cell<u32>);
struct In<'a>(ReadHalf<&'a mut DuplexStream>);
struct Out<'a>(WriteHalf<&'a mut DuplexStream>, &'a Cell<u32>);

impl ErrorType for In<'_> {
    type Error = ErrorKind;
}

impl Read for In<'_> {
    async fn read(&mut self, buf: &mut [u8]) -> Result<usize, ErrorKind> {
        self.0.read(buf).await.map_err(|_| ErrorKind::Other)
    }
}

impl ErrorType for Out<'_> {
    type Error = ErrorKind;
}

impl BaseWrite for Out<'_> {
    async fn write(&mut self, buf: &[u8]) -> Result<usize, ErrorKind> {
        self.1.set(self.1.get() + 1);
        self.0.write(buf).await.map_err(|_| ErrorKind::Other)
    }

    async fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

impl Write for Out<'_> {
    async fn write_with<F: FnOnce(BorrowedCursor<'_>) -> T, T>(&mut self, f: F) -> Result<T, ErrorKind> {
        let mut room = [0; 64];
        let mut room = BorrowedBuffer::new(&mut room);
        let made = f(room.unfilled());
        self.write_all(room.filled()).await?;
        Ok(made)
    }
}

impl<'w> Socket<TokioRuntime> for Pipe<'w> {
    type Error = ErrorKind;
    type ReadHalf<'a>
        = In<'a>
    where
        'w: 'a;
    type WriteHalf<'a>
        = Out<'a>
    where
        'w: 'a;

    fn split(&mut self) -> (In<'_>, Out<'_>) {
        let (read, write) = tokio::io::split(&mut self.0);
        (In(read), Out(write, self.1))
    }

    async fn abort<T: Timer<TokioRuntime>>(self, _: &Timeouts, _: &T) -> Result<(), picoserve::Error<ErrorKind>> {
        Ok(())
    }

    async fn shutdown<T: Timer<TokioRuntime>>(self, _: &Timeouts, _: &T) -> Result<(), picoserve::Error<ErrorKind>> {
        Ok(())
    }
}
