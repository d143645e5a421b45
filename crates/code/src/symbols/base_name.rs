//! Marks that compilers and linkers add to names.

/// Marks of compilers for a part or a copy of a function, up to the next point.
const CLONE_MARKS: [&[u8]; 9] =
    [b"part", b"cold", b"constprop", b"isra", b"lto_priv", b"llvm", b"localalias", b"warm", b"unlikely"];

/// Returns a name without its version (`@@GLIBC_2.34`), its stub (`@plt`) and marks of clones (`.part.0`, `.cold`).
///
/// A point in other places belongs to the name, as in names of Go.
pub(crate) fn base_name(name: &[u8]) -> &[u8] {
    let mut base = name;
    if let Some(at) = base.iter().position(|byte| *byte == b'@').filter(|at| *at > 0) {
        base = &base[..at];
    }
    while let Some((before, mark)) = last_mark(base) {
        let is_number = !mark.is_empty() && mark.iter().all(u8::is_ascii_digit);
        if CLONE_MARKS.contains(&mark) {
            base = before;
        } else if is_number
            && let Some((before, mark)) = last_mark(before)
            && CLONE_MARKS.contains(&mark)
        {
            base = before;
        } else {
            break;
        }
    }
    base
}

fn last_mark(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = name.iter().rposition(|byte| *byte == b'.').filter(|at| *at > 0)?;
    Some((&name[..at], &name[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::base_name;

    #[test]
    fn marks_are_removed_and_names_kept() {
        for (name, base) in [
            ("grind", "grind"),
            ("grind.cold", "grind"),
            ("grind.part.0", "grind"),
            ("grind.constprop.0.isra.3", "grind"),
            ("_ZN4mill5grindEv.llvm.123456", "_ZN4mill5grindEv"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("puts@plt", "puts"),
            ("main.main", "main.main"),
            ("type..eq.5", "type..eq.5"),
            (".cold", ".cold"),
            ("@x", "@x"),
        ] {
            assert_eq!(base_name(name.as_bytes()), base.as_bytes(), "{name}");
        }
    }
}
