#![cfg(test)]

use std::time::Duration;

use clap::Parser as _;

use super::*;
use crate::args::ProgramArgs;
use crate::session::testing::session;

#[derive(Debug, clap::Parser)]
struct Alone {
    #[command(flatten)]
    args: SourceArgs,
    #[command(flatten)]
    program: ProgramArgs,
}

/// A directory with files that contain their own names.
fn folder(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let place = folder.path().join(file);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, file).unwrap();
    }
    folder
}

/// The result for a path, then the warnings; `@` in the options is the directory.
fn look(folder: &Path, options: &[&str], path: &str) -> (Found, String) {
    let folder = folder.to_str().unwrap();
    let options = options.iter().map(|option| option.replace('@', folder));
    let Alone { args, program } = Alone::parse_from(["annotate".to_owned()].into_iter().chain(options));
    let (session, _, warnings) = session();
    let finder = SourceFinder::new(&args, &program.debuginfo_dir, None, &session).unwrap();
    let found = finder.get(path.replace('@', folder).as_bytes());
    (found, warnings.text())
}

fn text(folder: &Path, options: &[&str], path: &str) -> String {
    let found = look(folder, options, path).0;
    found.map_or_else(|fault| fault.to_string(), |source| String::from_utf8(source.text.clone()).unwrap())
}

#[test]
fn places_have_an_order() {
    let folder = folder(&["one/x.c", "two/x.c", "map/x.c", "deep/er/two/x.c", "root/usr/src/pkg/x.c"]);
    let folder = folder.path();
    assert_eq!(text(folder, &[], "@/one/x.c"), "one/x.c");
    assert_eq!(text(folder, &[], "x.c"), "not found");
    assert_eq!(text(folder, &["-I", "@/two", "-I", "@/one"], "x.c"), "two/x.c");
    // The recorded path comes before -I and after the map.
    assert_eq!(text(folder, &["-I", "@/two"], "@/one/x.c"), "one/x.c");
    assert_eq!(text(folder, &["--source-map", "@/one=@/map"], "@/one/x.c"), "map/x.c");
    // A map to a missing file does not end the search.
    assert_eq!(text(folder, &["--source-map", "@/one=@/none"], "@/one/x.c"), "one/x.c");
    // A rewritten path is also looked up below -I.
    assert_eq!(
        text(folder, &["--source-map", "/gone=er", "-I", "@/deep"], "/gone/two/x.c"),
        "deep/er/two/x.c"
    );
    assert_eq!(text(folder, &["--debuginfo-dir", "@/root"], "/usr/src/pkg/x.c"), "root/usr/src/pkg/x.c");
    assert_eq!(text(folder, &["--debuginfo-dir", "@/root"], "/build/pkg/x.c"), "root/usr/src/pkg/x.c");
    assert_eq!(text(folder, &["--search", "@/deep"], "/build/two/x.c"), "deep/er/two/x.c");
    assert_eq!(text(folder, &["--search", "@"], "/build/er/two/x.c"), "deep/er/two/x.c");
}

#[test]
fn nothing_is_guessed() {
    let folder = folder(&["a/src/x.c", "b/src/x.c", "c/y.c"]);
    let shown = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (found, warnings) = look(folder.path(), &["--search", "@"], "/build/src/x.c");
    assert_eq!(found, Err(SourceError::Ambiguous(vec![shown("a/src/x.c"), shown("b/src/x.c")])));
    assert_eq!(warnings, "");
    let (found, _) = look(folder.path(), &["--search", "@"], "/build/z/y.c");
    assert_eq!(found, Err(SourceError::NamedAlike(vec![shown("c/y.c")])));
    // Two files of the same text are not ambiguous.
    std::fs::write(folder.path().join("b/src/x.c"), "a/src/x.c").unwrap();
    assert_eq!(text(folder.path(), &["--search", "@"], "/build/src/x.c"), "a/src/x.c");
}

#[test]
fn unknown_names_and_names_that_are_no_paths() {
    let folder = folder(&["???"]);
    for name in ["", "???", "\0", "a\0b", &"x".repeat(10_000), &"x/".repeat(10_000)] {
        let found = look(folder.path(), &["-I", "@", "--search", "@", "--debuginfo-dir", "@"], name).0;
        assert_eq!(found, Err(SourceError::Missing), "{name:?}");
    }
}

#[test]
fn only_regular_files_of_some_size_are_read() {
    let folder = folder(&["dir/x.c"]);
    assert_eq!(text(folder.path(), &[], "@/dir"), "cannot be read: is no regular file");
    let large = std::fs::File::create(folder.path().join("large.c")).unwrap();
    large.set_len(MAX_BYTES + 1).unwrap();
    assert_eq!(text(folder.path(), &[], "@/large.c"), "cannot be read: is larger than 64 MiB");
    #[cfg(unix)]
    assert_eq!(text(folder.path(), &[], "/dev/zero"), "cannot be read: is no regular file");
    // A candidate of a lower rank is enough.
    std::fs::create_dir(folder.path().join("two")).unwrap();
    std::fs::write(folder.path().join("two/dir"), "text").unwrap();
    let options = ["--source-map", "/gone=@", "-I", "@/two", "--source-map", "/gone/dir=dir"];
    assert_eq!(text(folder.path(), &options, "/gone/dir"), "text");
}

#[test]
fn newer_than_the_profile() {
    let folder = folder(&["x.c"]);
    let place = folder.path().join("x.c");
    let changed = std::fs::metadata(&place).unwrap().modified().unwrap();
    let args = Alone::parse_from(["annotate"]).args;
    let (session, ..) = session();
    let minute = Duration::from_secs(60);
    for (profile, is_newer) in [
        (None, false),
        (Some(changed + minute), false),
        (Some(changed), false),
        (Some(changed - minute), true),
    ] {
        let sources = SourceFinder::new(&args, &[], profile, &session).unwrap();
        let source = sources.get(place.to_str().unwrap().as_bytes()).unwrap();
        assert_eq!(source.is_newer, is_newer);
    }
}

#[test]
fn a_file_is_read_once() {
    let folder = folder(&["x.c"]);
    let args = Alone::parse_from(["annotate"]).args;
    let (session, ..) = session();
    let sources = SourceFinder::new(&args, &[], None, &session).unwrap();
    let path = |middle: &str| format!("{}/{middle}x.c", folder.path().display()).into_bytes();
    let first = sources.get(&path("")).unwrap();
    assert!(Arc::ptr_eq(&first, &sources.get(&path("")).unwrap()));
    assert!(Arc::ptr_eq(&first, &sources.get(&path("./")).unwrap()));
}

#[test]
fn directories_that_cannot_be_read_are_reported_once() {
    let folder = folder(&["x.c"]);
    let args = Alone::parse_from(["annotate", "--search", "/no/such/place"]).args;
    let (session, _, warnings) = session();
    let sources = SourceFinder::new(&args, &[], None, &session).unwrap();
    for name in ["a.c", "b.c"] {
        assert_eq!(sources.get(name.as_bytes()), Err(SourceError::Missing));
    }
    assert_eq!(warnings.text(), "gristmill: warning: /no/such/place: a directory could not be read\n");
    drop(folder);
}

#[cfg(unix)]
#[test]
fn what_is_opened_must_be_below_an_allowed_directory() {
    let folder = folder(&["in/x.c", "out/secret"]);
    let root = folder.path();
    std::os::unix::fs::symlink(root.join("out/secret"), root.join("in/link.c")).unwrap();
    std::os::unix::fs::symlink(root.join("out"), root.join("in/links")).unwrap();
    let Alone { args, program } =
        Alone::parse_from(["annotate", "--sources-below", root.join("in").to_str().unwrap()]);
    let (session, _, _) = session();
    let finder = SourceFinder::new(&args, &program.debuginfo_dir, None, &session).unwrap();
    // As if a link had taken the name after the path was checked.
    let read = |name: &str| finder.read_text(&root.canonicalize().unwrap().join(name));
    assert_eq!(read("in/x.c"), Ok(b"in/x.c".to_vec()));
    for link in ["in/link.c", "in/links/secret"] {
        assert!(matches!(read(link), Err(SourceError::Unreadable(_) | SourceError::Missing)), "{link}");
    }
}
