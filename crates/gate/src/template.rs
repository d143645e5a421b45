//! A first configuration.

use crate::baseline::toml_string;

/// Returns the text of a configuration with one benchmark, which records a command.
///
/// ```
/// use std::path::Path;
///
/// let text = gristmill_gate::first_config(&["target/release/bench".to_owned()]);
/// let config = gristmill_gate::Config::parse(Path::new("gristmill.toml"), &text)?;
/// assert_eq!(config.benchmarks[0].name, "first");
/// # Ok::<(), gristmill_gate::FileError>(())
/// ```
pub fn first_config(command: &[String]) -> String {
    let example = [String::from("target/release/bench")];
    let command = if command.is_empty() { &example[..] } else { command };
    let words: Vec<String> = command.iter().map(|word| toml_string(word)).collect();
    format!(
        "# Benchmarks and budgets of `gristmill gate`. docs/gate.md of Gristmill explains every key.\n\
         \n\
         [gate]\n\
         # The accepted costs, written by `gristmill gate bless` and reviewed like code.\n\
         baseline = \"gristmill-baseline.toml\"\n\
         # Event types that fail the gate when they grow by more than `increase`, and those that are only reported.\n\
         events = [\"Ir\"]\n\
         advise = []\n\
         increase = \"1%\"\n\
         # Functions below this share of the total are not listed one by one in the baseline.\n\
         share = \"0.1%\"\n\
         # Patterns of functions to ignore: they depend on the machine and not on your code.\n\
         ignore = [\"^_dl_\", \"^__(mem|str)\\\\w+_(sse|avx|evex)\"]\n\
         \n\
         [[benchmark]]\n\
         name = \"first\"\n\
         command = [{}]\n\
         # setup = [\"cargo build --release\"]\n\
         # options = [\"--cache-sim=yes\"]\n\
         # environment = {{ GLIBC_TUNABLES = \"glibc.cpu.hwcaps=-AVX2,-AVX512F\" }}\n\
         \n\
         # A budget for some functions:\n\
         # [[benchmark.budget]]\n\
         # name = \"parser\"\n\
         # function = \"^parse::\"\n\
         # increase = \"0.5%\"\n",
        words.join(", ")
    )
}
