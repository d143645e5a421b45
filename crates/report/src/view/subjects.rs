//! What is looked at as one function: a function of the profile, or several that were folded into one.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

use gristmill_profile::symbol::{Symbol, fold_callers, fold_recursion};
use gristmill_profile::{FileId, Function, FunctionId, ObjectId, Profile};

use super::ViewOptions;

/// What is looked at as one function.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'v> {
    recorded: &'v [u8],
    name: &'v OnceCell<Box<str>>,
    /// Its source file.
    pub file: FileId,
    /// Its object.
    pub object: ObjectId,
}

impl<'v> Subject<'v> {
    /// Its name, demangled. It may hold anything; see [`printable`](gristmill_output::printable).
    pub fn name(&self) -> &'v str {
        self.name.get_or_init(|| Symbol::parse(self.recorded).shown().into())
    }
}

/// All of them.
#[derive(Debug)]
pub(super) struct Subjects<'p> {
    profile: &'p Profile,
    /// Most names are never shown, and taking one apart is slower than loading it was.
    names: Vec<OnceCell<Box<str>>>,
    /// Each function is its own subject where this is missing.
    folded: Option<Folded<'p>>,
}

#[derive(Debug)]
struct Folded<'p> {
    subjects: Vec<(Cow<'p, [u8]>, FileId, ObjectId)>,
    /// By function.
    subject_of: Vec<FunctionId>,
}

impl<'p> Subjects<'p> {
    /// Folds functions as asked for.
    pub(super) fn new(profile: &'p Profile, options: &ViewOptions) -> Self {
        let is_folded = options.fold_recursion || options.fold_callers;
        let folded = is_folded.then(|| folded(profile, options));
        let count = folded.as_ref().map_or(profile.function_count(), |folded| folded.subjects.len());
        let mut names = Vec::new();
        names.resize_with(count, OnceCell::new);
        Subjects { profile, names, folded }
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether each function is its own subject.
    pub(super) fn are_functions(&self) -> bool {
        self.folded.is_none()
    }

    pub(super) fn get(&self, id: FunctionId) -> Subject<'_> {
        let name = &self.names[id.index()];
        match &self.folded {
            None => {
                let Function { name: recorded, file, object, .. } = self.profile.function(id);
                Subject { recorded, name, file, object }
            }
            Some(folded) => {
                let (recorded, file, object) = &folded.subjects[id.index()];
                Subject { recorded, name, file: *file, object: *object }
            }
        }
    }

    /// The one that a function of the profile was folded into.
    pub(super) fn of(&self, function: FunctionId) -> FunctionId {
        let folded = self.folded.as_ref().and_then(|folded| folded.subject_of.get(function.index()));
        folded.copied().unwrap_or(function)
    }
}

fn folded<'p>(profile: &'p Profile, options: &ViewOptions) -> Folded<'p> {
    let mut subjects = Vec::new();
    let mut subject_of = Vec::with_capacity(profile.function_count());
    let mut known: HashMap<(ObjectId, FileId, Cow<'p, [u8]>), FunctionId> = HashMap::new();
    for Function { name, file, object, .. } in profile.functions().map(|id| profile.function(id)) {
        let name = if options.fold_callers { fold_callers(name) } else { name };
        let name = if options.fold_recursion { fold_recursion(name) } else { Cow::Borrowed(name) };
        let next = FunctionId::new(subjects.len());
        let subject = *known.entry((object, file, name.clone())).or_insert(next);
        if subject == next {
            subjects.push((name, file, object));
        }
        subject_of.push(subject);
    }
    Folded { subjects, subject_of }
}
