//! The layout of callgrind_annotate: from its options to the report.

use std::io::Write;

use gristmill_compat::callgrind_annotate::{AnnotateEvent, Callgrind, CallgrindOptions, Threshold};
use gristmill_output::printable;

use super::Job;
use crate::args::{AnnotateTree, YesNo};
use crate::error::CliError;
use crate::load;

/// What callgrind_annotate shows of the total if nothing is said.
const THRESHOLD: &str = "99";

pub(crate) fn write(job: &Job<'_>, out: &mut dyn Write) -> Result<(), CliError> {
    job.refuse_options_of_cachegrind()?;
    let options = options(job)?;
    job.tell_doubts();
    Callgrind::new(job.profile, &options).write(job.sources, out)?;
    Ok(())
}

fn options(job: &Job<'_>) -> Result<CallgrindOptions, CliError> {
    let Job { args, profile, files, .. } = *job;
    let own = load::definitions(&args.derive)?;
    let named = |names: &[String]| match names {
        [] => Ok(AnnotateEvent::recorded(profile)),
        names => AnnotateEvent::named(profile, names, &own).map_err(|error| super::refused(&error)),
    };
    let sort =
        SortKey::parse_all(args.sort.as_deref().unwrap_or_default()).map_err(|text| CliError::Usage {
            message: format!("--sort: {} is no share of a total", printable(text.as_bytes())),
            hint: Some("a share is a number from 0 to 100, as in Ir:90,Dr:50".to_owned()),
        })?;
    let sort_names: Vec<String> = sort.iter().map(|key| key.name.clone()).collect();
    let sort_events = named(&sort_names)?;
    let threshold = Threshold::parse(args.threshold.as_deref().unwrap_or(THRESHOLD)).ok_or_else(|| {
        CliError::Usage { message: "--threshold takes a number from 0 to 100".to_owned(), hint: None }
    })?;
    let has_own = sort.iter().any(|key| key.threshold.is_some());
    let is_cut = has_own || threshold.percent < 100.0;
    let mut thresholds: Vec<Threshold> = if has_own {
        sort.into_iter().map(|key| key.threshold.unwrap_or_else(Threshold::none)).collect()
    } else {
        vec![threshold]
    };
    thresholds.resize_with(sort_events.len(), Threshold::none);
    let look = job.look();
    Ok(CallgrindOptions {
        selection: load::selection(&args.selection),
        show: named(&args.show)?,
        sort: sort_events,
        thresholds,
        is_cut,
        show_percentages: job.shows_percentages(),
        auto: job.annotates(),
        context: args.context,
        inclusive: args.inclusive.is_some_and(YesNo::is_yes),
        callers: matches!(args.tree, AnnotateTree::Caller | AnnotateTree::Both),
        callees: matches!(args.tree, AnnotateTree::Calling | AnnotateTree::Both),
        include_dirs: args
            .source
            .include
            .iter()
            .map(|directory| with_slash(&directory.to_string_lossy()))
            .collect(),
        user_files: files.source_names(),
        function: job.function()?,
        file: job.file()?,
        working_directory: std::env::current_dir()
            .ok()
            .map(|directory| directory.into_os_string().into_encoded_bytes()),
        data_file: files.names(),
        jumps: args.jumps,
        for_terminal: look.is_terminal,
        color: look.has_color,
    })
}

/// An event type to sort by.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SortKey {
    pub(crate) name: String,
    pub(crate) threshold: Option<Threshold>,
}

impl SortKey {
    /// Of `Ir:90,Dr` for example. What stands after a colon and is no number is part of the name.
    ///
    /// # Errors
    ///
    /// The share that is above 100.
    pub(crate) fn parse_all(text: &str) -> Result<Vec<SortKey>, String> {
        let mut pieces: Vec<&str> = text.split(',').collect();
        while pieces.last() == Some(&"") {
            pieces.pop();
        }
        pieces.into_iter().map(SortKey::parse).collect()
    }

    fn parse(text: &str) -> Result<SortKey, String> {
        let mut name = text;
        let mut threshold = None;
        while let Some((before, share)) = name.rsplit_once(':')
            && is_number(share.strip_suffix('%').unwrap_or(share))
        {
            let parsed = Threshold::parse(share).ok_or(share)?;
            threshold = threshold.or(Some(parsed));
            name = before;
        }
        Ok(SortKey { name: name.to_owned(), threshold })
    }
}

/// Digits and points, at least one of them.
pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// A directory as callgrind_annotate shows it: with one slash at its end.
pub(crate) fn with_slash(directory: &str) -> String {
    format!("{}/", directory.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sort_keys_may_have_thresholds() {
        let parse = |text: &str| {
            SortKey::parse_all(text).map(|keys| {
                let key = |key: SortKey| (key.name, key.threshold.map(|threshold| threshold.text));
                keys.into_iter().map(key).collect::<Vec<_>>()
            })
        };
        let key = |name: &str, share: Option<&str>| (name.to_owned(), share.map(str::to_owned));
        assert_eq!(parse(""), Ok(vec![]));
        assert_eq!(parse("Ir,Dr"), Ok(vec![key("Ir", None), key("Dr", None)]));
        assert_eq!(parse("Ir:90%,Dr:5.5"), Ok(vec![key("Ir", Some("90")), key("Dr", Some("5.5"))]));
        assert_eq!(parse("Ir:x"), Ok(vec![key("Ir:x", None)]));
        assert_eq!(parse("Ir:101"), Err("101".to_owned()));
    }
}
