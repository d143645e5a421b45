use std::io::{Cursor, Write};

use super::*;

const ALL: [Packing; 4] = [Packing::Gzip, Packing::Zstd, Packing::Xz, Packing::Bzip2];

fn pack(packing: Packing, bytes: &[u8]) -> Vec<u8> {
    match packing {
        Packing::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        Packing::Zstd => {
            ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
        }
        Packing::Xz => {
            let options = lzma_rust2::XzOptions::with_preset(1);
            let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        Packing::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
    }
}

fn read_bytes(bytes: &[u8], limit: u64) -> Result<Input, InputError> {
    let path = Path::new("profile");
    read_from(path, &mut Cursor::new(bytes), Size::from_bytes(limit), &mut Progress::hidden())
}

fn read_path(path: &Path) -> Result<Input, InputError> {
    read(path, Size::from_bytes(1 << 20), Mapping::Large, &mut Progress::hidden())
}

/// Text like a profile: regular, but not too regular.
fn profile(lines: u32) -> Vec<u8> {
    let mut text = b"events: Ir\n".to_vec();
    let mut number = 1_u32;
    for line in 0..lines {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        writeln!(text, "fn=({}) function_{}\n{line} {number}", number % 97, number % 89).unwrap();
    }
    text
}

#[test]
fn plain_bytes_stay_as_they_are() {
    for bytes in [&b""[..], b"x", b"events: Ir\n", b"BZh9 is how this text begins", b"\x1f\x8b", &[0xff; 100]]
    {
        let input = read_bytes(bytes, 1000).unwrap();
        assert_eq!(*input.bytes, *bytes);
        assert_eq!((input.packing, input.damage), (None, None));
        assert_eq!(input.stored_size, bytes.len() as u64);
    }
}

#[test]
fn packed_bytes_are_expanded() {
    for packing in ALL {
        // Empty, in one piece, in many pieces.
        for text in [Vec::new(), profile(3), profile(50_000)] {
            let packed = pack(packing, &text);
            let input = read_bytes(&packed, 1 << 30).unwrap();
            assert_eq!(input.packing, Some(packing));
            assert_eq!(input.damage, None, "{packing}");
            assert!(*input.bytes == text, "{packing}");
            assert_eq!(input.stored_size, packed.len() as u64);
        }
    }
}

#[test]
fn concatenated_files_are_expanded_one_after_the_other() {
    for packing in ALL {
        let (one, two) = (profile(3000), profile(5));
        let mut packed = pack(packing, &one);
        packed.extend(pack(packing, &two));
        packed.extend(pack(packing, b""));
        let input = read_bytes(&packed, 1 << 30).unwrap();
        assert_eq!(input.damage, None, "{packing}");
        assert!(*input.bytes == [one, two].concat(), "{packing}");
    }
}

#[test]
fn zstd_frames_to_skip_are_skipped() {
    let skip = b"\x50\x2a\x4d\x18\x03\0\0\0abc";
    let text = profile(5);
    let packed = [&skip[..], &pack(Packing::Zstd, &text), skip].concat();
    let input = read_bytes(&packed, 1 << 20).unwrap();
    assert_eq!((&*input.bytes, input.damage), (&*text, None));
    // Cut off inside of what is to skip.
    let input = read_bytes(&packed[..packed.len() - 1], 1 << 20).unwrap();
    assert!(input.damage.unwrap().contains("ends before it is complete"));
}

#[test]
fn what_is_packed_twice_is_unpacked_once() {
    for packing in ALL {
        let once = pack(Packing::Gzip, b"events: Ir\n");
        let input = read_bytes(&pack(packing, &once), 1000).unwrap();
        assert_eq!(*input.bytes, once);
    }
}

#[test]
fn truncated_files_keep_their_beginning() {
    let text = profile(60_000);
    for packing in ALL {
        let packed = pack(packing, &text);
        let mut last = 0;
        for tenths in 1..10 {
            let cut = packed.len() * tenths / 10;
            let input = read_bytes(&packed[..cut], 1 << 30).unwrap();
            let damage = input.damage.expect("it is damaged");
            assert!(damage.contains("ends before it is complete"), "{packing}: {damage}");
            assert!(damage.contains(&grouped(input.bytes.len() as i128)), "{packing}: {damage}");
            assert!(text.starts_with(&input.bytes), "{packing}");
            assert!(input.bytes.len() >= last, "{packing}");
            last = input.bytes.len();
        }
        // bzip2 has to have a whole block of 100 kB, the others much less.
        assert!(last > text.len() / 2, "{packing}: {last} of {}", text.len());
    }
}

/// Every length of a small file: headers, checksums and trailers are cut, too.
#[test]
fn truncated_anywhere() {
    let text = profile(8);
    for packing in ALL {
        let packed = pack(packing, &text);
        for cut in MAGIC..packed.len() {
            let input = read_bytes(&packed[..cut], 1 << 20).unwrap();
            assert_eq!(input.packing, Some(packing));
            assert!(input.damage.is_some(), "{packing} cut at {cut} of {}", packed.len());
            assert!(text.starts_with(&input.bytes), "{packing} cut at {cut}");
        }
    }
}

const MAGIC: usize = expand::MAGIC_LENGTH;

/// Every byte of a small file is changed. Nothing may panic or loop, and differences have to be reported. Some
/// bytes may change freely, such as the time in a gzip header.
#[test]
fn corrupt_anywhere() {
    let text = profile(8);
    for packing in ALL {
        let packed = pack(packing, &text);
        let mut told = 0;
        for at in MAGIC..packed.len() {
            for change in [0x01, 0x10, 0x80, 0xff] {
                let mut packed = packed.clone();
                packed[at] ^= change;
                // Too much may come out of it, which is as good.
                let Ok(input) = read_bytes(&packed, 1 << 20) else { continue };
                told += usize::from(input.damage.is_some());
                assert!(input.damage.is_some() || *input.bytes == text, "{packing} changed at {at}");
            }
        }
        assert!(told > (packed.len() - MAGIC) * 3, "{packing}: {told}");
    }
}

#[test]
fn corrupt_in_the_middle_keeps_what_came_before() {
    let text = profile(60_000);
    for packing in ALL {
        let mut packed = pack(packing, &text);
        let middle = packed.len() / 2;
        packed[middle..middle + 64].fill(0xff);
        let input = read_bytes(&packed, 1 << 30).unwrap();
        assert!(input.damage.is_some(), "{packing}");
        let same = input.bytes.iter().zip(&text).take_while(|(ours, theirs)| ours == theirs).count();
        assert!(same > text.len() / 4, "{packing}: {same} of {}", text.len());
    }
}

#[test]
fn something_else_behind_the_packed_data_is_reported() {
    for packing in ALL {
        let text = profile(5);
        let mut packed = pack(packing, &text);
        packed.extend(b"something else entirely");
        let input = read_bytes(&packed, 1 << 20).unwrap();
        assert_eq!(*input.bytes, text, "{packing}");
        assert!(input.damage.is_some(), "{packing}");
    }
}

#[test]
fn bombs_stop_at_the_limit() {
    let zeros = vec![0; 20 << 20];
    for packing in ALL {
        let bomb = pack(packing, &zeros);
        assert!(bomb.len() < zeros.len() / 100);
        let error = read_bytes(&bomb, 1 << 20).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("profile: the {packing} data expands to more than 1MiB, the limit set by --max-size")
        );
        assert!(error.hint().unwrap().contains("--max-size"));
    }
}

#[test]
fn the_limit_is_what_just_fits() {
    let text = profile(1000);
    let size = text.len() as u64;
    let mut files: Vec<Vec<u8>> = ALL.iter().map(|&packing| pack(packing, &text)).collect();
    files.push(text);
    for file in files {
        assert_eq!(read_bytes(&file, size).unwrap().bytes.len() as u64, size);
        let error = read_bytes(&file, size - 1).unwrap_err();
        assert!(matches!(error.kind, InputErrorKind::TooLarge { .. }));
    }
}

#[test]
fn memory_of_a_plain_file_is_its_size() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("profile");
    std::fs::write(&path, profile(10_000)).unwrap();
    let input = read_path(&path).unwrap();
    let bytes = Vec::from(input.bytes);
    assert_eq!(bytes, profile(10_000));
    assert_eq!(bytes.capacity(), bytes.len());
}

#[test]
fn large_files_are_refused_before_they_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("profile");
    // Holes take no space: this is a terabyte for free.
    File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let error = read_path(&path).unwrap_err();
    assert!(matches!(error.kind, InputErrorKind::TooLarge { packing: None, .. }));
}

#[test]
fn names_do_not_matter() {
    let directory = tempfile::tempdir().unwrap();
    let (plain, packed) = (directory.path().join("plain.gz"), directory.path().join("packed.txt"));
    std::fs::write(&plain, b"events: Ir\n").unwrap();
    std::fs::write(&packed, pack(Packing::Xz, b"events: Ir\n")).unwrap();
    assert_eq!(read_path(&plain).unwrap().packing, None);
    assert_eq!(read_path(&packed).unwrap().packing, Some(Packing::Xz));
}

#[test]
fn files_that_cannot_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let error = read_path(&directory.path().join("missing")).unwrap_err();
    assert!(matches!(error.kind, InputErrorKind::NotFound));
    assert!(error.to_string().contains("missing: no such file"));
    let error = read_path(directory.path()).unwrap_err();
    assert!(matches!(error.kind, InputErrorKind::IsDirectory));
    assert!(error.hint().unwrap().contains("callgrind.out"));
}

#[cfg(unix)]
#[test]
fn names_are_shown_safely() {
    use std::os::unix::ffi::OsStrExt;

    let path = Path::new(std::ffi::OsStr::from_bytes(b"evil\x1b[2J\xff"));
    let error = read_path(path).unwrap_err();
    assert_eq!(error.to_string(), "evil\\x1b[2J\\xff: no such file");
}

/// A disk that fails in the middle of a packed file.
struct Failing(Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.0.read(out)? {
            0 => Err(io::Error::other("the disk is on fire")),
            read => Ok(read),
        }
    }
}

#[test]
fn a_failing_disk_is_not_a_damaged_file() {
    for packing in ALL {
        let packed = pack(packing, &profile(100));
        let mut reader = Failing(Cursor::new(packed[..packed.len() / 2].to_vec()));
        let error =
            read_from(Path::new("f"), &mut reader, Size::from_bytes(1 << 20), &mut Progress::hidden())
                .unwrap_err();
        assert_eq!(error.to_string(), "f: cannot be read: the disk is on fire", "{packing}");
    }
}

/// A pipe that brings one byte at a time.
struct Dripping<'a>(&'a [u8]);

impl Read for Dripping<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let amount = out.len().min(1);
        self.0.read(&mut out[..amount])
    }
}

#[test]
fn a_slow_pipe_is_read_to_its_end() {
    let text = profile(20);
    let mut files: Vec<Vec<u8>> = ALL.iter().map(|&packing| pack(packing, &text)).collect();
    files.push(text.clone());
    for file in files {
        let mut reader = Dripping(&file);
        let input =
            read_from(Path::new("f"), &mut reader, Size::from_bytes(1 << 20), &mut Progress::hidden())
                .unwrap();
        assert_eq!((&*input.bytes, input.damage), (&*text, None));
    }
}

#[test]
fn names_that_contradict_the_packing() {
    for (name, packing, is_fine) in [
        ("a.out", None, true),
        ("a.gz", Some(Packing::Gzip), true),
        ("A.GZ", Some(Packing::Gzip), true),
        ("a.out", Some(Packing::Gzip), false),
        ("a.xz", Some(Packing::Gzip), false),
        ("a.zst", None, false),
        ("-", Some(Packing::Xz), true),
    ] {
        assert_eq!(name_mismatch(Path::new(name), packing).is_none(), is_fine, "{name}");
    }
}
