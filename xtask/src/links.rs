//! `cargo xtask links`: every relative link in a Markdown file leads to a file or folder.

use std::path::Path;
use std::process::Command;

use regex::Regex;

use crate::failure::{Context as _, Failure};
use crate::workspace;

pub(crate) fn run() -> Result<(), Failure> {
    let mut git = Command::new("git");
    git.args(["ls-files", "*.md"]).current_dir(workspace::root());
    let output = git.output().context(|| "cannot run git".to_owned())?;
    let pattern = pattern()?;
    let (mut links, mut broken) = (0, 0);
    for path in String::from_utf8_lossy(&output.stdout).lines().filter(|path| !path.contains("/goldens/")) {
        let file = workspace::root().join(path);
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let folder = file.parent().unwrap_or(workspace::root());
        for (line, target) in relative_links(&pattern, &text) {
            links += 1;
            if !folder.join(&target).exists() {
                println!("{path}:{line}: {target} does not exist");
                broken += 1;
            }
        }
    }
    if broken == 0 {
        println!("links: {links} links, all lead to a file");
        return Ok(());
    }
    Err(Failure::new(format!("links: {broken} of {links} lead nowhere")))
}

fn pattern() -> Result<Regex, Failure> {
    Regex::new(r"\]\(([^)\s]+)\)").context(|| "the pattern of links".to_owned())
}

/// Returns the relative links of a text without their anchors, each with its line number.
///
/// Links of rustdoc, such as `crate::practice`, and those to other sites are left out.
fn relative_links(pattern: &Regex, text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (line, text) in text.lines().zip(1..).map(|(text, line)| (line, text)) {
        for link in pattern.captures_iter(text) {
            let target = link[1].split('#').next().unwrap_or_default();
            let is_file = Path::new(target).extension().is_some() || target.contains('/');
            if is_file && !target.contains("::") && !target.contains("//") {
                links.push((line, target.to_owned()));
            }
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_links_are_found_and_others_left_out() {
        let text = "[a](b/c.rs) and [d](https://e.f/g)\n[h](#i) [j](k.md#l) [m](crate::n) [o](p/q)";
        let links = relative_links(&pattern().unwrap(), text);
        let expected = [(1, "b/c.rs"), (2, "k.md"), (2, "p/q")].map(|(line, path)| (line, path.to_owned()));
        assert_eq!(links, expected);
    }
}
