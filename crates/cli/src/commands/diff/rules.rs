//! The rules by which functions of unlike builds are joined: which are taken, and what each of them does.

use std::io::Write as _;

use gristmill_profile::compare::{JoinRule, JoinRules};

use crate::error::CliError;
use crate::session::Session;
use gristmill_output::wrap;

/// Stands for all rules.
const ALL: &str = "all";

/// The rules that are asked for: only some, or all but some.
pub(crate) fn chosen(only: &[String], without: &[String]) -> Result<JoinRules, CliError> {
    let named = |name: &String| {
        if name == ALL {
            return Ok(JoinRules::all());
        }
        JoinRule::named(name).map(|rule| JoinRules::NONE.with(rule)).ok_or_else(|| unknown(name))
    };
    let sets = |names: &[String]| -> Result<JoinRules, CliError> {
        names.iter().try_fold(JoinRules::NONE, |set, name| Ok(set.and(named(name)?)))
    };
    if !only.is_empty() {
        return sets(only);
    }
    let without = sets(without)?;
    Ok(without.iter().fold(JoinRules::all(), JoinRules::without))
}

fn unknown(name: &str) -> CliError {
    let nearest = JoinRule::ALL
        .into_iter()
        .map(|rule| (strsim::jaro_winkler(rule.name(), name), rule))
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    CliError::Usage {
        message: format!("there is no rule `{}`", gristmill_output::printable(name.as_bytes())),
        hint: nearest.map(|(_, rule)| format!("the nearest is {rule}; --list-rules lists all")),
    }
}

/// Prints all rules.
pub(crate) fn list(session: &Session) -> Result<(), CliError> {
    const INDENT: usize = 4;
    let out = &mut *session.stdout();
    for rule in JoinRule::ALL {
        let description = rule.description();
        writeln!(out, "{}", session.paint.bold(description.name))?;
        let indent = " ".repeat(INDENT);
        writeln!(out, "{}", wrap::hang(&indent, description.about, INDENT, session.width))?;
        if let Some((before, after)) = description.example {
            writeln!(out, "{indent}{before}\n{indent}→ {after}")?;
        }
    }
    Ok(())
}
