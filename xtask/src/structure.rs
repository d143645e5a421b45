//! `cargo xtask structure`: which files and crates may use which.
//!
//! 1. No dependency cycle between the files of a crate. A file depends on another if it names an item that the other defines or
//!    re-exports. A child may name its ancestors: they are one family.
//! 2. No command of the program uses another command.
//! 3. A crate uses only crates of lower levels.

use std::collections::{BTreeMap, BTreeSet};

use crate::failure::{Context as _, Failure};
use crate::source::crates::ProjectCrate;
use crate::source::items::{CrateItems, Target};
use crate::source::paths::paths_of_file;

/// Names shown for each edge of a cycle.
const MAX_SHOWN_NAMES: usize = 8;

pub(crate) fn run() -> Result<(), Failure> {
    let mut faults = Vec::new();
    let mut file_count = 0;
    for known in ProjectCrate::all() {
        let items = CrateItems::read(&known.root_file())?;
        let edges = Edges::new(&items);
        file_count += items.files.len();
        for cycle in edges.cycles() {
            faults.push(edges.describe(known.folder, &cycle));
        }
        if !known.is_library {
            faults.extend(edges.commands_using_commands());
        }
        let manifest = known.manifest();
        let text =
            std::fs::read_to_string(&manifest).context(|| format!("cannot read {}", manifest.display()))?;
        faults.extend(wrong_levels(known, &text));
    }
    for fault in &faults {
        println!("{fault}\n");
    }
    if faults.is_empty() {
        println!("structure: {file_count} files, no dependency cycle, every crate on its level");
        return Ok(());
    }
    Err(Failure::new(format!("structure: {} faults", faults.len())))
}

/// The items that each file names in other files of its crate.
struct Edges<'a> {
    items: &'a CrateItems,
    /// From a file to the files it depends on, each with the names; files are indexes.
    by_file: BTreeMap<usize, BTreeMap<usize, BTreeSet<String>>>,
}

impl<'a> Edges<'a> {
    fn new(items: &'a CrateItems) -> Self {
        let mut by_file: BTreeMap<usize, BTreeMap<usize, BTreeSet<String>>> = BTreeMap::new();
        for file in 0..items.files.len() {
            for path in paths_of_file(items, file) {
                let resolved = items.resolve(path.module, &path.segments);
                for target in resolved.targets {
                    let Target::Item(module, name) = target else { continue };
                    for module in resolved.imported_in.iter().chain([&module]) {
                        let to = items.module(*module).file;
                        let (user, used) = (items.files[file].module, items.files[to].module);
                        if to != file && !items.is_ancestor(used, user) {
                            by_file.entry(file).or_default().entry(to).or_default().insert(name.clone());
                        }
                    }
                }
            }
        }
        Self { items, by_file }
    }

    fn path(&self, file: usize) -> &str {
        &self.items.files[file].path
    }

    /// Returns all files that can be reached from a file, without the file itself unless it is on a cycle.
    fn reachable(&self, from: usize) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(file) = open.pop() {
            for next in self.by_file.get(&file).into_iter().flat_map(BTreeMap::keys) {
                if reached.insert(*next) {
                    open.push(*next);
                }
            }
        }
        reached
    }

    /// Returns the groups of files that depend on each other.
    fn cycles(&self) -> Vec<Vec<usize>> {
        let reachable: Vec<_> = (0..self.items.files.len()).map(|file| self.reachable(file)).collect();
        let mut cycles = Vec::new();
        let mut placed = BTreeSet::new();
        for (file, reached) in reachable.iter().enumerate() {
            if reached.contains(&file) && !placed.contains(&file) {
                let cycle: Vec<usize> =
                    reached.iter().copied().filter(|other| reachable[*other].contains(&file)).collect();
                placed.extend(cycle.iter().copied());
                cycles.push(cycle);
            }
        }
        cycles
    }

    fn describe(&self, folder: &str, cycle: &[usize]) -> String {
        let mut text = format!("crates/{folder}: dependency cycle of {} files", cycle.len());
        for file in cycle {
            for (to, names) in self.by_file.get(file).into_iter().flatten() {
                if cycle.contains(to) {
                    let shown: Vec<&str> = names.iter().take(MAX_SHOWN_NAMES).map(String::as_str).collect();
                    let more = if names.len() > shown.len() { ", …" } else { "" };
                    let names = shown.join(", ");
                    text.push_str(&format!("\n  {} -> {}: {names}{more}", self.path(*file), self.path(*to)));
                }
            }
        }
        text
    }

    fn commands_using_commands(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (file, uses) in &self.by_file {
            for (to, names) in uses {
                if let (Some(user), Some(used)) = (command(self.path(*file)), command(self.path(*to)))
                    && user != used
                {
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    let (path, names) = (self.path(*file), names.join(", "));
                    faults.push(format!("crates/cli: {path} uses the command {used}: {names}"));
                }
            }
        }
        faults
    }
}

/// Returns the command that a file of the program belongs to.
fn command(path: &str) -> Option<&str> {
    let below = path.strip_prefix("commands/")?;
    let name = below.split('/').next()?;
    Some(name.strip_suffix(".rs").unwrap_or(name)).filter(|name| *name != "mod")
}

/// Returns a fault for each dependency in a manifest that is not on a lower level.
fn wrong_levels(known: ProjectCrate, manifest: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut section = "";
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        }
        // Only the tests of a crate may look at a crate above.
        if !section.contains("dependencies") || section.contains("dev-dependencies") {
            continue;
        }
        let name = line.split(['=', '.', ' ']).next().unwrap_or_default();
        if let Some(used) = ProjectCrate::by_package(name)
            && used.level >= known.level
        {
            faults.push(format!("crates/{}: uses {name}, which is not on a lower level", known.folder));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn items(files: &[(&str, &str)]) -> CrateItems {
        let read = |path: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        CrateItems::parse(files[0].0, &read).unwrap()
    }

    /// The cycles, each as the paths of its files.
    fn cycles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let items = items(files);
        let edges = Edges::new(&items);
        let cycles = edges.cycles();
        cycles.iter().map(|cycle| cycle.iter().map(|file| edges.path(*file).to_owned()).collect()).collect()
    }

    #[test]
    fn two_files_that_name_each_other_are_a_cycle() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b::B; pub struct A(B);"),
            ("b.rs", "pub struct B; impl B { fn f() { let _: Option<crate::a::A> = None; } }"),
        ];
        assert_eq!(cycles(&files), [["a.rs", "b.rs"]]);
        let items = items(&files);
        let edges = Edges::new(&items);
        let described = edges.describe("x", &edges.cycles()[0]);
        assert_eq!(described, "crates/x: dependency cycle of 2 files\n  a.rs -> b.rs: B\n  b.rs -> a.rs: A");
    }

    #[test]
    fn a_re_exported_name_leads_to_both_files() {
        let mut files = [
            ("lib.rs", "mod a; mod b; mod c; pub use c::C;"),
            ("a.rs", "pub use crate::c::C; pub struct A;"),
            ("b.rs", "use crate::a::C; pub struct B(C);"),
            ("c.rs", "pub struct C;"),
        ];
        assert!(cycles(&files).is_empty());
        // Through the re-export of the root, which is an ancestor, to the definition.
        files[3].1 = "pub struct C(crate::B);";
        files[0].1 = "mod a; mod b; mod c; pub use b::B;";
        assert_eq!(cycles(&files), [["a.rs", "b.rs", "c.rs"]]);
    }

    #[test]
    fn paths_are_found_in_macros_attributes_and_through_modules() {
        for naming in [
            "fn f() { assert!(crate::b::g() == 1); }",
            "use crate::b; fn f() { b::g(); }",
            "use super::b::*; fn f() { g(); }",
            "#[serde(with = \"crate::b::g\")] struct S;",
            "mod inner { fn f() { super::super::b::g(); } }",
            "fn f() { use crate::b::g as h; h(); }",
        ] {
            let naming = format!("{naming} pub struct A;");
            let files = [
                ("lib.rs", "mod a; mod b;"),
                ("a.rs", naming.as_str()),
                ("b.rs", "pub fn g() -> crate::a::A { loop {} }"),
            ];
            assert_eq!(cycles(&files).len(), 1, "{naming}");
        }
    }

    #[test]
    fn families_and_tests_make_no_cycle() {
        let files = [
            ("lib.rs", "mod a; fn root() {}"),
            ("a.rs", "mod child; pub struct A(child::Child); fn f() {}"),
            ("a/child.rs", "use super::A; pub struct Child; fn g(_: A) { crate::root(); super::f(); }"),
        ];
        assert!(cycles(&files).is_empty());
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "pub struct A; #[cfg(test)] mod tests { use crate::b::B; fn f(_: B) {} }"),
            ("b.rs", "pub struct B(crate::a::A);"),
        ];
        assert!(cycles(&files).is_empty());
    }

    #[test]
    fn a_command_that_uses_a_command_is_a_fault() {
        let mut files = [
            ("main.rs", "mod commands;"),
            ("commands/mod.rs", "mod info; mod lint;"),
            ("commands/info.rs", "mod text; pub fn run() { text::f() }"),
            ("commands/info/text.rs", "pub fn f() {}"),
            ("commands/lint.rs", "pub fn run() {}"),
        ];
        let faults = |files: &[(&str, &str)]| Edges::new(&items(files)).commands_using_commands();
        assert!(faults(&files).is_empty());
        files[4].1 = "use super::info::run as info; pub fn run() { info() }";
        assert_eq!(faults(&files), ["crates/cli: commands/lint.rs uses the command info: run"]);
    }

    #[test]
    fn a_crate_that_uses_its_sibling_is_a_fault() {
        let report = ProjectCrate::by_package("gristmill-report").unwrap();
        let manifest = "[dependencies]\ngristmill-profile = { workspace = true }\n";
        assert!(wrong_levels(report, manifest).is_empty());
        let manifest =
            "[dependencies]\ngristmill-gate.workspace = true\n[dev-dependencies]\ngristmill = \"1\"\n";
        assert_eq!(
            wrong_levels(report, manifest),
            ["crates/report: uses gristmill-gate, which is not on a lower level"]
        );
    }
}
