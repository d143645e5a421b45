//! `gristmill gate init`: a first `gristmill.toml`.

use super::baseline::quoted;
use crate::args::GateInitArgs;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::output::{self, Target};
use crate::session::Session;
use crate::terminal::printable_path;

pub(super) fn run(args: &GateInitArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let path = &args.config.config;
    let Target::File(_) = output::target(Some(path), &[], false)? else {
        return Err(CliError::Usage { message: "the configuration is a file".to_owned(), hint: None });
    };
    let text = text(&args.command);
    session.write_to(&Target::File(path.clone()), false, |out| Ok(out.write_all(text.as_bytes())?))?;
    let path = printable_path(path);
    session.tell(&format!(
        "{path} is written; look through it, then `gristmill gate bless` takes the first costs"
    ));
    Ok(ExitStatus::Success)
}

fn text(command: &[String]) -> String {
    let example = [String::from("target/release/bench")];
    let words: Vec<String> =
        if command.is_empty() { &example[..] } else { command }.iter().map(|word| quoted(word)).collect();
    format!(
        "# What `gristmill gate run` measures and allows. docs/gate.md of Gristmill explains every key.\n\
         \n\
         [gate]\n\
         # The accepted costs, written by `gristmill gate bless` and reviewed like code.\n\
         baseline = \"gristmill-baseline.toml\"\n\
         # Event types that fail the gate when they grow by more than `increase`, and those that only advise.\n\
         events = [\"Ir\"]\n\
         advise = []\n\
         increase = \"1%\"\n\
         # Functions below this share of the total are summed up in the baseline.\n\
         share = \"0.1%\"\n\
         # Functions whose cost does not count, as patterns: they depend on the machine and not on your code.\n\
         ignore = [\"^_dl_\", \"^__(mem|str)\\\\w+_(sse|avx|evex)\"]\n\
         \n\
         [[benchmark]]\n\
         name = \"first\"\n\
         command = [{}]\n\
         # setup = [\"cargo build --release\"]\n\
         # options = [\"--cache-sim=yes\"]\n\
         # environment = {{ GLIBC_TUNABLES = \"glibc.cpu.hwcaps=-AVX2,-AVX512F\" }}\n\
         \n\
         # A budget of its own for some functions:\n\
         # [[benchmark.budget]]\n\
         # name = \"parser\"\n\
         # function = \"^parse::\"\n\
         # increase = \"0.5%\"\n",
        words.join(", ")
    )
}
