//! Profiles of a few functions, and what `gristmill diff` says of two of them.

use super::{folder, json, run_in, stdout, whole};

/// A call: the callee, the count of calls, and their inclusive cost.
pub(crate) type Call<'a> = (&'a str, u32, u32);

/// A function: its name, its self cost, and its calls.
pub(crate) type Function<'a> = (&'a str, u32, &'a [Call<'a>]);

pub(crate) fn profile(functions: &[Function<'_>]) -> String {
    let mut text = "events: Ir\nfl=mill.c\n".to_owned();
    for (nth, (name, own, calls)) in functions.iter().enumerate() {
        text.push_str(&format!("fn={name}\n{} {own}\n", 10 * nth + 1));
        for (callee, count, cost) in *calls {
            text.push_str(&format!("cfn={callee}\ncalls={count} 1\n{} {cost}\n", 10 * nth + 2));
        }
    }
    text
}

/// The report on one line, and the causes: their effects and texts.
pub(crate) fn compared(base: &str, new: &str, more: &[&str]) -> (String, Vec<(i128, String)>) {
    let files = folder(&[("base.out", base.as_bytes()), ("new.out", new.as_bytes())]);
    let arguments = [&["diff", "base.out", "new.out", "--min", "0"], more].concat();
    let shown = stdout(&run_in(files.path(), &arguments));
    let answer = json(&run_in(files.path(), &[&arguments[..], &["--format", "json"]].concat()));
    let causes: Vec<(i128, String)> = answer["causes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cause| (whole(&cause["effect"]), cause["text"].as_str().unwrap().to_owned()))
        .collect();
    let sum: i128 = causes.iter().map(|(effect, _)| effect).sum();
    assert_eq!(sum, whole(&answer["totals"]["Ir"]["change"]));
    (shown.split_whitespace().collect::<Vec<_>>().join(" "), causes)
}

pub(crate) fn told(causes: &[(i128, &str)]) -> Vec<(i128, String)> {
    causes.iter().map(|(effect, text)| (*effect, (*text).to_owned())).collect()
}
