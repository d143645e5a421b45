//! Settings of a benchmark, and what else must be the same for two of its measurements to be comparable.

use std::collections::{BTreeMap, BTreeSet};

use gristmill_profile::Profile;
use gristmill_profile::merge::creators;

use crate::config::{Benchmark, ProfileSource};

/// Descriptions of the simulated machine.
const CACHES: [&str; 3] = ["I1 cache", "D1 cache", "LL cache"];
const TOOL: &str = "tool";
const COMMAND: &str = "command";
/// Key of the variants of the string functions; see [`string_functions`].
const STRINGS: &str = "string functions";

/// Key of the count of files that a pattern or a folder of gungraun has.
pub const FILES: &str = "files";

/// Key of the count of processes, where a recording has those of all programs that it starts.
pub const RECORDED_PROCESSES: &str = "recorded processes";

/// Keys that baselines of earlier versions lack: such a baseline is comparable with any value.
const LATER_KEYS: [&str; 2] = [RECORDED_PROCESSES, FILES];

/// Returns the settings that the configuration has for a benchmark. What a setting is not about has no entry.
pub(crate) fn settings(benchmark: &Benchmark) -> BTreeMap<String, Vec<String>> {
    let mut settings: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut put = |key: &str, values: Vec<String>| {
        if !values.is_empty() {
            settings.insert(key.to_owned(), values);
        }
    };
    match &benchmark.source {
        ProfileSource::Files(patterns) => put("profile", patterns.clone()),
        ProfileSource::Gungraun(folder) => put("gungraun", vec![folder.clone()]),
        ProfileSource::Recording(recording) => {
            put(COMMAND, recording.command.clone());
            put("options", recording.options.clone());
            let variables = recording.environment.iter();
            put("environment", variables.map(|(name, value)| format!("{name}={value}")).collect());
        }
    }
    put("setup", benchmark.setup.iter().map(|words| words.join(" ")).collect());
    put("inlined", if benchmark.inlined { vec!["yes".to_owned()] } else { Vec::new() });
    let patterns: BTreeSet<&str> = benchmark.ignore.iter().map(|pattern| pattern.regex.as_str()).collect();
    put("ignore", patterns.into_iter().map(str::to_owned).collect());
    settings
}

/// Returns tool, command, caches and string functions of a profile.
pub(crate) fn environment(profile: &Profile, benchmark: &Benchmark, root: &[u8]) -> BTreeMap<String, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes.trim_ascii()).into_owned();
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for part in profile.parts() {
        for creator in creators(&part) {
            values.entry(TOOL.to_owned()).or_default().insert(text(creator));
        }
        // The command of a recording is in its settings.
        if let Some(command) = part.command()
            && !matches!(benchmark.source, ProfileSource::Recording(_))
        {
            let command = normal_command(&text(command), &String::from_utf8_lossy(root));
            values.entry(COMMAND.to_owned()).or_default().insert(command);
        }
        for (kind, value) in part.descriptions().map(|(kind, value)| (text(kind), text(value))) {
            if CACHES.contains(&kind.as_str()) && !value.is_empty() {
                values.entry(kind).or_default().insert(value);
            }
        }
    }
    let strings = string_functions(profile);
    if !strings.is_empty() {
        values.insert(STRINGS.to_owned(), strings);
    }
    let joined = |kind: &str| if kind == STRINGS { " " } else { " | " };
    values
        .into_iter()
        .map(|(kind, values)| {
            let separator = joined(&kind);
            (kind, values.into_iter().collect::<Vec<_>>().join(separator))
        })
        .collect()
}

/// Returns a command without what differs between machines and builds: the path of the program, the root of the repository in
/// arguments, and hashes of Cargo. The arguments that gungraun gives to its benchmarks number them, so they are left out.
fn normal_command(command: &str, root: &str) -> String {
    let mut words = command.split_ascii_whitespace();
    let program = words.next().unwrap_or_default();
    let mut normal = without_hash(program.rsplit('/').next().unwrap_or(program)).to_owned();
    for word in words {
        if word == "--gungraun-run" || word == "--iai-run" {
            break;
        }
        normal.push(' ');
        let below_root = if root.is_empty() { None } else { word.strip_prefix(root) };
        normal.push_str(below_root.map_or(word, |rest| rest.trim_start_matches('/')));
    }
    normal
}

/// Removes the hash that Cargo appends to the name of a benchmark.
fn without_hash(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((stem, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => stem,
        _ => name,
    }
}

/// Returns the variants of `memcpy` and similar functions that ran, such as `memcpy_avx_unaligned`. The C library selects them
/// by the processor, and each has a different cost.
fn string_functions(profile: &Profile) -> BTreeSet<String> {
    let variant = |name: &[u8]| -> Option<String> {
        let name = std::str::from_utf8(name).ok()?.strip_prefix("__")?;
        let name = name.split('\'').next()?;
        split_variant(name).map(|_| name.to_owned())
    };
    profile.functions().filter_map(|id| variant(profile.function(id).name)).collect()
}

/// Splits the name of a variant into the function and the processor's feature.
fn split_variant(name: &str) -> Option<(&str, &str)> {
    let is_string =
        ["mem", "str", "stp", "wcs", "wmem", "rawmem"].iter().any(|prefix| name.starts_with(prefix));
    let (function, variant) = name.split_once('_').filter(|_| is_string)?;
    let known = ["sse", "ssse", "avx", "evex", "erms", "neon", "sve", "mops", "power", "z13", "generic"];
    known.iter().any(|prefix| variant.starts_with(prefix)).then_some((function, variant))
}

/// Conditions that must be the same for two measurements to be comparable.
#[derive(Clone, Copy)]
pub(crate) struct Conditions<'m> {
    pub(crate) settings: &'m BTreeMap<String, Vec<String>>,
    pub(crate) environment: &'m BTreeMap<String, String>,
}

/// Returns the differences between the baseline and now that make costs not comparable, as sentences.
pub(crate) fn differences(baseline: Conditions<'_>, measurement: Conditions<'_>) -> Vec<String> {
    let mut differences = Vec::new();
    let mut compare = |kind: &str, then: Option<String>, now: Option<String>| {
        if then != now {
            let [then, now] = [then, now].map(|value| value.unwrap_or_else(|| "none".to_owned()));
            differences.push(format!("{kind}: {then} in the baseline, {now} now"));
        }
    };
    for kind in keys(baseline.settings, measurement.settings) {
        let shown =
            |settings: &BTreeMap<String, Vec<String>>| settings.get(kind).map(|values| shown_list(values));
        compare(kind, shown(baseline.settings), shown(measurement.settings));
    }
    for kind in keys(baseline.environment, measurement.environment) {
        let (then, now) = (baseline.environment.get(kind), measurement.environment.get(kind));
        if then.is_none() && LATER_KEYS.contains(&kind.as_str()) {
            continue;
        }
        if kind != STRINGS {
            compare(kind, then.cloned(), now.cloned());
        } else if let (Some(then), Some(now)) = (then, now) {
            let (then, now) = other_variants(then, now);
            if then != now {
                compare(kind, Some(then), Some(now));
            }
        }
    }
    differences
}

fn keys<'m, V>(
    then: &'m BTreeMap<String, V>,
    now: &'m BTreeMap<String, V>,
) -> impl Iterator<Item = &'m String> {
    then.keys().chain(now.keys()).collect::<BTreeSet<_>>().into_iter()
}

/// Returns a list as text; quotes show which blanks are inside an element.
fn shown_list(values: &[String]) -> String {
    let quoted = values.iter().map(|value| match value.contains(' ') || value.is_empty() {
        true => format!("`{value}`"),
        false => value.clone(),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Returns the variants that differ among the functions that ran at both times. A function that is new is none of them: the
/// program may have changed.
fn other_variants(then: &str, now: &str) -> (String, String) {
    let by_function = |text: &str| -> BTreeMap<String, BTreeSet<String>> {
        let mut variants: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for name in text.split(' ') {
            let function = split_variant(name).map_or(name, |(function, _)| function);
            variants.entry(function.to_owned()).or_default().insert(name.to_owned());
        }
        variants
    };
    let (then, now) = (by_function(then), by_function(now));
    let differs = |function: &&String| {
        let (then, now) = (then.get(*function), now.get(*function));
        matches!((then, now), (Some(then), Some(now)) if then.is_disjoint(now))
    };
    let list = |variants: &BTreeMap<String, BTreeSet<String>>| {
        let names = then.keys().filter(differs).filter_map(|function| variants.get(function)).flatten();
        names.cloned().collect::<Vec<_>>().join(" ")
    };
    (list(&then), list(&now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_lose_what_differs_between_builds() {
        for (command, expected) in [
            ("./bench 1000", "bench 1000"),
            ("/work/target/release/deps/fib-0123456789abcdef /work/in.txt", "fib in.txt"),
            ("/w/fib-0123456789abcdef --gungraun-run d:d:000000 00000 00001", "fib"),
            ("", ""),
        ] {
            assert_eq!(normal_command(command, "/work"), expected, "{command}");
        }
    }

    #[test]
    fn a_key_that_a_baseline_lacks_differs_unless_it_is_a_later_one() {
        let settings = BTreeMap::new();
        let differences = |key: &str, then: Option<&str>| {
            let map = |value: Option<&str>| value.map(|value| (key.to_owned(), value.to_owned()));
            let [then, now] = [then, Some("2")].map(|value| BTreeMap::from_iter(map(value)));
            let conditions = [&then, &now].map(|environment| Conditions { settings: &settings, environment });
            differences(conditions[0], conditions[1])
        };
        assert_eq!(differences(RECORDED_PROCESSES, None), [""; 0]);
        let expected = "recorded processes: 3 in the baseline, 2 now";
        assert_eq!(differences(RECORDED_PROCESSES, Some("3")), [expected]);
        assert_eq!(differences("forked processes", None), ["forked processes: none in the baseline, 2 now"]);
    }

    #[test]
    fn only_variants_of_the_same_function_differ() {
        let differ = |then, now| other_variants(then, now);
        let none = (String::new(), String::new());
        assert_eq!(differ("memcpy_avx_unaligned strlen_avx2", "memcpy_avx_unaligned memcmp_avx2"), none);
        let (then, now) = differ("memcpy_avx_unaligned strlen_avx2", "memcpy_evex_unaligned strlen_avx2");
        assert_eq!((then.as_str(), now.as_str()), ("memcpy_avx_unaligned", "memcpy_evex_unaligned"));
    }
}
