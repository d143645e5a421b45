//! The answer for programs. Its shape is promised by `docs/schema/info.schema.json`.
//!
//! Everything is written from where it stands: of a hundred thousand parts there is no second copy.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};

use gristmill_format::{Columns, Cost, PartSurvey, ProducerKind, Survey};
use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::{Report, columns};

pub(super) const BEGIN: &[u8] = b"{\"files\":[";
pub(super) const END: &[u8] = b"\n]}\n";

/// Writes one file, on a line of its own.
pub(super) fn write(report: &Report<'_>, told: usize, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(if told == 0 { b"\n" } else { b",\n" })?;
    serde_json::to_writer(out, &File(report)).map_err(io::Error::from)
}

struct File<'r>(&'r Report<'r>);

impl Serialize for File<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Report { input, survey, findings } = self.0;
        let first = survey.parts.first();
        let kind = survey.producer.kind;
        let mut file = serializer.serialize_struct("File", 11)?;
        file.serialize_field("path", &input.path.to_string_lossy())?;
        file.serialize_field("size", &input.bytes.len())?;
        file.serialize_field("packing", &input.packing.map(|packing| packing.to_string()))?;
        file.serialize_field("damage", &input.damage)?;
        let producer = (kind != ProducerKind::Unknown).then(|| survey.producer.to_string());
        file.serialize_field("producer", &producer)?;
        file.serialize_field("recording", &kind.recording().map(|recording| recording.as_str()))?;
        file.serialize_field("command", &first.and_then(|part| part.header.command).map(lossy))?;
        let totals = self.0.totals();
        file.serialize_field("totals", &ByName(|| totals.iter()))?;
        file.serialize_field("parts", &Parts(survey))?;
        file.serialize_field("counts", &Counts(survey))?;
        file.serialize_field("findings", &Findings(findings))?;
        file.end()
    }
}

struct Parts<'r>(&'r Survey<'r>);

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.parts.iter().map(|part| Part(self.0, part)))
    }
}

struct Part<'r>(&'r Survey<'r>, &'r PartSurvey<'r>);

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Part(survey, part) = *self;
        let mut fields = serializer.serialize_struct("Part", 12)?;
        fields.serialize_field("line", &part.location.line)?;
        fields.serialize_field("pid", &part.pid)?;
        fields.serialize_field("part", &part.part)?;
        fields.serialize_field("thread", &part.thread)?;
        fields.serialize_field("command", &part.header.command.map(lossy))?;
        fields.serialize_field("trigger", &part.trigger.map(lossy))?;
        fields.serialize_field("time_range", &part.time_range.map(lossy))?;
        fields.serialize_field("descriptions", &Descriptions(part))?;
        fields.serialize_field("positions", &Positions(part.header.columns.unwrap_or(Columns::LINE)))?;
        fields.serialize_field("event_types", &EventTypes(part))?;
        fields.serialize_field("totals", &by_name(part, survey.totals(part)))?;
        fields.serialize_field("claimed", &Claimed(survey, part))?;
        fields.end()
    }
}

struct Descriptions<'r>(&'r PartSurvey<'r>);

impl Serialize for Descriptions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Description<'r> {
            kind: Cow<'r, str>,
            value: Cow<'r, str>,
        }
        let descriptions = self.0.header.descriptions.iter();
        serializer.collect_seq(
            descriptions.map(|(kind, value)| Description { kind: lossy(kind), value: lossy(value) }),
        )
    }
}

struct Positions(Columns);

impl Serialize for Positions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.kinds().iter().map(|kind| kind.as_str()))
    }
}

struct EventTypes<'r>(&'r PartSurvey<'r>);

impl Serialize for EventTypes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct EventType<'r> {
            name: Cow<'r, str>,
            long_name: Option<Cow<'r, str>>,
            formula: Option<Cow<'r, str>>,
        }
        serializer.collect_seq(self.0.header.event_types().map(|event| EventType {
            name: lossy(event.name),
            long_name: event.long_name.map(lossy),
            formula: event.formula.map(lossy),
        }))
    }
}

/// Only what the file states.
struct Claimed<'r>(&'r Survey<'r>, &'r PartSurvey<'r>);

impl Serialize for Claimed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Claimed(survey, part) = *self;
        let claims = [("summary", survey.claimed_summary(part)), ("totals", survey.claimed_totals(part))];
        serializer.collect_map(
            claims.into_iter().filter_map(|(key, values)| values.map(|values| (key, by_name(part, values)))),
        )
    }
}

struct Counts<'r>(&'r Survey<'r>);

impl Serialize for Counts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counts = &self.0.counts;
        let mut fields = serializer.serialize_struct("Counts", 7)?;
        fields.serialize_field("lines", &counts.lines)?;
        fields.serialize_field("objects", &counts.objects)?;
        fields.serialize_field("files", &counts.files)?;
        fields.serialize_field("functions", &counts.functions)?;
        fields.serialize_field("cost_lines", &counts.cost_lines)?;
        fields.serialize_field("arcs", &counts.arcs)?;
        fields.serialize_field("jumps", &counts.jumps)?;
        fields.end()
    }
}

struct Findings<'r>(&'r super::Findings);

impl Serialize for Findings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Findings", 3)?;
        fields.serialize_field("error", &self.0.errors)?;
        fields.serialize_field("warning", &self.0.warnings)?;
        fields.serialize_field("note", &self.0.notes)?;
        fields.end()
    }
}

/// Costs by the names of their event types, which it can go through twice. The costs are exact: JSON has integers of
/// any size.
struct ByName<F>(F);

fn by_name<'r>(part: &'r PartSurvey<'r>, costs: &'r [Cost]) -> impl Serialize {
    ByName(move || columns(part).zip(costs.iter().copied()))
}

impl<'r, F: Fn() -> I, I: Iterator<Item = (&'r [u8], Cost)>> Serialize for ByName<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut keys = Keys::new((self.0)().map(|(name, _)| name));
        serializer.collect_map((self.0)().map(|(name, cost)| (keys.key(name), cost)))
    }
}

/// Makes a key of each name, a different one for each: a name that stands a second time becomes `Ir#2`.
struct Keys<'r> {
    /// Hashes of the names that may stand twice: nearly always none. A set of all names would take more memory than
    /// a file with a million event types.
    repeated: HashSet<u64>,
    seen: HashMap<Cow<'r, str>, u32>,
}

impl<'r> Keys<'r> {
    fn new(names: impl Iterator<Item = &'r [u8]>) -> Self {
        let mut hashes: Vec<u64> = names.map(|name| hash_of(&lossy(name))).collect();
        hashes.sort_unstable();
        let repeated = hashes.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        Keys { repeated, seen: HashMap::new() }
    }

    fn key(&mut self, name: &'r [u8]) -> Cow<'r, str> {
        let name = lossy(name);
        if self.repeated.is_empty() || !self.repeated.contains(&hash_of(&name)) {
            return name;
        }
        let times = self.seen.entry(name.clone()).or_insert(0);
        *times += 1;
        if *times == 1 { name } else { Cow::Owned(format!("{name}#{times}")) }
    }
}

fn hash_of(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// JSON is UTF-8; what is not becomes U+FFFD.
fn lossy(text: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_exact() {
        let greatest = Cost::from(u64::MAX) * 3;
        let costs = ByName(|| [(&b"Ir"[..], greatest), (b"Dr", -5)].into_iter());
        assert_eq!(serde_json::to_string(&costs).unwrap(), "{\"Ir\":55340232221128654845,\"Dr\":-5}");
    }

    #[test]
    fn keys_differ() {
        let columns = [(&b"Ir"[..], 1), (b"Dr", 2), (b"Ir", 3), (b"\xff", 4), (b"\xfe", 5)];
        let costs = ByName(|| columns.into_iter());
        assert_eq!(
            serde_json::to_string(&costs).unwrap(),
            "{\"Ir\":1,\"Dr\":2,\"Ir#2\":3,\"\u{fffd}\":4,\"\u{fffd}#2\":5}"
        );
    }
}
