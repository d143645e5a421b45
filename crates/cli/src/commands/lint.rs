//! `gristmill lint`: checks profiles against the format.

use gristmill_format::{Lint, Severity};
use gristmill_report::lint::{
    DEFAULT_LIMIT, GithubPrinter, JsonPrinter, LintPrinter, LintedFile, RuleList, SarifPrinter, TextPrinter,
    similar_rules,
};

use crate::args::{FailOn, LintArgs, LintFormat};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::found_files;
use crate::load::refusal;
use crate::session::Session;
use crate::terminal::printable;

pub(crate) fn run(args: &LintArgs, session: &Session) -> Result<ExitStatus, CliError> {
    if args.list_rules {
        print_rules(&RuleList::all(), args, session)?;
        return Ok(ExitStatus::Success);
    }
    if let Some(name) = &args.explain {
        let name = name.trim().to_ascii_lowercase();
        let rules = RuleList::one(&name).ok_or_else(|| unknown_rule(&name))?;
        print_rules(&rules, args, session)?;
        return Ok(ExitStatus::Success);
    }
    // Beside the files of threads, Callgrind leaves an empty one.
    let files = refusal::without_base_files(&found_files::or_newest(&args.files, session)?);
    let lint = Lint { strict: args.strict, practice: args.practice };
    let limit = if args.all { None } else { Some(DEFAULT_LIMIT as u64) };
    let fail_on = match args.fail_on {
        FailOn::Error => Severity::Error,
        FailOn::Warning => Severity::Warning,
        FailOn::Note => Severity::Note,
    };
    let mut printer: Box<dyn LintPrinter> = match args.format {
        LintFormat::Text => Box::new(TextPrinter::new(&session.look())),
        LintFormat::Json => Box::new(JsonPrinter::default()),
        LintFormat::Sarif => Box::new(SarifPrinter::default()),
        LintFormat::Github => Box::new(GithubPrinter),
    };
    let mut status = ExitStatus::Success;
    for path in &files {
        match session.read(path) {
            Ok(input) => {
                let file = input.as_read_file();
                let linted = LintedFile::new(&file, lint, limit);
                // A comparison with a grammar leaves nothing out.
                let wants_habits = args.habits || args.strict || args.practice;
                let linted = if wants_habits { linted.with_habits() } else { linted };
                let counts = printer.write_file(&linted, &mut **session.stdout())?;
                if let Some(refusal) = refusal::of_input(&input) {
                    session.report(&refusal);
                    status = ExitStatus::Failure;
                } else if counts.at_least(fail_on) > 0 {
                    status = status.max(ExitStatus::Findings);
                }
            }
            // The other files may be fine.
            Err(error) => {
                let error = CliError::from(error);
                session.report(&error);
                printer.write_unread(path, &error.to_string(), &mut **session.stdout())?;
                status = ExitStatus::Failure;
            }
        }
    }
    printer.end(&mut **session.stdout())?;
    Ok(status)
}

fn print_rules(rules: &RuleList, args: &LintArgs, session: &Session) -> Result<(), CliError> {
    let out = &mut **session.stdout();
    match (args.format, &args.explain) {
        (LintFormat::Text, None) => rules.write_table(&session.look(), out)?,
        (LintFormat::Text, Some(_)) => rules.write_explanations(&session.look(), out)?,
        (LintFormat::Json, _) => rules.write_json(out)?,
        (LintFormat::Sarif | LintFormat::Github, _) => {
            return Err(CliError::Usage {
                message: "rules can be written as text or JSON only".to_owned(),
                hint: Some("use --format json, or no --format".to_owned()),
            });
        }
    }
    Ok(())
}

fn unknown_rule(name: &str) -> CliError {
    let hint = match similar_rules(name).as_slice() {
        [] => "list all rules with `gristmill lint --list-rules`".to_owned(),
        names => format!("did you mean {}?", names.join(", ")),
    };
    CliError::Usage {
        message: format!("there is no rule `{}`", printable(name.as_bytes())),
        hint: Some(hint),
    }
}
