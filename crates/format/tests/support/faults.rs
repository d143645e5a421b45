//! The faults of a file.

use gristmill_format::{Header, Line, Reader};

/// The errors of the tolerant reader, with those in costs, which it decodes only on demand.
pub(crate) fn faults(file: &[u8]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut event_types = usize::MAX;
    for record in Reader::new(file) {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                faults.push(error.to_string());
                continue;
            }
        };
        match record.line {
            Line::Header(Header::Events(words)) => event_types = words.len(),
            Line::Cost(line) => {
                let mut places = vec![0; event_types.min(line.costs.len())];
                if let Err(fault) = line.costs.decode(&mut places) {
                    faults.push(fault.into_error(record.location).to_string());
                }
            }
            _ => {}
        }
    }
    faults
}
