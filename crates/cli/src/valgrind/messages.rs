//! The messages of Callgrind about one process.

/// The line that Callgrind writes when a process ends, before its profile.
const COLLECTED: &str = "Collected : ";

/// The line before that: a summary begins with it, which the profile has as well.
const EVENTS: &str = "Events    : ";

/// The beginnings of lines that each process has.
const BANNER: [&str; 7] = [
    "Callgrind, a call-graph generating cache profiler",
    "Copyright (C) ",
    "Using Valgrind-",
    "Command: ",
    "Parent PID: ",
    "For interactive control, run ",
    "Could not connect to ",
];

/// `true` if a process has ended with costs to write. One that ran another program in its place has not, nor one that was killed.
pub(crate) fn has_collected(messages: &str, process: u32) -> bool {
    let lines = messages.lines().filter_map(|line| own_line(line, process));
    let mut costs = lines.filter_map(|line| line.strip_prefix(COLLECTED));
    costs.any(|costs| {
        costs.split_whitespace().any(|cost| cost.bytes().any(|byte| (b'1'..=b'9').contains(&byte)))
    })
}

/// Returns the lines that tell more than that a process ran under Callgrind.
pub(crate) fn without_summary(messages: &str, process: u32) -> impl Iterator<Item = &str> {
    let mut is_summary = false;
    messages.split_inclusive('\n').filter(move |line| match own_line(line, process) {
        Some(text) => {
            is_summary |= text.starts_with(EVENTS);
            !is_summary && !text.trim().is_empty() && !BANNER.iter().any(|known| text.starts_with(known))
        }
        None => true,
    })
}

/// Returns a line of Valgrind about a process without its beginning, `==123== `.
fn own_line(line: &str, process: u32) -> Option<&str> {
    let rest = line.strip_prefix("==")?.strip_prefix(&process.to_string())?.strip_prefix("==")?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = "\
        ==12== Callgrind, a call-graph generating cache profiler\n==12== Command: ./p\n==12== \n\
        --12-- warning: no line\n\
        ==12== Process terminating with default action of signal 11 (SIGSEGV)\n==12==    at 0x1: main\n\
        ==12== \n==12== Events    : Ir Dr\n==12== Collected : 0 45\n==12== \n==12== I   refs:      0\n**12** of the program\n";

    #[test]
    fn a_process_that_ended_has_a_summary_which_is_left_out() {
        assert!(has_collected(MESSAGES, 12));
        assert!(!has_collected(MESSAGES, 1) && !has_collected(MESSAGES, 2));
        assert!(!has_collected("==12== Collected : 0 0\n", 12));
        assert!(!has_collected("==12== Callgrind, a call-graph generating cache profiler\n", 12));
        assert_eq!(
            without_summary(MESSAGES, 12).collect::<String>(),
            "--12-- warning: no line\n==12== Process terminating with default action of signal 11 (SIGSEGV)\n\
             ==12==    at 0x1: main\n**12** of the program\n"
        );
    }
}
