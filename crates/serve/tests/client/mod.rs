//! A client that sends any bytes, also those that no browser would send.
#![allow(dead_code, reason = "each test program uses a part of it")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use gristmill_serve::Server;
use serde_json::Value;

/// A response. Nobody waits for one longer than this.
const MAX_WAIT: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    /// Reads until the connection is closed.
    pub(crate) fn read(stream: &mut TcpStream) -> io::Result<Response> {
        stream.set_read_timeout(Some(MAX_WAIT))?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let end = end.ok_or_else(|| io::Error::other("no response"))?;
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let header = |line: &str| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_ascii_lowercase(), value.trim().to_owned())
        };
        Ok(Response { status, headers: lines.map(header).collect(), body: bytes[end + 4..].to_vec() })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The sentence of a failure.
    pub(crate) fn error(&self) -> String {
        self.json()["error"].as_str().unwrap().to_owned()
    }
}

/// The token in an address.
pub(crate) fn token(url: &str) -> String {
    url.split_once("/#token=").unwrap().1.to_owned()
}

pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) host: String,
    pub(crate) cookie: String,
}

impl Client {
    pub(crate) fn new(server: &Server) -> Self {
        Client { address: server.address(), host: server.address().to_string(), cookie: String::new() }
    }

    pub(crate) fn logged_in(mut self, server: &Server) -> Self {
        let body = serde_json::json!({"token": token(&server.url())}).to_string();
        let response = self.post("/api/session", &body);
        assert_eq!(response.status, 200);
        let cookie = response.header("set-cookie").unwrap();
        self.cookie = cookie.split(';').next().unwrap().to_owned();
        self
    }

    pub(crate) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
        request(method, path, &self.host, headers, body)
    }

    pub(crate) fn try_send(&self, request: &[u8]) -> Option<Response> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        // The server may answer and close before it has all.
        let _ = stream.write_all(request);
        Response::read(&mut stream).ok()
    }

    pub(crate) fn send(&self, request: &[u8]) -> Response {
        self.try_send(request).expect("a response")
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        self.send(&self.request("GET", path, &[], ""))
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Response {
        self.try_post(path, body).expect("a response")
    }

    pub(crate) fn try_post(&self, path: &str, body: &str) -> Option<Response> {
        self.try_send(&json_request(path, &self.host, &[("Cookie", &self.cookie)], body))
    }

    pub(crate) fn ask(&self, request: &Value) -> Response {
        self.post("/api/answer", &request.to_string())
    }
}

/// A request with a body of JSON.
pub(crate) fn json_request(path: &str, host: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let headers = [&[("Content-Type", "application/json")], headers].concat();
    request("POST", path, host, &headers, body)
}

fn request(method: &str, path: &str, host: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}Content-Length: {length}\r\n");
    format!("{head}Connection: close\r\n\r\n{body}").into_bytes()
}
