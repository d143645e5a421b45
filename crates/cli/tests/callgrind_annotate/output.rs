//! The output of the original, taken apart and put together again.

use std::collections::{BTreeMap, BTreeSet};

use super::made::ZERO;

/// The whole width.
fn is_rule(line: &str) -> bool {
    line.len() == 80 && line.bytes().all(|byte| byte == b'-')
}

/// A report: everything down to the table of functions, and the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) head: String,
    pub(crate) sections: Vec<Section>,
    pub(crate) tail: String,
}

/// An annotated source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    is_chosen_by_user: bool,
    /// As it stands in the title: with the folder that it was found in.
    pub(crate) file: String,
    pub(crate) text: String,
}

impl Section {
    /// As it stands in the profile.
    pub(crate) fn name(&self) -> &str {
        self.file.split_once("/ + ").map_or(&self.file, |(_, name)| name)
    }
}

impl Section {
    /// Returns `true` if the only section is about an unknown file that was not asked for.
    pub(crate) fn tells_nothing(&mut self, known: &BTreeSet<String>) -> bool {
        if self.is_chosen_by_user || known.contains(self.name()) {
            return false;
        }
        let title: String = self.text.split_inclusive('\n').take(3).collect();
        self.text = format!("{title}  No information has been collected for {}\n\n", self.name());
        true
    }
}

impl Report {
    pub(crate) fn parse(text: &str) -> Report {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let bare = |nth: usize| lines.get(nth).map_or("", |line| line.trim_end_matches('\n'));
        let rules: Vec<usize> = (0..lines.len()).filter(|&nth| is_rule(bare(nth))).collect();
        let Some(&below) = rules.get(6) else { return Report { head: text.to_owned(), ..Report::default() } };
        let mut report = Report { head: lines[..below].concat(), ..Report::default() };
        let mut nth = below;
        while nth < lines.len() {
            let end = (nth + 3..lines.len())
                .find(|&end| is_rule(bare(end)) && is_rule(bare(end + 2)))
                .unwrap_or(lines.len());
            let text = lines[nth..end].concat();
            let title = ["-- User-annotated source: ", "-- Auto-annotated source: "]
                .iter()
                .find_map(|title| Some((*title, bare(nth + 1).strip_prefix(title)?)));
            match title {
                Some((title, file)) => report.sections.push(Section {
                    is_chosen_by_user: title.contains("User"),
                    file: file.to_owned(),
                    text,
                }),
                None => report.tail.push_str(&text),
            }
            nth = end;
        }
        report
    }

    pub(crate) fn text(&self) -> String {
        let sections: String = self.sections.iter().map(|section| section.text.as_str()).collect();
        [self.head.as_str(), &sections, &self.tail].concat()
    }

    /// Puts files into the order of their names, those first that the user named.
    pub(crate) fn sort(&mut self) {
        let key = |section: &Section| (!section.is_chosen_by_user, section.name().to_owned());
        self.sections.sort_by_cached_key(key);
    }

    /// Lists the files that the user named in the order in which they were named.
    pub(crate) fn list_in_order(&mut self, sources: &[String]) {
        let Some((before, rest)) = self.head.split_once("User annotated:   ") else { return };
        let Some((listed, after)) = rest.split_once("\nAuto-annotation:") else { return };
        let mut listed: Vec<&str> = listed.split('\n').map(str::trim_start).collect();
        listed.sort_by_key(|name| sources.iter().position(|source| source == name));
        let listed = listed.join(&format!("\n{:18}", ""));
        self.head = format!("{before}User annotated:   {listed}\nAuto-annotation:{after}");
    }

    /// Lists the files that were not found by their names, as they are once nothing is masked.
    pub(crate) fn list_missing_in_order(&mut self) {
        const TITLE: &str = "could not be found:\n";
        let Some(at) = self.tail.find(TITLE) else { return };
        // A line of dashes follows.
        let Some(rule) = self.tail[at + TITLE.len()..].find('\n') else { return };
        let start = at + TITLE.len() + rule + 1;
        let end = self.tail[start..].find("\n\n").map_or(self.tail.len(), |end| start + end);
        let mut missing: Vec<&str> = self.tail[start..end].split('\n').collect();
        missing.sort_unstable();
        self.tail = [&self.tail[..start], &missing.join("\n"), &self.tail[end..]].concat();
    }

    /// Returns the names of all files selected for annotation.
    pub(crate) fn chosen(&self) -> BTreeSet<String> {
        let mut chosen: BTreeSet<String> =
            self.sections.iter().map(|section| section.name().to_owned()).collect();
        let missing = self.tail.split_once("could not be found:\n");
        let missing = missing.and_then(|(_, rest)| rest.split_once("\n  ")).map_or("", |(_, names)| names);
        let missing = missing.split_once("\n\n").map_or("", |(names, _)| names);
        chosen.extend(missing.split('\n').map(|name| name.strip_prefix("  ").unwrap_or(name).to_owned()));
        // Names that are empty are masked.
        chosen.remove("");
        chosen
    }

    /// Returns those of the functions, each `file:name`, that have a row.
    pub(crate) fn listed<'f>(&self, functions: &BTreeSet<&'f str>, has_tree: bool) -> BTreeSet<&'f str> {
        self.head.split_inclusive('\n').filter_map(|line| own_name(line, functions, has_tree)).collect()
    }

    /// Puts the rows of another report with a tree around those of this one, which has none. Both are about the same
    /// functions, which in the other may have other costs.
    pub(crate) fn with_tree(&mut self, other: &Report, functions: &BTreeSet<&str>, has_percentages: bool) {
        let (above, rows) = self.table();
        let other_rows = other.table().1;
        let mut blocks: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for block in other_rows.split_inclusive(|line| *line == "\n") {
            if let Some(own) = block.iter().find_map(|line| own_name(line, functions, true)) {
                blocks.insert(own, block.to_vec());
            }
        }
        let widths = widths(above[above.len() - 2]);
        let mut head = above.concat();
        for row in rows {
            let Some(own) = own_name(row, functions, false) else {
                head.push_str(row);
                continue;
            };
            head.push('\n');
            for line in &blocks[own] {
                if line.trim_end_matches('\n').is_empty() {
                } else if own_name(line, functions, true).is_some() {
                    let at = row.find(&format!("  {own}")).unwrap_or_default();
                    head.push_str(&format!("{} *  {}", &row[..=at], &row[at + 2..]));
                } else {
                    head.push_str(&repadded(line, &widths, has_percentages));
                }
            }
        }
        self.head = head;
    }

    /// Splits the table into its head and the rows of functions.
    fn table(&self) -> (Vec<&str>, Vec<&str>) {
        let mut lines: Vec<&str> = self.head.split_inclusive('\n').collect();
        let last = lines.iter().rposition(|line| is_rule(line.trim_end_matches('\n'))).unwrap_or_default();
        let rows = lines.split_off(last + 1);
        (lines, rows)
    }
}

/// Returns the widths of the columns, from the line with their names.
fn widths(names: &str) -> Vec<usize> {
    let names = names.trim_end_matches('\n').trim_end_matches(" file:function");
    let starts = |at: &usize| *at == 0 || names.as_bytes()[at - 1] == b' ';
    let starts: Vec<usize> = (0..names.len())
        .filter(|at| names.as_bytes()[*at] != b' ')
        .filter(starts)
        .chain([names.len()])
        .collect();
    starts.windows(2).map(|pair| pair[1] - pair[0] - 1).collect()
}

/// A row with its cells in columns of another width.
fn repadded(row: &str, widths: &[usize], has_percentages: bool) -> String {
    let mut rest = row;
    let mut text = String::new();
    for width in widths {
        let bare = rest.trim_start_matches(' ');
        let mut end = bare.find(' ').unwrap_or(bare.len());
        if has_percentages {
            end += match bare[end..].starts_with(" (") {
                true => bare[end..].find(')').map_or(0, |at| at + 1),
                false => 9,
            };
        }
        text.push_str(&format!("{:>width$} ", &bare[..end]));
        rest = &bare[end + 1..];
    }
    text + rest
}

/// Returns the function, as `file:name`, of a row of the table.
pub(crate) fn own_name<'f>(line: &str, functions: &BTreeSet<&'f str>, has_tree: bool) -> Option<&'f str> {
    let before = if has_tree { " *  " } else { "  " };
    let line = line.trim_end_matches('\n');
    let bare = line.rfind(" [").filter(|_| line.ends_with(']')).map_or(line, |at| &line[..at]);
    let ends =
        (before.len()..line.len()).filter(|&at| line.is_char_boundary(at) && line[..at].ends_with(before));
    let names = ends.flat_map(|at| [line.get(at..), bare.get(at..)]).flatten();
    names.filter_map(|name| functions.get(name).copied()).next()
}

/// Takes off again what was added to counts of 0.
pub(crate) fn without_zeros(text: &str) -> String {
    text.split_inclusive('\n').map(|line| without_zero(line).unwrap_or_else(|| line.to_owned())).collect()
}

fn without_zero(line: &str) -> Option<String> {
    let end = line.rfind("x)")?;
    let start = line[..end].rfind('(')? + 1;
    let count: i128 = line[start..end].replace(',', "").parse().ok()?;
    let half = ZERO / 2;
    let bare = (count + half).rem_euclid(ZERO) - half;
    (count >= half).then(|| [&line[..start], &with_commas(bare), &line[end..]].concat())
}

/// The original puts commas into numbers above zero only.
fn with_commas(count: i128) -> String {
    let digits = count.to_string();
    if count < 0 {
        return digits;
    }
    let mut text = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
