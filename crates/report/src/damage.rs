//! Damage of a profile as reports show it: a sentence for people, a row for programs.

use gristmill_format::Cost;
use gristmill_output::json::{ExactInteger, exact_option};
use gristmill_output::{grouped, lossy, percent, printable};
use gristmill_profile::{ClaimedCost, Damage, DamageKind, EventId, Profile};
use schemars::JsonSchema;
use serde::Serialize;

/// A reason why the numbers of a file are not those of the recording: it is cut off, or has errors.
///
/// ```
/// use gristmill_profile::{Input, Profile};
/// use gristmill_report::DamageRow;
///
/// let bytes = b"creator: callgrind-3.19.0\nevents: Ir\nsummary: 559298\nfn=main\n1 329932\n".to_vec();
/// let profile = Profile::load(vec![Input { name: "a.out".to_owned(), bytes: bytes.into() }]);
/// assert_eq!(
///     DamageRow::list(&profile)[0].text,
///     "a.out looks cut off: it states 559,298 Ir, its lines have 329,932 (41.0% missing)"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Damage")]
pub struct DamageRow {
    /// The file.
    pub file: String,
    /// The kind of damage.
    #[schemars(extend("enum" = [
        "cut-off", "packing", "totals", "calls", "counted-twice", "repeated", "mixed", "errors", "events", "wrapped", "other"
    ]))]
    pub kind: &'static str,
    /// The sentence that people see.
    pub text: String,
    /// The line, or the first line of the part.
    #[schemars(range(min = 1))]
    pub line: u64,
    /// The event type that the costs are of, if the file states a cost that its lines do not have.
    pub event: Option<String>,
    /// The cost that the file states.
    #[serde(serialize_with = "exact_option")]
    #[schemars(with = "Option<ExactInteger>")]
    pub stated: Option<i128>,
    /// The sum of its lines.
    #[serde(serialize_with = "exact_option")]
    #[schemars(with = "Option<ExactInteger>")]
    pub found: Option<i128>,
}

/// A cost that a file states, and the sum of its lines.
#[derive(Debug, Clone)]
struct Claim {
    event: String,
    stated: Cost,
    found: Cost,
}

/// The reason of damage, with names instead of ids.
#[derive(Debug, Clone)]
enum Reason {
    /// With the sign as a sentence.
    CutOff(Option<Claim>, String),
    Packing(String),
    Totals(Claim),
    /// A sentence about the part.
    Calls(String),
    CountedTwice(Claim),
    /// A sentence about the part.
    Repeated(String),
    Mixed(String),
    /// The count of lines, the column of the first, and what is wrong with it.
    Errors {
        count: u64,
        column: u64,
        message: String,
    },
    DuplicateEvent(String),
    Wrapped {
        count: u64,
        event: String,
        written: Cost,
        restored: Cost,
    },
    Other,
}

/// The file that is damaged, and the line.
#[derive(Debug, Clone)]
struct DamagedFile<'a> {
    name: &'a str,
    line: u64,
    has_parts: bool,
}

impl DamageRow {
    /// Lists the damage of a profile. The list is empty if its files are whole.
    pub fn list(profile: &Profile) -> Vec<DamageRow> {
        profile.damage().iter().map(|damage| DamageRow::of_profile(profile, damage)).collect()
    }

    /// `true` if the file does not hold what was recorded. Restored costs are there, and what the producer counts twice was
    /// recorded like that.
    pub fn is_loss(&self) -> bool {
        !matches!(self.kind, "wrapped" | "counted-twice")
    }

    /// `true` if somebody joined files: each is whole, but not their sum.
    pub fn is_joined(&self) -> bool {
        matches!(self.kind, "repeated" | "mixed")
    }

    fn of_profile(profile: &Profile, damage: &Damage) -> Self {
        let name = |event: EventId| lossy(profile.event(event).name);
        let claim = |claim: &ClaimedCost| Claim {
            event: name(claim.event),
            stated: claim.claimed,
            found: claim.computed,
        };
        let reason = match &damage.kind {
            DamageKind::CutOff { claim: found, sign, producer } => {
                let mut creators = profile.parts().filter(|part| part.input() == damage.input);
                let creator = creators.find_map(|part| part.creator());
                Reason::CutOff(found.as_ref().map(claim), sign.sentence(*producer, creator))
            }
            DamageKind::Packing(message) => Reason::Packing(message.clone()),
            DamageKind::Totals(found) => Reason::Totals(claim(found)),
            DamageKind::Calls(fault) => Reason::Calls(fault.sentence()),
            DamageKind::CountedTwice(found) => Reason::CountedTwice(claim(found)),
            DamageKind::Joined(sign) if sign.is_repetition() => Reason::Repeated(sign.sentence()),
            DamageKind::Joined(sign) => Reason::Mixed(sign.sentence()),
            DamageKind::Errors { count, first } => {
                Reason::Errors { count: *count, column: first.column, message: first.kind.to_string() }
            }
            DamageKind::DuplicateEvent(event) => Reason::DuplicateEvent(name(*event)),
            DamageKind::Wrapped { count, event, written, restored } => {
                Reason::Wrapped { count: *count, event: lossy(event), written: *written, restored: *restored }
            }
            _ => Reason::Other,
        };
        let file = DamagedFile {
            name: &profile.inputs()[damage.input].name,
            line: damage.location.line,
            has_parts: profile.parts().filter(|part| part.input() == damage.input).nth(1).is_some(),
        };
        DamageRow::new(&file, &reason)
    }

    fn new(file: &DamagedFile<'_>, reason: &Reason) -> Self {
        let (kind, claim) = match reason {
            Reason::CutOff(claim, _) => ("cut-off", claim.clone()),
            Reason::Packing(_) => ("packing", None),
            Reason::Totals(claim) => ("totals", Some(claim.clone())),
            Reason::Calls(_) => ("calls", None),
            Reason::CountedTwice(claim) => ("counted-twice", Some(claim.clone())),
            Reason::Repeated(_) => ("repeated", None),
            Reason::Mixed(_) => ("mixed", None),
            Reason::Errors { .. } => ("errors", None),
            Reason::DuplicateEvent(_) => ("events", None),
            Reason::Wrapped { .. } => ("wrapped", None),
            Reason::Other => ("other", None),
        };
        DamageRow {
            file: file.name.to_owned(),
            kind,
            text: sentence(file, reason),
            line: file.line.max(1),
            stated: claim.as_ref().map(|claim| claim.stated),
            found: claim.as_ref().map(|claim| claim.found),
            event: claim.map(|claim| claim.event),
        }
    }
}

fn sentence(file: &DamagedFile<'_>, reason: &Reason) -> String {
    let name = printable(file.name.as_bytes());
    let it = if file.has_parts { format!("its part at line {}", file.line) } else { "it".to_owned() };
    match reason {
        Reason::CutOff(Some(claim), _) => format!("{name} looks cut off: {it} {}", stated(claim)),
        Reason::CutOff(None, sign) => {
            format!("{name} looks cut off: {}", sign.replacen("it ", &format!("{it} "), 1))
        }
        Reason::Packing(message) => format!("{name}: {message}"),
        Reason::Totals(claim) if claim.stated > claim.found => {
            format!("{name}: costs are missing: {it} {}", stated(claim))
        }
        Reason::Totals(claim) => format!("{name}: {it} {}", stated(claim)),
        Reason::Calls(fault) => {
            let part = if file.has_parts { format!(" (part at line {})", file.line) } else { String::new() };
            format!("{name}{part}: {}", printable(fault.as_bytes()))
        }
        Reason::CountedTwice(claim) => format!(
            "{name}: time counts twice: {it} {}; Xdebug counts the time of others for a suspended fiber, too, so only the stated \
             total is true",
            stated(claim)
        ),
        Reason::Repeated(sign) | Reason::Mixed(sign) => {
            format!("{name}: its part at line {} {}", file.line, printable(sign.as_bytes()))
        }
        Reason::Errors { count, column, message } => {
            let more = match count - 1 {
                0 => String::new(),
                1 => "; 1 more line could not be taken as it is: gristmill lint shows it".to_owned(),
                more => format!(
                    "; {} more lines could not be taken as they are: gristmill lint shows them",
                    grouped(more)
                ),
            };
            format!("{name}:{}:{column}: {message}{more}", file.line)
        }
        Reason::DuplicateEvent(event) => {
            format!("{name}: two columns have the event type {}", printable(event.as_bytes()))
        }
        Reason::Wrapped { count, event, written, restored } => {
            let event = printable(event.as_bytes());
            let costs = if *count == 1 { "a cost".to_owned() } else { format!("{} costs", grouped(*count)) };
            format!(
                "{name}: {costs} below 0 lost the sign: {} {event} in line {} counts as {}",
                grouped(*written),
                file.line,
                grouped(*restored)
            )
        }
        Reason::Other => format!("{name} is damaged"),
    }
}

/// `states 559,298 Ir, its lines have 329,932 (41.0% missing)`
fn stated(claim: &Claim) -> String {
    let &Claim { ref event, stated, found } = claim;
    let event = printable(event.as_bytes());
    let mut text = format!("states {} {event}, its lines have {}", grouped(stated), grouped(found));
    if stated > found && found >= 0 {
        text.push_str(&format!(" ({} missing)", percent(stated - found, stated)));
    }
    text
}
