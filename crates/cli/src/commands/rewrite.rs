//! `gristmill rewrite`: writes profiles in another style.

use std::io::{self, Write};
use std::path::Path;

use gristmill_format::{
    Change, Error, ErrorKind, NameStyle as Names, PositionStyle as Positions, Rewrite, repair,
};

use crate::args::{Dropped, NameStyle, PositionStyle, RewriteArgs};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::input::Input;
use crate::load::refusal;
use crate::output::{self, Target};
use crate::progress::Progress;
use crate::session::Session;
use crate::terminal::grouped;

const REPAIR_HINT: &str = "use --repair, which repairs the file and reports each change";

pub(crate) fn run(args: &RewriteArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let targets = output::targets(args.output.as_deref(), &args.inputs, args.force)?;
    let options = options(args);
    let mut status = ExitStatus::Success;
    for (path, target) in args.inputs.iter().zip(&targets) {
        let done = session
            .read(path)
            .map_err(CliError::from)
            .and_then(|input| written(&input, target, &options, args, session));
        match done {
            Ok(()) => {}
            Err(error) if error.is_broken_pipe() => return Err(error),
            // The other files may be fine.
            Err(error) => {
                session.report(&error);
                status = ExitStatus::Failure;
            }
        }
    }
    Ok(status)
}

fn options(args: &RewriteArgs) -> Rewrite {
    Rewrite {
        names: match args.names {
            None => Names::AsGiven,
            Some(NameStyle::Compressed) => Names::Compressed,
            Some(NameStyle::Plain) => Names::Plain,
        },
        positions: match args.positions {
            None => Positions::AsGiven,
            Some(PositionStyle::Compressed) => Positions::Compressed,
            Some(PositionStyle::Absolute) => Positions::Absolute,
        },
        drop_jumps: args.drop.contains(&Dropped::Jumps),
        drop_instr: args.drop.contains(&Dropped::Instr),
        drop_comments: args.drop.contains(&Dropped::Comments),
        explicit_files: args.explicit_files,
        strip_prefix: args.strip_prefix.iter().map(|path| directory(path)).collect(),
    }
}

fn directory(path: &Path) -> Vec<u8> {
    path.as_os_str().as_encoded_bytes().to_owned()
}

fn written(
    input: &Input,
    target: &Target,
    options: &Rewrite,
    args: &RewriteArgs,
    session: &Session,
) -> Result<(), CliError> {
    if let Some(refusal) = refusal::of_input(input) {
        return Err(refusal);
    }
    let hint = if args.repair { None } else { Some(REPAIR_HINT) };
    if let Some(damage) = input.damage.as_ref().filter(|_| !args.repair) {
        let message = format!("{}: {damage}", input.name());
        return Err(CliError::Profile { message, hint: hint.map(str::to_owned) });
    }
    let mut changes = Vec::new();
    session.write_profile_to(target, args.force, |out| {
        let sink = Counted::new(out, target, input, session);
        let done = if args.repair {
            repair(&input.bytes, options, sink).map(|repaired| changes = repaired.changes)
        } else {
            options.run(&input.bytes, sink).map(|_| ())
        };
        done.map_err(|error| cli_error(&error, input, hint))
    })?;
    if args.repair {
        tell(&changes, input, session);
    }
    Ok(())
}

/// Reports each repair, so that nobody needs to compare the files.
fn tell(changes: &[Change], input: &Input, session: &Session) {
    let name = input.name();
    if let Some(damage) = &input.damage {
        session.warn(&format!("{name}: {damage}"));
    }
    for change in changes {
        let line = change.first.line;
        match change.count {
            1 => session.tell(&format!("{name}:{line}: {}", change.kind)),
            count => {
                session.tell(&format!("{name}:{line}: {} ({} times)", change.kind, grouped(count)));
            }
        }
    }
    if changes.is_empty() {
        session.tell(&format!("{name}: no repair was necessary"));
    }
}

/// Converts an error of the library, with the name of the file.
fn cli_error(error: &Error, input: &Input, hint: Option<&str>) -> CliError {
    if let Some(error) = CliError::from_sink(error) {
        return error;
    }
    let location = error.location();
    let message = format!("{}:{}:{}: {}", input.name(), location.line, error.column(), error.kind());
    // A file that is not a profile cannot be repaired.
    let hint = hint.filter(|_| !matches!(error.kind(), ErrorKind::NotAProfile(_)));
    CliError::Profile { message, hint: hint.map(str::to_owned) }
}

/// A writer that shows progress by the bytes written, about as many as were read.
struct Counted<'o> {
    out: &'o mut dyn Write,
    progress: Progress,
}

impl<'o> Counted<'o> {
    fn new(out: &'o mut dyn Write, target: &Target, input: &Input, session: &Session) -> Self {
        let progress = match target {
            // Both may be the same terminal.
            Target::Stdout => Progress::hidden(),
            Target::File(path) => session.progress("writing", path, Some(input.bytes.len() as u64)),
        };
        Self { out, progress }
    }
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.progress.advance(written as u64);
        Ok(written)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.progress.advance(bytes.len() as u64);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
