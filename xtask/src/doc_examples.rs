//! `cargo xtask doc-examples`: every public type of a library shows how it is used.
//!
//! Its doc comment has an example that rustdoc runs, or links to an item that has one: "See the example of
//! `[Profile::open]`." Types that a macro defines are not seen.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::failure::{Context as _, Failure};
use crate::source::crates::ProjectCrate;
use crate::source::items::{CrateItems, Kind, ModuleId, Target};

pub(crate) fn run() -> Result<(), Failure> {
    let mut libraries = Vec::new();
    for known in ProjectCrate::libraries() {
        libraries.push((known, CrateItems::read(&known.root_file())?));
    }
    let mut examples = BTreeSet::new();
    for (known, items) in &libraries {
        examples.extend(names_with_examples(items, &known.package().replace('-', "_")));
    }
    let (mut missing, mut types) = (0, 0);
    for (known, items) in &libraries {
        let public = public_types(items);
        types += public.len();
        for (name, docs) in &public {
            if !has_example(docs)
                && !links_to_example(items, name, docs, &examples, &known.package().replace('-', "_"))?
            {
                let file = &items.files[docs.file].path;
                println!("crates/{}/src/{file}: {name}: no example and no link to one", known.folder);
                missing += 1;
            }
        }
    }
    if missing == 0 {
        println!("doc-examples: {types} public types, each with an example or a link to one");
        return Ok(());
    }
    Err(Failure::new(format!("doc-examples: {missing} of {types} public types show no use")))
}

/// The docs of a public type, and the file that defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TypeDocs {
    text: String,
    file: usize,
    module: ModuleId,
}

impl std::ops::Deref for TypeDocs {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// Returns the types that users of a library can name.
fn public_types(items: &CrateItems) -> BTreeMap<String, TypeDocs> {
    let mut types = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![items.root()];
    while let Some(module) = open.pop() {
        if !seen.insert(module) {
            continue;
        }
        for (name, meanings) in &items.module(module).names {
            for meaning in meanings.iter().filter(|meaning| meaning.public) {
                match &meaning.kind {
                    Kind::Module(child) => open.push(*child),
                    Kind::Type { .. } => add_type(items, module, name, &mut types),
                    Kind::Value { .. } => {}
                    Kind::Import(path) => {
                        for target in items.resolve(module, path).targets {
                            match target {
                                Target::Module(child) => open.push(child),
                                Target::Item(module, name) => add_type(items, module, &name, &mut types),
                            }
                        }
                    }
                }
            }
        }
    }
    types
}

fn add_type(items: &CrateItems, module: ModuleId, name: &str, types: &mut BTreeMap<String, TypeDocs>) {
    let file = items.module(module).file;
    for meaning in items.module(module).names.get(name).into_iter().flatten() {
        if let Kind::Type { docs } = &meaning.kind {
            types.insert(name.to_owned(), TypeDocs { text: docs.clone(), file, module });
        }
    }
}

/// Returns the names of all items with an example: `Type`, `Type::method`, `function`, `module` and that of the crate.
fn names_with_examples(items: &CrateItems, crate_name: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for module in &items.modules {
        if has_example(&module.docs) {
            names.insert(if module.parent.is_none() { crate_name.to_owned() } else { module.name.clone() });
        }
        for (name, meanings) in &module.names {
            let has_example = meanings.iter().any(|meaning| match &meaning.kind {
                Kind::Type { docs } | Kind::Value { docs } => has_example(docs),
                Kind::Module(_) | Kind::Import(_) => false,
            });
            if has_example {
                names.insert(name.clone());
            }
        }
    }
    let methods = items.methods.iter().filter(|(_, docs)| has_example(docs));
    names.extend(methods.map(|(name, _)| name.clone()));
    names
}

/// Returns `true` if a doc comment has a code block that rustdoc compiles.
fn has_example(docs: &str) -> bool {
    let mut fences = docs.lines().filter_map(|line| line.trim_start().strip_prefix("```"));
    let is_rust = |info: &str| {
        let runs = ["rust", "no_run", "should_panic", "compile_fail"];
        info.split(',').all(|word| word.trim().is_empty() || runs.contains(&word.trim()))
    };
    // Every second fence closes a block.
    while let Some(opening) = fences.next() {
        if is_rust(opening) {
            return true;
        }
        fences.next();
    }
    false
}

/// Returns `true` if a doc comment links to an item with an example.
fn links_to_example(
    items: &CrateItems,
    name: &str,
    docs: &TypeDocs,
    examples: &BTreeSet<String>,
    crate_name: &str,
) -> Result<bool, Failure> {
    let links =
        Regex::new(r"\[([^\]\[]+)\](?:\(([^) ]+)\))?").context(|| "the pattern of links".to_owned())?;
    let found = links.captures_iter(docs).any(|link| {
        let target = link.get(2).or(link.get(1)).map_or("", |target| target.as_str());
        let target = target.trim_matches('`').split('#').next().unwrap_or_default();
        let target = target.rsplit('@').next().unwrap_or_default().trim_end_matches(['(', ')', '!']);
        let module = match target {
            "crate" => return examples.contains(crate_name),
            "self" => Some(docs.module),
            "super" => items.module(docs.module).parent,
            _ => None,
        };
        if let Some(module) = module {
            return has_example(&items.module(module).docs);
        }
        let target = target.replace("Self", name);
        let mut segments = target.rsplit("::");
        let last = segments.next().unwrap_or_default();
        let owner = segments.next().unwrap_or_default();
        examples.contains(last) || examples.contains(&format!("{owner}::{last}"))
    });
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn without_example(text: &str) -> Vec<String> {
        let read = |path: &Path| (path == Path::new("lib.rs")).then(|| text.to_owned());
        let items = CrateItems::parse("lib.rs", &read).unwrap();
        let examples = names_with_examples(&items, "mill");
        let types = public_types(&items).into_iter();
        types
            .filter(|(name, docs)| {
                !has_example(docs) && !links_to_example(&items, name, docs, &examples, "mill").unwrap()
            })
            .map(|(name, _)| name)
            .collect()
    }

    #[test]
    fn a_public_type_without_example_is_found() {
        assert_eq!(without_example("/// A mill.\npub struct Mill;"), ["Mill"]);
        assert_eq!(
            without_example("mod inner { /// A mill.\npub enum Mill {} }\npub use inner::Mill;"),
            ["Mill"]
        );
        assert_eq!(
            without_example("/// A mill.\n///\n/// ```text\n/// mill\n/// ```\npub trait Mill {}"),
            ["Mill"]
        );
        assert_eq!(without_example("/// See [`grind`].\npub struct Mill; pub fn grind() {}"), ["Mill"]);
    }

    #[test]
    fn examples_and_links_to_them_are_enough() {
        for text in [
            "/// ```\n/// let x = 1;\n/// ```\npub struct Mill;",
            "/// See [`Mill::grind`].\npub struct Mill; impl Mill { /// ```\n/// f();\n/// ```\npub fn grind() {} }",
            "/// See [`Self::grind`].\npub struct Mill; impl Mill { /// ```\n/// f();\n/// ```\npub fn grind() {} }",
            "/// See [the function](crate::grind()).\npub struct Mill; /// ```\n/// f();\n/// ```\npub fn grind() {}",
            "//! ```\n//! f();\n//! ```\n/// See [the crate](crate#read).\npub struct Mill;",
            "//! ```\n//! f();\n//! ```\n/// See [this module](self).\npub struct Mill;",
            "mod private { pub struct Mill; }",
            "pub(crate) struct Mill;",
        ] {
            assert!(without_example(text).is_empty(), "{text}");
        }
    }
}
