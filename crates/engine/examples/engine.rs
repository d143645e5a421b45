//! Runs a program under the engine: `engine OUTPUT PROGRAM [ARGUMENT…]`.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn main() {
    use std::path::PathBuf;

    use gristmill_engine::{Client, Invocation, Options};

    /// Writes the profile of every process to one file, and messages to standard error.
    #[derive(Debug)]
    struct Terminal(PathBuf);

    impl Client for Terminal {
        fn output(&self, _process: u32) -> PathBuf {
            self.0.clone()
        }

        fn begin(&self, _process: u32) {}

        #[expect(clippy::print_stderr, reason = "it is a program")]
        fn tell(&self, _process: u32, message: &str) {
            eprintln!("{message}");
        }
    }

    let mut words = std::env::args_os().skip(1);
    let output = std::path::absolute(words.next().unwrap_or_default()).unwrap_or_default();
    let words: Vec<_> = words.collect();
    let program = words.first().map(PathBuf::from).unwrap_or_default();
    let client = Terminal(output);
    let mut options = Options::new(Invocation::find(&program, words), Box::new(client));
    options.by_instruction = std::env::var_os("BY_INSTRUCTION").is_some();
    let mut environment = gristmill_engine::environment();
    environment.retain(|entry| !entry.as_encoded_bytes().starts_with(b"BY_INSTRUCTION="));
    let refusal = gristmill_engine::run(options, &environment);
    Terminal(PathBuf::new()).tell(0, &refusal.to_string());
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn main() {}
