//! `--hide`, `--focus` and `--exclude`: functions that give their cost to their callers, those that must be on the stack, and those
//! that must not.

use gristmill_report::{InclusiveRule, SubjectId, View, ViewOptions, matches_name};

use super::{pattern, view_with, warn_of_no_match};
use crate::args::AttributionArgs;
use crate::error::CliError;
use crate::session::Session;
use crate::terminal::printable;

/// `true` if costs are given to other functions.
pub(crate) fn is_given(args: &AttributionArgs) -> bool {
    args.focus.is_some() || args.exclude.is_some() || args.hide.is_some()
}

/// Makes a view in which functions are hidden or focused on, if the options say so. `command` stands in hints.
pub(crate) fn view(
    profile: impl Into<std::sync::Arc<gristmill_profile::Profile>>,
    args: &AttributionArgs,
    options: &mut ViewOptions,
    command: &str,
    session: &Session,
) -> Result<View, CliError> {
    let parsed = |text: &Option<String>| text.as_deref().map(pattern).transpose();
    (options.focus, options.hide) = (parsed(&args.focus)?, parsed(&args.hide)?);
    options.drop = parsed(&args.exclude)?;
    if is_given(args) && options.rule != InclusiveRule::Gristmill {
        return Err(CliError::Usage {
            message: "--focus, --exclude and --hide cannot follow another rule of inclusive cost".to_owned(),
            hint: Some("leave out --inclusive".to_owned()),
        });
    }
    let view = view_with(profile, options)?;
    let patterns =
        [(&args.focus, &options.focus), (&args.exclude, &options.drop), (&args.hide, &options.hide)];
    for (text, pattern) in
        patterns.into_iter().filter_map(|(text, pattern)| text.as_ref().zip(pattern.as_ref()))
    {
        let is_match = |name: &str| matches_name(pattern, name);
        if view.subjects().any(|(_, subject)| is_match(subject.name())) {
            continue;
        }
        if std::path::Path::new(text).is_file() {
            return Err(CliError::Usage {
                message: format!("{} is a file, not a pattern", printable(text.as_bytes())),
                hint: Some(format!(
                    "name the functions first: gristmill {command} --hide 'malloc|free' FILE"
                )),
            });
        }
        warn_of_no_match("function", text, view.nearest_name(text).as_deref(), session);
    }
    Ok(view)
}

/// Refuses a function to show that is hidden or left out, or has no cost in the focus.
pub(crate) fn refuse_unseen(
    view: &View,
    args: &AttributionArgs,
    function: SubjectId,
) -> Result<(), CliError> {
    let subject = view.subject(function);
    let name = printable(subject.name().as_bytes());
    let (message, hint) = match view.hides(subject.name()) {
        true => (format!("{name} is hidden"), "choose a pattern for --hide that it does not match"),
        false if args.focus.is_some() && !has_cost(view, function) => {
            (format!("{name} has no cost in the focus"), "choose another pattern for --focus")
        }
        false if args.exclude.is_some() && !view.is_shown(function) => {
            (format!("{name} is left out"), "choose another pattern for --exclude")
        }
        false => return Ok(()),
    };
    Err(CliError::Usage { message, hint: Some(hint.to_owned()) })
}

/// `true` if a function has a cost that is shown, or another member of its cycle has one.
fn has_cost(view: &View, function: SubjectId) -> bool {
    let cycles = view.inclusive().cycles();
    let members = cycles.cycle_of(function.node()).map_or(&[][..], |cycle| cycles.members(cycle));
    view.is_shown(function) || members.iter().any(|member| view.is_shown(view.subject_at(*member)))
}
