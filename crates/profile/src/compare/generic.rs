//! Names of generic functions and templates without their arguments.

/// Returns a name without generic arguments, parameters and return type, or `None` if it has no generic arguments and cannot
/// be an instance of anything. Both manglings of Rust give the same text.
pub(super) fn without_arguments(name: &[u8]) -> Option<Vec<u8>> {
    let name = std::str::from_utf8(name).ok()?;
    if name.contains("operator") || name.starts_with("0x") {
        return None;
    }
    let mut bare = String::with_capacity(name.len());
    let mut rest = name;
    // Open brackets of a type with a trait: `<T as Trait>`.
    let mut open: usize = 0;
    while let Some(next) = rest.chars().next() {
        match next {
            '<' if !bare.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '}')) => {
                open += 1;
                rest = &rest[1..];
            }
            '<' => {
                rest = &rest[bracketed(rest, '<', '>')?..];
                let end = bare.trim_end_matches(':').len();
                bare.truncate(end);
            }
            '>' if open > 0 => {
                open -= 1;
                rest = &rest[1..];
            }
            '(' if rest.starts_with("(anonymous namespace)") => {
                bare.push_str("(anonymous_namespace)");
                rest = &rest["(anonymous namespace)".len()..];
            }
            // Parameters end a name of C++. What follows can be a level of recursion.
            '(' if !bare.is_empty() => rest = &rest[bracketed(rest, '(', ')')?..],
            '{' if rest.starts_with("{{closure}}") => {
                bare.push_str("{closure}");
                rest = &rest["{{closure}}".len()..];
            }
            next => {
                bare.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    let bare = bare.trim_end_matches(" const").trim();
    // A template has its return type before it.
    let bare = match bare.rsplit_once(' ') {
        Some((_, last)) if !bare.contains(" as ") => last,
        _ => bare,
    };
    (!bare.is_empty()).then(|| bare.as_bytes().to_vec())
}

/// Returns `true` if the name has generic arguments before its parameters, as instances of a template have.
pub(super) fn is_instance(name: &[u8]) -> bool {
    let name = name.strip_prefix(b"(anonymous namespace)").unwrap_or(name);
    let parameters = name.iter().position(|&byte| byte == b'(').unwrap_or(name.len());
    name[..parameters].contains(&b'<')
}

/// Returns `true` if a name of a generic function has parameters in place of its arguments, or none: `Vec<T,A>::push`.
pub(super) fn has_no_arguments(name: &[u8]) -> bool {
    let mut depth = 0usize;
    let mut before = b' ';
    // Within the bracket of a type with a trait, paths are as long as they are.
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut length = 0usize;
    for &byte in name {
        match byte {
            b'<' if depth > 0 || is_word(before) || before == b':' => depth += 1,
            b'>' if depth > 0 && before != b'-' => depth -= 1,
            _ => {}
        }
        length = if is_word(byte) { length + 1 } else { 0 };
        if depth > 0 && (length > 1 || byte == b':') {
            return false;
        }
        before = byte;
    }
    true
}

/// Returns the length of a bracket with all in it. An arrow closes none.
fn bracketed(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0usize;
    let mut before = ' ';
    for (at, next) in text.char_indices() {
        if next == open {
            depth += 1;
        } else if next == close && !(close == '>' && before == '-') {
            depth -= 1;
            if depth == 0 {
                return Some(at + next.len_utf8());
            }
        }
        before = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{has_no_arguments, without_arguments};

    #[test]
    fn instances_have_one_name() {
        for (name, bare) in [
            (
                "core::slice::sort::merge::<&work::Item, <[T]>::sort_by<f>::{closure#0}>",
                "core::slice::sort::merge",
            ),
            ("core::slice::sort::merge", "core::slice::sort::merge"),
            ("<alloc::vec::Vec<T> as a::From<T,I>>::from_iter", "alloc::vec::Vec as a::From::from_iter"),
            (
                "<alloc::vec::Vec<u8> as a::From<u8, Map<b::C>>>::from_iter",
                "alloc::vec::Vec as a::From::from_iter",
            ),
            ("<alloc::vec::Vec<u8>>::push", "alloc::vec::Vec::push"),
            ("alloc::vec::Vec<T,A>::push", "alloc::vec::Vec::push"),
            ("std::rt::start::{{closure}}", "std::rt::start::{closure}"),
            (
                "void std::vector<int, std::allocator<int> >::_M_insert<int const&>(int*, int)",
                "std::vector::_M_insert",
            ),
            ("std::map<long, int>::_M_erase(std::node<long>*)'2", "std::map::_M_erase'2"),
            ("(anonymous namespace)::f<int>(int)", "(anonymous_namespace)::f"),
        ] {
            let found = without_arguments(name.as_bytes()).map(|name| String::from_utf8(name).unwrap());
            assert_eq!(found.as_deref(), Some(bare), "{name}");
        }
        for (name, is_erased) in [
            ("core::slice::merge", true),
            ("<alloc::vec::Vec<T> as a::From<T,I>>::from_iter", true),
            ("alloc::vec::Vec<T,A>::push", true),
            ("core::slice::merge::<u8, f>", false),
            ("std::vector<int>::push", false),
        ] {
            assert_eq!(has_no_arguments(name.as_bytes()), is_erased, "{name}");
        }
        assert_eq!(without_arguments(b"f<"), None);
        assert_eq!(without_arguments(b"a::operator<(b)"), None);
    }
}
