//! Every finding stands at a place that the input has, and the sums are those of the records.
#![no_main]

use gristmill_format::{CostRole, Header, Line, Lint, Reader};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let survey = Lint { strict: true, practice: true }.run(data, |finding| {
        assert!(finding.location.line >= 1);
        assert!(finding.location.byte <= data.len() as u64);
        assert!(finding.column >= 1);
        assert!(finding.column + finding.length <= finding.text.len() as u64 + 2, "{finding:?}");
        assert!(!finding.message.chars().any(char::is_control), "{finding:?}");
    });
    // Only part by part: what a part is, the reader alone knows.
    let mut first = 0;
    let mut columns = 0;
    for record in Reader::new(data).flatten() {
        match record.line {
            Line::Header(Header::Events(names)) => columns = names.len(),
            Line::Cost(line) if line.role == CostRole::SelfCost && columns > 0 => {
                if let Some(cost) = line.costs.iter().next() {
                    first += cost.unwrap_or_else(|fault| fault.repaired);
                }
            }
            _ => {}
        }
    }
    let surveyed: i128 = survey.parts.iter().filter_map(|part| survey.totals(part).first()).sum();
    if survey.parts.len() == 1 {
        assert_eq!(surveyed, first);
    }
});
