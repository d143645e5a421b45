//! `gristmill lint`: checks profiles against the format.

use gristmill_format::{Lint, Severity};
use gristmill_profile::threads::{cores, map_on_threads};
use gristmill_report::ReadFile;
use gristmill_report::lint::{
    DEFAULT_LIMIT, GithubPrinter, JsonPrinter, LintPrinter, LintedFile, RuleList, SarifPrinter, TextPrinter,
    similar_rules,
};

use crate::args::{FailOn, LintArgs, LintFormat};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::found_files;
use crate::input::Input;
use crate::load::refusal;
use crate::session::Session;
use crate::terminal::printable;

/// The limit of findings of a file that are kept while other files are checked. Of a file with more, they are made again when they
/// are printed.
const MAX_MADE: usize = 10_000;

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
    // As many at once as there are cores.
    for paths in files.chunks(cores()) {
        let inputs: Vec<Result<Input, CliError>> =
            paths.iter().map(|path| session.read(path).map_err(CliError::from)).collect();
        let read: Vec<Option<ReadFile<'_>>> =
            inputs.iter().map(|input| input.as_ref().ok().map(Input::as_read_file)).collect();
        let linted = |file| {
            let linted = LintedFile::new(file, lint, limit);
            // A comparison with a grammar leaves nothing out.
            let wants_habits = args.habits || args.strict || args.practice;
            if wants_habits { linted.with_habits() } else { linted }
        };
        let made = match read.len() {
            1 => vec![None],
            _ => map_on_threads(read.iter().collect(), |file| linted(file.as_ref()?).make(MAX_MADE)),
        };
        let checked = read.iter().zip(&made);
        for ((path, input), (file, made)) in paths.iter().zip(&inputs).zip(checked) {
            match (input, file) {
                (Ok(input), Some(file)) => {
                    let linted = linted(file);
                    let linted = made.as_deref().map_or(linted, |made| linted.with_made(made));
                    let counts = printer.write_file(&linted, &mut **session.stdout())?;
                    if let Some(refusal) = refusal::of_input(input) {
                        session.report(&refusal);
                        status = ExitStatus::Failure;
                    } else if counts.at_least(fail_on) > 0 {
                        status = status.max(ExitStatus::Findings);
                    }
                }
                // The other files may be fine.
                (Err(error), _) => {
                    session.report(error);
                    printer.write_unread(path, &error.to_string(), &mut **session.stdout())?;
                    status = ExitStatus::Failure;
                }
                (Ok(_), None) => {}
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
