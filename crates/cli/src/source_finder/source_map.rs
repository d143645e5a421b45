//! `--source-map FROM=TO`: rewriting of the beginnings of paths.

use crate::error::CliError;
use crate::terminal::printable;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceMap {
    /// The beginning without a slash at its end.
    from: Vec<u8>,
    to: Vec<u8>,
}

impl SourceMap {
    pub(super) fn parse_all(texts: &[String]) -> Result<Vec<Self>, CliError> {
        texts.iter().map(|text| Self::parse(text)).collect()
    }

    fn parse(text: &str) -> Result<Self, CliError> {
        match text.split_once('=') {
            Some((from, to)) if !from.is_empty() => Ok(SourceMap {
                from: without_slash(from).as_bytes().to_vec(),
                to: without_slash(to).as_bytes().to_vec(),
            }),
            _ => Err(CliError::Usage {
                message: format!("--source-map '{}': is not FROM=TO", printable(text.as_bytes())),
                hint: Some(
                    "for example --source-map /build/mill=/home/me/mill; for relative paths use -I"
                        .to_owned(),
                ),
            }),
        }
    }

    /// Rewrites a path with the longest matching beginning, the first of equals.
    pub(super) fn apply(maps: &[Self], path: &[u8]) -> Option<Vec<u8>> {
        let fitting = maps.iter().rev().filter_map(|map| Some((map, map.rest(path)?)));
        let (map, rest) = fitting.max_by_key(|(map, _)| map.from.len())?;
        Some(match (map.to.as_slice(), rest) {
            // With an empty TO, the rest is relative to the working directory.
            (b"", rest) => rest.strip_prefix(b"/").unwrap_or(rest).to_vec(),
            (b"/", rest) if rest.starts_with(b"/") => rest.to_vec(),
            (to, rest) => [to, rest].concat(),
        })
    }

    /// The rest of a path that has this beginning: nothing, or a slash and more.
    fn rest<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        if self.from == b"/" {
            return Some(path).filter(|path| path.starts_with(b"/"));
        }
        let rest = path.strip_prefix(self.from.as_slice())?;
        (rest.is_empty() || rest.starts_with(b"/") || rest.starts_with(b"\\")).then_some(rest)
    }
}

fn without_slash(path: &str) -> &str {
    let shorter = path.trim_end_matches('/');
    if shorter.is_empty() && !path.is_empty() { "/" } else { shorter }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(maps: &[&str], path: &str) -> Option<String> {
        let maps: Vec<String> = maps.iter().map(|&map| map.to_owned()).collect();
        let mapped = SourceMap::apply(&SourceMap::parse_all(&maps).unwrap(), path.as_bytes());
        mapped.map(|path| String::from_utf8(path).unwrap())
    }

    #[test]
    fn beginnings_end_between_components() {
        assert_eq!(map(&["/srv/demo=/here"], "/srv/demo/a.c").as_deref(), Some("/here/a.c"));
        assert_eq!(map(&["/srv/demo/=/here/"], "/srv/demo/a.c").as_deref(), Some("/here/a.c"));
        assert_eq!(map(&["/srv/demo=/here"], "/srv/demolition/a.c"), None);
        assert_eq!(map(&["/srv/demo/a.c=/here/b.c"], "/srv/demo/a.c").as_deref(), Some("/here/b.c"));
        assert_eq!(map(&["src=lib"], "src/a.c").as_deref(), Some("lib/a.c"));
        assert_eq!(map(&["src=lib"], "/src/a.c"), None);
    }

    #[test]
    fn roots_and_nothing() {
        assert_eq!(map(&["/=/chroot"], "/usr/a.c").as_deref(), Some("/chroot/usr/a.c"));
        assert_eq!(map(&["/=/chroot"], "a.c"), None);
        assert_eq!(map(&["/build="], "/build/src/a.c").as_deref(), Some("src/a.c"));
        assert_eq!(map(&["/build=/"], "/build/src/a.c").as_deref(), Some("/src/a.c"));
        assert_eq!(map(&["C:\\work=/w"], "C:\\work\\a.c").as_deref(), Some("/w\\a.c"));
    }

    #[test]
    fn the_longest_beginning_wins() {
        let maps = ["/a=/1", "/a/b/c=/3", "/a/b=/2", "/a/b=/other"];
        assert_eq!(map(&maps, "/a/b/c/d.c").as_deref(), Some("/3/d.c"));
        assert_eq!(map(&maps, "/a/b/d.c").as_deref(), Some("/2/d.c"));
        assert_eq!(map(&maps, "/a/d.c").as_deref(), Some("/1/d.c"));
    }

    #[test]
    fn a_map_needs_both_sides() {
        for text in ["/a", "=/a", ""] {
            let error = SourceMap::parse_all(&[text.to_owned()]).unwrap_err();
            assert_eq!(error.to_string(), format!("--source-map '{text}': is not FROM=TO"));
        }
    }
}
