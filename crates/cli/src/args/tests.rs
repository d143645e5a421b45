//! Tests of the command line as a whole.

use super::*;

fn parse_words(words: &[&str]) -> Result<Cli, clap::Error> {
    parse(std::iter::once("gristmill").chain(words.iter().copied()).map(OsString::from))
}

#[test]
fn definition_is_consistent() {
    definition().debug_assert();
}

#[test]
fn help_fits_80_columns() {
    /// Returns the count of commands, those within others included.
    fn check(command: &mut clap::Command, path: &str) -> usize {
        for page in [command.render_help(), command.render_long_help()] {
            for line in page.to_string().lines() {
                assert!(line.chars().count() <= 80, "{path}: {line}");
            }
        }
        let below = command.get_subcommands_mut().map(|sub| {
            let path = format!("{path} {}", sub.get_name());
            check(sub, &path)
        });
        1 + below.sum::<usize>()
    }
    let mut root = definition();
    root.build();
    let pages = check(&mut root, "gristmill");
    let top = root.get_subcommands().count();
    assert!(pages > top + 4, "{pages} pages: those of `gate` are missing");
}

#[test]
fn short_help_fits_a_screen() {
    fn check(command: &mut clap::Command, path: &str) {
        let help = command.render_help().to_string();
        assert!(help.lines().count() <= 40, "{path}: {} lines\n{help}", help.lines().count());
        for sub in command.get_subcommands_mut() {
            let path = format!("{path} {}", sub.get_name());
            check(sub, &path);
        }
    }
    let mut root = definition();
    root.build();
    check(&mut root, "gristmill");
}

#[test]
fn help_is_a_command() {
    let is_help = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        help_of(&words)
    };
    for (words, start) in [
        (&[][..], "Gristmill reads"),
        (&["help"], "Print the help"),
        (&["functions"], "List functions"),
        (&["gate", "run"], "Record or read"),
    ] {
        let help = is_help(words);
        assert_eq!(help.kind(), ErrorKind::DisplayHelp, "{words:?}");
        assert!(help.to_string().starts_with(start), "{help}");
    }
    let unknown = is_help(&["funtions"]);
    assert_eq!(unknown.kind(), ErrorKind::InvalidSubcommand);
    assert!(unknown.to_string().contains("functions"), "{unknown}");
}

#[test]
fn every_argument_has_help() {
    let mut root = definition();
    root.build();
    for command in std::iter::once(&root).chain(root.get_subcommands()) {
        assert!(command.get_about().is_some(), "{}", command.get_name());
        for arg in command.get_arguments() {
            assert!(arg.get_help().is_some(), "{} {}", command.get_name(), arg.get_id());
        }
    }
}

#[test]
fn global_options_are_allowed_anywhere() {
    let before = parse_words(&["--color", "never", "--max-size", "1K", "info", "a"]).unwrap();
    let after = parse_words(&["info", "a", "--max-size=1K", "--color=never"]).unwrap();
    for cli in [before, after] {
        assert_eq!(cli.global.color, ColorChoice::Never);
        assert_eq!(cli.global.max_size.bytes(), 1024);
    }
}

#[test]
fn defaults() {
    let cli = parse_words(&["info", "a"]).unwrap();
    assert_eq!(cli.global.color, ColorChoice::Auto);
    assert_eq!(cli.global.max_size.bytes(), 16 << 30);
}

#[test]
fn lint_reads_files_or_explains_rules() {
    assert!(parse_words(&["lint"]).is_ok());
    assert!(parse_words(&["lint", "--list-rules"]).is_ok());
    assert!(parse_words(&["lint", "--explain", "some-rule"]).is_ok());
    assert!(parse_words(&["lint", "--explain", "some-rule", "a"]).is_err());
    assert!(parse_words(&["lint", "--strict", "--practice", "a"]).is_err());
}

#[test]
fn drop_repeats_and_splits() {
    let cli = parse_words(&["rewrite", "a", "--drop", "jumps,instr", "--drop=comments"]).unwrap();
    let Command::Rewrite(args) = cli.command else {
        panic!("rewrite expected");
    };
    assert_eq!(args.drop, [Dropped::Jumps, Dropped::Instr, Dropped::Comments]);
    assert_eq!(args.inputs, [PathBuf::from("a")]);
}

#[test]
fn numbers_are_asked_for_in_words() {
    for (words, expected) in [
        (&["functions", "-n", "x"][..], "expected a whole number, such as 20"),
        (&["tree", "--depth=-1"], "expected a whole number, such as 20"),
        (&["show", "f", "--depth", "0"], "expected a whole number of at least 1"),
        (&["gate", "run", "-j", "70000"], "the number is too large"),
        (&["info", "--part", "x"], "unexpected argument"),
        (&["functions", "--part", "x"], "expected a number or a range, such as 4 or 4-6"),
    ] {
        let error = parse_words(words).unwrap_err().to_string();
        assert!(error.contains(expected), "{words:?}: {error}");
    }
}

#[test]
fn standard_input_only_once() {
    let error = parse_words(&["info", "-", "a", "-"]).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("only once"));
}
