//! What there is to say about a file: what the library finds in the profile, and what only the program can know, as the
//! library never sees a packed file.

use std::path::Path;

use gristmill_format::{Finding, Lint, Location, RULES, Rule, Survey};

use crate::args::is_dash;
use crate::input::{Input, Packing};

/// Hands out all findings, those about the packing first, and tells what the profile holds.
pub(crate) fn examine<'a>(input: &'a Input, lint: Lint, mut found: impl FnMut(Finding<'a>)) -> Survey<'a> {
    for (rule, message) in packing_findings(input) {
        let location = Location { byte: 0, line: 1 };
        found(Finding { rule, location, column: 1, length: 0, message: message.into(), text: b"" });
    }
    // Where nothing could be unpacked, there is nothing to say about it.
    if input.damage.is_some() && input.bytes.is_empty() {
        return Survey::new(b"");
    }
    lint.run(&input.bytes, found)
}

/// What the library cannot know, as it never sees a packed file.
fn packing_findings(input: &Input) -> Vec<(&'static Rule, String)> {
    let mut findings = Vec::new();
    if let (Some(rule), Some(damage)) = (rule("damaged-compression"), &input.damage) {
        findings.push((rule, damage.clone()));
    }
    if let (Some(rule), Some(message)) =
        (rule("compressed-content"), name_mismatch(&input.path, input.packing))
    {
        findings.push((rule, message));
    }
    findings
}

/// What is wrong with the name, given how the content is packed. Standard input has no name.
fn name_mismatch(path: &Path, packing: Option<Packing>) -> Option<String> {
    if is_dash(path) {
        return None;
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    let told = match ending.as_str() {
        "gz" => Some(Packing::Gzip),
        "zst" | "zstd" => Some(Packing::Zstd),
        "xz" => Some(Packing::Xz),
        "bz2" => Some(Packing::Bzip2),
        _ => None,
    };
    match (packing, told) {
        (Some(packing), None) => {
            Some(format!("the content is packed with {packing}, which the name does not tell"))
        }
        (None, Some(told)) => Some(format!("the name tells of {told}, but the content is not packed")),
        (Some(packing), Some(told)) if packing != told => {
            Some(format!("the name tells of {told}, but the content is packed with {packing}"))
        }
        _ => None,
    }
}

/// The rule of that name.
pub(crate) fn rule(name: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_rules_exist() {
        assert!(rule("damaged-compression").is_some());
        assert!(rule("compressed-content").is_some());
    }

    #[test]
    fn names_and_packings() {
        for (name, packing, is_fine) in [
            ("a.out", None, true),
            ("a.gz", Some(Packing::Gzip), true),
            ("A.GZ", Some(Packing::Gzip), true),
            ("a.out", Some(Packing::Gzip), false),
            ("a.xz", Some(Packing::Gzip), false),
            ("a.zst", None, false),
            ("-", Some(Packing::Xz), true),
        ] {
            assert_eq!(name_mismatch(Path::new(name), packing).is_none(), is_fine, "{name}");
        }
    }
}
