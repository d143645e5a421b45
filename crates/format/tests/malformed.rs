//! A collection of broken files, one fault each: lint names the fault at its line.
//!
//! The files are not part of the project. `GRISTMILL_CORPUS` names the folder that has them below `malformed/`.
#![cfg(test)]

use std::path::PathBuf;

use gristmill_format::{Lint, Reader, Severity};

/// File, rule, line. Two files are controls with nothing wrong, and have no row.
const FAULTS: &[(&str, &str, u64)] = &[
    ("01-empty.out", "empty-file", 1),
    ("02-only-newline.out", "empty-file", 1),
    ("03-only-header.out", "no-body", 2),
    ("04-trunc-mid-cost.out", "truncated", 24),
    ("06-trunc-after-calls.out", "call-without-cost", 21),
    ("11-dup-event-name.out", "duplicate-event", 12),
    ("14-too-few-costs.out", "fewer-costs", 18),
    ("15-no-costs.out", "no-costs", 18),
    ("17-id-redefined.out", "redefined-name", 23),
    ("18-calls-no-cost.out", "call-without-cost", 21),
    ("19-calls-eof.out", "call-without-cost", 21),
    ("21-calls-no-args.out", "bad-count", 21),
    ("22-calls-no-pos.out", "target-missing", 21),
    ("23-calls-negative.out", "negative-count", 21),
    ("24-calls-zero.out", "zero-count", 21),
    ("25-calls-nonnum.out", "bad-count", 21),
    ("26-cost-over-u64.out", "cost-too-large", 24),
    ("27-cost-u64max.out", "sum-overflow", 2),
    ("30-cost-float.out", "fractional-cost", 24),
    ("32-cost-nonnum.out", "bad-cost", 24),
    ("33-pos-underflow.out", "position-below-zero", 19),
    ("34-pos-overflow.out", "position-too-large", 19),
    ("35-instr-underflow.out", "position-below-zero", 19),
    ("36-0x-nodigits.out", "bad-position", 18),
    ("37-0xZZ.out", "bad-position", 18),
    ("38-hex-upper.out", "capital-hex", 18),
    ("39-hex-17digits.out", "position-too-large", 18),
    ("40-star-first.out", "relative-without-base", 18),
    ("41-plus-alone.out", "bad-position", 19),
    ("43-plusplus.out", "bad-position", 19),
    ("44-non-utf8.out", "not-utf8", 17),
    ("45-latin1-path.out", "not-utf8", 16),
    ("46-nul-in-name.out", "nul-byte", 17),
    ("48-crlf.out", "line-end-crlf", 1),
    ("49-cr-only.out", "line-end-cr", 1),
    ("50-mixed-eol.out", "line-end-mixed", 10),
    ("52-utf16.out", "not-a-profile", 1),
    ("55-million-spaces.out", "extra-blanks", 18),
    ("59-id-negative.out", "odd-name-number", 20),
    ("60-id-unclosed.out", "unclosed-name-number", 17),
    ("61-id-empty.out", "odd-name-number", 17),
    ("62-id-hex.out", "hexadecimal-name-number", 20),
    ("63-id-zero.out", "name-number-zero", 20),
    ("64-name-parens.out", "parenthesis-name", 17),
    ("65-name-paren-num.out", "ambiguous-name", 16),
    ("66-name-empty.out", "empty-name", 17),
    ("68-unknown-headers.out", "unknown-header", 12),
    ("69-unknown-body.out", "unknown-body-line", 19),
    ("69-unknown-body.out", "unknown-line", 21),
    ("70-unknown-positions.out", "unknown-position", 11),
    ("72-version-2.out", "unknown-version", 2),
    ("74-version-096.out", "unknown-version", 2),
    ("76-no-fn.out", "cost-without-function", 2),
    ("78-summary-mismatch.out", "summary-above-sum", 13),
    ("79-summary-u64wrap.out", "summary-wrapped", 13),
    ("80-summary-short.out", "summary-length", 13),
    ("81-summary-long.out", "summary-length", 13),
    ("82-totals-first.out", "totals-early", 1),
    ("84-event-formula-cycle.out", "event-formula", 12),
    ("90-self-call.out", "recursion", 21),
    ("92-jump-nopos.out", "target-missing", 18),
    ("93-jump-eof.out", "jump-without-source", 28),
    ("94-body-after-totals.out", "body-after-totals", 29),
    ("95-part-duplicate.out", "duplicate-part", 29),
    ("96-part-events-differ.out", "events-change", 39),
    ("97-part-positions-differ.out", "positions-change", 38),
    ("98-part-garbage-between.out", "several-profiles", 29),
    ("99-binary-elf.out", "not-a-profile", 1),
    ("A6-trailing-garbage.out", "unknown-line", 28),
    ("A7-tabs.out", "tab-separator", 18),
    ("A8-leading-space.out", "leading-blank", 1),
    ("A9-space-around-eq.out", "blank-before-separator", 17),
    ("B0-uppercase-keys.out", "key-case", 12),
    ("B1-comment-everywhere.out", "comment-in-call", 42),
    ("B4-two-calls.out", "call-without-cost", 21),
    ("B5-cfn-twice.out", "callee-named-twice", 21),
    ("B8-line-number-huge.out", "huge-line-number", 18),
    ("B9-thread-huge.out", "bad-header-value", 4),
    ("C0-part-huge.out", "bad-header-value", 6),
    ("C1-only-calls.out", "no-self-cost", 4),
    ("C2-name-with-newline-escape.out", "escape-in-name", 17),
    ("C3-name-1000-dup.out", "name-with-many-numbers", 128),
    ("C4-control-chars.out", "control-in-name", 17),
    ("C5-html-name.out", "markup-in-name", 17),
    ("C6-path-traversal.out", "path-leaves-tree", 16),
    ("C7-fifo-path.out", "device-path", 16),
];

fn folder() -> Option<PathBuf> {
    let Some(corpus) = std::env::var_os("GRISTMILL_CORPUS") else {
        println!("skipped: GRISTMILL_CORPUS names no folder");
        return None;
    };
    let folder = PathBuf::from(corpus).join("malformed");
    assert!(folder.is_dir(), "GRISTMILL_CORPUS has no folder malformed/");
    Some(folder)
}

#[test]
fn every_fault_is_named_at_its_line() {
    let Some(folder) = folder() else { return };
    for &(name, rule, line) in FAULTS {
        let file = std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut found = Vec::new();
        Lint::default().run(&file, |finding| found.push((finding.rule.name, finding.location.line)));
        assert!(found.contains(&(rule, line)), "{name}: {rule} at line {line} is missing in {found:?}");
    }
    println!("{} faults named", FAULTS.len());
}

#[test]
fn every_file_has_a_row() {
    let Some(folder) = folder() else { return };
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| {
            name.ends_with(".out") && !name.starts_with("00-valid") && !name.starts_with("A1-gzip")
        })
        .collect();
    files.sort();
    let missing: Vec<&String> =
        files.iter().filter(|name| FAULTS.iter().all(|(file, ..)| file != name)).collect();
    assert!(missing.is_empty(), "no row for {missing:?}");
}

#[test]
fn controls_are_clean() {
    let Some(folder) = folder() else { return };
    for name in ["00-valid-line.out", "00-valid-instr.out"] {
        let file = std::fs::read(folder.join(name)).unwrap();
        let mut worst = None;
        Lint::default().run(&file, |finding| worst = worst.max(Some(finding.rule.severity)));
        assert!(worst < Some(Severity::Warning), "{name} is valid");
        assert!(Reader::new(&file).all(|record| record.is_ok()));
    }
}
