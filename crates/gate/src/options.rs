//! Options of Valgrind that a recording cannot have.

/// The reason against options that change what is read in messages, or where they go.
const MESSAGES: &str = "the messages of Valgrind tell which processes were recorded to their end";

/// The reason against options that print something and end.
const NO_PROGRAM: &str = "with it, Valgrind runs no program";

/// The options, each with the reason.
const REFUSED: [(&str, &str); 22] = [
    ("--tool", "the tool is callgrind"),
    ("--callgrind-out-file", "the recording gives the profile its name"),
    ("-q", MESSAGES),
    ("--quiet", MESSAGES),
    ("--log-fd", MESSAGES),
    ("--log-file", MESSAGES),
    ("--log-socket", MESSAGES),
    ("--xml", MESSAGES),
    ("--xml-fd", MESSAGES),
    ("--xml-file", MESSAGES),
    ("--xml-socket", MESSAGES),
    ("--xml-user-comment", MESSAGES),
    ("--time-stamp", MESSAGES),
    ("--child-silent-after-fork", MESSAGES),
    ("--xtree-memory", "Callgrind does not record memory"),
    ("--xtree-memory-file", "Callgrind does not record memory"),
    ("--version", NO_PROGRAM),
    ("-h", NO_PROGRAM),
    ("--help", NO_PROGRAM),
    ("--help-debug", NO_PROGRAM),
    ("--help-dyn-options", NO_PROGRAM),
    ("--", "the program follows it"),
];

/// The beginning of options for one tool, which Valgrind takes for those without it.
const OF_TOOL: &str = "--callgrind:";

/// Returns the reason why no recording has an option of Valgrind, if that is so.
///
/// ```
/// use gristmill_gate::refused_option;
///
/// assert_eq!(refused_option("--tool=dhat"), Some("the tool is callgrind"));
/// assert!(refused_option("--callgrind:log-fd=9").is_some());
/// assert_eq!(refused_option("--smc-check=all"), None);
/// ```
pub fn refused_option(option: &str) -> Option<&'static str> {
    if option.starts_with(OF_TOOL) {
        return Some("write it without `callgrind:`");
    }
    let name = option.split('=').next().unwrap_or(option);
    REFUSED.iter().find(|(refused, _)| *refused == name).map(|(_, reason)| *reason)
}

/// `true` if an option has Valgrind say less. A configuration may have it, and a recording leaves it out.
///
/// ```
/// assert!(gristmill_gate::is_quiet_option("-q") && !gristmill_gate::is_quiet_option("-v"));
/// ```
pub fn is_quiet_option(option: &str) -> bool {
    option == "-q" || option == "--quiet"
}
