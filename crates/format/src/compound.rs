//! Compound names: names made of references to other names, as Callgrind writes them with `--compress-mangled=yes`.

use std::borrow::Cow;

use crate::name::{Spelled, looks_numbered, spelled};

/// The longest name that [`Reader::expand`](crate::Reader::expand) makes: longer than any that a compiler makes.
pub(crate) const MAX_EXPANDED_BYTES: usize = 1 << 20;

/// Expands a compound name: `(1116)'2'(1112)` becomes the name of 1116, `'2'` and the name of 1112.
///
/// Returns `None` if the text is no compound name, refers to an id without a meaning, or would become another compound name
/// (one that stands for itself would not end).
///
/// A short line can refer to a long name many times. So each byte that is put in is taken from `budget`, also in names that
/// come to nothing; when it is used up, the result is `None`.
///
/// ```
/// use std::borrow::Cow;
/// use gristmill_format::raw::expand_compound_name;
///
/// let names = |id| (id == 7).then_some(Cow::Borrowed(&b"fib"[..]));
/// let mut budget = 100;
/// assert_eq!(expand_compound_name(b"(7)'2", &mut budget, names), Some(b"fib'2".to_vec()));
/// assert_eq!(expand_compound_name(b"fib'2", &mut budget, names), None);
/// assert_eq!(budget, 96);
/// ```
pub fn expand_compound_name<'a>(
    text: &[u8],
    budget: &mut usize,
    mut meaning: impl FnMut(u64) -> Option<Cow<'a, [u8]>>,
) -> Option<Vec<u8>> {
    let mut expanded = Vec::new();
    for (index, piece) in text.split(|&byte| byte == b'\'').enumerate() {
        if index > 0 {
            expanded.push(b'\'');
        }
        let put_in = match spelled(piece) {
            Spelled::Numbered { id, rest: b"" } => meaning(id)?,
            // The recursion level.
            _ if index > 0 && !piece.is_empty() && piece.iter().all(u8::is_ascii_digit) => piece.into(),
            _ => return None,
        };
        *budget = budget.checked_sub(put_in.len())?;
        expanded.extend_from_slice(&put_in);
    }
    (!looks_numbered(&expanded)).then_some(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(text: &[u8], budget: &mut usize) -> Option<Vec<u8>> {
        let names = |id: u64| match id {
            1116 => Some(Cow::Borrowed(&b"fib"[..])),
            1112 => Some(Cow::Borrowed(&b"main"[..])),
            2 => Some(Cow::Borrowed(&b"(1116)"[..])),
            _ => None,
        };
        expand_compound_name(text, budget, names)
    }

    #[test]
    fn references_expand() {
        let mut budget = 1000;
        assert_eq!(expand(b"(1116)'2'(1112)", &mut budget).as_deref(), Some(&b"fib'2'main"[..]));
        assert_eq!(expand(b"(1116)", &mut budget).as_deref(), Some(&b"fib"[..]));
        for plain in
            [&b"fib'2"[..], b"(3) r.c", b"(below main)", b"(1116)'x", b"(7)'(1112)", b"2'(1116)", b"(2)", b""]
        {
            assert_eq!(expand(plain, &mut budget), None, "{}", plain.escape_ascii());
        }
    }

    #[test]
    fn names_that_come_to_nothing_use_the_budget() {
        let mut budget = 17;
        assert_eq!(expand(b"(1116)'2'(1112)", &mut budget).as_deref(), Some(&b"fib'2'main"[..]));
        // Eight bytes were put in above, three by each of these.
        assert_eq!(expand(b"(1116)'x", &mut budget), None);
        assert_eq!(expand(b"(1116)'(7)", &mut budget), None);
        assert_eq!(budget, 3);
        assert_eq!(expand(b"(1112)", &mut budget), None);
        assert_eq!(expand(b"(1116)", &mut budget).as_deref(), Some(&b"fib"[..]));
    }
}
