//! The server answers its own page and nobody else.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]
#![cfg(test)]

mod client;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use client::{Client, Response, json_request};
use gristmill_answers::{NoFiles, Request, Session};
use gristmill_profile::Profile;
use gristmill_serve::{Limits, Options, Page, Server};
use serde_json::{Value, json};

const PAGE: Page = Page { document: b"<!doctype html><p>page", script: b"'script'", style: b"p{color:red}" };

const TEXT: &str = "events: Ir\nfl=a.c\nfn=main\n1 10\ncfn=work\ncalls=1 5\n2 32\nfn=work\n5 32\n";

fn session(text: &str) -> Session {
    Session::new(Arc::new(Profile::from_bytes(text.as_bytes().to_vec())), Box::new(NoFiles))
}

fn server() -> Server {
    Server::start(PAGE, session(TEXT), &Options::default()).unwrap()
}

fn with_limits(limits: Limits) -> Server {
    Server::start(PAGE, session(TEXT), &Options { limits, ..Options::default() }).unwrap()
}

/// A question for functions.
fn functions() -> Value {
    json!({"question": {"kind": "functions", "group": "function", "sort": "self_cost", "start": 0, "count": 10}})
}

#[test]
fn the_page_is_served_with_headers_that_protect_it() {
    let server = server();
    let client = Client::new(&server);
    for (path, media_type, body) in [
        ("/", "text/html; charset=utf-8", PAGE.document),
        ("/app.js", "text/javascript; charset=utf-8", PAGE.script),
        ("/style.css", "text/css; charset=utf-8", PAGE.style),
        ("/?x=1", "text/html; charset=utf-8", PAGE.document),
    ] {
        let response = client.get(path);
        assert_eq!((response.status, response.header("content-type")), (200, Some(media_type)), "{path}");
        assert_eq!(response.body, body, "{path}");
        assert_protected(&response);
    }
    let head = client.send(&client.request("HEAD", "/", &[], ""));
    assert_eq!((head.status, head.body.len()), (200, 0));
}

fn assert_protected(response: &Response) {
    let policy = response.header("content-security-policy").unwrap();
    for rule in [
        "default-src 'none'",
        "script-src 'self' 'wasm-unsafe-eval';",
        "style-src 'self';",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(rule), "{policy}");
    }
    assert!(!policy.contains("unsafe-inline") && !policy.contains('*'), "{policy}");
    assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(response.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(response.header("cross-origin-resource-policy"), Some("same-origin"));
    assert_eq!(response.header("cache-control"), Some("no-store"));
    assert_eq!(response.header("access-control-allow-origin"), None);
}

#[test]
fn a_question_is_answered_as_the_session_does() {
    let server = server();
    let client = Client::new(&server).logged_in(&server);
    let response = client.ask(&functions());
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(response.header("gristmill-generation"), Some("1"));
    assert_protected(&response);
    let request: Request = serde_json::from_value(functions()).unwrap();
    let direct = session(TEXT).answer(&request, &|| false).unwrap();
    assert_eq!(response.json(), serde_json::to_value(&direct).unwrap());
    // By hand.
    let rows = response.json()["rows"].clone();
    assert_eq!((&rows[0]["name"], &rows[0]["self"]["Ir"]), (&json!("work"), &json!(32)));
    assert_eq!((&rows[1]["name"], &rows[1]["inclusive"]["Ir"]), (&json!("main"), &json!(42)));
}

#[test]
fn a_refusal_is_a_sentence() {
    let server = server();
    let client = Client::new(&server).logged_in(&server);
    for (question, status, sentence) in [
        (
            json!({"question": {"kind": "function", "function": 99, "depth": 1, "limit": 1}}),
            404,
            "there is no function with the id 99: the profile was loaded again",
        ),
        (
            json!({"scope": {"hide": "("}, "question": {"kind": "overview", "limit": 1}}),
            422,
            "`(` is not a valid pattern: unclosed group",
        ),
        (
            json!({"question": {"kind": "assembly", "function": 0}}),
            422,
            "no cost has the address of an instruction: record with gristmill record --dump-instr=yes, or with \
             valgrind --tool=callgrind --dump-instr=yes, and --collect-jumps=yes for jumps",
        ),
    ] {
        let response = client.ask(&question);
        assert_eq!((response.status, response.error().as_str()), (status, sentence));
        assert_protected(&response);
    }
    for body in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"question":{"kind":"secrets"}}"#,
        r#"{"question":{"kind":"overview","limit":-1}}"#,
    ] {
        let response = client.post("/api/answer", body);
        assert_eq!(response.status, 400, "{body}");
        assert!(
            response.error().starts_with("the request has another form: "),
            "{body}: {}",
            response.error()
        );
    }
    assert_eq!(client.ask(&functions()).status, 200);
}

#[test]
fn other_hosts_get_nothing() {
    let server = server();
    let port = server.address().port();
    let client = Client::new(&server).logged_in(&server);
    let with_host = |path: &str, hosts: &[String]| {
        let lines: String = hosts.iter().map(|host| format!("Host: {host}\r\n")).collect();
        client.send(format!("GET {path} HTTP/1.1\r\n{lines}Connection: close\r\n\r\n").as_bytes())
    };
    for host in ["127.0.0.1", "localhost", "[::1]", "LocalHost"] {
        assert_eq!(with_host("/", &[format!("{host}:{port}")]).status, 200, "{host}");
    }
    let other = if port == 65535 { port - 1 } else { port + 1 };
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("127.0.0.1:{other}"),
        "127.0.0.1".to_owned(),
        format!("10.0.0.1:{port}"),
    ] {
        let response = with_host("/", std::slice::from_ref(&host));
        assert_eq!(response.status, 421, "{host}");
        assert!(!response.body.starts_with(PAGE.document));
    }
    let ours = format!("127.0.0.1:{port}");
    assert_eq!(with_host("/", &[]).status, 421);
    assert_eq!(with_host("/", &[ours.clone(), "evil.example".to_owned()]).status, 421);
    assert_eq!(with_host("http://evil.example/", std::slice::from_ref(&ours)).status, 421);
    // Also with the cookie.
    let body = functions().to_string();
    let evil = format!("evil.example:{port}");
    let request = json_request("/api/answer", &evil, &[("Cookie", &client.cookie)], &body);
    assert_eq!(client.send(&request).status, 421);
}

#[test]
fn other_origins_get_nothing() {
    let server = server();
    let port = server.address().port();
    let client = Client::new(&server).logged_in(&server);
    let ask = |origin: &str| {
        let headers = [("Cookie", client.cookie.as_str()), ("Origin", origin)];
        client.send(&json_request("/api/answer", &client.host, &headers, &functions().to_string()))
    };
    assert_eq!(ask(&format!("http://127.0.0.1:{port}")).status, 200);
    let other = if port == 65535 { port - 1 } else { port + 1 };
    for origin in [
        "http://evil.example".to_owned(),
        "null".to_owned(),
        format!("https://127.0.0.1:{port}"),
        format!("http://127.0.0.1:{other}"),
        format!("http://localhost:{port}"),
    ] {
        let response = ask(&origin);
        assert_eq!(response.status, 403, "{origin}");
        assert_eq!(response.header("access-control-allow-origin"), None);
    }
    // A preflight is refused as well.
    let origin = [("Origin", "http://evil.example"), ("Access-Control-Request-Method", "POST")];
    let preflight = client.send(&client.request("OPTIONS", "/api/answer", &origin, ""));
    assert_eq!((preflight.status, preflight.header("access-control-allow-methods")), (403, None));
}

#[test]
fn a_session_needs_the_token() {
    let server = server();
    let client = Client::new(&server);
    let token = client::token(&server.url());
    let port = server.address().port();
    let shifted = format!("{}{}", &token[1..], &token[..1]);
    for wrong in ["", "0", &token[1..], &shifted, &token.to_uppercase().replace('0', "O"), &"0".repeat(32)] {
        let response = client.post("/api/session", &json!({"token": wrong}).to_string());
        assert_eq!(response.status, 403, "{wrong}");
        assert_eq!(response.header("set-cookie"), None);
    }
    for body in ["", "{}", "null", r#"{"token":1}"#] {
        assert_eq!(client.post("/api/session", body).status, 400, "{body}");
    }
    let response = client.post("/api/session", &json!({"token": token}).to_string());
    assert_eq!(response.status, 200);
    let cookie = response.header("set-cookie").unwrap();
    let (pair, attributes) = cookie.split_once("; ").unwrap();
    let (name, value) = pair.split_once('=').unwrap();
    assert_eq!(name, format!("gristmill-{port}"));
    assert_eq!(attributes, "Path=/; HttpOnly; SameSite=Strict");
    assert_ne!(value, token);
    // The page can be loaded again from the printed address.
    assert_eq!(client.post("/api/session", &json!({"token": token}).to_string()).status, 200);
}

#[test]
fn a_token_for_once_is_valid_once() {
    let server = server();
    let client = Client::new(&server);
    let (one, other) = (server.url_for_once().unwrap(), server.url_for_once().unwrap());
    assert_ne!(client::token(&one), client::token(&server.url()));
    let log_in =
        |url: &str| client.post("/api/session", &json!({"token": client::token(url)}).to_string()).status;
    assert_eq!([log_in(&one), log_in(&one), log_in(&other), log_in(&other)], [200, 403, 200, 403]);
    assert_eq!(log_in(&server.url()), 200);
}

#[test]
fn questions_need_the_cookie() {
    let server = server();
    let logged_in = Client::new(&server).logged_in(&server);
    let (name, value) = logged_in.cookie.split_once('=').unwrap();
    for cookie in [
        String::new(),
        format!("{name}="),
        format!("{name}={}", "0".repeat(value.len())),
        format!("other={value}"),
        format!("{name}x={value}"),
        format!("{name}={}", client::token(&server.url())),
        value.to_owned(),
    ] {
        let client = Client { cookie, host: logged_in.host.clone(), ..Client::new(&server) };
        for path in ["/api/answer", "/api/loaded"] {
            let response = client.post(path, &functions().to_string());
            assert_eq!(response.status, 401, "{path} {}", client.cookie);
        }
    }
    // Beside others.
    let cookie = format!("a=b; gristmill-1=x; {}; c=d", logged_in.cookie);
    let client = Client { cookie, host: logged_in.host.clone(), ..Client::new(&server) };
    assert_eq!(client.ask(&functions()).status, 200);
}

#[test]
fn servers_have_cookies_of_their_own() {
    let (one, other) = (server(), server());
    let (to_one, to_other) = (Client::new(&one).logged_in(&one), Client::new(&other).logged_in(&other));
    assert_ne!(to_one.cookie.split('=').next(), to_other.cookie.split('=').next());
    // A browser sends both to both.
    let both = format!("{}; {}", to_one.cookie, to_other.cookie);
    for client in [&to_one, &to_other] {
        let client = Client { cookie: both.clone(), host: client.host.clone(), address: client.address };
        assert_eq!(client.ask(&functions()).status, 200);
    }
    let crossed = Client { cookie: to_one.cookie.clone(), ..to_other };
    assert_eq!(crossed.ask(&functions()).status, 401);
    let token = json!({"token": client::token(&one.url())}).to_string();
    assert_eq!(crossed.post("/api/session", &token).status, 403);
}

#[test]
fn nothing_else_is_served() {
    let server = server();
    let client = Client::new(&server).logged_in(&server);
    for path in [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "//etc/passwd",
        "/etc/passwd",
        "/app.js/../../etc/passwd",
        "/index.html",
        "/favicon.ico",
        "/app.js.map",
        "/api",
        "/api/",
        "/api/answer/",
        "/API/answer",
        "/app.js%00",
        "/.",
    ] {
        let response = client.get(path);
        assert_eq!(response.status, 404, "{path}");
        assert!(!String::from_utf8_lossy(&response.body).contains("root:"));
    }
    for path in ["/", "/app.js", "/style.css"] {
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"] {
            let response = client.send(&client.request(method, path, &[], ""));
            assert_eq!((response.status, response.header("allow")), (405, Some("GET")), "{method} {path}");
        }
    }
    for path in ["/api/session", "/api/answer", "/api/loaded"] {
        for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"] {
            let response = client.send(&client.request(method, path, &[], ""));
            assert_eq!((response.status, response.header("allow")), (405, Some("POST")), "{method} {path}");
        }
        // What a form of another site can send.
        for media_type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
            let headers = [("Content-Type", media_type)];
            let response = client.send(&client.request("POST", path, &headers, "{}"));
            assert_eq!(response.status, 415, "{media_type} {path}");
        }
    }
}

#[test]
fn a_long_body_is_refused() {
    let server = server();
    let client = Client::new(&server).logged_in(&server);
    let long = format!("{}{}", functions(), " ".repeat(10 << 20));
    for path in ["/api/session", "/api/answer"] {
        // The server may close the connection before all of it is sent.
        let response = client.try_post(path, &long);
        assert!(response.is_none_or(|response| response.status == 413), "{path}");
    }
    // As much as fits is read, and one byte more is refused.
    let server = with_limits(Limits { body_bytes: 200, ..Limits::default() });
    let client = Client::new(&server).logged_in(&server);
    let padded = |length: usize| format!("{:length$}", functions().to_string());
    assert_eq!(client.post("/api/answer", &padded(200)).status, 200);
    assert_eq!(client.post("/api/answer", &padded(201)).status, 413);
    let long_head = client.request("GET", "/", &[("X-Long", &"x".repeat(1 << 20))], "");
    assert!(client.try_send(&long_head).is_none_or(|response| response.status == 431));
    assert_eq!(client.ask(&functions()).status, 200);
}

#[test]
fn slow_readers_are_not_waited_for() {
    let limits = Limits { connections: 2, max_wait: Duration::from_secs(1), ..Limits::default() };
    let server = with_limits(limits);
    let client = Client::new(&server).logged_in(&server);
    let start = Instant::now();
    let mut idle = TcpStream::connect(server.address()).unwrap();
    let mut slow_head = TcpStream::connect(server.address()).unwrap();
    slow_head.write_all(b"GET / HTTP/1.1\r\nHos").unwrap();
    // Both connections are taken, until the time of one is over.
    assert_eq!(client.ask(&functions()).status, 200);
    assert!(start.elapsed() < Duration::from_secs(60));
    let (mut first, mut second) = (Vec::new(), Vec::new());
    idle.read_to_end(&mut first).unwrap();
    slow_head.read_to_end(&mut second).unwrap();
    assert!(!String::from_utf8_lossy(&second).contains("200 OK"));

    let mut slow_body = TcpStream::connect(server.address()).unwrap();
    let whole = json_request("/api/answer", &client.host, &[("Cookie", &client.cookie)], "{}");
    slow_body.write_all(&whole[..whole.len() - 1]).unwrap();
    let response = Response::read(&mut slow_body).unwrap();
    assert_eq!((response.status, response.error().as_str()), (408, "the request did not arrive in time"));
}

/// A connection that nobody reads from is closed, so that others get its place.
#[test]
fn a_client_that_does_not_read_is_not_waited_for() {
    // More than the system keeps for a connection.
    static LARGE: [u8; 16 << 20] = [b' '; 16 << 20];
    let limits = Limits { connections: 1, max_wait: Duration::from_secs(1), ..Limits::default() };
    let page = Page { script: &LARGE, ..PAGE };
    let server = Server::start(page, session(TEXT), &Options { limits, ..Options::default() }).unwrap();
    let client = Client::new(&server);
    let mut idle = TcpStream::connect(server.address()).unwrap();
    idle.write_all(&client.request("GET", "/app.js", &[], "")).unwrap();
    assert_eq!(client.get("/").status, 200);
    let mut rest = Vec::new();
    let _ = idle.read_to_end(&mut rest);
    assert!(rest.len() < LARGE.len());
    // Who reads gets everything.
    let server = Server::start(page, session(TEXT), &Options::default()).unwrap();
    assert_eq!(Client::new(&server).get("/app.js").body.len(), LARGE.len());
}

#[test]
fn a_replaced_profile_has_another_generation() {
    let server = server();
    let client = Client::new(&server).logged_in(&server);
    let loaded = || client.post("/api/loaded", "{}").json();
    assert_eq!(loaded(), json!({"generation": 1, "failure": null, "is_watched": false}));
    let ask = |generation: &str| {
        let headers = [("Cookie", client.cookie.as_str()), ("Gristmill-Generation", generation)];
        client.send(&json_request("/api/answer", &client.host, &headers, &functions().to_string()))
    };
    assert_eq!(ask("1").status, 200);

    server.tell_failure("callgrind.out: no such file");
    assert_eq!(
        loaded(),
        json!({"generation": 1, "failure": "callgrind.out: no such file", "is_watched": false})
    );
    assert_eq!(ask("1").json()["rows"][0]["self"]["Ir"], 32);

    server.replace(session("events: Ir\nfn=other\n1 7\n"));
    assert_eq!(loaded(), json!({"generation": 2, "failure": null, "is_watched": false}));
    for old in ["1", "3", "", "x"] {
        let response = ask(old);
        assert_eq!((response.status, response.error().as_str()), (409, "the profile was loaded again"));
    }
    let response = ask("2");
    assert_eq!(
        (response.header("gristmill-generation"), &response.json()["rows"][0]["name"]),
        (Some("2"), &json!("other"))
    );
    // Without a generation the answer is that of the current one.
    assert_eq!(client.ask(&functions()).json()["rows"][0]["name"], "other");
}

#[test]
fn a_dropped_server_does_not_listen() {
    let server = server();
    let address = server.address();
    let mut open = TcpStream::connect(address).unwrap();
    drop(server);
    let mut rest = Vec::new();
    // The connection is closed, one way or the other.
    let _ = open.read_to_end(&mut rest);
    assert!(TcpStream::connect(address).is_err());
}
