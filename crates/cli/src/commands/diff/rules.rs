//! The join rules: choosing and listing them.

use std::io::Write as _;

use gristmill_profile::compare::{JoinRule, JoinRules};

use crate::error::CliError;
use crate::session::Session;
use gristmill_output::wrap;

/// The name of all rules together.
const ALL: &str = "all";

/// Returns the chosen rules: only some, or all except some.
pub(crate) fn chosen(only: &[String], without: &[String]) -> Result<JoinRules, CliError> {
    let named = |name: &String| {
        if name == ALL {
            return Ok(JoinRules::all());
        }
        JoinRule::from_name(name).map(|rule| JoinRules::NONE.with(rule)).ok_or_else(|| unknown(name))
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
    let nearest = gristmill_report::nearest_name(JoinRule::ALL.into_iter().map(JoinRule::name), name);
    CliError::Usage {
        message: format!("there is no rule `{}`", gristmill_output::printable(name.as_bytes())),
        hint: Some(match nearest {
            Some(rule) => format!("the nearest is {rule}; --list-rules lists all"),
            None => "--list-rules lists all".to_owned(),
        }),
    }
}

/// Lists all rules.
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
