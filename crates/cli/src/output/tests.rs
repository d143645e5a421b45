use std::fs;

use super::*;
use crate::error::CliError;

fn names_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn kind(result: Result<(), CliError>) -> OutputErrorKind {
    match result {
        Err(CliError::Output(error)) => error.kind,
        other => panic!("an output error expected, not {other:?}"),
    }
}

fn put(path: &Path, force: bool, text: &str) -> Result<(), CliError> {
    write(path, force, |out| Ok(out.write_all(text.as_bytes())?))
}

#[test]
fn writes_once_and_again_when_forced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("out");
    put(&path, false, "one").unwrap();
    assert!(matches!(kind(put(&path, false, "two")), OutputErrorKind::Exists));
    assert_eq!(fs::read(&path).unwrap(), b"one");
    put(&path, true, "three").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"three");
    assert_eq!(names_in(directory.path()), ["out"]);
}

#[test]
fn failure_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("out");
    let result = write(&path, false, |out| {
        out.write_all(&[0; 1 << 20])?;
        Err(CliError::Usage { message: "stop".to_owned(), hint: None })
    });
    assert!(matches!(result, Err(CliError::Usage { .. })));
    assert_eq!(names_in(directory.path()), [""; 0]);
}

#[test]
fn a_file_that_appears_meanwhile_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("out");
    let result = write(&path, false, |out| {
        fs::write(&path, "theirs")?;
        Ok(out.write_all(b"ours")?)
    });
    assert!(matches!(kind(result), OutputErrorKind::Exists));
    assert_eq!(fs::read(&path).unwrap(), b"theirs");
    assert_eq!(names_in(directory.path()), ["out"]);
}

#[test]
fn places_that_cannot_be_written() {
    let directory = tempfile::tempdir().unwrap();
    assert!(matches!(kind(put(directory.path(), true, "")), OutputErrorKind::IsDirectory));
    let missing = directory.path().join("no/out");
    assert!(matches!(kind(put(&missing, true, "")), OutputErrorKind::NotFound));
}

#[cfg(unix)]
#[test]
fn permissions_are_those_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;

    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let directory = tempfile::tempdir().unwrap();
    let (plain, ours) = (directory.path().join("plain"), directory.path().join("ours"));
    fs::write(&plain, "").unwrap();
    put(&ours, false, "").unwrap();
    assert_eq!(mode(&ours), mode(&plain));
    // Those of a file that is overwritten stay.
    fs::set_permissions(&ours, fs::Permissions::from_mode(0o640)).unwrap();
    put(&ours, true, "new").unwrap();
    assert_eq!(mode(&ours), 0o640);
}

#[cfg(unix)]
#[test]
fn links_and_devices_stay_what_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let (real, link) = (directory.path().join("real"), directory.path().join("link"));
    fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    put(&link, true, "new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&real).unwrap(), b"new");
    put(Path::new("/dev/null"), false, "gone").unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_followed() {
    use std::os::unix::fs::symlink;

    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::create_dir(at("below")).unwrap();
    for force in [false, true] {
        // A relative link begins in its own directory, and one may lead to another.
        symlink("below/second", at("first")).unwrap();
        symlink("third", at("below/second")).unwrap();
        put(&at("first"), force, "new").unwrap();
        assert_eq!(fs::read(at("below/third")).unwrap(), b"new");
        assert!(fs::symlink_metadata(at("first")).unwrap().is_symlink());
        assert!(fs::symlink_metadata(at("below/second")).unwrap().is_symlink());
        assert_eq!(names_in(&at("below")), ["second", "third"]);
        // Now it leads to a file, which is not overwritten unasked.
        assert!(matches!(kind(put(&at("first"), false, "newer")), OutputErrorKind::Exists));
        for name in ["first", "below/second", "below/third"] {
            fs::remove_file(at(name)).unwrap();
        }
        symlink("no/where", at("lost")).unwrap();
        assert!(matches!(kind(put(&at("lost"), force, "new")), OutputErrorKind::NotFound));
        symlink("round", at("round")).unwrap();
        assert!(matches!(kind(put(&at("round"), force, "new")), OutputErrorKind::Write(_)));
        for name in ["lost", "round"] {
            assert!(fs::symlink_metadata(at(name)).unwrap().is_symlink());
            fs::remove_file(at(name)).unwrap();
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_with_the_name_of_the_file() {
    let error = put(Path::new("/dev/full"), false, "text").unwrap_err();
    assert_eq!(error.to_string(), "/dev/full: cannot be written: No space left on device");
    // Also where it is noticed while the command is still writing.
    let large = "x".repeat(BUFFER + 1);
    let error = put(Path::new("/dev/full"), false, &large).unwrap_err();
    assert_eq!(error.to_string(), "/dev/full: cannot be written: No space left on device");
}

#[test]
fn one_input_goes_to_a_file_or_standard_output() {
    let input = [PathBuf::from("in")];
    assert_eq!(targets(None, &input, false).unwrap(), [Target::Stdout]);
    assert_eq!(targets(Some(Path::new("-")), &input, false).unwrap(), [Target::Stdout]);
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    assert_eq!(targets(Some(&out), &input, false).unwrap(), [Target::File(out)]);
}

#[test]
fn many_inputs_keep_their_names_in_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| Target::File(directory.path().join(name));
    let inputs = ["a/one.out", "two.out.gz", "three.1"].map(PathBuf::from);
    let found = targets(Some(directory.path()), &inputs, false).unwrap();
    assert_eq!(found, [at("one.out"), at("two.out"), at("three.1")]);

    for (output, inputs, expected) in [
        (None, vec!["a", "b"], "standard output: is not a directory"),
        (Some("out"), vec!["a", "b"], "out: is not a directory"),
        (directory.path().to_str(), vec!["a/x", "b/x"], "two of the inputs would be written"),
        (directory.path().to_str(), vec!["a", "-"], "no file name"),
    ] {
        let inputs: Vec<PathBuf> = inputs.into_iter().map(PathBuf::from).collect();
        let error = targets(output.map(Path::new), &inputs, false).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.hint().is_some());
    }
}

#[test]
fn the_input_is_not_overwritten_by_accident() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("profile");
    fs::write(&path, "precious").unwrap();
    let inputs = [path.clone()];
    // The same file by another name.
    let winding = directory.path().join(".").join("profile");
    for output in [path.as_path(), winding.as_path(), directory.path()] {
        let error = targets(Some(output), &inputs, false).unwrap_err();
        assert!(matches!(error.kind, OutputErrorKind::IsInput));
        assert!(targets(Some(output), &inputs, true).is_ok());
    }
}
