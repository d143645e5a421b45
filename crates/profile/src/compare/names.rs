//! Normalized names of functions: without parts that differ between builds.

use std::borrow::Cow;

use gristmill_format::FunctionName;

use super::generic::without_arguments;
use super::join_rule::{JoinRule, JoinRules};
use super::paths::{is_hex, normal_path, without_pid, without_prefix};
use crate::symbol::demangle;

/// A function's name without the parts that differ between builds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct NormalName {
    /// The remaining text.
    pub(super) text: Vec<u8>,
    /// The removed hashes and addresses, which identify a function if both sides have them.
    pub(super) identity: String,
    /// The removed numbers of closures, which only count them.
    pub(super) ordinal: String,
    /// Those of them that are not of its generic arguments.
    pub(super) own_ordinal: String,
    /// The rules that changed something.
    pub(super) used: JoinRules,
    /// The length of the name in the text, before a level of recursion, and the length of that.
    pub(super) level: Option<(usize, usize)>,
}

/// Normalizes a name: applies the rules to the function and to each of its recorded callers.
pub(super) fn normal_name(name: &[u8], rules: JoinRules, pids: &[u64]) -> NormalName {
    let mut normal = NormalName::default();
    let parts = FunctionName::parse(name);
    normal.take(parts.base(), rules, pids);
    if let Some(level) = parts.recursion() {
        let level = format!("'{level}");
        normal.level = Some((normal.text.len(), level.len()));
        normal.text.extend_from_slice(level.as_bytes());
    }
    for caller in parts.callers() {
        normal.text.push(b'\'');
        normal.take(caller, rules, pids);
    }
    normal
}

/// Returns the source file and the name of a function without parts that differ between builds, to store them and compare
/// them later. A path below one of the directories begins there.
///
/// ```
/// use gristmill_profile::compare::{JoinRules, normal_function};
///
/// let directories = [b"/home/me/mill".to_vec()];
/// let function = (&b"/home/me/mill/src/./grind.rs"[..], &b"mill::grind::h0123456789abcdef"[..]);
/// let (file, name) = normal_function(function.0, function.1, &directories, JoinRules::all());
/// assert_eq!((file.as_str(), name.as_str()), ("src/grind.rs", "mill::grind"));
/// ```
pub fn normal_function(
    file: &[u8],
    name: &[u8],
    directories: &[Vec<u8>],
    rules: JoinRules,
) -> (String, String) {
    let file = String::from_utf8_lossy(without_prefix(file, directories).unwrap_or(file));
    let (file, _) = normal_path(&file, rules, &[]);
    let name = normal_name(name, rules, &[]);
    (file, String::from_utf8_lossy(&name.text).into_owned())
}

impl NormalName {
    /// Removes the level of recursion of the function itself.
    pub(super) fn fold_level(&mut self) {
        if let Some((start, length)) = self.level.take() {
            self.text.drain(start..start + length);
            self.used = self.used.with(JoinRule::RecursionLevel);
        }
    }

    /// Returns the text without the level of recursion of the function itself.
    pub(super) fn without_level(&self) -> Cow<'_, [u8]> {
        let Some((start, length)) = self.level else { return Cow::Borrowed(&self.text) };
        Cow::Owned([&self.text[..start], &self.text[start + length..]].concat())
    }

    fn take(&mut self, piece: &[u8], rules: JoinRules, pids: &[u64]) {
        // No compiler makes names that are not UTF-8.
        let Ok(text) = std::str::from_utf8(piece) else { return self.text.extend_from_slice(piece) };
        let mut text = text.to_owned();
        // Once before and once after demangling.
        self.cut_suffixes(&mut text, rules);
        self.demangled(&mut text, rules);
        self.cut_suffixes(&mut text, rules);
        if rules.has(JoinRule::SymbolHash) {
            self.cut_hash(&mut text);
        }
        if rules.has(JoinRule::SymbolVersion)
            && let Some(end) = version_start(&text)
        {
            text.truncate(end);
            self.used = self.used.with(JoinRule::SymbolVersion);
        }
        if rules.has(JoinRule::Pid)
            && let Some(changed) = without_pid(&text, pids)
        {
            text = changed;
            self.used = self.used.with(JoinRule::Pid);
        }
        if rules.has(JoinRule::ClosureNumber) {
            self.cut_closure_numbers(&mut text);
        }
        if rules.has(JoinRule::Address) {
            self.cut_addresses(&mut text);
        }
        self.text.extend_from_slice(text.as_bytes());
    }

    fn demangled(&mut self, text: &mut String, rules: JoinRules) {
        if !rules.has(JoinRule::Mangling)
            || !(text.starts_with("_Z") || text.starts_with("_R") || text.starts_with("__"))
        {
            return;
        }
        let Some(readable) = demangle(text.as_bytes()) else { return };
        // Demangling removes a hash from Rust names; C++ names have none.
        if is_of_rust(text) {
            if !rules.has(JoinRule::SymbolHash) {
                return;
            }
            self.identity.push_str(text);
            self.used = self.used.with(JoinRule::SymbolHash);
        }
        self.used = self.used.with(JoinRule::Mangling);
        *text = readable;
    }

    fn cut_suffixes(&mut self, text: &mut String, rules: JoinRules) {
        while let Some((rule, end)) = SUFFIXES.iter().find_map(|(rule, word)| {
            let end = suffix_start(text, word).filter(|&end| end > 0 && rules.has(*rule))?;
            Some((*rule, end))
        }) {
            text.truncate(end);
            self.used = self.used.with(rule);
        }
    }

    /// Removes hashes: that of the legacy mangling at the end of a name, and that of a crate in brackets.
    fn cut_hash(&mut self, text: &mut String) {
        const DIGITS: usize = 16;
        if let Some((path, hash)) = text.rsplit_once("::h")
            && !path.is_empty()
            && hash.len() == DIGITS
            && is_hex(hash)
        {
            self.identity.push_str(hash);
            self.used = self.used.with(JoinRule::SymbolHash);
            let end = path.len();
            text.truncate(end);
        }
        if text.contains('[') {
            let cut = cut_out(text, |rest| {
                let hash = rest.strip_prefix('[')?;
                let digits = hash.bytes().take(DIGITS + 1).take_while(u8::is_ascii_hexdigit).count();
                let after = hash[digits..].strip_prefix(']')?;
                let is_end = after.is_empty() || after.starts_with("::");
                ((8..=DIGITS).contains(&digits) && is_end).then_some((0, digits + 2))
            });
            self.note(text, cut, JoinRule::SymbolHash);
        }
    }

    fn cut_closure_numbers(&mut self, text: &mut String) {
        if !text.contains(['{', '$', '[', '@', '.']) {
            return;
        }
        let cut = cut_out(text, closure_number);
        if let Some((_, removed)) = &cut {
            let bare = without_arguments(text.as_bytes()).and_then(|bare| String::from_utf8(bare).ok());
            let own = bare.map(|bare| cut_out(&bare, closure_number).map_or(String::new(), |(_, own)| own));
            self.own_ordinal.push_str(own.as_ref().unwrap_or(removed));
            self.own_ordinal.push(' ');
        }
        self.note(text, cut, JoinRule::ClosureNumber);
        // `class@anonymous` of PHP is followed by the path, line and number of its declaration.
        if let Some(at) = text.find("@anonymous")
            && let Some(line) = text[at..].rfind(':').map(|line| at + line)
            && text[line + 1..].starts_with(|c: char| c.is_ascii_digit())
        {
            let end =
                text[line..].find("->").or(text[line..].find("::")).map_or(text.len(), |end| line + end);
            self.ordinal.push_str(&text[line..end]);
            self.own_ordinal.push_str(&text[line..end]);
            text.replace_range(line..end, "");
            self.used = self.used.with(JoinRule::ClosureNumber);
        }
    }

    fn cut_addresses(&mut self, text: &mut String) {
        const MIN_DIGITS: usize = 4;
        if !text.contains("0x") {
            return;
        }
        let cut = cut_out(text, |rest| {
            let digits = rest.strip_prefix("0x")?.bytes().take_while(u8::is_ascii_hexdigit).count();
            (digits >= MIN_DIGITS).then_some((2, digits))
        });
        self.note(text, cut, JoinRule::Address);
    }

    fn note(&mut self, text: &mut String, cut: Option<(String, String)>, rule: JoinRule) {
        let Some((left, removed)) = cut else { return };
        let into = if rule == JoinRule::ClosureNumber { &mut self.ordinal } else { &mut self.identity };
        into.push_str(&removed);
        into.push(' ');
        self.used = self.used.with(rule);
        *text = left;
    }
}

/// The suffixes that compilers add to names, each with or without a number.
const SUFFIXES: [(JoinRule, &str); 7] = [
    (JoinRule::LlvmSuffix, ".llvm"),
    (JoinRule::ColdPart, ".cold"),
    (JoinRule::SplitPart, ".part"),
    (JoinRule::Isra, ".isra"),
    (JoinRule::Constprop, ".constprop"),
    (JoinRule::LtoPrivate, ".lto_priv"),
    (JoinRule::LtoPrivate, ".__uniq"),
];

/// Returns the start of a suffix: of `grind.part.0`, or of its demangled form `grind() [clone .part.0]`.
fn suffix_start(text: &str, word: &str) -> Option<usize> {
    let (body, bracket) = match text.strip_suffix(']') {
        Some(body) => (body, " [clone "),
        None => (text, ""),
    };
    let without_number = body.trim_end_matches(|c: char| c.is_ascii_digit());
    let body = without_number.strip_suffix('.').filter(|_| without_number.len() < body.len()).unwrap_or(body);
    Some(body.strip_suffix(word)?.strip_suffix(bracket)?.len())
}

/// Returns the numbers that tell copies of a function apart, and functions of one name in several files: by the rule that removes
/// them, in the order of the rules. Parts of a function are no copies of it.
pub(super) fn copy_numbers(name: &[u8]) -> Vec<(JoinRule, &str)> {
    const OF_COPIES: [JoinRule; 3] = [JoinRule::Isra, JoinRule::Constprop, JoinRule::LtoPrivate];
    if memchr::memchr(b'.', name).is_none() {
        return Vec::new();
    }
    let Ok(mut text) = std::str::from_utf8(FunctionName::parse(name).base()) else { return Vec::new() };
    let mut numbers = Vec::new();
    while let Some((rule, end)) = SUFFIXES
        .iter()
        .find_map(|(rule, word)| Some((*rule, suffix_start(text, word).filter(|&end| end > 0)?)))
    {
        let digits = |c: char| c.is_ascii_digit();
        let number = text[end..].trim_end_matches(']').rsplit(|c| !digits(c)).next().unwrap_or_default();
        if OF_COPIES.contains(&rule) && !number.is_empty() && !text[end..].contains(".__uniq") {
            numbers.push((rule, number));
        }
        text = &text[..end];
    }
    numbers.sort_unstable();
    numbers
}

fn is_of_rust(symbol: &str) -> bool {
    let symbol = symbol.trim_start_matches('_');
    symbol.starts_with('R') || symbol.contains("17h")
}

/// Returns the start of a symbol's version: `@@GLIBC_2.14`, `@GLIBC_2.2.5`.
fn version_start(text: &str) -> Option<usize> {
    let at = text.find('@')?;
    let version = text[at..].trim_start_matches('@');
    let is_version = version.starts_with(|c: char| c.is_ascii_uppercase())
        && version.contains(|c: char| c.is_ascii_digit())
        && version.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    (at > 0 && is_version).then_some(at)
}

/// Returns the length of the text to keep, and that of the closure's number to remove after it.
fn closure_number(rest: &str) -> Option<(usize, usize)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    match rest.as_bytes().first()? {
        // `{closure#0}`, `{lambda(int)#1}`, `{impl#2}`
        b'#' => {
            let count = digits(&rest[1..]);
            (count > 0 && rest[1 + count..].starts_with('}')).then_some((0, 1 + count))
        }
        // `$_0`, as Clang calls lambdas
        b'$' => {
            let count = digits(rest.strip_prefix("$_")?);
            (count > 0).then_some((2, count))
        }
        // `{closure:/path/t.php:5-5}` of PHP, `__ANON__[file.pl:12]` of Perl
        b':' => {
            let first = digits(&rest[1..]);
            let second = rest[1 + first..].strip_prefix('-').map_or(0, |rest| 1 + digits(rest));
            let end = 1 + first + second;
            (first > 0 && (rest[end..].starts_with('}') || rest[end..].starts_with(']'))).then_some((0, end))
        }
        // `main.main.func1.2` of Go
        b'.' => {
            let number = rest.strip_prefix(".func").or_else(|| rest.strip_prefix(".gowrap"))?;
            let kept = rest.len() - number.len();
            let mut count = digits(number);
            if count == 0 {
                return None;
            }
            while let Some(more) = number[count..].strip_prefix('.').map(digits).filter(|&more| more > 0) {
                count += 1 + more;
            }
            let is_end = number[count..].is_empty() || number[count..].starts_with(['.', '-', '[']);
            is_end.then_some((kept, count))
        }
        _ => None,
    }
}

/// Removes every match of `cut` from a text. Returns the rest and the removed text, or `None` if nothing matched.
fn cut_out(text: &str, cut: impl Fn(&str) -> Option<(usize, usize)>) -> Option<(String, String)> {
    let (mut left, mut removed) = (String::with_capacity(text.len()), String::new());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        match cut(rest) {
            Some((kept, gone)) => {
                left.push_str(&rest[..kept]);
                removed.push_str(&rest[kept..kept + gone]);
                rest = &rest[kept + gone..];
            }
            None => {
                left.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    (!removed.is_empty()).then_some((left, removed))
}
