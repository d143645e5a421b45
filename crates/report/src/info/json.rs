//! The report for programs, as `docs/schema/info.schema.json` describes it.
//!
//! Rows are made while they are written: of a hundred thousand parts or a million event types there is no second copy.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};

use gristmill_format::ProducerKind;
use gristmill_output::json::{ExactInteger, Stream, StreamState, exact_option};
use gristmill_profile::{EventId, Part, Profile};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use super::derived::DerivedTotal;
use super::long_names::LongNames;
use super::totals::EventTotals;
use super::{InfoProgramRow, InfoReport};
use crate::damage::DamageRow;

/// The contents of each profile, in the order of the command line. A file that could not be read or that is not a profile is
/// missing here: it is reported on standard error, and the exit status is 2. Invalid UTF-8 is replaced by U+FFFD.
/// See the example of [`info`](crate::info).
#[derive(Debug, JsonSchema)]
pub struct InfoDocument<'a> {
    /// The profiles.
    pub files: Vec<FileRow<'a>>,
}

/// The contents of one profile. See the example of [`info`](crate::info).
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileRow<'a> {
    /// Path as given on the command line; `-` is standard input.
    path: Cow<'a, str>,
    /// Size in bytes, expanded.
    size: u64,
    /// Packing of the file, if it is packed: `gzip`, `zstd`, `xz` or `bzip2`.
    packing: Option<&'a str>,
    /// The reasons why the numbers are not those of the recording. Empty if the file is whole.
    damage: &'a [DamageRow],
    /// The producer, as the file names it or as its content shows; null if unknown.
    producer: Option<String>,
    /// Kind of recording of this producer, if known: `aggregated`, `per-invocation`, `sampled`, `per-call-path` or
    /// `difference`. In a sampled profile costs are estimates, and numbers of calls are not counts.
    recording: Option<&'static str>,
    /// The measured command, from the first part.
    command: Option<Cow<'a, str>>,
    /// Sums of self cost over all parts.
    totals: EventTotals<'a>,
    /// Event types that the file defines by a formula.
    derived: Vec<DerivedEventRow<'a>>,
    /// The parts.
    #[schemars(with = "Vec<PartInfoRow<'a>>")]
    parts: PartRows<'a>,
    /// Counts of lines and names.
    counts: CountsRow,
    /// The count of lines that could not be taken as they are. `gristmill lint` lists them.
    findings: u64,
    /// Lint rules of notes that files of this producer cause as a matter of course.
    habits: &'static [&'static str],
    /// The programs of the objects that have costs, the most expensive first. null without --programs.
    programs: Option<&'a [InfoProgramRow]>,
}

/// The counts of what a profile contains. See the example of [`info`](crate::info).
#[derive(Debug, Serialize, JsonSchema)]
pub struct CountsRow {
    /// Lines.
    lines: u64,
    /// Objects that have a name.
    objects: usize,
    /// Source files that have a name.
    files: usize,
    /// Functions: those of one name in different files or objects are different ones.
    functions: usize,
    /// Lines with self cost.
    cost_lines: u64,
    /// Lines with calls.
    arcs: u64,
    /// Lines with jumps.
    jumps: u64,
}

/// An event type with a formula. See the example of [`info`](crate::info).
#[derive(Debug, Serialize, JsonSchema)]
pub struct DerivedEventRow<'a> {
    /// Its name.
    name: Cow<'a, str>,
    /// Its long name.
    long_name: Option<Cow<'a, str>>,
    /// Its formula, as in the file.
    formula: Cow<'a, str>,
    /// The sum over all parts; null if the formula cannot be calculated.
    #[serde(serialize_with = "exact_option")]
    #[schemars(with = "Option<ExactInteger>")]
    total: Option<i128>,
    /// Event types that the formula needs and that do not exist. They count as zero.
    missing: Vec<String>,
}

/// A part: one header with its body, such as a thread, a dump or a time span. See the example of [`info`](crate::info).
#[derive(Debug, Serialize, JsonSchema)]
pub struct PartInfoRow<'a> {
    /// Line on which it begins.
    line: u64,
    /// Process id.
    pid: Option<u64>,
    /// Part number.
    part: Option<u64>,
    /// Thread number.
    thread: Option<u64>,
    /// The measured command, of this part or of the last part before it that has one.
    command: Option<Cow<'a, str>>,
    /// Reason why the part was written.
    trigger: Option<Cow<'a, str>>,
    /// Time range, as the file states it.
    time_range: Option<Cow<'a, str>>,
    /// Other `desc:` lines.
    descriptions: Vec<DescriptionRow<'a>>,
    /// Position columns: `instr`, `bb`, `line` or `unknown`.
    positions: Vec<&'static str>,
    /// The event types, in the order of the columns.
    #[schemars(with = "Vec<EventTypeRow<'a>>")]
    event_types: EventTypeRows<'a>,
    /// Sums of self cost, computed.
    totals: EventTotals<'a>,
    /// Totals that the file claims.
    claimed: ClaimedRow<'a>,
}

/// A `desc:` line. See the example of [`info`](crate::info).
#[derive(Debug, Serialize, JsonSchema)]
pub struct DescriptionRow<'a> {
    /// The text before the colon.
    kind: Cow<'a, str>,
    /// The text after the colon.
    value: Cow<'a, str>,
}

/// An event type. See the example of [`info`](crate::info).
#[derive(Debug, Serialize, JsonSchema)]
pub struct EventTypeRow<'a> {
    /// Its name.
    name: Cow<'a, str>,
    /// Its long name.
    long_name: Option<Cow<'a, str>>,
}

/// Totals that a file claims. See the example of [`info`](crate::info).
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClaimedRow<'a> {
    /// Costs of the `summary:` line.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<EventTotals<'a>>,
    /// Costs of the `totals:` line.
    #[serde(skip_serializing_if = "Option::is_none")]
    totals: Option<EventTotals<'a>>,
}

#[derive(Debug)]
struct PartRows<'a> {
    profile: &'a Profile,
    long_names: LongNames<'a>,
}

impl Serialize for PartRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.profile.parts().map(|part| PartInfoRow::new(self, &part)))
    }
}

#[derive(Debug)]
struct EventTypeRows<'a> {
    of: &'a PartRows<'a>,
    events: &'a [EventId],
}

impl Serialize for EventTypeRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let PartRows { profile, long_names } = self.of;
        serializer.collect_seq(self.events.iter().map(|&event| {
            let name = profile.event(event).name;
            EventTypeRow { name: lossy(name), long_name: long_names.get(name).map(lossy) }
        }))
    }
}

impl<'a> FileRow<'a> {
    /// Makes the row of a report on one file.
    pub fn new(report: &'a InfoReport) -> Self {
        let InfoReport { files, profile, damage, programs } = report;
        let kind = profile.producer();
        let creator = profile.parts().find_map(|part| part.creator());
        let (cost_lines, arcs, jumps) = profile.line_counts();
        FileRow {
            path: files.first().map_or(Cow::Borrowed("-"), |file| file.path.to_string_lossy()),
            size: report.size(),
            packing: files.first().and_then(|file| file.packing).map(|(packing, _)| packing),
            damage,
            producer: match creator {
                Some(creator) => Some(lossy(creator).trim().to_owned()),
                None => (kind != ProducerKind::Unknown).then(|| kind.as_str().to_owned()),
            },
            recording: kind.recording().map(|recording| recording.as_str()),
            command: profile.parts().next().and_then(|part| part.command()).map(lossy),
            totals: report.totals(),
            derived: report.derived_totals().into_iter().map(DerivedEventRow::new).collect(),
            parts: PartRows { profile, long_names: LongNames::new(profile) },
            counts: CountsRow {
                lines: profile.line_count(),
                objects: report.named_objects(),
                files: report.named_files(),
                functions: profile.function_count(),
                cost_lines,
                arcs,
                jumps,
            },
            findings: profile.finding_count(),
            habits: kind.habits(),
            programs: programs.as_deref(),
        }
    }
}

impl<'a> DerivedEventRow<'a> {
    fn new(derived: DerivedTotal<'a>) -> Self {
        let DerivedTotal { event, total, missing } = derived;
        DerivedEventRow {
            name: lossy(event.name),
            long_name: event.long_name.map(lossy),
            formula: lossy(event.formula.unwrap_or_default()),
            total,
            missing: missing.iter().map(|name| lossy(name).into_owned()).collect(),
        }
    }
}

impl<'a> PartInfoRow<'a> {
    fn new(of: &'a PartRows<'a>, part: &Part<'a>) -> Self {
        let claimed = |costs: &'a [i128]| EventTotals::of_part(of.profile, part, costs);
        PartInfoRow {
            line: part.location().line,
            pid: part.pid(),
            part: part.number(),
            thread: part.thread(),
            command: part.command().map(lossy),
            trigger: part.trigger().map(lossy),
            time_range: part.time_range().map(lossy),
            descriptions: part
                .descriptions()
                .map(|(kind, value)| DescriptionRow { kind: lossy(kind), value: lossy(value) })
                .collect(),
            positions: part.columns().kinds().iter().map(|kind| kind.as_str()).collect(),
            event_types: EventTypeRows { of, events: part.event_types() },
            totals: EventTotals::of_part(of.profile, part, part.totals()),
            claimed: ClaimedRow {
                summary: part.claimed_summary().map(claimed),
                totals: part.claimed_totals().map(claimed),
            },
        }
    }
}

/// A printer of JSON, as an [`InfoDocument`].
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_report::info::{InfoFile, InfoReport, JsonPrinter};
///
/// let profile = Profile::from_bytes(b"events: Ir\nfn=main\n1 12\n");
/// let report = InfoReport::new(vec![InfoFile::plain("a.out".as_ref())], profile);
/// let mut out = Vec::new();
/// let mut printer = JsonPrinter::begin(&mut out)?;
/// printer.write_file(&report, &mut out)?;
/// printer.end(&mut out)?;
/// assert!(String::from_utf8_lossy(&out).contains(r#""totals":{"Ir":12}"#));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct JsonPrinter {
    document: StreamState,
}

#[expect(clippy::missing_errors_doc, reason = "all errors are those of the output")]
impl JsonPrinter {
    /// Begins the document.
    pub fn begin(out: &mut dyn Write) -> io::Result<Self> {
        let mut document = Stream::new(out)?;
        document.begin_list("files")?;
        Ok(JsonPrinter { document: document.suspend() })
    }

    /// Writes a file, on a line of its own.
    pub fn write_file(&mut self, report: &InfoReport, out: &mut dyn Write) -> io::Result<()> {
        let mut document = Stream::resume(out, self.document.clone());
        document.row(&FileRow::new(report))?;
        self.document = document.suspend();
        Ok(())
    }

    /// Ends the document.
    pub fn end(self, out: &mut dyn Write) -> io::Result<()> {
        let mut document = Stream::resume(out, self.document);
        document.end_list()?;
        document.end()
    }
}

impl Serialize for EventTotals<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut keys = Keys::new(self.iter().map(|(name, _)| name));
        serializer.collect_map(self.iter().map(|(name, cost)| (keys.key(name), ExactInteger(cost))))
    }
}

impl JsonSchema for EventTotals<'_> {
    fn schema_name() -> Cow<'static, str> {
        "EventTotals".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Costs by event type. A name that is used a second time is followed by `#2`.",
            "type": "object",
            "additionalProperties": generator.subschema_for::<ExactInteger>()
        })
    }
}

/// Makes a key of each name, and all keys different: a name that is used a second time becomes `Ir#2`.
struct Keys<'a> {
    /// Hashes of the names that may be repeated: nearly always none. A set of all names would take more memory than a file
    /// with a million event types.
    repeated: HashSet<u64>,
    seen: HashMap<Cow<'a, str>, u32>,
}

impl<'a> Keys<'a> {
    fn new(names: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut hashes: Vec<u64> = names.map(|name| hash(&lossy(name))).collect();
        hashes.sort_unstable();
        let repeated = hashes.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        Keys { repeated, seen: HashMap::new() }
    }

    fn key(&mut self, name: &'a [u8]) -> Cow<'a, str> {
        let name = lossy(name);
        if self.repeated.is_empty() || !self.repeated.contains(&hash(&name)) {
            return name;
        }
        let count = self.seen.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { name } else { Cow::Owned(format!("{name}#{count}")) }
    }
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

fn lossy(text: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::InfoFile;

    fn totals(bytes: &[u8]) -> String {
        let report = InfoReport::new(vec![InfoFile::plain("a".as_ref())], Profile::from_bytes(bytes));
        serde_json::to_string(&report.totals()).unwrap()
    }

    #[test]
    fn costs_are_exact() {
        let max = u64::MAX;
        let file = format!("events: Ir Dr\nfn=f\n1 {max} -5\n2 {max}\n3 {max}\n");
        assert_eq!(totals(file.as_bytes()), "{\"Ir\":\"55340232221128654845\",\"Dr\":-5}");
    }

    #[test]
    fn keys_differ() {
        assert_eq!(
            totals(b"events: Ir Dr Ir \xff \xfe\nfn=f\n1 1 2 3 4 5\n"),
            "{\"Ir\":1,\"Dr\":2,\"Ir#2\":3,\"\u{fffd}\":4,\"\u{fffd}#2\":5}"
        );
    }
}
