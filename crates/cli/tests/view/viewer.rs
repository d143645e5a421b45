//! `gristmill view` as a process, with a client of its own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::harness::gristmill;

/// Nobody waits longer than this for anything.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(120);

pub(crate) struct Viewer {
    child: Child,
    /// The printed address.
    pub(crate) url: String,
    pub(crate) port: u16,
    /// The host and the port.
    host: String,
    cookie: String,
}

impl Viewer {
    /// Starts the viewer in a directory, without a browser.
    pub(crate) fn start(directory: &Path, arguments: &[&str]) -> Self {
        let arguments = [&["view", "--no-open"], arguments].concat();
        Viewer::run(gristmill(&arguments).current_dir(directory))
    }

    /// Starts it by this command, and logs in.
    pub(crate) fn run(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        if url.is_empty() {
            let output = child.wait_with_output().unwrap();
            panic!("{}", String::from_utf8_lossy(&output.stderr));
        }
        let url = url.trim_end().to_owned();
        let (host, token) = url.strip_prefix("http://").unwrap().split_once("/#token=").unwrap();
        let port = host.rsplit(':').next().unwrap().parse().unwrap();
        let host = host.to_owned();
        let mut viewer = Viewer { child, port, host, cookie: String::new(), url: url.clone() };
        let (head, _) = viewer.send("/api/session", &json!({"token": token}));
        let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        viewer.cookie = cookie.split(';').next().unwrap().to_owned();
        viewer
    }

    /// Sends a request, and returns the head and the body of the response.
    pub(crate) fn send(&self, path: &str, body: &Value) -> (String, Vec<u8>) {
        let (host, body) = (&self.host, body.to_string());
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(MAX_WAIT)).unwrap();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Cookie: {}\r\nContent-Length: {}\r\n\r\n{body}",
            self.cookie,
            body.len()
        )
        .unwrap();
        let mut response = Vec::new();
        stream.read_to_end(&mut response).unwrap();
        let end = response.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        (String::from_utf8(response[..end].to_vec()).unwrap(), response[end + 4..].to_vec())
    }

    /// Asks a question of a scope.
    pub(crate) fn ask_in(&self, scope: &Value, question: &Value) -> Value {
        let (head, body) = self.send("/api/answer", &json!({"scope": scope, "question": question}));
        assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}\n{}", String::from_utf8_lossy(&body));
        serde_json::from_slice(&body).unwrap()
    }

    pub(crate) fn ask(&self, question: &Value) -> Value {
        self.ask_in(&json!({}), question)
    }

    /// Returns the state of loading.
    pub(crate) fn loaded(&self) -> Value {
        serde_json::from_slice(&self.send("/api/loaded", &json!({})).1).unwrap()
    }

    /// Waits until the state of loading is as expected.
    pub(crate) fn wait_until_loaded(&self, is_expected: impl Fn(&Value) -> bool) {
        let start = Instant::now();
        loop {
            let loaded = self.loaded();
            if is_expected(&loaded) {
                return;
            }
            assert!(start.elapsed() < MAX_WAIT, "{loaded}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Sends a signal, and returns the exit status and standard error.
    pub(crate) fn end(mut self, signal: &str) -> (ExitStatus, String) {
        let process = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &process]).status().unwrap().success());
        let status = self.child.wait().unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (status, said)
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
