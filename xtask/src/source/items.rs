//! The modules of one crate, the items they define, and the resolution of paths to those items.
//!
//! Only items that the source spells out are known: an item that a macro writes is not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use syn::{Attribute, Item, UseTree, Visibility};

use crate::failure::{Context as _, Failure};

/// Imports that are followed for one path: imports may form a cycle.
const MAX_IMPORTS: u8 = 12;

/// One source file of a crate.
pub(crate) struct SourceFile {
    /// Its path from the folder of the crate's root file: `load/stitch.rs`.
    pub(crate) path: String,
    /// The module that the file holds.
    pub(crate) module: ModuleId,
    pub(crate) syntax: Rc<syn::File>,
}

/// Index of a module in [`CrateItems::modules`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ModuleId(usize);

/// A module: a file, or a `mod name { … }` inside a file.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) name: String,
    pub(crate) parent: Option<ModuleId>,
    /// Index into [`CrateItems::files`].
    pub(crate) file: usize,
    /// A name may have several meanings: `repair` is a module and a function.
    pub(crate) names: BTreeMap<String, Vec<Meaning>>,
    /// `use path::*`
    globs: Vec<Vec<String>>,
    pub(crate) docs: String,
}

/// One meaning of a name in a module.
#[derive(Debug, Clone)]
pub(crate) struct Meaning {
    pub(crate) public: bool,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Module(ModuleId),
    /// A struct, enum, union, trait or type alias.
    Type {
        docs: String,
    },
    /// A function, constant or macro.
    Value {
        docs: String,
    },
    /// `use path as name`
    Import(Vec<String>),
}

/// The end of a resolved path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    Module(ModuleId),
    Item(ModuleId, String),
}

type Targets = BTreeSet<Target>;
type Trail = BTreeSet<ModuleId>;

/// The items that a path names.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    /// The modules and items at its end.
    pub(crate) targets: Targets,
    /// The modules whose imports and re-exports lead there.
    pub(crate) imported_in: Trail,
}

/// All modules of a crate; those for tests are left out.
#[derive(Default)]
pub(crate) struct CrateItems {
    pub(crate) files: Vec<SourceFile>,
    pub(crate) modules: Vec<Module>,
    /// The docs of methods and associated functions, by `Type::method`.
    pub(crate) methods: BTreeMap<String, String>,
}

impl CrateItems {
    /// Reads a crate from the path of its root file.
    pub(crate) fn read(root: &Path) -> Result<Self, Failure> {
        let folder = root.parent().unwrap_or(root);
        let name = root.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        Self::parse(name, &|path| std::fs::read_to_string(folder.join(path)).ok())
            .context(|| folder.display().to_string())
    }

    /// Parses a crate from its root file; `read` returns the text of a file, or `None` when there is no such file.
    pub(crate) fn parse(root: &str, read: &dyn Fn(&Path) -> Option<String>) -> Result<Self, Failure> {
        let mut items = Self::default();
        items.add_file(PathBuf::from(root), "crate", None, read)?;
        Ok(items)
    }

    pub(crate) fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id.0]
    }

    pub(crate) fn root(&self) -> ModuleId {
        ModuleId(0)
    }

    /// Returns `true` if `ancestor` is a module around `module`.
    pub(crate) fn is_ancestor(&self, ancestor: ModuleId, module: ModuleId) -> bool {
        std::iter::successors(self.module(module).parent, |id| self.module(*id).parent)
            .any(|id| id == ancestor)
    }

    fn add_file(
        &mut self,
        path: PathBuf,
        name: &str,
        parent: Option<ModuleId>,
        read: &dyn Fn(&Path) -> Option<String>,
    ) -> Result<ModuleId, Failure> {
        let shown = path.to_string_lossy().replace('\\', "/");
        let text = read(&path).ok_or_else(|| Failure::new(format!("cannot read {shown}")))?;
        let syntax = Rc::new(syn::parse_file(&text).context(|| shown.clone())?);
        let file = self.files.len();
        let module = self.add_module(name, parent, file, docs(&syntax.attrs));
        self.files.push(SourceFile { path: shown, module, syntax: syntax.clone() });
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let folder = path.parent().unwrap_or(Path::new(""));
        let children = if parent.is_none() || stem == "mod" { folder.to_owned() } else { folder.join(stem) };
        self.add_items(&syntax.items, module, &children, read)?;
        Ok(module)
    }

    fn add_module(&mut self, name: &str, parent: Option<ModuleId>, file: usize, docs: String) -> ModuleId {
        let id = ModuleId(self.modules.len());
        let (names, globs) = (BTreeMap::new(), Vec::new());
        self.modules.push(Module { name: name.to_owned(), parent, file, names, globs, docs });
        id
    }

    fn add_items(
        &mut self,
        items: &[Item],
        module: ModuleId,
        folder: &Path,
        read: &dyn Fn(&Path) -> Option<String>,
    ) -> Result<(), Failure> {
        for item in items {
            if is_for_tests(attributes(item)) {
                continue;
            }
            let (visibility, ident, attributes, is_type) = match item {
                Item::Mod(item) => {
                    let name = item.ident.to_string();
                    let file = self.module(module).file;
                    let child = match &item.content {
                        Some((_, items)) => {
                            let child = self.add_module(&name, Some(module), file, docs(&item.attrs));
                            self.add_items(items, child, &folder.join(&name), read)?;
                            child
                        }
                        None => {
                            let path = module_path(folder, &name, &item.attrs, read);
                            let child = self.add_file(path, &name, Some(module), read)?;
                            let outer = docs(&item.attrs);
                            self.modules[child.0].docs.push_str(&outer);
                            child
                        }
                    };
                    self.define(module, name, &item.vis, Kind::Module(child));
                    continue;
                }
                Item::Use(item) => {
                    let mut leaves = Vec::new();
                    use_leaves(&item.tree, &mut Vec::new(), &mut leaves);
                    for leaf in leaves {
                        match leaf.name {
                            None => self.modules[module.0].globs.push(leaf.path),
                            Some(name) => self.define(module, name, &item.vis, Kind::Import(leaf.path)),
                        }
                    }
                    continue;
                }
                Item::Impl(item) => {
                    self.add_methods(item);
                    continue;
                }
                Item::Struct(item) => (&item.vis, &item.ident, &item.attrs, true),
                Item::Enum(item) => (&item.vis, &item.ident, &item.attrs, true),
                Item::Union(item) => (&item.vis, &item.ident, &item.attrs, true),
                Item::Type(item) => (&item.vis, &item.ident, &item.attrs, true),
                Item::Trait(item) => (&item.vis, &item.ident, &item.attrs, true),
                Item::Fn(item) => (&item.vis, &item.sig.ident, &item.attrs, false),
                Item::Const(item) => (&item.vis, &item.ident, &item.attrs, false),
                Item::Static(item) => (&item.vis, &item.ident, &item.attrs, false),
                Item::Macro(item) => match &item.ident {
                    Some(ident) => (&Visibility::Inherited, ident, &item.attrs, false),
                    None => continue,
                },
                _ => continue,
            };
            let docs = docs(attributes);
            let kind = if is_type { Kind::Type { docs } } else { Kind::Value { docs } };
            self.define(module, ident.to_string(), visibility, kind);
        }
        Ok(())
    }

    fn define(&mut self, module: ModuleId, name: String, visibility: &Visibility, kind: Kind) {
        let meaning = Meaning { public: matches!(visibility, Visibility::Public(_)), kind };
        self.modules[module.0].names.entry(name).or_default().push(meaning);
    }

    fn add_methods(&mut self, item: &syn::ItemImpl) {
        let syn::Type::Path(path) = &*item.self_ty else { return };
        let Some(name) = path.path.segments.last() else { return };
        for method in &item.items {
            if let syn::ImplItem::Fn(method) = method {
                let key = format!("{}::{}", name.ident, method.sig.ident);
                self.methods.entry(key).or_default().push_str(&docs(&method.attrs));
            }
        }
    }

    /// Resolves a path that stands in `from`. Paths into other crates have no target.
    pub(crate) fn resolve(&self, from: ModuleId, path: &[String]) -> Resolved {
        let mut resolved = Resolved::default();
        resolved.targets = self.resolve_below(from, path, MAX_IMPORTS, &mut resolved.imported_in);
        resolved
    }

    fn resolve_below(&self, from: ModuleId, path: &[String], imports: u8, trail: &mut Trail) -> Targets {
        let Some((first, rest)) = path.split_first() else { return Targets::new() };
        let found = match first.as_str() {
            "crate" => Targets::from([Target::Module(self.root())]),
            "self" => Targets::from([Target::Module(from)]),
            "super" => self.module(from).parent.map(Target::Module).into_iter().collect(),
            name => self.look_up(from, name, imports, trail),
        };
        self.follow(found, rest, imports, trail)
    }

    /// Follows the rest of a path from what its beginning resolved to.
    fn follow(&self, mut found: Targets, rest: &[String], imports: u8, trail: &mut Trail) -> Targets {
        for name in rest {
            let mut next = Targets::new();
            for target in found {
                match target {
                    Target::Module(module) if name == "super" => {
                        next.extend(self.module(module).parent.map(Target::Module));
                    }
                    Target::Module(module) => next.extend(self.look_up(module, name, imports, trail)),
                    // A variant or an associated item belongs to its type.
                    Target::Item(..) => _ = next.insert(target),
                }
            }
            found = next;
        }
        found
    }

    fn look_up(&self, module: ModuleId, name: &str, imports: u8, trail: &mut Trail) -> Targets {
        let mut found = Targets::new();
        let Some(imports) = imports.checked_sub(1) else { return found };
        let scope = self.module(module);
        let meanings = || scope.names.get(name).into_iter().flatten();
        for meaning in meanings() {
            match &meaning.kind {
                Kind::Module(child) => _ = found.insert(Target::Module(*child)),
                Kind::Type { .. } | Kind::Value { .. } => {
                    found.insert(Target::Item(module, name.to_owned()));
                }
                Kind::Import(path) => {
                    trail.insert(module);
                    // `use repair::repair` begins at the module of that name.
                    let imported = if path[0] == name {
                        let children = meanings().filter_map(|meaning| match meaning.kind {
                            Kind::Module(child) => Some(Target::Module(child)),
                            _ => None,
                        });
                        self.follow(children.collect(), &path[1..], imports, trail)
                    } else {
                        self.resolve_below(module, path, imports, trail)
                    };
                    found.extend(imported);
                }
            }
        }
        if found.is_empty() {
            for glob in &scope.globs {
                for target in self.resolve_below(module, glob, imports, &mut Trail::new()) {
                    if let Target::Module(target) = target {
                        found.extend(self.look_up(target, name, imports, trail));
                    }
                }
            }
        }
        found
    }
}

/// One name that a `use` brings in.
#[derive(Debug)]
pub(crate) struct UseLeaf {
    pub(crate) path: Vec<String>,
    /// `None` for `*`.
    pub(crate) name: Option<String>,
}

/// Collects the leaves of a tree of imports.
pub(crate) fn use_leaves(tree: &UseTree, prefix: &mut Vec<String>, leaves: &mut Vec<UseLeaf>) {
    match tree {
        UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            use_leaves(&path.tree, prefix, leaves);
            prefix.pop();
        }
        UseTree::Name(name) => leaves.push(leaf(prefix, name.ident.to_string(), None)),
        UseTree::Rename(rename) => {
            leaves.push(leaf(prefix, rename.ident.to_string(), Some(rename.rename.to_string())));
        }
        UseTree::Glob(_) => leaves.push(UseLeaf { path: prefix.clone(), name: None }),
        UseTree::Group(group) => {
            for tree in &group.items {
                use_leaves(tree, prefix, leaves);
            }
        }
    }
}

fn leaf(prefix: &[String], name: String, rename: Option<String>) -> UseLeaf {
    let mut path = prefix.to_vec();
    // `use a::{self}` names `a`.
    if name != "self" {
        path.push(name);
    }
    let name = rename.or_else(|| path.last().cloned());
    UseLeaf { path, name }
}

fn module_path(
    folder: &Path,
    name: &str,
    attributes: &[Attribute],
    read: &dyn Fn(&Path) -> Option<String>,
) -> PathBuf {
    for attribute in attributes {
        if attribute.path().is_ident("path")
            && let Some(path) = string_value(attribute)
        {
            return folder.join(path);
        }
    }
    let flat = folder.join(format!("{name}.rs"));
    if read(&flat).is_some() { flat } else { folder.join(name).join("mod.rs") }
}

/// Returns `true` if an item exists in tests only.
pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        if attribute.path().is_ident("test") {
            return true;
        }
        let syn::Meta::List(list) = &attribute.meta else { return false };
        let tokens = list.tokens.to_string().replace(' ', "");
        list.path.is_ident("cfg")
            && (tokens == "test" || tokens == "doctest" || tokens.starts_with("all(test,"))
    })
}

pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The text of the doc comments among the attributes.
fn docs(attributes: &[Attribute]) -> String {
    let mut text = String::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        match string_value(attribute) {
            Some(line) => text.push_str(&line),
            // `#[doc = include_str!("…")]`: a text with examples of its own, which rustdoc runs.
            None => text.push_str("```\n```"),
        }
        text.push('\n');
    }
    text
}

fn string_value(attribute: &Attribute) -> Option<String> {
    let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
    let syn::Expr::Lit(literal) = &pair.value else { return None };
    let syn::Lit::Str(text) = &literal.lit else { return None };
    Some(text.value())
}
