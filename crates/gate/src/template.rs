//! A first configuration.

use crate::baseline::toml_string;

/// Returns the text of a configuration with one benchmark, which records a command. With `has_main`, the function `main` has a
/// budget, too: its cost is without the start of the program, which hides changes of a small one.
///
/// ```
/// use std::path::Path;
///
/// let text = gristmill_gate::first_config(&["target/release/bench".to_owned()], true);
/// let config = gristmill_gate::Config::parse(Path::new("gristmill.toml"), &text)?;
/// assert_eq!(config.benchmarks[0].name, "first");
/// assert_eq!(config.benchmarks[0].budgets.len(), 2);
/// # Ok::<(), gristmill_gate::FileError>(())
/// ```
pub fn first_config(command: &[String], has_main: bool) -> String {
    // A pattern that matches no function is refused.
    let mark = if has_main { "" } else { "# " };
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
         \n\
         [[benchmark]]\n\
         name = \"first\"\n\
         command = [{}]\n\
         # setup = [\"cargo build --release\"]\n\
         # options = [\"--cache-sim=yes\"]\n\
         # environment = {{ RAYON_NUM_THREADS = \"1\" }}\n\
         \n\
         # The cost of `main` and of what it calls, without the start of the program: where the start is large, the total\n\
         # hides changes.\n\
         {mark}[[benchmark.budget]]\n\
         {mark}name = \"main\"\n\
         {mark}function = \"^main$\"\n\
         {mark}inclusive = true\n\
         {mark}increase = \"1%\"\n\
         \n\
         # A budget for the self cost of some functions:\n\
         # [[benchmark.budget]]\n\
         # name = \"parser\"\n\
         # function = \"^parse::\"\n\
         # increase = \"0.5%\"\n",
        words.join(", ")
    )
}
