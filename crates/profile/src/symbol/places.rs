//! Paths as people read them: normalized, and shortened from the front.

use std::borrow::Cow;
use std::collections::HashMap;

use unicode_width::UnicodeWidthStr as _;

/// Normalizes a path for people: without `.`, doubled separators, and `..` behind a directory. A directory that a compiler wrote
/// before a path that has it already is left out.
///
/// ```
/// use gristmill_profile::symbol::normal_path;
///
/// assert_eq!(normal_path("./elf/./elf/rtld.c"), "elf/rtld.c");
/// assert_eq!(normal_path("/build/glibc//csu/../csu/libc-start.c"), "/build/glibc/csu/libc-start.c");
/// assert_eq!(normal_path("src/main.c"), "src/main.c");
/// ```
pub fn normal_path(path: &str) -> Cow<'_, str> {
    if !path.contains("./") && !path.contains("//") || path.contains("://") {
        return Cow::Borrowed(path);
    }
    // The directory of a compilation, and the path of the file that was compiled.
    let path = match path.rsplit_once("/./") {
        Some((directory, file)) if begins_in(directory, file) => file,
        _ => path,
    };
    let is_rooted = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            ".." if is_rooted && kept.is_empty() => {}
            segment => kept.push(segment),
        }
    }
    Cow::Owned(format!("{}{}", if is_rooted { "/" } else { "" }, kept.join("/")))
}

/// Returns `true` if a relative path begins with the relative directory before it: `./elf` and `elf/rtld.c`.
fn begins_in(directory: &str, file: &str) -> bool {
    let directory = directory.strip_prefix("./").unwrap_or(directory);
    let rest = file.strip_prefix(directory);
    !directory.is_empty() && !directory.starts_with('/') && rest.is_some_and(|rest| rest.starts_with('/'))
}

/// Shortens a path to a width in columns of a terminal. It loses its front, not its end; the name of the file stays.
///
/// ```
/// use gristmill_profile::symbol::shorten_path;
///
/// assert_eq!(shorten_path("/usr/lib/x86_64-linux-gnu/libc.so.6", 29), "…/x86_64-linux-gnu/libc.so.6");
/// assert_eq!(shorten_path("/usr/lib/x86_64-linux-gnu/libc.so.6", 5), "…/libc.so.6");
/// ```
pub fn shorten_path(path: &str, columns: usize) -> Cow<'_, str> {
    if path.width() <= columns {
        return Cow::Borrowed(path);
    }
    // The separators from the end, while what is behind them fits.
    let mut width = 1;
    let mut start = None;
    let mut end = path.len();
    for (at, _) in path.rmatch_indices(['/', '\\']) {
        width += path[at..end].width();
        end = at;
        if at == 0 || start.is_some() && width > columns {
            break;
        }
        start = Some(at);
        if width > columns {
            break;
        }
    }
    start.map_or(Cow::Borrowed(path), |start| Cow::Owned(format!("…{}", &path[start..])))
}

/// Normalizes and shortens the paths of one table. Paths that would read the same are shown in full.
///
/// ```
/// use gristmill_profile::symbol::shorten_paths;
///
/// assert_eq!(shorten_paths(&["/srv/a/x.c", "/srv/b/x.c", "/srv/b/y.c"], 6), ["/srv/a/x.c", "/srv/b/x.c", "…/y.c"]);
/// assert_eq!(shorten_paths(&["./x.c", "x.c"], 6), ["./x.c", "x.c"]);
/// ```
pub fn shorten_paths(paths: &[&str], columns: usize) -> Vec<String> {
    let forms: [fn(&str, usize) -> String; 3] = [
        |path, columns| shorten_path(&normal_path(path), columns).into_owned(),
        |path, _| normal_path(path).into_owned(),
        |path, _| path.to_owned(),
    ];
    let mut shown: Vec<String> = Vec::new();
    for form in forms {
        let is_first = shown.is_empty();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for text in &shown {
            *counts.entry(text).or_default() += 1;
        }
        let longer = |(nth, path): (usize, &&str)| {
            let is_unique = !is_first && counts.get(&*shown[nth]) == Some(&1);
            if is_unique { shown[nth].clone() } else { form(path, columns) }
        };
        shown = paths.iter().enumerate().map(longer).collect();
    }
    shown
}

/// The text of an object or file that a profile does not name.
const UNKNOWN: &str = "???";

/// Returns the forms of a source file and an object beside a name, the longest first: `src/a.c in mill`, `src/a.c`, `a.c`.
///
/// ```
/// use gristmill_profile::symbol::places;
///
/// assert_eq!(places("./src/a.c", "/bin/mill"), ["src/a.c in mill", "src/a.c", "a.c"]);
/// assert_eq!(places("???", "/bin/mill"), ["mill"]);
/// assert!(places("", "???").is_empty());
/// ```
pub fn places(file: &str, object: &str) -> Vec<String> {
    let known = |text: &str| !text.is_empty() && text != UNKNOWN;
    let base = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
    let file = known(file).then(|| normal_path(file));
    let object = known(object).then(|| base(object));
    let mut forms = match (file, object) {
        (Some(file), Some(object)) => {
            vec![format!("{file} in {object}"), file.to_string(), base(&file)]
        }
        (Some(file), None) => vec![file.to_string(), base(&file)],
        (None, Some(object)) => vec![object],
        (None, None) => Vec::new(),
    };
    forms.dedup();
    forms
}
