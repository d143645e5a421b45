//! Options that all reports on a profile share: selection, event types and inclusive rule.

use clap::{Args, ValueEnum};
use gristmill_profile::NumberRange;

/// The selection of parts.
#[derive(Debug, Default, Args)]
pub(crate) struct SelectionArgs {
    /// Also load the other files of the same recording
    ///
    /// They are its dumps and threads, as identified by their headers.
    #[arg(long, help_heading = "Selection")]
    pub(crate) set: bool,

    /// Use only the parts with these numbers (part:), such as 1,4-6
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) part: Vec<NumberRange>,

    /// Use only these threads (thread:)
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "Selection", hide_short_help = true)]
    pub(crate) thread: Vec<NumberRange>,

    /// Use only these processes (pid:)
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "Selection", hide_short_help = true)]
    pub(crate) pid: Vec<NumberRange>,
}

/// Options of every report on a profile.
#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,

    /// Event types to show, recorded or derived, in this order [default: the first of the profile, in JSON and CSV
    /// all, and those of --derive]
    #[arg(long, short, value_name = "EVENT", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) event: Vec<String>,

    /// Define an event type, such as 'Cost = Ir + 10 Bm'; repeatable
    #[arg(long, value_name = "NAME=FORMULA", help_heading = "Selection")]
    pub(crate) derive: Vec<String>,

    /// Rule for inclusive costs
    #[arg(long, value_name = "RULE", default_value = "gristmill", help_heading = "Inclusive cost")]
    pub(crate) inclusive: InclusiveRule,

    /// Treat the functions of a cycle individually, with upper limits of their inclusive costs
    ///
    /// The calls of a recursion count what they have in common more than once. A cost that is only a limit is marked `≤`; it is
    /// exact where all calls from outside enter the cycle at one function.
    #[arg(long, help_heading = "Inclusive cost")]
    pub(crate) no_cycles: bool,

    /// Fold all levels of a recursion (f'2, f'3) into one function
    #[arg(long, help_heading = "Inclusive cost")]
    pub(crate) fold_recursion: bool,

    /// Fold functions that differ only in their recorded callers (f'caller) into one
    #[arg(long, help_heading = "Inclusive cost")]
    pub(crate) fold_callers: bool,

    /// Give self costs to inlined functions
    ///
    /// Reads the debug information of the programs. Exact with addresses (--dump-instr=yes), else partly an estimate; the head of
    /// the report says how much.
    #[arg(long)]
    pub(crate) inlined: bool,

    /// Ignore calls from functions that match A to functions that match B; repeatable
    #[arg(long, value_name = "A -> B", help_heading = "Inclusive cost")]
    pub(crate) cut: Vec<String>,

    /// Ignore calls that cost less than this share of the most expensive calls to the same function
    #[arg(long, value_name = "PERCENT", value_parser = per_mille, default_value = "0", help_heading = "Inclusive cost")]
    pub(crate) cut_below: u32,
}

impl ProfileArgs {
    /// Returns the words that give another command the same parts and event types.
    pub(crate) fn selection_words(&self) -> Vec<String> {
        let SelectionArgs { set, part, thread, pid } = &self.selection;
        let joined =
            |ranges: &[NumberRange]| ranges.iter().map(NumberRange::to_string).collect::<Vec<_>>().join(",");
        let mut words = Vec::from_iter(set.then(|| "--set".to_owned()));
        let lists = [
            ("part", joined(part)),
            ("thread", joined(thread)),
            ("pid", joined(pid)),
            ("event", self.event.join(",")),
        ];
        let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
        words.extend(lists.map(|(name, list)| format!("--{name}={list}")));
        words.extend(self.derive.iter().map(|formula| format!("--derive={formula}")));
        words
    }

    /// Returns the words that give another command the same inclusive costs.
    pub(crate) fn rule_words(&self) -> Vec<String> {
        let flags = [
            ("inlined", self.inlined),
            ("no-cycles", self.no_cycles),
            ("fold-recursion", self.fold_recursion),
            ("fold-callers", self.fold_callers),
        ];
        let flags = flags.into_iter().filter(|(_, is_given)| *is_given);
        let mut words: Vec<String> = flags.map(|(name, _)| format!("--{name}")).collect();
        let rule = Some(self.inclusive).filter(|rule| *rule != InclusiveRule::Gristmill);
        let rule = rule.and_then(|rule| rule.to_possible_value());
        words.extend(rule.map(|rule| format!("--inclusive={}", rule.get_name())));
        words.extend(self.cut.iter().map(|cut| format!("--cut={cut}")));
        let Self { cut_below, .. } = self;
        words.extend((*cut_below > 0).then(|| format!("--cut-below={}.{}", cut_below / 10, cut_below % 10)));
        words
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InclusiveRule {
    /// Self cost plus cost of callees; a cycle is one node, and no cost is above the total
    #[value(alias = "own")]
    Gristmill,
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
        _ => Err("a share is a number from 0 to 100 with at most one decimal, such as 2.5".to_owned()),
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
