//! The profile as machine code: text, JSON, or a page of HTML.

use std::io::Write;

use gristmill_code::Syntax;
use gristmill_report::assembly::{
    Assembly, AssemblyOptions, AssemblyPageOptions, AssemblyTextOptions, has_addresses,
};

use super::{Job, document, usage};
use crate::args::{AnnotateArgs, AnnotateFormat, AsmLines, AsmSyntax};
use crate::error::CliError;
use crate::load;
use crate::profile_files::warn_of_doubts;
use crate::programs::{ProgramFinder, warn_of_unused_maps};
use crate::terminal;

/// Instructions that are shown before and after those with costs.
const CONTEXT: u64 = 3;

/// Functions of a whole profile that are shown as text.
const TEXT_LIMIT: usize = 20;

/// The share of the cost that the functions of a whole profile have for people.
const THRESHOLD: f64 = 99.0;

pub(super) fn write(job: &Job<'_>, lines: AsmLines, out: &mut dyn Write) -> Result<(), CliError> {
    let Job { args, session, .. } = *job;
    if !job.files.sources.is_empty() {
        return Err(usage(
            "machine code has no source files to choose",
            "--file REGEX chooses the functions of source files",
        ));
    }
    if !has_addresses(job.profile, &load::selection(&args.selection)) {
        return Err(usage(
            format!("{}: no cost has the address of an instruction", job.files.names()),
            "record it with gristmill record --dump-instr=yes, or with valgrind --tool=callgrind --dump-instr=yes \
             --collect-jumps=yes",
        ));
    }
    let syntax = match args.asm_syntax {
        AsmSyntax::Att => Syntax::Att,
        AsmSyntax::Intel => Syntax::Intel,
    };
    let programs = ProgramFinder::new(&args.program, &args.source.sources_below)?.with_syntax(syntax);
    warn_of_unused_maps(&args.program, &[job.profile], session);
    let view = document::view(job)?;
    let options = options(job)?;
    let assembly =
        Assembly::new(&view, &options, &programs, job.sources).map_err(|error| load::unseen(&error))?;
    let (context, has_lines) = (args.context.unwrap_or(CONTEXT), lines == AsmLines::Source);
    match args.format {
        AnnotateFormat::Text => {
            let options = AssemblyTextOptions { context, has_lines, is_ascii: !terminal::is_utf8() };
            assembly.write_text(&options, &job.look(), out)?;
        }
        AnnotateFormat::Json | AnnotateFormat::Html => {
            warn_of_doubts(job.profile, session);
            for (text, hint) in assembly.remarks() {
                let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                session.warn(&format!("{text}{hint}"));
            }
            match args.format {
                AnnotateFormat::Html => {
                    let threshold = options.threshold.filter(|_| options.limit.is_none());
                    assembly.write_html(&AssemblyPageOptions { threshold, context, has_lines }, out)?
                }
                AnnotateFormat::Json | AnnotateFormat::Text => assembly.write_json(out)?,
            }
        }
    }
    Ok(())
}

/// The functions to show. What a person asks for by name is shown in full.
fn options(job: &Job<'_>) -> Result<AssemblyOptions, CliError> {
    let AnnotateArgs { filter: function, file, format, limit, threshold, .. } = job.args;
    let is_whole = function.is_none() && file.is_none();
    let limit = match limit {
        Some(0) => None,
        Some(limit) => Some(*limit),
        None => (is_whole && *format == AnnotateFormat::Text).then_some(TEXT_LIMIT),
    };
    let threshold = match threshold {
        Some(text) => Some(percentage(text)?),
        None => (is_whole && *format != AnnotateFormat::Json).then_some(THRESHOLD),
    };
    Ok(AssemblyOptions { function: job.function()?, subject: None, file: job.file()?, threshold, limit })
}

fn percentage(text: &str) -> Result<f64, CliError> {
    let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
    number.filter(|number| (0.0..=100.0).contains(number)).ok_or_else(|| {
        usage(format!("--threshold {text}: is no percentage from 0 to 100"), "for example --threshold 95")
    })
}
