//! The viewer, with its server or without: how long it takes from the end of loading to the first screen, and how long each kind of question takes that
//! clicks of a page ask. The functions that are clicked on are a sample; a seed decides which.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::view_library::Library;
use super::{ViewBenchOptions, inputs, process, table};
use crate::failure::{Context as _, Failure};
use crate::gen_profile::Shape;
use crate::workspace;

/// The time from the end of loading to the first screen.
const MAX_START: Duration = Duration::from_secs(1);
/// The 95th percentile of the time of clicks.
const MAX_CLICK: Duration = Duration::from_millis(100);
/// The time between clicks while the server prepares answers. A person who knows where to click takes longer.
const BETWEEN_CLICKS: Duration = Duration::from_millis(300);
/// The memory of a page.
const MAX_PAGE_BYTES: u64 = 300 << 20;

/// The same of the library of the page without a server.
const MAX_LIBRARY_LOADING: Duration = Duration::from_secs(3);
const MAX_LIBRARY_CLICK: Duration = Duration::from_millis(150);

/// Answers questions.
pub(super) trait Answering {
    /// Asks a question, and returns the time until the whole answer is there.
    fn ask(&self, question: &Value) -> Result<(Duration, Value), Failure>;
}

pub(super) fn run(options: &ViewBenchOptions) -> Result<(), Failure> {
    let path = match &options.profile {
        Some(path) => path.clone(),
        None => {
            let size = if options.library { 100_000_000 } else { 1_000_000_000 };
            inputs::generated(Shape::Plain, options.size.unwrap_or(size))?
        }
    };
    let faults = if options.library { run_library(options, &path)? } else { run_server(options, &path)? };
    match faults.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(faults.join("; "))),
    }
}

fn run_library(options: &ViewBenchOptions, path: &Path) -> Result<Vec<String>, Failure> {
    let (library, loading) = Library::start(path)?;
    let mut faults = Vec::new();
    println!("loading: {:.2} s", loading.as_secs_f64());
    if loading > MAX_LIBRARY_LOADING {
        faults.push("the profile is loaded late".to_owned());
    }
    measure_clicks(options, &library, MAX_LIBRARY_CLICK, &mut faults)?;
    Ok(faults)
}

fn run_server(options: &ViewBenchOptions, path: &Path) -> Result<Vec<String>, Failure> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => process::gristmill()?,
    };
    let (server, loading) = Server::start(&program, path)?;
    println!("loading: {:.2} s", loading.as_secs_f64());
    let client = Client::new(&server)?;
    let mut faults = Vec::new();
    let start = measure_clicks(options, &client, MAX_CLICK, &mut faults)?;
    if start > MAX_START {
        faults.push("the first screen comes late".to_owned());
    }
    if let Some((now, peak)) = server.memory() {
        println!("memory of the server: {} MB, at most {} MB", now >> 20, peak >> 20);
    }
    match measure_page(&server.url) {
        None => println!("page: not measured; it takes node and the packages of ui"),
        Some(page) => {
            let Page { usable, heap, private } = page?;
            println!(
                "page, opened now: usable after {:.2} s, at most {} MB, of which its script has {} MB",
                usable.as_secs_f64(),
                private >> 20,
                heap >> 20
            );
            if heap.max(private) > MAX_PAGE_BYTES {
                faults.push("the page takes too much memory".to_owned());
            }
        }
    }
    Ok(faults)
}

/// Measures the first screen, whose time it returns, and clicks while answers are prepared and afterwards.
fn measure_clicks(
    options: &ViewBenchOptions,
    answering: &dyn Answering,
    limit: Duration,
    faults: &mut Vec<String>,
) -> Result<Duration, Failure> {
    let loaded = Instant::now();
    let summary = answering.ask(&json!({"kind": "summary"}))?.1;
    answering.ask(&json!({"kind": "overview", "limit": 8}))?;
    let start = loaded.elapsed();
    let functions = summary["functions"].as_u64().unwrap_or(0);
    println!("{functions} functions, {} calls", summary["calls"]);
    println!("from the end of loading to the first screen: {:.2} s", start.as_secs_f64());
    let few = options.functions.div_ceil(4);
    let early = clicks(answering, functions, few, options.seed + 1, BETWEEN_CLICKS)?;
    print_clicks("while answers are prepared", &early, limit, faults);
    // Findings are the last that is prepared.
    answering.ask(&json!({"kind": "findings", "limit": 200}))?;
    println!("all is prepared at most {:.1} s after the end of loading", loaded.elapsed().as_secs_f64());
    let late = clicks(answering, functions, options.functions, options.seed, Duration::ZERO)?;
    print_clicks("afterwards", &late, limit, faults);
    Ok(start)
}

/// Times of one kind of question.
type Times = (&'static str, Vec<Duration>);

/// Asks what a page asks on typical clicks.
fn clicks(
    answering: &dyn Answering,
    functions: u64,
    count: u64,
    seed: u64,
    pause: Duration,
) -> Result<Vec<Times>, Failure> {
    let mut state = seed;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below.max(1)
    };
    let mut times: Vec<Times> = Vec::new();
    let mut ask = |kind: &'static str, question: Value| -> Result<(), Failure> {
        std::thread::sleep(pause);
        let (time, _) = answering.ask(&question)?;
        match times.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, times)) => times.push(time),
            None => times.push((kind, vec![time])),
        }
        Ok(())
    };
    let page = |group: &str, sort: &str, filter: &str, start: u64| json!({"kind": "functions", "group": group, "sort": sort, "filter": filter, "start": start, "count": 200});
    ask("overview", json!({"kind": "overview", "limit": 8}))?;
    for sort in ["self_cost", "inclusive", "calls", "per_call", "name", "object", "file"] {
        ask("functions, sorted", page("function", sort, "", 0))?;
        ask("functions, scrolled", page("function", sort, "", random(functions)))?;
    }
    for group in ["object", "file", "directory", "class", "crate", "package", "cycle"] {
        for sort in ["self_cost", "inclusive"] {
            ask("groups", page(group, sort, "", 0))?;
        }
    }
    for text in ["r", "re", "rea", "read", "Read"] {
        ask("search", json!({"kind": "search", "text": text, "limit": 20}))?;
        ask("functions, filtered", page("function", "inclusive", text, 0))?;
    }
    for inverted in [false, true] {
        ask("flame graph", flame(None, inverted))?;
        ask("call tree", tree(None, inverted))?;
    }
    ask("treemap", treemap(None, false))?;
    ask("call graph", graph(None))?;
    ask("parts", json!({"kind": "parts"}))?;
    for _ in 0..count {
        let function = random(functions);
        ask("function, details", json!({"kind": "function", "function": function, "depth": 1, "limit": 30}))?;
        ask(
            "function, callers and callees",
            json!({"kind": "function", "function": function, "depth": 8, "limit": 100}),
        )?;
        ask("function, source", json!({"kind": "source", "function": function}))?;
        for inverted in [false, true] {
            ask("function, flame graph", flame(Some(function), inverted))?;
            ask("function, call tree", tree(Some(function), inverted))?;
            ask("function, treemap", treemap(Some(function), inverted))?;
        }
        ask("function, call graph", graph(Some(function)))?;
    }
    Ok(times)
}

fn flame(from: Option<u64>, inverted: bool) -> Value {
    json!({"kind": "flame", "from": from, "inverted": inverted, "order": "cost", "resolution": 1400})
}

fn tree(from: Option<u64>, inverted: bool) -> Value {
    json!({"kind": "tree", "from": from, "inverted": inverted, "min_share": 2, "max_depth": 100, "limit": 3000})
}

fn treemap(from: Option<u64>, callers: bool) -> Value {
    json!({"kind": "treemap", "from": from, "callers": callers, "width": 1200, "height": 700})
}

fn graph(around: Option<u64>) -> Value {
    json!({"kind": "graph", "around": around, "callers": 2, "callees": 6, "nodes": 40, "min_share": 10, "cluster": "object"})
}

/// Prints a table of clicks, and adds a fault if they take too long.
fn print_clicks(title: &str, times: &[Times], limit: Duration, faults: &mut Vec<String>) {
    println!("\nclicks {title}");
    let mut rows = vec![["", "count", "median ms", "95% ms", "max ms"].map(str::to_owned).to_vec()];
    let mut all: Vec<Duration> = Vec::new();
    for (kind, times) in times {
        rows.push(row(kind, times));
        all.extend(times);
    }
    rows.push(row("all", &all));
    table::print(&rows);
    if percentile(&all, 95) > limit {
        faults.push(format!("clicks {title} take more than {} ms", limit.as_millis()));
    }
}

fn row(kind: &str, times: &[Duration]) -> Vec<String> {
    let ms = |percent| format!("{:.1}", percentile(times, percent).as_secs_f64() * 1000.0);
    vec![kind.to_owned(), times.len().to_string(), ms(50), ms(95), ms(100)]
}

/// The least time that this share of the times does not exceed.
fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

/// A server that ends when it is dropped.
struct Server {
    child: Child,
    /// Its end would break the server's output.
    _stdout: BufReader<ChildStdout>,
    url: String,
}

impl Server {
    /// Starts a server, and returns it with the time until it has loaded the profile.
    fn start(program: &Path, profile: &Path) -> Result<(Server, Duration), Failure> {
        let start = Instant::now();
        let mut command = Command::new(program);
        command.args(["view", "--no-open"]).arg(profile);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let shown = workspace::shown(&command);
        let mut child = command.spawn().context(|| format!("cannot run {shown}"))?;
        let stdout = child.stdout.take().ok_or_else(|| Failure::new(format!("{shown} has no output")))?;
        let mut server = Server { child, _stdout: BufReader::new(stdout), url: String::new() };
        let mut line = String::new();
        server._stdout.read_line(&mut line).context(|| format!("cannot read what {shown} prints"))?;
        line.trim_end().clone_into(&mut server.url);
        match server.url.starts_with("http://") {
            true => Ok((server, start.elapsed())),
            false => Err(Failure::new(format!("{shown} printed no address"))),
        }
    }

    /// Returns the memory that it has now and had at most, in bytes, where the system tells.
    fn memory(&self) -> Option<(u64, u64)> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let bytes = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name))?;
            let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
            Some(kib << 10)
        };
        Some((bytes("VmRSS:")?, bytes("VmHWM:")?))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client that has the cookie.
struct Client {
    host: String,
    cookie: String,
}

impl Client {
    /// Opens the page, and exchanges the token for the cookie.
    fn new(server: &Server) -> Result<Client, Failure> {
        let (host, token) = server
            .url
            .strip_prefix("http://")
            .and_then(|rest| rest.split_once("/#token="))
            .ok_or_else(|| Failure::new(format!("{} is no address of a page", server.url)))?;
        let mut client = Client { host: host.to_owned(), cookie: String::new() };
        client.request("GET", "/", "")?;
        client.request("GET", "/app.js", "")?;
        let (head, _) = client.request("POST", "/api/session", &json!({ "token": token }).to_string())?;
        let cookie = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("set-cookie")
                .then(|| value.trim().split(';').next().unwrap_or_default())
        });
        cookie.unwrap_or_default().clone_into(&mut client.cookie);
        Ok(client)
    }

    fn request(&self, method: &str, path: &str, body: &str) -> Result<(String, Vec<u8>), Failure> {
        let Client { host, cookie } = self;
        let doing = || format!("{method} {path} {body}");
        let mut stream = TcpStream::connect(host).context(doing)?;
        stream.set_nodelay(true).context(doing)?;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nContent-Type: application/json\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).context(doing)?;
        let mut response = Vec::new();
        stream.read_to_end(&mut response).context(doing)?;
        let end = response.windows(4).position(|window| window == b"\r\n\r\n");
        let end = end.ok_or_else(|| Failure::new(format!("{}: no response", doing())))?;
        let head = String::from_utf8_lossy(&response[..end]).into_owned();
        match head.split(' ').nth(1) {
            Some("200" | "204") => Ok((head, response.split_off(end + 4))),
            _ => Err(Failure::new(format!("{}: {}", doing(), String::from_utf8_lossy(&response[end + 4..])))),
        }
    }
}

impl Answering for Client {
    fn ask(&self, question: &Value) -> Result<(Duration, Value), Failure> {
        let body = json!({ "question": question }).to_string();
        let start = Instant::now();
        let (_, answer) = self.request("POST", "/api/answer", &body)?;
        let time = start.elapsed();
        let answer = serde_json::from_slice(&answer).context(|| format!("no answer to {question}"))?;
        Ok((time, answer))
    }
}

/// The measurement of a browser.
struct Page {
    usable: Duration,
    /// Bytes of the objects of its script.
    heap: u64,
    /// Bytes of its process that it does not share; 0 where the system does not tell.
    private: u64,
}

/// Opens the page in a browser. `None` if there is no node, or if the packages of the page are not installed.
fn measure_page(url: &str) -> Option<Result<Page, Failure>> {
    let ui: PathBuf = workspace::root().join("ui");
    if !process::is_on_path("node") || !ui.join("node_modules/playwright-core").exists() {
        return None;
    }
    let mut command = Command::new("node");
    command.current_dir(&ui).args(["dev/measure.mjs", url]);
    let page = process::measure(command).and_then(|(printed, _)| {
        let page: Value = serde_json::from_str(&printed).context(|| "dev/measure.mjs printed".to_owned())?;
        let usable = Duration::from_secs_f64(page["usable_ms"].as_f64().unwrap_or(0.0) / 1000.0);
        let bytes = |name: &str| page[name].as_u64().unwrap_or(0);
        Ok(Page { usable, heap: bytes("heap_bytes"), private: bytes("private_bytes") })
    });
    Some(page)
}
