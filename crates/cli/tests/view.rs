//! `gristmill view`: its numbers are those of the other commands, and it serves what it should.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]
#![cfg(all(test, unix))]

mod harness;
#[path = "view/viewer.rs"]
mod viewer;

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use harness::*;
use serde_json::{Value, json};
use viewer::{MAX_WAIT, Viewer};

fn functions(count: usize) -> Value {
    json!({"kind": "functions", "group": "function", "sort": "self_cost", "start": 0, "count": count})
}

/// A document of a command, without its version.
fn document(arguments: &[&str]) -> Value {
    let output = run_in(&root().join("corpus"), arguments);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let mut document = json(&output);
    document.as_object_mut().unwrap().remove("schema");
    document
}

/// Files of several producers: C, C++, threads, PHP, Cachegrind, Go and Python with a large cycle.
const FILES: [&str; 8] = [
    "callgrind/callgrind.out.mill",
    "callgrind/callgrind.out.names",
    "callgrind/callgrind.out.crew-threads",
    "callgrind/callgrind.out.cache-branch",
    "dialects/xdebug3.txt",
    "cachegrind/cachegrind.out.mill",
    "dialects/go-pprof.txt",
    "python/callgrind.out.yappi",
];

#[test]
fn numbers_are_those_of_the_commands() {
    for file in FILES {
        let viewer = Viewer::start(&root().join("corpus"), &[file]);
        let list = document(&["functions", "--format=json", file]);
        let scope = json!({"events": list["event_types"]});
        let page = viewer.ask_in(&scope, &functions(10_000));
        assert_eq!(page["rows"], list["functions"], "{file}");
        assert_eq!((&page["all"], &page["head"]["totals"]), (&list["matching"], &list["totals"]), "{file}");

        let tree = document(&["tree", "--format=json", "--depth=30", "--limit=5000", "--min=0.5", file]);
        let question = json!({"kind": "tree", "min_share": 5, "max_depth": 30, "limit": 5000});
        assert_eq!(viewer.ask_in(&scope, &question), tree, "{file}");

        let hottest = page["rows"].as_array().unwrap().iter().take(3);
        for name in hottest.map(|row| row["name"].as_str().unwrap()) {
            let pattern = format!("^{}$", regex::escape(name));
            let options = ["show", "--format=json", "--depth=3", "--lines=20", "--limit=20"];
            let show = document(&[&options[..], &[&pattern, file]].concat());
            let id = &show["function"]["id"];
            let question = json!({"kind": "function", "function": id, "depth": 3, "limit": 20});
            assert_eq!(viewer.ask_in(&scope, &question), show, "{file} {name}");
        }
    }
}

/// One question of each kind, about a function.
fn questions(id: &Value, name: &Value) -> Vec<Value> {
    vec![
        json!({"kind": "summary"}),
        json!({"kind": "overview", "limit": 5}),
        functions(5),
        json!({"kind": "function", "function": id, "depth": 2, "limit": 9}),
        json!({"kind": "find", "name": name, "file": "", "object": ""}),
        json!({"kind": "search", "text": "s", "limit": 3}),
        json!({"kind": "tree", "min_share": 5, "max_depth": 9, "limit": 50}),
        json!({"kind": "flame", "order": "cost", "resolution": 500}),
        json!({"kind": "graph", "around": id, "callers": 2, "callees": 2, "nodes": 20, "min_share": 1, "cluster": "file"}),
        json!({"kind": "treemap", "width": 400, "height": 300}),
        json!({"kind": "matches", "pattern": "s"}),
        json!({"kind": "source", "function": id}),
        json!({"kind": "assembly", "function": id}),
        json!({"kind": "parts"}),
        json!({"kind": "findings", "limit": 9}),
        json!({"kind": "changes", "group": "function", "sort": "self_change", "limit": 9}),
        json!({"kind": "changes_tree", "min_share": 5, "limit": 50}),
        json!({"kind": "changes_page", "group": "function", "sort": "self_change", "start": 0, "count": 9}),
        json!({"kind": "changes_flame", "from": {"name": name}, "order": "name", "resolution": 400}),
        json!({"kind": "changes_treemap", "width": 400, "height": 300}),
        json!({"kind": "changes_graph", "around": {"name": name}, "callers": 2, "callees": 2, "nodes": 20, "min_share": 1, "cluster": "file"}),
        json!({"kind": "changed_function", "function": {"name": name}}),
    ]
}

/// The types of the page are made of this schema.
#[test]
fn answers_are_valid_by_their_schema() {
    let schema = fs::read(root().join("docs/schema/view.schema.json")).unwrap();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    let definitions = &schema["$defs"];
    let valid = |reference: &Value, value: &Value, what: &str| {
        let schema = json!({"$defs": definitions, "$ref": reference});
        assert_valid(&jsonschema::validator_for(&schema).unwrap(), value, what);
    };
    let answers = definitions["Answers"]["properties"].as_object().unwrap();
    let corpus = root().join("corpus");
    let file = "callgrind/callgrind.out.instr-jumps";
    let viewer = Viewer::start(&corpus, &[file, "--base", "callgrind/callgrind.out.mill"]);
    let row = &viewer.ask(&functions(1))["rows"][0];
    let mut asked = Vec::new();
    for question in questions(&row["id"], &row["name"]) {
        let kind = question["kind"].as_str().unwrap().to_owned();
        let mut answer = viewer.ask(&question);
        // Documents of commands say their version.
        if ["assembly", "changes", "changes_tree", "changed_function"].contains(&kind.as_str()) {
            assert_eq!(answer.as_object_mut().unwrap().remove("schema"), Some(json!(1)));
        }
        valid(&answers[&kind]["$ref"], &answer, &kind);
        asked.push(kind);
    }
    // All kinds that there are.
    let kinds = definitions["Question"]["oneOf"].as_array().unwrap().iter();
    let kinds: Vec<&str> = kinds.map(|kind| kind["properties"]["kind"]["const"].as_str().unwrap()).collect();
    assert_eq!(asked, {
        let mut order = kinds.clone();
        order.sort_by_key(|kind| asked.iter().position(|asked| asked == kind));
        order
    });
    let mut named: Vec<&str> = answers.keys().map(String::as_str).collect();
    named.sort_by_key(|kind| kinds.iter().position(|other| other == kind));
    assert_eq!(named, kinds);
}

#[test]
fn changes_are_those_of_diff() {
    let (base, new) = ("callgrind/callgrind.out.mill", "callgrind/callgrind.out.mill-fast");
    let viewer = Viewer::start(&root().join("corpus"), &[new, "--base", base]);
    let diff = document(&["diff", "--format=json", "--limit=7", base, new]);
    let changes =
        viewer.ask(&json!({"kind": "changes", "group": "function", "sort": "self_change", "limit": 7}));
    for member in ["totals", "functions", "all", "joined", "base_runs", "new_runs"] {
        assert_eq!(changes[member], diff[member], "{member}");
    }
    assert_eq!(viewer.ask(&json!({"kind": "summary"}))["base"]["files"], json!([base]));
    // Without a base there is nothing to compare with, and a base alone would take the place of the profile.
    let alone = run_in(&root().join("corpus"), &["view", "--base", base]);
    assert_eq!(code(&alone), 2);
    assert!(stderr(&alone).contains("required arguments were not provided"), "{}", stderr(&alone));
}

/// A source is asked for by the path that the profile has, and not by any other.
#[test]
fn no_file_is_read_that_the_profile_does_not_name() {
    let directory = folder(&[("a.c", b"named\n"), ("b.c", b"not named\n"), ("p", of_cost(10).as_bytes())]);
    let viewer = Viewer::start(directory.path(), &["p"]);
    let named = viewer.ask(&json!({"kind": "source", "file": "a.c"}));
    assert_eq!(named["lines"][0]["text"][0]["text"], "named");
    let absolute = text(&directory.path().join("b.c")).to_owned();
    for path in ["b.c", "./a.c", "../p", "/etc/passwd", "a.c/../b.c", &absolute] {
        let question = json!({"question": {"kind": "source", "file": path}});
        let (head, body) = viewer.send("/api/answer", &question);
        assert!(head.starts_with("HTTP/1.1 404 "), "{path}: {head}");
        assert!(!String::from_utf8_lossy(&body).contains("not named"), "{path}");
    }
    // Also beside a function.
    let id = viewer.ask(&functions(1))["rows"][0]["id"].clone();
    for path in ["b.c", "/etc/passwd"] {
        let other = viewer.ask(&json!({"kind": "source", "function": id, "file": path}));
        assert_eq!((&other["shown"], &other["lines"]), (&json!(null), &json!([])), "{path}");
    }
}

#[test]
fn one_question_is_answered_as_the_server_does() {
    let corpus = root().join("corpus");
    let file = "callgrind/callgrind.out.instr-jumps";
    let viewer = Viewer::start(&corpus, &[file]);
    let id = viewer.ask(&functions(1))["rows"][0]["id"].clone();
    for question in [
        functions(5),
        json!({"kind": "overview", "limit": 3}),
        json!({"kind": "function", "function": id, "depth": 1, "limit": 9}),
        json!({"kind": "assembly", "function": id}),
        json!({"kind": "search", "text": "s", "limit": 3}),
    ] {
        let request = json!({"scope": {"no_cycles": true}, "question": question}).to_string();
        let output = run_in(&corpus, &["view", "--answer", &request, file]);
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{question}");
        assert!(output.stdout.ends_with(b"}\n"));
        let served =
            viewer.send("/api/answer", &json!({"scope": {"no_cycles": true}, "question": question})).1;
        assert_eq!(output.stdout[..output.stdout.len() - 1], served, "{question}");
    }
}

#[test]
fn questions_that_are_wrong_fail() {
    let corpus = root().join("corpus");
    let file = "callgrind/callgrind.out.mill";
    for (question, message) in [
        (
            "x",
            "gristmill: --answer: this is no question: expected value at line 1 column 1\n  hint: a question looks like",
        ),
        (r#"{"question":{"kind":"x"}}"#, "gristmill: --answer: this is no question: unknown variant `x`"),
        (
            r#"{"question":{"kind":"function","function":4000000000,"depth":1,"limit":1}}"#,
            "gristmill: there is no function with the id 4000000000",
        ),
        (
            r#"{"scope":{"events":["Xy"]},"question":{"kind":"overview","limit":1}}"#,
            "gristmill: there is no event type `Xy`",
        ),
    ] {
        let output = run_in(&corpus, &["view", "--answer", question, file]);
        assert_eq!((code(&output), stdout(&output).as_str()), (2, ""), "{question}");
        assert!(stderr(&output).starts_with(message), "{}", stderr(&output));
    }
    for (arguments, message) in [
        (&["--answer", "{}", "--watch", file][..], "cannot be used with"),
        (&["--port", "0", file], "expected a whole number of at least 1"),
        (&["--port", "70000", file], "the number is too large"),
        (&["--bind", "here", file], "expected an IP address of this machine, such as 127.0.0.1"),
        (&["--watch", "-"], "--watch: standard input cannot be read again"),
        (&["--watch", file, "--base", "-"], "--watch: standard input cannot be read again"),
        (&["no/such/file"], "no/such/file: no such file"),
        (&["--source-map", "x", file], "--source-map"),
        (&["--sources-below", "no/such", file], "no/such"),
    ] {
        let output = run_in(&corpus, &[&["view"], arguments].concat());
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

#[test]
fn an_address_that_cannot_be_had_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let corpus = root().join("corpus");
    let file = "callgrind/callgrind.out.mill";
    let output = run_in(&corpus, &["view", "--no-open", "--port", &port.to_string(), file]);
    assert_eq!(code(&output), 2);
    assert_eq!(
        stderr(&output),
        format!(
            "gristmill: cannot listen on 127.0.0.1:{port}: another program uses port {port}\n  hint: choose another one \
             with --port, or leave it out for one that is free\n"
        )
    );
    // An address that is for documents.
    let output = run_in(&corpus, &["view", "--no-open", "--bind", "192.0.2.1", file]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("this machine has no address 192.0.2.1"), "{}", stderr(&output));
}

#[test]
fn the_address_is_printed_and_ctrl_c_ends() {
    let viewer = Viewer::start(&root().join("corpus"), &["callgrind/callgrind.out.mill"]);
    let (url, port) = (viewer.url.clone(), viewer.port);
    let token = url.strip_prefix(&format!("http://127.0.0.1:{port}/#token=")).unwrap().to_owned();
    assert!(token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{token}");
    let (status, said) = viewer.end("-INT");
    assert_eq!((status.code(), status.signal()), (Some(130), None), "{said}");
    assert_eq!(
        said,
        format!(
            "gristmill: open this address; from another machine, first run there: ssh -L {port}:127.0.0.1:{port} HOST\n\
             gristmill: Ctrl-C ends it\n"
        )
    );
}

#[test]
fn a_chosen_address_is_taken_and_others_are_warned_of() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let corpus = root().join("corpus");
    let options = ["--bind", "0.0.0.0", "--port", &free.to_string(), "callgrind/callgrind.out.mill"];
    let viewer = Viewer::start(&corpus, &options);
    assert_eq!(viewer.port, free);
    assert!(viewer.url.starts_with(&format!("http://127.0.0.1:{free}/#token=")));
    assert_eq!(viewer.ask(&functions(1))["rows"].as_array().unwrap().len(), 1);
    let (_, said) = viewer.end("-INT");
    let warning = format!(
        "gristmill: warning: port {free} of each address of this machine can be reached from other machines: whoever has \
         the token can read the profile and the sources that it names, and nothing is encrypted\n"
    );
    assert!(said.starts_with(&warning), "{said}");
}

/// IPv6 has brackets in addresses.
#[test]
fn another_loopback_address_is_served() {
    if TcpListener::bind("[::1]:0").is_err() {
        return;
    }
    let viewer = Viewer::start(&root().join("corpus"), &["--bind", "::1", "callgrind/callgrind.out.mill"]);
    let port = viewer.port;
    assert!(viewer.url.starts_with(&format!("http://[::1]:{port}/#token=")), "{}", viewer.url);
    assert_eq!(viewer.ask(&functions(1))["rows"].as_array().unwrap().len(), 1);
    let (_, said) = viewer.end("-INT");
    assert!(said.starts_with("gristmill: open this address; "), "{said}");
    assert!(said.contains(&format!("ssh -L {port}:[::1]:{port} HOST\n")), "{said}");
}

/// Puts a browser into the path that writes down which address it gets.
fn with_browser(directory: &Path) -> String {
    let bin = directory.join("bin");
    fs::create_dir(&bin).unwrap();
    let opened = directory.join("opened");
    let script = format!("#!/bin/sh\necho \"$1\" > {0}.part\nmv {0}.part {0}\n", text(&opened));
    let browser = bin.join("xdg-open");
    fs::write(&browser, script).unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", text(&bin), std::env::var("PATH").unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn the_browser_opens_an_address_that_is_valid_once() {
    let directory = folder(&[("callgrind.out.1", CLEAN)]);
    let path = with_browser(directory.path());
    let start = |variables: &[(&str, &str)], options: &[&str]| {
        let mut command = gristmill(&[&["view"], options].concat());
        command.current_dir(directory.path()).env("PATH", &path).envs(variables.iter().copied());
        for name in ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "DISPLAY", "WAYLAND_DISPLAY"] {
            if !variables.iter().any(|(given, _)| *given == name) {
                command.env_remove(name);
            }
        }
        Viewer::run(&mut command)
    };
    let opened = directory.path().join("opened");
    let remote = ("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.2 22");
    for (variables, options, opens) in [
        (&[][..], &["callgrind.out.1"][..], true),
        (&[remote, ("DISPLAY", "localhost:10.0")], &["callgrind.out.1"], true),
        (&[remote], &["callgrind.out.1"], false),
        (&[], &["--no-open", "callgrind.out.1"], false),
    ] {
        let viewer = start(variables, options);
        let since = Instant::now();
        let max_wait = if opens { MAX_WAIT } else { Duration::from_millis(300) };
        while !opened.exists() && since.elapsed() < max_wait {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(opened.exists(), opens, "{variables:?} {options:?}");
        if !opens {
            continue;
        }
        let url = fs::read_to_string(&opened).unwrap();
        fs::remove_file(&opened).unwrap();
        let (address, token) = url.trim_end().split_once("#token=").unwrap();
        assert_eq!(address, viewer.url.split('#').next().unwrap());
        assert!(!viewer.url.ends_with(token));
        let log_in = || viewer.send("/api/session", &json!({"token": token})).0;
        assert!(log_in().starts_with("HTTP/1.1 200 OK"));
        assert!(log_in().starts_with("HTTP/1.1 403 "));
    }
}

/// A profile without a name is the newest one, as for other commands.
#[test]
fn the_newest_profile_is_viewed() {
    let directory = folder(&[("callgrind.out.1", CLEAN)]);
    let viewer = Viewer::start(directory.path(), &[]);
    assert_eq!(viewer.ask(&functions(9))["all"], 2);
    let (_, said) = viewer.end("-INT");
    assert!(said.starts_with("gristmill: reading callgrind.out.1, the newest profile here\n"), "{said}");
}

#[test]
fn standard_input_is_viewed() {
    let directory = folder(&[("p", CLEAN)]);
    let mut command = gristmill(&["view", "--no-open", "-"]);
    command.stdin(fs::File::open(directory.path().join("p")).unwrap());
    let viewer = Viewer::run(&mut command);
    assert_eq!(viewer.ask(&functions(9))["all"], 2);
}

/// A profile may name any file. Those outside of `--sources-below` stay unread, by whatever path.
#[test]
fn no_source_outside_of_the_allowed_directory_is_read() {
    let names = ["../secret.c", "sub/../../secret.c", "link.c", "/proc/self/environ"];
    let directory = tempfile::tempdir().unwrap();
    let inside = directory.path().join("inside");
    fs::create_dir_all(inside.join("sub")).unwrap();
    fs::write(directory.path().join("secret.c"), "the secret\n").unwrap();
    fs::write(inside.join("open.c"), "open text\n").unwrap();
    std::os::unix::fs::symlink("../secret.c", inside.join("link.c")).unwrap();
    let absolute = directory.path().join("secret.c");
    let blocks: String = names
        .iter()
        .copied()
        .chain([text(&absolute), "open.c"])
        .enumerate()
        .map(|(nth, name)| format!("fl={name}\nfn=f{nth}\n1 1\n"))
        .collect();
    fs::write(inside.join("p"), format!("events: Ir\n{blocks}")).unwrap();
    let texts = |options: &[&str]| -> Vec<Value> {
        let viewer = Viewer::start(&inside, &[options, &["p"]].concat());
        let page = viewer.ask(&functions(9));
        let mut rows = page["rows"].as_array().unwrap().clone();
        rows.sort_by_key(|row| row["name"].as_str().unwrap().to_owned());
        let show = |row: &Value| {
            let question = json!({"kind": "function", "function": row["id"], "depth": 1, "limit": 9});
            viewer.ask(&question)["lines"]["rows"][0]["text"].clone()
        };
        rows.iter().map(show).collect()
    };
    let below = texts(&["--sources-below", "."]);
    assert_eq!(below, [json!(null), json!(null), json!(null), json!(null), json!(null), json!("open text")]);
    // Without the option they are read, as in other commands.
    let all = texts(&[]);
    assert_eq!(
        (&all[0], &all[4], &all[5]),
        (&json!("the secret"), &json!("the secret"), &json!("open text"))
    );
}

/// A profile with one function of that cost.
fn of_cost(cost: u32) -> String {
    format!(
        "# callgrind format\nversion: 1\ncreator: hand\nevents: Ir\n\nfl=a.c\nfn=f\n1 {cost}\n\ntotals: {cost}\n"
    )
}

#[test]
fn a_watched_file_is_loaded_again() {
    let directory = folder(&[("p", of_cost(10).as_bytes())]);
    let path = directory.path().join("p");
    let viewer = Viewer::start(directory.path(), &["--watch", "p"]);
    let cost = || viewer.ask(&functions(1))["rows"][0]["self"]["Ir"].clone();
    assert_eq!(
        (cost(), viewer.loaded()),
        (json!(10), json!({"generation": 1, "failure": null, "is_watched": true}))
    );

    fs::write(&path, of_cost(200)).unwrap();
    viewer.wait_until_loaded(|loaded| loaded["generation"] == 2);
    assert_eq!(cost(), 200);

    // What cannot be loaded changes nothing.
    fs::write(&path, "no profile at all\n").unwrap();
    viewer.wait_until_loaded(|loaded| !loaded["failure"].is_null());
    let loaded = viewer.loaded();
    assert_eq!(loaded["generation"], 2);
    assert!(loaded["failure"].as_str().unwrap().starts_with("p: "), "{loaded}");
    assert_eq!(cost(), 200);

    fs::write(&path, of_cost(3000)).unwrap();
    viewer
        .wait_until_loaded(|loaded| *loaded == json!({"generation": 3, "failure": null, "is_watched": true}));
    assert_eq!(cost(), 3000);
    let (_, said) = viewer.end("-INT");
    assert_eq!(said.matches("gristmill: p has changed and was loaded again\n").count(), 2, "{said}");
    assert_eq!(said.matches("gristmill: p: ").count(), 1, "{said}");
}

/// A comparison is made again, whichever side is written.
#[test]
fn a_watched_file_to_compare_with_is_loaded_again() {
    let directory = folder(&[("p", of_cost(10).as_bytes()), ("q", of_cost(7).as_bytes())]);
    let viewer = Viewer::start(directory.path(), &["--watch", "p", "--base", "q"]);
    let question = json!({"kind": "changes", "group": "function", "sort": "self_change", "limit": 1});
    let change = || viewer.ask(&question)["totals"]["Ir"]["change"].clone();
    assert_eq!(change(), 3);
    fs::write(directory.path().join("q"), of_cost(100)).unwrap();
    viewer.wait_until_loaded(|loaded| loaded["generation"] == 2);
    assert_eq!(change(), -90);
    fs::write(directory.path().join("p"), of_cost(1000)).unwrap();
    viewer.wait_until_loaded(|loaded| loaded["generation"] == 3);
    assert_eq!(change(), 900);
    let (_, said) = viewer.end("-INT");
    let said: Vec<&str> = said.lines().filter(|line| line.contains("loaded again")).collect();
    let again = |name: &str| format!("gristmill: {name} has changed and was loaded again");
    assert_eq!(said, [again("q"), again("p")]);
}

/// A large file is copied, so that it can be written again while it is viewed.
#[test]
fn a_file_that_is_truncated_does_not_end_the_viewer() {
    let padding = format!("# {}\n", "x".repeat(998)).repeat(20_000);
    let directory = folder(&[("p", format!("events: Ir\n{padding}fl=a.c\nfn=f\n7 10\n").as_bytes())]);
    let viewer = Viewer::start(directory.path(), &["p"]);
    let id = viewer.ask(&functions(1))["rows"][0]["id"].clone();
    fs::write(directory.path().join("p"), "").unwrap();
    let question = json!({"kind": "function", "function": id, "depth": 1, "limit": 9});
    assert_eq!(viewer.ask(&question)["lines"]["rows"][0]["line"], 7);
}
