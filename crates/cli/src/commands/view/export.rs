//! `gristmill view --export`: the page, the library and the profile in one file.
//!
//! Whatever comes from the profile is base64 of gzip, or JSON without `<`: nothing in it can end an element of the page. The
//! policy of the page names its script and its style by their checksums, so that it would not run another one anyway.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use flate2::Compression;
use flate2::write::GzEncoder;
use gristmill_output::source::Sources as _;
use gristmill_profile::condense::{Condensing, FunctionCount, LineCount, WrittenLines};
use gristmill_profile::{Input, InputBytes, Loader, Profile, columns};
use gristmill_report::{DamageRow, ViewError, doubts};
use serde::Serialize;

use super::Loading;
use super::site::LIBRARY;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::load::unseen;
use crate::output::Target;
use crate::profile_files::modified;
use crate::source_finder::SourceFinder;
use crate::terminal::{grouped, printable, printable_path};

/// The page with its script and style in it, as `ui` builds it.
const DOCUMENT: &str = include_str!("../../../../../ui/dist/export.html");
/// The comment of the page in whose place the files are put.
const FILES: &str = "<!-- files -->";

/// A profile with no more functions keeps all of them: they take less space than the library.
const MIN_FUNCTIONS: usize = 10_000;

/// A condensed profile with fewer bytes stays text, since it is small anyway.
const MIN_BYTES_OF_COLUMNS: usize = 1 << 20;

/// The use of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Role {
    Profile,
    Base,
    Source,
    /// A source that was changed after the profile was written.
    NewerSource,
    /// A profile and a base in the form of [`columns`].
    ProfileByColumns,
    BaseByColumns,
}

impl Role {
    fn by_columns(self) -> Role {
        match self {
            Role::Profile => Role::ProfileByColumns,
            Role::Base => Role::BaseByColumns,
            other => other,
        }
    }
}

/// The files of the page, as it reads them.
#[derive(Debug, Default, Serialize)]
struct Manifest {
    files: Vec<FileEntry>,
    /// Remarks on what the files lack, for the reader of the page.
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct FileEntry {
    name: String,
    role: Role,
}

/// The manifest and the contents of its files, compressed.
#[derive(Default)]
struct Contents {
    manifest: Manifest,
    packed: Vec<Vec<u8>>,
}

impl Contents {
    fn add(&mut self, name: String, role: Role, bytes: &[u8]) -> io::Result<()> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes)?;
        self.packed.push(encoder.finish()?);
        self.manifest.files.push(FileEntry { name, role });
        Ok(())
    }

    /// Adds the files of a profile, whole or with what makes up a share of the cost.
    /// Of a comparison, `other` is the other side.
    fn add_profile(
        &mut self,
        profile: &Profile,
        role: Role,
        share: Option<Share>,
        other: Option<&Profile>,
    ) -> Result<(), CliError> {
        let condensing = share.map(|share| share.condensing(profile, other));
        let damage = DamageRow::list(profile);
        let mut doubts = doubts(profile);
        let mut warnings = Vec::new();
        let mut written = WrittenLines::default();
        for (index, input) in profile.inputs().iter().enumerate() {
            let mut file_role = role;
            let mut untold: Vec<&DamageRow> = damage.iter().filter(|row| row.file == input.name).collect();
            let bytes = match &condensing {
                None => {
                    // The page finds out everything else.
                    untold.retain(|row| row.kind == "packing");
                    doubts = None;
                    profile.written(index)
                }
                Some(condensing) => {
                    let mut bytes = Vec::new();
                    let lines = condensing.write(index, &mut bytes).map_err(|error| CliError::Profile {
                        message: format!("{}: cannot be condensed: {error}", input.name),
                        hint: Some("leave --export-share out".to_owned()),
                    })?;
                    written.add(&lines);
                    if !untold.is_empty() {
                        let found = found_by_page(&input.name, &bytes);
                        untold.retain(|row| !found.contains(&row.kind));
                    }
                    if bytes.len() >= MIN_BYTES_OF_COLUMNS {
                        bytes = columns::from_text(&bytes);
                        file_role = role.by_columns();
                    }
                    bytes.into()
                }
            };
            self.add(input.name.clone(), file_role, &bytes)?;
            warnings.extend(untold.into_iter().map(|row| format!("Warning: {}.", row.text)));
        }
        if let Some(doubts) = doubts {
            let names: Vec<&str> = profile.inputs().iter().map(|input| input.name.as_str()).collect();
            warnings.push(format!("Warning: {}: {doubts}.", names.join(", ")));
        }
        for warning in warnings {
            if !self.manifest.notes.contains(&warning) {
                self.manifest.notes.push(warning);
            }
        }
        if let (Some(share), Some(condensing)) = (share, &condensing) {
            let lacking = share.lacking(profile, &written);
            let notes = share.notes(role, condensing.functions(), written.lines, &lacking, other.is_some());
            for note in notes {
                if note != COMPARED || !self.manifest.notes.contains(&note) {
                    self.manifest.notes.push(note);
                }
            }
        }
        Ok(())
    }
}

/// Returns the kinds of damage that the page finds in a condensed profile by itself.
fn found_by_page(name: &str, bytes: &[u8]) -> Vec<&'static str> {
    let input = Input { name: name.to_owned(), bytes: InputBytes::from(bytes.to_vec()) };
    DamageRow::list(&Loader::new().load(vec![input])).iter().map(|row| row.kind).collect()
}

/// The remark on a page with a share of both sides.
const COMPARED: &str = "All lines of functions that one side lacks stay, and those of their callers. Whether the code of other functions has \
     moved shows only in the lines that stay: small causes can differ from those of the whole profiles.";

/// The share of the cost that is exported.
#[derive(Debug, Clone, Copy)]
struct Share {
    per_mille: u32,
}

impl Share {
    fn condensing<'p>(self, profile: &'p Profile, other: Option<&Profile>) -> Condensing<'p> {
        match other {
            // A comparison needs the functions of both sides.
            Some(other) => Condensing::new(profile, self.per_mille).for_comparison(other),
            None if self.per_mille < 1000 && profile.function_count() > MIN_FUNCTIONS => {
                Condensing::with_fewer_functions(profile, self.per_mille)
            }
            None => Condensing::new(profile, self.per_mille),
        }
    }

    /// Returns the event types of which the lines that stay have less than the share: their shares and names.
    fn lacking(self, profile: &Profile, written: &WrittenLines) -> Vec<String> {
        let shares = profile.events().map(|event| (event, written.kept_per_mille(event)));
        let lacking = shares.filter(|&(_, kept)| kept < self.per_mille);
        let share = |(event, kept)| format!("{}% of {}", percent(kept), printable(profile.event(event).name));
        lacking.map(share).collect()
    }

    /// The remarks on a profile.
    fn notes(
        self,
        role: Role,
        functions: FunctionCount,
        lines: LineCount,
        lacking: &[String],
        is_compared: bool,
    ) -> Vec<String> {
        let side = if role == Role::Base { "The base" } else { "The profile" };
        let percent = percent(self.per_mille);
        let exported = match lacking {
            [] => format!("Exported with {percent}% of the cost."),
            _ => format!(
                "Exported with less than {percent}% of the cost: the lines that stay have {}.",
                lacking.join(", ")
            ),
        };
        let mut notes = vec![format!(
            "{exported} {side} has {} of the {} cost lines of its file, each source line with all of them or none. What the \
             others cost is under line 0 of their functions.",
            grouped(lines.kept),
            grouped(lines.all)
        )];
        let (mut exact, mut objects) = ("functions", "objects");
        if functions.kept < functions.all {
            (exact, objects) = ("functions that stay", "self costs of objects");
            notes.push(format!(
                "{side} has {} of its {} functions. The other {} have no more than {}% of the self cost of each event type \
                 together, and none of them a thousandth of the total with its calls. {} in the file \u{201c}(left out)\u{201d} \
                 stand for them, by object and by cycle.",
                grouped(functions.kept),
                grouped(functions.all),
                grouped(functions.all - functions.kept),
                self::percent(1000 - self.per_mille),
                grouped(functions.groups)
            ));
        }
        notes.push(format!("Numbers of {exact}, calls between them, cycles, {objects} and parts are exact."));
        if is_compared {
            notes.push(COMPARED.to_owned());
        }
        notes
    }
}

/// Writes the page with the files.
pub(super) fn write(target: &Target, loading: &Loading<'_>) -> Result<ExitStatus, CliError> {
    let Loading { args, session, .. } = *loading;
    let paths = loading.paths()?;
    let profile = loading.new_side(&paths)?;
    let mut contents = Contents::default();
    let share = args.export_share.map(|per_mille| Share { per_mille });
    let base = if args.base.is_empty() { None } else { Some(loading.profile(&args.base)?) };
    if share.is_some() {
        let mut sides = [Some(&profile), base.as_ref()].into_iter().flatten();
        sides
            .try_for_each(Profile::refuse_wide_shares)
            .map_err(|over| unseen(&ViewError::TooManyCosts(over)))?;
    }
    contents.add_profile(&profile, Role::Profile, share, base.as_ref())?;
    if let Some(base) = &base {
        contents.add_profile(base, Role::Base, share, Some(&profile))?;
    }
    let profiles: Vec<Profile> = std::iter::once(profile).chain(base).collect();
    let sources =
        if args.embed_sources { embed_sources(&profiles, &paths, loading, &mut contents)? } else { 0 };
    let document = Document::new(&contents);
    let mut size = 0;
    session.write_profile_to(target, args.force, |out| {
        size = document.write(out)?;
        Ok(())
    })?;
    if let Target::File(path) = target {
        let mut said = format!("{} has {} bytes", printable_path(path), grouped(size));
        if args.embed_sources {
            let _ = write!(said, ", with {} of the sources that the profile names", grouped(sources));
        }
        session.tell(&said);
    }
    Ok(ExitStatus::Success)
}

/// Adds the sources that the server would show. Returns their count.
fn embed_sources(
    profiles: &[Profile],
    paths: &[PathBuf],
    loading: &Loading<'_>,
    contents: &mut Contents,
) -> Result<usize, CliError> {
    let Loading { args, session, .. } = *loading;
    let profile_time = paths.iter().filter_map(|path| modified(path)).min();
    let finder = SourceFinder::new(&args.source, &args.program.debuginfo_dir, profile_time, session)?;
    let mut names: Vec<&[u8]> =
        profiles.iter().flat_map(|profile| profile.files().map(|id| profile.file(id))).collect();
    names.sort_unstable();
    names.dedup();
    let mut count = 0;
    for name in names {
        // Names that are not text cannot be found by the page.
        let Ok(text) = std::str::from_utf8(name) else { continue };
        if let Ok(source) = finder.get(name) {
            let role = if source.is_newer { Role::NewerSource } else { Role::Source };
            contents.add(text.to_owned(), role, &source.text)?;
            count += 1;
        }
    }
    Ok(count)
}

/// A page with its files, in the order of writing.
struct Document<'c> {
    manifest: String,
    contents: &'c Contents,
}

impl<'c> Document<'c> {
    fn new(contents: &'c Contents) -> Self {
        let json = serde_json::to_string(&contents.manifest).unwrap_or_default();
        Document { manifest: harmless(&json), contents }
    }

    /// Writes the page and returns its size.
    fn write(&self, out: &mut dyn Write) -> io::Result<usize> {
        let mut out = Counter { out, bytes: 0 };
        let (before, after) = DOCUMENT.split_once(FILES).unwrap_or((DOCUMENT, ""));
        out.write_all(before.as_bytes())?;
        write!(out, r#"<script type="application/json" id="manifest">{}</script>"#, self.manifest)?;
        element(&mut out, "library", LIBRARY)?;
        for (nth, packed) in self.contents.packed.iter().enumerate() {
            element(&mut out, &format!("file-{nth}"), packed)?;
        }
        out.write_all(after.as_bytes())?;
        Ok(out.bytes)
    }
}

/// A writer that counts.
struct Counter<'o> {
    out: &'o mut dyn Write,
    bytes: usize,
}

impl Write for Counter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes an inert element with bytes.
fn element(out: &mut dyn Write, id: &str, bytes: &[u8]) -> io::Result<()> {
    write!(out, "\n    <script type=\"text/plain\" id=\"{id}\">")?;
    let mut text = EncoderWriter::new(out, &STANDARD);
    text.write_all(bytes)?;
    text.finish()?.write_all(b"</script>")
}

/// JSON without characters that mean something to HTML or end a line of a script.
fn harmless(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            // They are only within strings, where JSON has them in this form, too.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(text, "\\u{:04x}", u32::from(character));
            }
            _ => text.push(character),
        }
    }
    text
}

/// A share as a number of percent.
fn percent(per_mille: u32) -> String {
    match per_mille % 10 {
        0 => (per_mille / 10).to_string(),
        tenth => format!("{}.{tenth}", per_mille / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(names: &[&str]) -> String {
        let mut contents = Contents::default();
        for name in names {
            contents.add((*name).to_owned(), Role::Profile, b"events: Ir\nfn=</script><b>\n1 2\n").unwrap();
        }
        let mut bytes = Vec::new();
        let document = Document::new(&contents);
        let size = document.write(&mut bytes).unwrap();
        assert_eq!(bytes.len(), size);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_page_has_one_mark_for_its_files() {
        assert_eq!(DOCUMENT.matches(FILES).count(), 1);
        assert!(DOCUMENT.contains("default-src 'none'"));
        assert!(DOCUMENT.contains("connect-src 'none'"));
        assert!(!DOCUMENT.contains("unsafe-inline"));
    }

    #[test]
    fn hostile_names_end_no_element() {
        let hostile = "</script><script>alert(1)</script><!--\u{2028}\u{2029}&lt;";
        let plain = page(&["a"]);
        let page = page(&[hostile]);
        for mark in ["<script", "</script", "<!--", "\u{2028}", "\u{2029}"] {
            assert_eq!(page.matches(mark).count(), plain.matches(mark).count(), "{mark:?}");
        }
        let manifest = page.split_once(r#"id="manifest">"#).unwrap().1.split_once("</script>").unwrap().0;
        let read: serde_json::Value = serde_json::from_str(manifest).unwrap();
        assert_eq!(read["files"][0]["name"], hostile);
        assert_eq!(read["files"][0]["role"], "profile");
    }
}
