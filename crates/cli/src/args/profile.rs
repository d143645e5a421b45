//! Options that all reports on a profile share: selection, event types and inclusive rule.

use clap::{Args, ValueEnum};

/// The selection of parts.
#[derive(Debug, Default, Args)]
pub(crate) struct SelectionArgs {
    /// Also load the other files of the same recording: dumps and threads, as identified by their headers
    #[arg(long, help_heading = "Selection")]
    pub(crate) set: bool,

    /// Use only the parts with these numbers (part:)
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) part: Vec<u64>,

    /// Use only these threads (thread:)
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) thread: Vec<u64>,

    /// Use only these processes (pid:)
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) pid: Vec<u64>,
}

/// Options of every report on a profile.
#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,

    /// Event types to show, recorded or derived, in this order [default: the first of the profile, in JSON and CSV all]
    #[arg(long, short, value_name = "EVENT", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) event: Vec<String>,

    /// Define a derived event type, such as 'Cost = Ir + 10 Bm'; repeatable
    #[arg(long, value_name = "NAME=FORMULA", help_heading = "Selection")]
    pub(crate) derive: Vec<String>,

    /// Rule for inclusive costs
    #[arg(long, value_name = "RULE", default_value = "own", help_heading = "Inclusive cost")]
    pub(crate) inclusive: InclusiveRule,

    /// Treat the functions of a cycle individually
    #[arg(long, help_heading = "Inclusive cost")]
    pub(crate) no_cycles: bool,

    /// Fold all levels of a recursion (f'2, f'3) into one function
    #[arg(long, help_heading = "Inclusive cost")]
    pub(crate) fold_recursion: bool,

    /// Fold functions that differ only in their recorded callers (f'caller) into one
    #[arg(long, help_heading = "Inclusive cost")]
    pub(crate) fold_callers: bool,

    /// Ignore calls from functions that match A to functions that match B; repeatable
    #[arg(long, value_name = "A -> B", help_heading = "Inclusive cost")]
    pub(crate) cut: Vec<String>,

    /// Ignore calls that cost less than this share of the most expensive calls to the same function
    #[arg(long, value_name = "PERCENT", value_parser = per_mille, default_value = "0", help_heading = "Inclusive cost")]
    pub(crate) cut_below: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InclusiveRule {
    /// Gristmill's rule: self cost plus cost of callees; a cycle is one node, and no cost is above the total
    Own,
    /// As KCachegrind shows it
    Kcachegrind,
    /// As callgrind_annotate shows it
    Annotate,
}

/// Parses a percentage with up to one decimal, into tenths of a percent.
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
