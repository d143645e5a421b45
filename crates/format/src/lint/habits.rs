//! Habits: notes that all files of a producer cause, so that they say nothing of one file.

use super::rules::Rule;
use crate::producer::ProducerKind;

impl Rule {
    /// Returns `true` if this is what the files of a producer are like. Only notes are.
    ///
    /// ```
    /// use gristmill_format::{ProducerKind, RULES};
    ///
    /// let rule = RULES.iter().find(|rule| rule.name == "no-version").unwrap();
    /// assert!(rule.is_habit_of(ProducerKind::Cachegrind));
    /// assert!(!rule.is_habit_of(ProducerKind::Callgrind));
    /// ```
    pub fn is_habit_of(&self, producer: ProducerKind) -> bool {
        producer.habits().contains(&self.name)
    }

    /// Iterates over the producers whose habit this is.
    pub fn producers(&self) -> impl Iterator<Item = ProducerKind> {
        ProducerKind::WITH_HABITS.into_iter().filter(|&producer| self.is_habit_of(producer))
    }
}

impl ProducerKind {
    /// The producers that have habits.
    const WITH_HABITS: [ProducerKind; 13] = [
        ProducerKind::Callgrind,
        ProducerKind::Cachegrind,
        ProducerKind::CgDiff,
        ProducerKind::XTree,
        ProducerKind::Xdebug,
        ProducerKind::GoPprof,
        ProducerKind::Gperftools,
        ProducerKind::RubyProf,
        ProducerKind::Nytprof,
        ProducerKind::Pyprof2calltree,
        ProducerKind::Lsprofcalltree,
        ProducerKind::Pprofile,
        ProducerKind::Erlgrind,
    ];

    /// Returns the names of the rules of notes that files of this producer cause as a matter of course.
    ///
    /// ```
    /// use gristmill_format::ProducerKind;
    ///
    /// assert_eq!(ProducerKind::XTree.habits(), ["no-costs", "trailing-blank", "zero-count"]);
    /// ```
    pub fn habits(self) -> &'static [&'static str] {
        match self {
            // The last from before 3.8.
            ProducerKind::Callgrind => &[
                "name-number-zero",
                "recursion",
                "call-exceeds-total",
                "zero-count",
                "fewer-costs",
                "parenthesis-name",
                "summary-above-sum",
                "no-body",
                "hidden-option",
                "bare-definitions",
                "blank-in-block",
                "late-version",
                "no-format-marker",
            ],
            ProducerKind::Cachegrind | ProducerKind::CgDiff => &[
                "no-format-marker",
                "no-version",
                "no-creator",
                "no-positions",
                "summary-at-end",
                "parenthesis-name",
                "trailing-blank",
                "extra-blanks",
                "desc-without-kind",
            ],
            ProducerKind::XTree => &["no-costs", "trailing-blank", "zero-count"],
            ProducerKind::Xdebug => &[
                "no-format-marker",
                "no-creator",
                "no-positions",
                "summary-at-end",
                "summary-above-sum",
                "inclusive-mismatch",
                "target-extra",
                "recursion",
            ],
            ProducerKind::GoPprof => &["no-format-marker", "no-version", "no-creator", "zero-count"],
            ProducerKind::Erlgrind => {
                &["no-format-marker", "no-version", "no-creator", "no-positions", "zero-count"]
            }
            ProducerKind::Nytprof => {
                &["no-format-marker", "no-version", "no-creator", "no-positions", "parenthesis-name"]
            }
            ProducerKind::Lsprofcalltree => &[
                "no-format-marker",
                "no-version",
                "no-creator",
                "no-positions",
                "summary-above-sum",
                "recursion",
                "inclusive-mismatch",
            ],
            ProducerKind::Gperftools | ProducerKind::RubyProf | ProducerKind::Pyprof2calltree => {
                &["no-format-marker", "no-version", "no-creator", "no-positions"]
            }
            ProducerKind::Pprofile => &["header-after-events", "no-positions"],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::{RULES, Severity};

    #[test]
    fn only_notes_are_habits() {
        let habits = ProducerKind::WITH_HABITS.into_iter().flat_map(ProducerKind::habits);
        for habit in habits.clone() {
            let rule = RULES.iter().find(|rule| rule.name == *habit);
            assert_eq!(rule.map(|rule| rule.severity), Some(Severity::Note), "{habit}");
        }
        let producers: usize = RULES.iter().map(|rule| rule.producers().count()).sum();
        assert_eq!(producers, habits.count());
    }
}
