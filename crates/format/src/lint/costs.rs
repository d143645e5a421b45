//! Checks of numbers: their count, signs and sizes, and the sums.

use super::{Finding, Report, Rule, rule, shown};
use crate::cost::{Cost, Costs};
use crate::position::{PositionForm, PositionKind};
use crate::producer::ProducerKind;
use crate::reader::Reader;
use crate::record::{CostLine, CostRole, Header, Line, Record, Words};
use crate::scan::Tokens;
use crate::survey::Surveyor;

#[derive(Debug, Default)]
pub(super) struct CostChecks<'a> {
    /// The names stay text: of a million of them none may ever be asked for.
    events: Option<Words<'a>>,
    event_count: usize,
    claims: Vec<Claim>,
    /// A line with fewer costs than event types was reported.
    said_fewer: bool,
}

/// The claim of a `summary:` or `totals:` line.
#[derive(Debug)]
struct Claim {
    is_totals: bool,
    location: crate::location::Location,
    values: Vec<Cost>,
}

const WRAPPED: Cost = 1 << 63;
const GREATEST: Cost = u64::MAX as Cost;

impl<'a> CostChecks<'a> {
    pub(super) fn record<F: FnMut(Finding<'a>)>(
        &mut self,
        reader: &Reader<'a>,
        record: &Record<'a>,
        report: &mut Report<'a, F>,
    ) {
        match record.line {
            Line::Header(Header::Events(words)) => {
                self.events = Some(words);
                self.event_count = words.len();
            }
            Line::Header(Header::Summary(costs)) => self.claim(false, &costs, record),
            Line::Header(Header::Totals(costs)) => self.claim(true, &costs, record),
            Line::Cost(line) => {
                self.costs(&line, record, report);
                positions(reader, &line, record, report);
            }
            Line::Calls(calls) => {
                let text = record.text();
                if calls.count < 0 {
                    report.line(&rule::NEGATIVE_COUNT, record, format!("{} calls", calls.count));
                }
                let (target, columns) = (calls.target.as_slice().len(), reader.columns().len());
                if target < columns {
                    report.at(&rule::TARGET_MISSING, record, (text.len(), 0), rule::TARGET_MISSING.summary);
                } else if target > columns {
                    report.once(&rule::TARGET_EXTRA, record, rule::TARGET_EXTRA.summary);
                }
            }
            Line::Jump(jump) if jump.target.as_slice().len() < reader.columns().len() => {
                let end = record.text().len();
                report.at(&rule::TARGET_MISSING, record, (end, 0), rule::TARGET_MISSING.summary);
            }
            _ => {}
        }
    }

    /// The least count of costs of a plain cost line. Lines with fewer costs than event types are reported once.
    pub(super) fn least_costs(&self) -> usize {
        if self.said_fewer { 1 } else { self.event_count.max(1) }
    }

    fn claim(&mut self, is_totals: bool, costs: &Costs<'_>, record: &Record<'_>) {
        let values = costs.iter().map(|cost| cost.unwrap_or_else(|fault| fault.repaired)).collect();
        self.claims.push(Claim { is_totals, location: record.location, values });
    }

    fn costs<F: FnMut(Finding<'a>)>(
        &mut self,
        line: &CostLine<'a>,
        record: &Record<'a>,
        report: &mut Report<'a, F>,
    ) {
        let mut count = 0;
        let mut negative = None;
        let mut wrapped = None;
        for cost in line.costs.iter() {
            count += 1;
            // The reader says what is wrong with the others.
            let Ok(cost) = cost else { continue };
            if cost < 0 {
                negative = negative.or(Some(cost));
            }
            if cost >= WRAPPED {
                wrapped = wrapped.or(Some(cost));
            }
        }
        if let Some(cost) = negative {
            report.line(&rule::NEGATIVE_COST, record, format!("cost {cost} is below 0"));
        }
        if let Some(cost) = wrapped {
            report.line(&rule::WRAPPED_COST, record, format!("{cost} looks like {}", cost - (WRAPPED << 1)));
        }
        if line.role == CostRole::JumpSource {
            return;
        }
        if count == 0 {
            report.once(&rule::NO_COSTS, record, rule::NO_COSTS.summary);
        } else if count < self.event_count {
            let costs = counted(count, "cost");
            let message = format!("{costs} for {} event types; the missing ones are 0", self.event_count);
            report.once(&rule::FEWER_COSTS, record, message);
            self.said_fewer = true;
        }
    }

    pub(super) fn end_part<F: FnMut(Finding<'a>)>(
        &mut self,
        surveyor: &Surveyor<'a>,
        below: &'static Rule,
        report: &mut Report<'a, F>,
    ) {
        let sums = surveyor.sums();
        // Stackprof's totals count samples, and its lines have some of them twice.
        let are_sums = surveyor.producer() != ProducerKind::Stackprof;
        let is_sum = matches!(surveyor.producer(), ProducerKind::Cachegrind | ProducerKind::CgDiff);
        for claim in self.claims.drain(..).filter(|claim| are_sums || !claim.is_totals) {
            let is_sum = claim.is_totals || is_sum;
            let rules = if is_sum { None } else { Some(below) };
            check_claim(&claim, rules, sums, self.events, report);
        }
        if let Some(index) = sums.iter().position(|&sum| sum > GREATEST) {
            let name = name_of(self.events, index);
            let message = format!("the total of {name} is {}, which does not fit 64 bits", sums[index]);
            report.place(&rule::SUM_OVERFLOW, surveyor.part_location(), message);
        }
        self.events = None;
        self.event_count = 0;
    }
}

/// `1 cost`, `2 costs`.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The name of an event type, for a message.
fn name_of(events: Option<Words<'_>>, index: usize) -> String {
    events.and_then(|words| words.iter().nth(index)).map(shown).unwrap_or_default()
}

/// Compares a claim with the sums. `below` is the rule for a claim below the sum, unless it has to be the sum.
fn check_claim<'a, F: FnMut(Finding<'a>)>(
    claim: &Claim,
    below: Option<&'static Rule>,
    sums: &[Cost],
    events: Option<Words<'_>>,
    report: &mut Report<'a, F>,
) {
    let key = if claim.is_totals { "totals" } else { "summary" };
    if sums.is_empty() {
        return;
    }
    // Callgrind leaves out zeros at the end.
    let missing = sums.get(claim.values.len()..).unwrap_or_default().iter().any(|&sum| sum != 0);
    if claim.values.len() > sums.len() || !claim.is_totals && missing {
        let rule = if claim.is_totals { &rule::TOTALS_LENGTH } else { &rule::SUMMARY_LENGTH };
        let (values, types) = (counted(claim.values.len(), "value"), counted(sums.len(), "event type"));
        let message = format!("{values} on the `{key}:` line for {types}");
        report.place(rule, claim.location, message);
    }
    for (index, &sum) in sums.iter().enumerate() {
        let claimed = match claim.values.get(index) {
            Some(&claimed) => claimed,
            None if claim.is_totals => 0,
            None => break,
        };
        if claimed == sum {
            continue;
        }
        let name = name_of(events, index);
        let message = format!("`{key}:` claims {claimed} {name}, the self costs sum to {sum}");
        let rule = match below {
            None => &rule::TOTALS_MISMATCH,
            Some(_) if claimed >= WRAPPED && sum < WRAPPED => &rule::SUMMARY_WRAPPED,
            Some(below) if claimed < sum => below,
            Some(_) => &rule::SUMMARY_ABOVE_SUM,
        };
        return report.place(rule, claim.location, message);
    }
}

/// `true` if a position has neither capital letters nor a range, as nearly all.
fn is_plain_position(token: &[u8]) -> bool {
    let is_plain = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'x');
    // The first byte may be a sign.
    token.split_first().is_none_or(|(first, rest)| !first.is_ascii_uppercase() && rest.iter().all(is_plain))
}

fn positions<'a, F: FnMut(Finding<'a>)>(
    reader: &Reader<'a>,
    line: &CostLine<'a>,
    record: &Record<'a>,
    report: &mut Report<'a, F>,
) {
    if let Some(number) = line.positions.get(reader.columns(), PositionKind::Line)
        && number > u64::from(u32::MAX)
    {
        report.line(&rule::HUGE_LINE_NUMBER, record, format!("line number {number}"));
    }
    let text = record.text();
    for token in Tokens::new(text).take(reader.columns().len()) {
        if is_plain_position(token.text) {
            continue;
        }
        if token.text.len() > 2 && token.text.iter().any(u8::is_ascii_uppercase) {
            report.once(&rule::CAPITAL_HEX, record, rule::CAPITAL_HEX.summary);
        }
        if PositionForm::from_token(token.text).has_range() {
            report.once(&rule::POSITION_RANGE, record, rule::POSITION_RANGE.summary);
        }
    }
}
