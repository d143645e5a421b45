//! Normalized paths of source files and objects: without parts that differ between builds.

use super::join_rule::{JoinRule, JoinRules};

/// Returns a path without the parts that differ between builds, and the rules that removed them.
pub(super) fn normal_path(path: &str, rules: JoinRules, pids: &[u64]) -> (String, JoinRules) {
    let mut path = path.to_owned();
    let mut used = JoinRules::NONE;
    for (rule, apply) in RULES {
        if rules.has(rule)
            && let Some(changed) = apply(&path)
        {
            path = changed;
            used = used.with(rule);
        }
    }
    if rules.has(JoinRule::Pid)
        && let Some(changed) = without_pid(&path, pids)
    {
        path = changed;
        used = used.with(JoinRule::Pid);
    }
    (path, used)
}

/// A rule: returns the changed path, or `None` if it does not apply.
type Apply = fn(&str) -> Option<String>;

const RULES: [(JoinRule, Apply); 5] = [
    (JoinRule::DotSegments, without_dots),
    (JoinRule::RustcHash, without_rustc_hash),
    (JoinRule::RustToolchain, without_toolchain),
    (JoinRule::CargoRegistry, without_registry),
    (JoinRule::CargoHash, without_cargo_hash),
];

fn without_dots(path: &str) -> Option<String> {
    if !path.contains("./") && !path.contains("//") {
        return None;
    }
    let mut kept: Vec<&str> = Vec::new();
    let rooted = path.starts_with('/');
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            ".." if rooted && kept.is_empty() => {}
            segment => kept.push(segment),
        }
    }
    let joined = format!("{}{}", if rooted { "/" } else { "" }, kept.join("/"));
    (joined != path).then_some(joined)
}

pub(super) fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The directory of the sources of Rust's library in paths of official builds.
const RUST: &str = "/rustc/";

fn without_rustc_hash(path: &str) -> Option<String> {
    let (hash, rest) = path.strip_prefix(RUST)?.split_once('/')?;
    (hash.len() == 40 && is_hex(hash)).then(|| format!("{RUST}{rest}"))
}

fn without_toolchain(path: &str) -> Option<String> {
    if let Some((_, rest)) = path.split_once("/lib/rustlib/src/rust/") {
        return Some(format!("{RUST}{rest}"));
    }
    // The directory of Linux distributions.
    let (_, rest) = path.strip_prefix("/usr/src/rustc-")?.split_once('/')?;
    Some(format!("{RUST}{rest}"))
}

fn without_registry(path: &str) -> Option<String> {
    if let Some((_, rest)) = path.split_once("/registry/src/") {
        let (_, rest) = rest.split_once('/')?;
        return Some(format!("registry/{rest}"));
    }
    let (_, rest) = path.split_once("/git/checkouts/")?;
    let (name, rest) = rest.split_once('/')?;
    let (_, rest) = rest.split_once('/')?;
    let name = name.rsplit_once('-').filter(|(_, hash)| is_hex(hash)).map_or(name, |(name, _)| name);
    Some(format!("git/{name}/{rest}"))
}

fn without_cargo_hash(path: &str) -> Option<String> {
    const HASH: usize = 16;
    let stem = |segment: &'_ str| -> Option<usize> {
        let (name, hash) = segment.rsplit_once('-')?;
        let digits = hash.split('.').next().unwrap_or(hash);
        (digits.len() == HASH && is_hex(digits) && !name.is_empty()).then_some(name.len())
    };
    if !path.split('/').any(|segment| stem(segment).is_some()) {
        return None;
    }
    let segments = path.split('/').map(|segment| match stem(segment) {
        Some(end) => format!("{}{}", &segment[..end], &segment[end + 1 + HASH..]),
        None => segment.to_owned(),
    });
    Some(segments.collect::<Vec<_>>().join("/"))
}

/// Shorter numbers are ambiguous.
const MIN_PID_DIGITS: usize = 3;

/// Replaces these numbers, which are sorted, unless they are part of a word.
pub(super) fn without_pid(text: &str, pids: &[u64]) -> Option<String> {
    if pids.is_empty() {
        return None;
    }
    let bytes = text.as_bytes();
    let mut changed = String::new();
    let (mut copied, mut at) = (0, 0);
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        at += bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_alone =
            |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        let is_alone = is_alone(start.checked_sub(1).map(|before| &bytes[before])) && is_alone(bytes.get(at));
        let number = text[start..at].parse::<u64>();
        if is_alone
            && at - start >= MIN_PID_DIGITS
            && number.is_ok_and(|number| pids.binary_search(&number).is_ok())
        {
            changed.push_str(&text[copied..start]);
            changed.push_str("<pid>");
            copied = at;
        }
    }
    (copied > 0).then(|| changed + &text[copied..])
}

/// Removes the first of these directories that contains the path.
pub(super) fn without_prefix<'a>(path: &'a [u8], directories: &[Vec<u8>]) -> Option<&'a [u8]> {
    directories.iter().find_map(|directory| below(path, directory))
}

/// Returns the path relative to a directory that contains it.
fn below<'a>(path: &'a [u8], directory: &[u8]) -> Option<&'a [u8]> {
    let directory = directory.strip_suffix(b"/").unwrap_or(directory);
    path.strip_prefix(directory)?.strip_prefix(b"/").filter(|rest| !rest.is_empty())
}

/// Replaces the start of a path by the first pair that matches.
pub(super) fn mapped(path: &[u8], map: &[(Vec<u8>, Vec<u8>)]) -> Option<Vec<u8>> {
    map.iter().find_map(|(from, to)| Some([to, path.strip_prefix(&from[..])?].concat()))
}
