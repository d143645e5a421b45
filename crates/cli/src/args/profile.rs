//! Options that all reports on a profile share: what to look at, and the inclusive rule.

use clap::{Args, ValueEnum};

/// Which of the parts to look at.
#[derive(Debug, Default, Args)]
pub(crate) struct SelectionArgs {
    /// Also load the other files of the same recording: its dumps and threads, as their headers tell
    #[arg(long, help_heading = "What to look at")]
    pub(crate) set: bool,

    /// Take only the parts with these numbers (part:)
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "What to look at")]
    pub(crate) part: Vec<u64>,

    /// Take only these threads (thread:)
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "What to look at")]
    pub(crate) thread: Vec<u64>,

    /// Take only these processes (pid:)
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "What to look at")]
    pub(crate) pid: Vec<u64>,
}

/// What every report on a profile accepts.
#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,

    /// Show these event types, recorded or derived, in this order; without it the first of the profile, and in JSON and
    /// CSV all of them
    #[arg(long, short, value_name = "EVENT", value_delimiter = ',', help_heading = "What to look at")]
    pub(crate) event: Vec<String>,

    /// Define an event type of your own, such as 'Cost = Ir + 10 Bm'; may be repeated
    #[arg(long, value_name = "NAME=FORMULA", help_heading = "What to look at")]
    pub(crate) derive: Vec<String>,

    /// How inclusive costs are reckoned: by Gristmill's own rule, or as another tool shows them
    #[arg(long, value_name = "RULE", default_value = "own", help_heading = "How to reckon")]
    pub(crate) inclusive: InclusiveRule,

    /// Take functions that call each other in a circle one by one, not as a cycle
    #[arg(long, help_heading = "How to reckon")]
    pub(crate) no_cycles: bool,

    /// Take all levels of a recursion (f'2, f'3) as one function
    #[arg(long, help_heading = "How to reckon")]
    pub(crate) fold_recursion: bool,

    /// Take functions that differ only in their recorded callers (f'caller) as one
    #[arg(long, help_heading = "How to reckon")]
    pub(crate) fold_callers: bool,

    /// Leave out calls from functions that match the first pattern to those that match the second; may be repeated
    #[arg(long, value_name = "A -> B", help_heading = "How to reckon")]
    pub(crate) cut: Vec<String>,

    /// Leave out calls that cost less than this share of the dearest calls to the same function
    #[arg(long, value_name = "PERCENT", value_parser = per_mille, default_value = "0", help_heading = "How to reckon")]
    pub(crate) cut_below: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InclusiveRule {
    /// Self cost plus what was called; cycles as one, nothing above the total
    Own,
    /// What KCachegrind shows
    Kcachegrind,
    /// What callgrind_annotate shows
    Annotate,
}

/// A share in percent, with one decimal at most, as thousandths.
pub(crate) fn per_mille(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let (whole, tenth) = number.split_once('.').unwrap_or((number, "0"));
    let parsed = whole.parse::<u32>().ok().zip(tenth.parse::<u32>().ok().filter(|_| tenth.len() == 1));
    match parsed.map(|(whole, tenth)| whole.saturating_mul(10).saturating_add(tenth)) {
        Some(share) if share <= 1000 => Ok(share),
        _ => Err("a share is a number from 0 to 100, such as 2.5".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percent() {
        for (text, share) in [("0", 0), ("2.5", 25), ("100%", 1000)] {
            assert_eq!(per_mille(text), Ok(share), "{text}");
        }
        for text in ["", "-1", "101", "2.55", "x"] {
            assert!(per_mille(text).is_err(), "{text}");
        }
    }
}
