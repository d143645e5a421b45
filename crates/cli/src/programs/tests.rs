use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use clap::Parser as _;
use gristmill_code::{BuildId, FileSource as _, Wanted};

use super::debuginfod::cache_directory;
use super::*;

#[derive(Debug, clap::Parser)]
struct Alone {
    #[command(flatten)]
    args: ProgramArgs,
}

fn finder(options: &[String], below: &[PathBuf]) -> Result<ProgramFinder, CliError> {
    let args = Alone::parse_from(["annotate".to_owned()].iter().chain(options)).args;
    ProgramFinder::new(&args, below)
}

/// The result for a path; `@` is the directory.
fn look(folder: &Path, options: &[&str], object: &str) -> String {
    let name = folder.to_str().unwrap();
    let options: Vec<String> = options.iter().map(|option| option.replace('@', name)).collect();
    let found = finder(&options, &[]).unwrap().binary(object.replace('@', name).as_bytes());
    match found {
        Ok(binary) => binary.path().strip_prefix(folder).unwrap().display().to_string(),
        Err(error) => error.to_string().replace(name, "@"),
    }
}

/// A directory with copies of the program of this test.
fn folder(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, PROGRAM).unwrap();
    }
    folder
}

const PROGRAM: &[u8] = include_bytes!("../../../../corpus/src/chute.elf");

#[test]
fn maps_come_before_the_recorded_path() {
    let folder = folder(&["bin/mill", "other/mill"]);
    let folder = folder.path();
    assert_eq!(look(folder, &[], "@/bin/mill"), "bin/mill");
    assert_eq!(look(folder, &["--binary", "@/bin=@/other"], "@/bin/mill"), "other/mill");
    assert_eq!(look(folder, &["--binary", "/gone/mill=@/other/mill"], "/gone/mill"), "other/mill");
    // A map to a directory without the program does not end the search; the first of two wins.
    assert_eq!(look(folder, &["--binary", "@/bin=@"], "@/bin/mill"), "bin/mill");
    let both = ["--binary", "/gone=@/other", "--binary", "/gone=@/bin"];
    assert_eq!(look(folder, &both, "/gone/mill"), "other/mill");
    assert_eq!(look(folder, &[], "/gone/mill"), "not found");
    assert_eq!(look(folder, &[], "???"), "not named by the profile");
    assert_eq!(look(folder, &[], ""), "not named by the profile");
    for text in ["/gone", "=/gone", "/gone="] {
        let error = finder(&["--binary".to_owned(), text.to_owned()], &[]).err().unwrap();
        assert_eq!(error.to_string(), format!("--binary '{text}': is not FROM=TO"));
    }
}

/// Before, they were ignored in silence.
#[test]
fn maps_to_no_program_are_refused() {
    let folder = folder(&["bin/mill"]);
    std::fs::write(folder.path().join("text"), "no program").unwrap();
    let name = folder.path().to_str().unwrap();
    for (to, reason) in
        [("none", "no such file"), ("text", "not an object file"), ("bin/mill/below", "no such file")]
    {
        let error = finder(&["--binary".to_owned(), format!("/gone={name}/{to}")], &[]).err().unwrap();
        assert!(error.to_string().contains(&format!("{name}/{to}: {reason}")), "{error}");
    }
    assert!(finder(&["--binary".to_owned(), format!("/gone={name}/bin")], &[]).is_ok());
}

#[test]
fn only_regular_programs_are_read() {
    let folder = folder(&["bin/mill"]);
    let folder = folder.path();
    std::fs::write(folder.join("text"), "no program").unwrap();
    std::fs::write(folder.join("cut"), &PROGRAM[..200]).unwrap();
    std::fs::write(folder.join("empty"), "").unwrap();
    assert!(
        look(folder, &[], "@/text").starts_with("@/text: not an object file"),
        "{}",
        look(folder, &[], "@/text")
    );
    assert!(look(folder, &[], "@/cut").starts_with("@/cut: "));
    assert!(look(folder, &[], "@/empty").starts_with("@/empty: "));
    assert_eq!(look(folder, &[], "@/bin"), "@/bin: is no regular file");
    assert_eq!(look(folder, &[], "/dev/zero"), "/dev/zero: is no regular file");
}

#[cfg(unix)]
#[test]
fn a_directory_confines_programs() {
    let folder = folder(&["in/mill", "out/mill"]);
    let folder = folder.path();
    std::os::unix::fs::symlink(folder.join("out/mill"), folder.join("in/link")).unwrap();
    let options = ["--programs-below", "@/in"];
    assert_eq!(look(folder, &options, "@/in/mill"), "in/mill");
    for object in ["@/out/mill", "@/in/link", "@/in/../out/mill"] {
        assert!(look(folder, &options, object).contains("is not below a directory"), "{object}");
    }
    // What is opened is checked, also if a link takes the name or the path appears after it was resolved.
    let files = ProgramFiles::new(
        Confinement::new("--programs-below", &[folder.join("in")], "an option").unwrap(),
        None,
    );
    let canonical = folder.canonicalize().unwrap();
    assert!(files.open_resolved(canonical.join("in/mill")).is_ok());
    assert!(files.open_resolved(canonical.join("in/link")).is_err());
    assert!(files.open(&folder.join("in/missing")).unwrap().is_none());
    // Without an option of their own, programs are confined as sources are.
    let object = folder.join("out/mill");
    let object = object.to_str().unwrap().as_bytes();
    assert!(finder(&[], &[folder.join("in")]).unwrap().binary(object).is_err());
    let own = ["--programs-below".to_owned(), folder.join("out").to_str().unwrap().to_owned()];
    assert!(finder(&own, &[folder.join("in")]).unwrap().binary(object).is_ok());
}

/// A profile can name all programs of a system. What is mapped shows what is written later; what was read does not.
#[cfg(unix)]
#[test]
fn programs_that_are_read_have_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let files = ProgramFiles::new(Confinement::default(), None);
    let opened = [1, 2, 3, 4].map(|name| {
        let path = folder.path().join(name.to_string());
        std::fs::File::create(&path).unwrap().set_len(if name == 4 { 5 } else { 31 << 20 }).unwrap();
        let bytes = files.open(&path).unwrap().unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().write_all(b"x").unwrap();
        bytes
    });
    assert_eq!(opened.each_ref().map(|bytes| bytes[0]), [0, 0, b'x', 0]);
}

/// A file that is nearly all hole takes no memory and no time.
#[cfg(target_os = "linux")]
#[test]
fn a_sparse_file_is_no_trouble() {
    let folder = folder(&["mill"]);
    let path = folder.path().join("mill");
    std::fs::File::options().write(true).open(&path).unwrap().set_len(10 << 30).unwrap();
    assert_eq!(look(folder.path(), &[], "@/mill"), "mill");
    std::fs::File::create(folder.path().join("hole")).unwrap().set_len(10 << 30).unwrap();
    assert!(look(folder.path(), &[], "@/hole").starts_with("@/hole: not an object file"));
}

#[test]
fn the_cache_is_that_of_other_clients() {
    let directory = |values: &[(&str, &str)]| {
        let value = |name: &str| {
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        cache_directory(value).map(|path| path.display().to_string())
    };
    assert_eq!(directory(&[("HOME", "/h")]).as_deref(), Some("/h/.cache/debuginfod_client"));
    assert_eq!(
        directory(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")]).as_deref(),
        Some("/c/debuginfod_client")
    );
    assert_eq!(directory(&[("DEBUGINFOD_CACHE_PATH", "/d"), ("HOME", "/h")]).as_deref(), Some("/d"));
    assert_eq!(directory(&[]), None);
}

/// A server that gives each of these answers once, and returns the requests.
fn server(answers: Vec<Vec<u8>>) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let answer = |answer: Vec<u8>| {
            let mut stream = listener.accept().unwrap().0;
            let mut request = Vec::new();
            let mut buffer = [0; 1024];
            while !request.ends_with(b"\r\n\r\n") {
                let read = stream.read(&mut buffer).unwrap();
                request.extend_from_slice(&buffer[..read]);
            }
            stream.write_all(&answer).unwrap();
            String::from_utf8(request).unwrap().lines().next().unwrap().to_owned()
        };
        answers.into_iter().map(answer).collect()
    });
    (address, thread)
}

/// A file of ELF that has a build id and nothing else.
fn with_build_id(id: &[u8]) -> Vec<u8> {
    let note: Vec<u8> =
        [&[4, 0, 0, 0, u8::try_from(id.len()).unwrap(), 0, 0, 0, 3, 0, 0, 0][..], b"GNU\0", id].concat();
    let length = u64::try_from(note.len()).unwrap();
    // The only program header is behind the header, and the note behind that.
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    file.extend([2, 0, 62, 0, 1, 0, 0, 0]);
    [0_u64, 64, 0].iter().for_each(|number| file.extend(number.to_le_bytes()));
    file.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 64, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0]);
    [120, 0, 0, length, length, 4].iter().for_each(|number| file.extend(number.to_le_bytes()));
    file.extend(note);
    file
}

/// An answer with a body.
fn answer(body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

/// Before, any answer was kept for ever: the page that asks for a login, for example.
#[test]
fn only_the_file_with_the_build_id_is_kept() {
    let cache = tempfile::tempdir().unwrap();
    let wanted = with_build_id(&[1, 2, 3, 4]);
    let (address, thread) = server(vec![
        answer(b"<html>Log in</html>"),
        answer(&with_build_id(&[1, 2, 3, 5])),
        answer(&wanted),
        answer(&wanted),
    ]);
    let servers = Debuginfod::with_server(&address, cache.path(), Duration::from_secs(60));
    let fetch = || servers.fetch(&BuildId::from_bytes([1, 2, 3, 4]), Wanted::DebugInfo);
    let directory = cache.path().join("01020304");
    for _ in 0..2 {
        assert!(fetch().unwrap_err().to_string().contains("does not send the file with this build id"));
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
    }
    assert_eq!(fetch().unwrap().unwrap()[..], wanted);
    // What another client has kept is replaced.
    std::fs::write(directory.join("debuginfo"), "<html>").unwrap();
    assert_eq!(fetch().unwrap().unwrap()[..], wanted);
    assert_eq!(std::fs::read(directory.join("debuginfo")).unwrap(), wanted);
    assert_eq!(thread.join().unwrap().len(), 4);
}

#[test]
fn servers_are_asked_once() {
    let cache = tempfile::tempdir().unwrap();
    let [mill, chunks] = [1, 2].map(|id| with_build_id(&[id, 0xcd]));
    let (first, second) = chunks.split_at(3);
    let size = second.len();
    let chunked = [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n",
        first,
        format!("\r\n{size:x};x\r\n").as_bytes(),
        second,
        b"\r\n0\r\n\r\n",
    ]
    .concat();
    let (address, thread) = server(vec![
        b"HTTP/1.1 404 Not Found\r\n\r\n".to_vec(),
        answer(&mill),
        chunked,
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmi".to_vec(),
        b"HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n"
            .iter()
            .chain(&vec![0; 2 << 20])
            .copied()
            .collect(),
    ]);
    let servers = Debuginfod::with_server(&address, cache.path(), Duration::from_secs(60));
    let fetch = |id: u8, wanted| {
        servers.fetch(&BuildId::from_bytes([id, 0xcd]), wanted).map(|it| it.map(|it| it.to_vec()))
    };
    assert_eq!(fetch(1, Wanted::DebugInfo).unwrap(), None);
    assert_eq!(fetch(1, Wanted::Program).unwrap().as_deref(), Some(&mill[..]));
    // It is in the cache now.
    assert_eq!(fetch(1, Wanted::Program).unwrap().as_deref(), Some(&mill[..]));
    assert_eq!(std::fs::read(cache.path().join("01cd/executable")).unwrap(), mill);
    assert_eq!(fetch(2, Wanted::DebugInfo).unwrap().as_deref(), Some(&chunks[..]));
    // A file that ends early, or is too large, is not kept.
    assert!(
        fetch(3, Wanted::DebugInfo).unwrap_err().to_string().contains("ends before the file is complete")
    );
    assert!(fetch(4, Wanted::DebugInfo).unwrap_err().to_string().contains("DEBUGINFOD_MAXSIZE"));
    for id in ["03cd", "04cd"] {
        assert_eq!(std::fs::read_dir(cache.path().join(id)).unwrap().count(), 0, "{id}");
    }
    let requests = thread.join().unwrap();
    assert_eq!(requests[0], "GET /buildid/01cd/debuginfo HTTP/1.1");
    assert_eq!(requests[1], "GET /buildid/01cd/executable HTTP/1.1");
}

#[test]
fn spellings_of_one_path_are_one_program() {
    let folder = folder(&["bin/mill"]);
    let name = folder.path().to_str().unwrap();
    let finder = finder(&[], &[]).unwrap();
    let opened = |path: &str| finder.binary(format!("{name}/{path}").as_bytes()).unwrap();
    assert!(Arc::ptr_eq(&opened("bin/mill"), &opened("bin/../bin/./mill")));
}
