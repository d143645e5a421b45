//! Answers that panic, that take long, and that nobody waits for.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use gristmill_answers::{Question, Refusal, Request};

use super::*;

const PAGE: Page = Page { document: b"page", script: b"", style: b"" };

/// Waits for something at most this long.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Panics if a summary is asked for, and works on all else until nobody waits for it.
#[derive(Default)]
struct Busy {
    begun: AtomicUsize,
    working: AtomicUsize,
    most_at_once: AtomicUsize,
    cancelled: AtomicUsize,
}

impl AnswerSource for Busy {
    fn answer(&self, request: &Request, is_cancelled: &dyn Fn() -> bool) -> Result<Vec<u8>, Refusal> {
        match request.question {
            Question::Summary => panic!("an answer of a test panics"),
            Question::Parts => return Ok(b"{}".to_vec()),
            _ => {}
        }
        self.begun.fetch_add(1, Ordering::SeqCst);
        let working = self.working.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(working, Ordering::SeqCst);
        while !is_cancelled() {
            thread::sleep(Duration::from_millis(1));
        }
        self.working.fetch_sub(1, Ordering::SeqCst);
        self.cancelled.fetch_add(1, Ordering::SeqCst);
        Err(Refusal::Cancelled)
    }
}

fn wait_until(what: &str, is_true: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < MAX_WAIT, "{what}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn start(source: &Arc<Busy>, answers: usize) -> Server {
    let limits = Limits { answers, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let listener = Listener::new(&options).unwrap();
    Server::with_source(listener, PAGE, Arc::clone(source) as Arc<dyn AnswerSource>).unwrap()
}

/// Sends a question on a connection that stays open.
fn ask(server: &Server, kind: &str) -> TcpStream {
    let body = format!(r#"{{"question":{{"kind":{kind}}}}}"#);
    let (address, port) = (server.address(), server.address().port());
    let cookie = server.shared.cookie.as_str();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(MAX_WAIT)).unwrap();
    write!(
        stream,
        "POST /api/answer HTTP/1.1\r\nHost: {address}\r\nCookie: gristmill-{port}={cookie}\r\n\
         Content-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    stream
}

fn response(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

const LONG: &str = r#""findings","limit":1"#;

#[test]
fn a_panic_fails_one_answer() {
    let server = start(&Arc::default(), 2);
    for _ in 0..5 {
        let failed = response(ask(&server, r#""summary""#));
        assert!(failed.starts_with("HTTP/1.1 500 "), "{failed}");
        assert!(failed.contains(
            r#"{"error":"this answer failed, which is an error of gristmill; others still work"}"#
        ));
        assert!(response(ask(&server, r#""parts""#)).starts_with("HTTP/1.1 200 OK"));
    }
}

#[test]
fn an_answer_that_nobody_waits_for_stops() {
    let source = Arc::new(Busy::default());
    let server = start(&source, 3);
    let streams = [ask(&server, LONG), ask(&server, LONG)];
    wait_until("both begin", || source.begun.load(Ordering::SeqCst) == 2);
    assert_eq!(source.cancelled.load(Ordering::SeqCst), 0);
    // Others are answered meanwhile.
    assert!(response(ask(&server, r#""parts""#)).starts_with("HTTP/1.1 200 OK"));
    let [first, second] = streams;
    drop(first);
    wait_until("one stops", || source.cancelled.load(Ordering::SeqCst) == 1);
    assert_eq!(source.working.load(Ordering::SeqCst), 1);
    drop(second);
    wait_until("all stop", || source.working.load(Ordering::SeqCst) == 0);
    assert_eq!(source.cancelled.load(Ordering::SeqCst), 2);
}

#[test]
fn answers_at_once_are_limited_and_a_question_that_waits_can_be_dropped() {
    let source = Arc::new(Busy::default());
    let server = start(&source, 2);
    let mut streams: Vec<TcpStream> = (0..6).map(|_| ask(&server, LONG)).collect();
    wait_until("two begin", || source.begun.load(Ordering::SeqCst) == 2);
    // Those that are dropped while they wait never begin.
    let waiting = ask(&server, LONG);
    drop(waiting);
    while let Some(stream) = streams.pop() {
        drop(stream);
    }
    wait_until("all stop", || {
        source.working.load(Ordering::SeqCst) == 0
            && response(ask(&server, r#""parts""#)).starts_with("HTTP/1.1 200 OK")
    });
    assert_eq!(source.most_at_once.load(Ordering::SeqCst), 2);
    assert_eq!(source.begun.load(Ordering::SeqCst), source.cancelled.load(Ordering::SeqCst));
}

#[test]
fn a_server_that_ends_cancels_its_answers() {
    let source = Arc::new(Busy::default());
    let server = start(&source, 2);
    let stream = ask(&server, LONG);
    wait_until("it begins", || source.begun.load(Ordering::SeqCst) == 1);
    drop(server);
    wait_until("it stops", || source.cancelled.load(Ordering::SeqCst) == 1);
    drop(stream);
}
