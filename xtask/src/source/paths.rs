//! The paths that a file names, in code, in macros and in attributes.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use super::items::{CrateItems, Kind, ModuleId, attributes, is_for_tests, use_leaves};

/// A path, and the module in which it stands.
#[derive(Debug)]
pub(crate) struct NamedPath {
    pub(crate) module: ModuleId,
    pub(crate) segments: Vec<String>,
}

/// Returns all paths that a file names outside of its tests.
pub(crate) fn paths_of_file(items: &CrateItems, file: usize) -> Vec<NamedPath> {
    let file = &items.files[file];
    let mut collector = Collector { items, module: file.module, paths: Vec::new() };
    collector.visit_file(&file.syntax);
    collector.paths
}

struct Collector<'a> {
    items: &'a CrateItems,
    module: ModuleId,
    paths: Vec<NamedPath>,
}

impl Collector<'_> {
    fn add(&mut self, segments: Vec<String>) {
        self.paths.push(NamedPath { module: self.module, segments });
    }

    /// Finds `a::b::c` in tokens that are no syntax tree.
    fn add_from_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 && !path.is_empty() {
                        self.add(std::mem::take(&mut path));
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => colons += 1,
                token => {
                    if !path.is_empty() {
                        self.add(std::mem::take(&mut path));
                    }
                    colons = 0;
                    match token {
                        TokenTree::Group(group) => self.add_from_tokens(group.stream()),
                        TokenTree::Literal(literal) => self.add_from_literal(&literal.to_string()),
                        _ => {}
                    }
                }
            }
        }
        if !path.is_empty() {
            self.add(path);
        }
    }

    /// `#[serde(with = "crate::json::cost")]`
    fn add_from_literal(&mut self, literal: &str) {
        let text = literal.trim_matches('"');
        let is_name = |part: &str| {
            !part.is_empty() && part.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
        };
        if text.contains("::") && text.split("::").all(is_name) {
            self.add(text.split("::").map(str::to_owned).collect());
        }
    }
}

impl<'ast> Visit<'ast> for Collector<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let Some((_, content)) = &item.content else { return };
        let name = item.ident.to_string();
        let meanings = self.items.module(self.module).names.get(&name);
        let child = meanings.into_iter().flatten().find_map(|meaning| match meaning.kind {
            Kind::Module(child) => Some(child),
            _ => None,
        });
        let around = self.module;
        self.module = child.unwrap_or(around);
        for item in content {
            self.visit_item(item);
        }
        self.module = around;
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut leaves = Vec::new();
        use_leaves(&item.tree, &mut Vec::new(), &mut leaves);
        for leaf in leaves {
            self.add(leaf.path);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.add(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.visit_path(&item.path);
        self.add_from_tokens(item.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.add_from_tokens(list.tokens.clone());
        }
    }
}
