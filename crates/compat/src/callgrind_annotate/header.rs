//! The head of the report: the recording and the options.

use std::io::{self, Write};

use gristmill_profile::{Part, Profile, Selection};

use super::{Text, Threshold};
use crate::marks::TITLE_LINE;

/// The description of the selected parts.
#[derive(Debug, Default)]
pub(super) struct Header {
    pub(super) creator: Option<Vec<u8>>,
    pub(super) descriptions: Vec<Vec<u8>>,
    pub(super) command: Option<Vec<u8>>,
    pub(super) pid: Option<Vec<u8>>,
    pub(super) part: Option<Vec<u8>>,
    pub(super) thread: Option<Vec<u8>>,
}

impl Header {
    /// Describes the first part, without what differs in other parts.
    pub(super) fn new(profile: &Profile, selection: &Selection) -> Header {
        let mut parts = profile.selected(selection);
        let Some(first) = parts.next() else { return Header::default() };
        let mut header = Header::of_part(profile, &first);
        for part in parts {
            let keep = |value: &mut Option<Vec<u8>>, same: bool| {
                if !same {
                    *value = None;
                }
            };
            keep(&mut header.pid, part.pid() == first.pid());
            keep(&mut header.part, part.number() == first.number());
            keep(&mut header.thread, part.thread() == first.thread());
        }
        header
    }

    fn of_part(profile: &Profile, part: &Part<'_>) -> Header {
        let number = |number: Option<u64>| number.map(|number| number.to_string().into_bytes());
        let mut header = Header {
            creator: part.creator().map(<[u8]>::to_vec),
            command: part.command().map(<[u8]>::to_vec),
            pid: number(part.pid()),
            part: number(part.number()),
            thread: number(part.thread()),
            descriptions: Vec::new(),
        };
        let own = own_descriptions(profile, part);
        if !is_first(profile, part) {
            // Only the first part has the lines about caches.
            let kind = |text: &[u8]| text.split(|&byte| byte == b':').next().map(<[u8]>::to_vec);
            let is_said = |of: &[u8]| own.iter().any(|text| kind(text).as_deref() == Some(of));
            let shared = part.descriptions().filter(|(kind, _)| !is_said(kind));
            header.descriptions.extend(shared.map(|(kind, value)| [kind, b": ", value].concat()));
        }
        header.descriptions.extend(own);
        header.descriptions.retain(|description| !description.starts_with(b"Option:"));
        header
    }

    /// Writes the description, and the options below it.
    pub(super) fn write(&self, settings: &Settings<'_>, text: Text, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{TITLE_LINE}")?;
        out.write_all(b"Profile data file '")?;
        text.write(settings.data_file.as_bytes(), out)?;
        out.write_all(b"'")?;
        if let Some(creator) = self.creator.as_ref().filter(|creator| !creator.is_empty()) {
            out.write_all(b" (creator: ")?;
            text.write(creator, out)?;
            out.write_all(b")")?;
        }
        writeln!(out, "\n{TITLE_LINE}")?;
        for description in &self.descriptions {
            text.write(description, out)?;
            writeln!(out)?;
        }
        out.write_all(b"Profiled target:  ")?;
        text.write(
            self.command.as_deref().filter(|command| !command.is_empty()).unwrap_or(b"(unknown)"),
            out,
        )?;
        if let Some(pid) = &self.pid {
            out.write_all(b" (PID ")?;
            text.write(pid, out)?;
            for (what, number) in [("part", &self.part), ("thread", &self.thread)] {
                if let Some(number) = number {
                    write!(out, ", {what} ")?;
                    text.write(number, out)?;
                }
            }
            out.write_all(b")")?;
        }
        let event_lines = [
            ("Events recorded:  ", &settings.recorded),
            ("Events shown:     ", &settings.shown),
            ("Event sort order: ", &settings.sorted),
        ];
        for (title, names) in event_lines {
            write!(out, "\n{title}")?;
            text.write(&names.join(&b' '), out)?;
        }
        let thresholds: Vec<&str> =
            settings.thresholds.iter().map(|threshold| threshold.text.as_str()).collect();
        writeln!(out, "\nThresholds:       {}", thresholds.join(" "))?;
        write_list("Include dirs:     ", settings.include_dirs.iter().map(String::as_bytes), text, out)?;
        write_list("User annotated:   ", settings.user_files.iter().map(Vec::as_slice), text, out)?;
        writeln!(out, "Auto-annotation:  {}\n", if settings.auto { "on" } else { "off" })
    }
}

/// The options that the head of the report names.
#[derive(Debug)]
pub(super) struct Settings<'a> {
    pub(super) data_file: &'a str,
    /// The names of event types: all, those to show, and those to sort by.
    pub(super) recorded: Vec<&'a [u8]>,
    pub(super) shown: Vec<&'a [u8]>,
    pub(super) sorted: Vec<&'a [u8]>,
    pub(super) thresholds: &'a [Threshold],
    pub(super) include_dirs: &'a [String],
    pub(super) user_files: &'a [Vec<u8>],
    pub(super) auto: bool,
}

/// The values of the `desc:` lines above the costs of a part.
fn own_descriptions(profile: &Profile, part: &Part<'_>) -> Vec<Vec<u8>> {
    let input = profile.inputs().get(part.input()).map_or(&[][..], |input| &input.bytes);
    let from = usize::try_from(part.location().byte).unwrap_or(usize::MAX);
    // A part begins at its first header line; the first part begins with the file.
    let from = if is_first(profile, part) { 0 } else { from };
    let next = profile.parts().find(|other| other.input() == part.input() && other.id() > part.id());
    let to = next.and_then(|next| usize::try_from(next.location().byte).ok()).unwrap_or(input.len());
    let header = input.get(from..to).unwrap_or_default();
    // Carriage returns end lines only in files without line feeds.
    let end = if input.contains(&b'\n') { b'\n' } else { b'\r' };
    header
        .split(|&byte| byte == end)
        .map(<[u8]>::trim_ascii_start)
        .take_while(|line| !line.starts_with(b"events:"))
        .filter_map(|line| line.strip_prefix(b"desc:"))
        .map(|text| text.strip_suffix(b"\r").unwrap_or(text).trim_ascii_start().to_vec())
        .collect()
}

/// `true` for the first part of a file.
fn is_first(profile: &Profile, part: &Part<'_>) -> bool {
    let first = profile.parts().find(|other| other.input() == part.input());
    first.is_none_or(|first| first.id() == part.id())
}

/// Writes a list with one item on each line.
fn write_list<'a>(
    title: &str,
    items: impl Iterator<Item = &'a [u8]>,
    text: Text,
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(title.as_bytes())?;
    let mut count = 0;
    for item in items {
        if count > 0 {
            write!(out, "{:1$}", "", title.len())?;
        }
        text.write(item, out)?;
        writeln!(out)?;
        count += 1;
    }
    if count == 0 { writeln!(out) } else { Ok(()) }
}
