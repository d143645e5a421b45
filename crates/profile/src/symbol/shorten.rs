//! Shortening of names, so that the function's own name stays readable.

use std::borrow::Cow;

use crate::symbol::scope::{Anatomy, Depth, operator_end};

/// Shortens a name to at most `width` characters.
///
/// The least useful parts go first: the return type, the arguments, the deepest template arguments, then all template
/// arguments, then the scope from the left. `…` marks a gap. A name that fits stays as it is.
///
/// ```
/// use gristmill_profile::symbol::shorten;
///
/// let name = "void std::sort<std::vector<Mill, std::allocator<Mill> > >(std::vector<Mill>&)";
/// assert_eq!(shorten(name, 100), name);
/// assert_eq!(shorten(name, 40), "std::sort<std::vector<…> >(…)");
/// assert_eq!(shorten(name, 16), "std::sort<…>(…)");
/// assert_eq!(shorten(name, 10), "std::sort");
/// assert_eq!(shorten(name, 6), "…sort");
/// ```
pub fn shorten(name: &str, width: usize) -> Cow<'_, str> {
    if fits(name, width) {
        return Cow::Borrowed(name);
    }
    let anatomy = Anatomy::parse(name);
    let tail = &name[anatomy.qualified.end..];
    let arguments = match tail.as_bytes() {
        [b'(', b')', ..] => "()",
        [b'(', ..] => "(…)",
        _ => "",
    };
    let mut qualified = Cow::Borrowed(&name[anatomy.qualified.clone()]);
    let left = width.checked_sub(arguments.chars().count());
    if left.is_some_and(|left| fits(&qualified, left)) {
        return Cow::Owned(format!("{qualified}{arguments}"));
    }
    // In Python, the module follows the name.
    let has_scope = !anatomy.scope.is_empty() && anatomy.scope.start < anatomy.own.start;
    if !has_scope && qualified.starts_with(['<', '{', '(']) {
        return Cow::Owned(beginning(&qualified, width));
    }
    // `<T as Trait>::f` would lose `T` with the template arguments.
    let scope = &name[anatomy.scope.clone()];
    if qualified.starts_with('<') {
        qualified = Cow::Owned(format!("{scope}::{}", &name[anatomy.own.clone()]));
    }
    for deepest in (0..MAX_SHOWN_DEPTH).rev() {
        let collapsed = collapse(&qualified, deepest);
        if left.is_some_and(|left| fits(&collapsed, left)) {
            return Cow::Owned(format!("{collapsed}{arguments}"));
        }
    }
    let collapsed = collapse(&qualified, 0);
    if fits(&collapsed, width) {
        return Cow::Owned(collapsed);
    }
    let bare = |text: String| {
        let length = text.strip_suffix("<…>").map_or(text.len(), str::len);
        text[..length].trim_end_matches([':', ' ']).to_owned()
    };
    let collapsed = bare(collapsed);
    if fits(&collapsed, width) {
        return Cow::Owned(collapsed);
    }
    // The longest end that fits, from the beginning of a word.
    let own = bare(collapse(&name[anatomy.own], 0));
    let mut best = None;
    let mut left = width.saturating_sub(1);
    for (at, character) in collapsed.char_indices().rev() {
        if left == 0 {
            break;
        }
        left -= 1;
        let is_start = character.is_alphanumeric() || matches!(character, '_' | '{' | '~' | '<');
        let before = collapsed[..at].chars().next_back();
        if is_start && before.is_some_and(|before| matches!(before, ':' | '.' | '\\' | '>' | '#' | '/' | ' '))
        {
            best = Some(at);
        }
    }
    match best.filter(|&at| collapsed.len() - at >= own.len()) {
        Some(at) => Cow::Owned(format!("…{}", &collapsed[at..])),
        // The own name is also too long. Its beginning says more than its end.
        None => Cow::Owned(beginning(&own, width)),
    }
}

/// The beginning of a text that fits, with `…` if there was more.
fn beginning(text: &str, width: usize) -> String {
    if fits(text, width) {
        return text.to_owned();
    }
    let Some(kept) = width.checked_sub(1) else { return String::new() };
    text.chars().take(kept).chain(['…']).collect()
}

/// The greatest depth of template arguments that are shown.
const MAX_SHOWN_DEPTH: usize = 8;

fn fits(text: &str, width: usize) -> bool {
    text.len() <= width || text.chars().nth(width).is_none()
}

/// Replaces text in brackets deeper than `deepest` by `…`.
fn collapse(text: &str, deepest: usize) -> String {
    let mut collapsed = String::with_capacity(text.len());
    let mut depth = Depth::default();
    let mut was_left_out = false;
    let mut signs_end = 0;
    for (at, character) in text.char_indices() {
        // The signs of `operator<<` are no brackets.
        if character == 'o' && at >= signs_end && text[at..].starts_with("operator") {
            signs_end = operator_end(text, at).unwrap_or(at);
        }
        let before = depth.level();
        if at >= signs_end {
            depth.pass(text, at);
        }
        if before.min(depth.level()) <= deepest {
            collapsed.push(character);
            was_left_out = false;
        } else if !std::mem::replace(&mut was_left_out, true) {
            collapsed.push('…');
        }
    }
    collapsed
}
