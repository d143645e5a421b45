//! `gristmill info`: says what is in a profile.
//!
//! Each file is read, told about and forgotten before the next one, so memory is that of the largest. A file that is
//! empty is told about like any other, since Callgrind leaves such files; one that is no profile is a failure.

mod json;
mod meaning;
mod text;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use gristmill_format::{Cost, Lint, PartSurvey, Severity, Survey};

use crate::args::{InfoArgs, InfoFormat};
use crate::error::CliError;
use crate::examine::examine;
use crate::exit_status::ExitStatus;
use crate::input::Input;
use crate::session::Session;

pub(crate) fn run(args: &InfoArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let mut status = ExitStatus::Success;
    let mut told = 0usize;
    if args.format == InfoFormat::Json {
        session.stdout().write_all(json::BEGIN)?;
    }
    for path in &args.files {
        // The other files may be fine.
        if let Err(error) = one(path, args.format, told, session) {
            if error.is_broken_pipe() || matches!(error, CliError::Stdout(_)) {
                return Err(error);
            }
            session.report(&error);
            status = ExitStatus::Failure;
        } else {
            told += 1;
        }
    }
    if args.format == InfoFormat::Json {
        session.stdout().write_all(json::END)?;
    }
    Ok(status)
}

fn one(path: &Path, format: InfoFormat, told: usize, session: &Session) -> Result<(), CliError> {
    let input = session.read(path)?;
    let report = Report::of(&input)?;
    let out = &mut *session.stdout();
    match format {
        InfoFormat::Json => json::write(&report, told, out)?,
        InfoFormat::Text => {
            if told > 0 {
                writeln!(out)?;
            }
            text::write(&report, session, out)?;
        }
    }
    Ok(())
}

/// What is told about one file.
struct Report<'i> {
    input: &'i Input,
    survey: Survey<'i>,
    findings: Findings,
}

/// How many findings there are.
#[derive(Default)]
struct Findings {
    errors: u64,
    warnings: u64,
    notes: u64,
}

impl<'i> Report<'i> {
    fn of(input: &'i Input) -> Result<Self, CliError> {
        let mut findings = Findings::default();
        let mut foreign = None;
        let survey = examine(input, Lint::default(), |finding| {
            match finding.rule.severity {
                Severity::Error => findings.errors += 1,
                Severity::Warning => findings.warnings += 1,
                Severity::Note => findings.notes += 1,
            }
            if finding.rule.name == "not-a-profile" {
                foreign = Some(finding.message);
            }
        });
        // Of a text that merely begins like a profile, say with a comment, nothing could be read either.
        let counts = &survey.counts;
        let has_events = survey.parts.iter().any(|part| part.header.event_count() > 0);
        if counts.errors > 0 && !has_events && counts.cost_lines + counts.arcs == 0 {
            foreign.get_or_insert(Cow::Borrowed(
                "this is not a Callgrind profile: it has no `events:` line and no costs",
            ));
        }
        if let Some(message) = foreign {
            return Err(CliError::Usage {
                message: format!("{}: {message}", input.name()),
                hint: Some(
                    "a profile is what the profiler wrote, with an `events:` line near its top".to_owned(),
                ),
            });
        }
        Ok(Report { input, survey, findings })
    }

    /// The totals over all parts, by the name of the event type, in the order in which they first stand.
    fn totals(&self) -> Totals<'_, 'i> {
        let survey = &self.survey;
        let mut totals = Totals { first: survey.parts.first(), others: Vec::new(), sums: Cow::Borrowed(&[]) };
        let Some(first) = totals.first else { return totals };
        totals.sums = Cow::Borrowed(survey.totals(first));
        let mut numbers: Option<HashMap<&[u8], usize>> = None;
        for part in &survey.parts[1..] {
            let costs = survey.totals(part);
            // Nearly always all parts have the same event types, in the same order.
            if columns(part).eq(columns(first)) {
                totals.sums.to_mut().iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
                continue;
            }
            let numbers = numbers.get_or_insert_with(|| {
                // Of two columns of one name the first counts.
                let mut numbers = HashMap::new();
                columns(first).enumerate().for_each(|(number, name)| {
                    numbers.entry(name).or_insert(number);
                });
                numbers
            });
            for (name, cost) in columns(part).zip(costs) {
                let sums = totals.sums.to_mut();
                let number = *numbers.entry(name).or_insert_with(|| {
                    totals.others.push(name);
                    sums.push(0);
                    sums.len() - 1
                });
                sums[number] += cost;
            }
        }
        totals
    }
}

/// Totals by name. Names and sums are taken from where they are: there may be a million of them.
struct Totals<'r, 'i> {
    /// The part whose event types come first.
    first: Option<&'r PartSurvey<'i>>,
    /// The event types that it does not have.
    others: Vec<&'i [u8]>,
    sums: Cow<'r, [Cost]>,
}

impl<'i> Totals<'_, 'i> {
    fn len(&self) -> usize {
        self.sums.len()
    }

    fn iter(&self) -> impl Iterator<Item = (&'i [u8], Cost)> {
        let names = self.first.into_iter().flat_map(columns).chain(self.others.iter().copied());
        names.zip(self.sums.iter().copied())
    }
}

/// The names of the event types that have a column.
fn columns<'i>(part: &PartSurvey<'i>) -> impl Iterator<Item = &'i [u8]> {
    part.header.event_types().take(part.header.event_count()).map(|event| event.name)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn input(bytes: &[u8]) -> Input {
        Input {
            path: PathBuf::from("a"),
            bytes: bytes.to_vec().into(),
            packing: None,
            stored_size: bytes.len() as u64,
            damage: None,
        }
    }

    #[test]
    fn totals_go_by_name() {
        let file =
            b"part: 1\nevents: Ir Dr\nfn=f\n1 10 1\n\npart: 2\nevents: Dr Ir Bc\nfn=f\n1 2 20 5\n\npart: 3\n\
                     events: Ir Dr\nfn=f\n1 100\n";
        let input = input(file);
        let report = Report::of(&input).unwrap();
        assert_eq!(report.totals().iter().collect::<Vec<_>>(), [(&b"Ir"[..], 130), (b"Dr", 3), (b"Bc", 5)]);
    }

    #[test]
    fn other_files_are_refused() {
        let json = input(b"{\"traceEvents\": []}\n");
        let Err(error) = Report::of(&json) else { panic!("refused") };
        assert_eq!(error.to_string(), "a: this is not a Callgrind profile: it is JSON");
        assert!(Report::of(&input(b"# Title\n\nSome words.\n")).is_err());
        assert!(Report::of(&input(b"# callgrind format\nversion: 1\n")).is_ok());
    }
}
