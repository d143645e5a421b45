//! A loaded profile that answers questions, and keeps the views that it made.

use std::fmt;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};

use gristmill_output::source::{SourceError, SourceText, Sources};
use gristmill_output::{json, lossy};
use gristmill_profile::threads::both;
use gristmill_profile::{FileId, Profile};
use gristmill_report::assembly::{Assembly, AssemblyOptions, has_addresses};
use gristmill_report::program::{Evidence, Program, ProgramError, Programs};
use gristmill_report::{
    FunctionRow, NameIndex, Overview, OverviewOptions, Show, ShowOptions, SourceListing, SubjectId, Tree,
    TreeOptions, View,
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::answer::{
    Findings, Flame, Found, FunctionsPage, Graph, Parts, SearchResults, Source, Summary, Treemap,
};
use crate::assembly_answer::AssemblyAnswer;
use crate::call_graph::{self, Around, Limits};
use crate::call_tree::{MAX_MEMBERS, TreeKey};
use crate::changed_answer::Matches;
use crate::changes::{ChangesAnswer, KeptChanges};
use crate::comparison::Sides;
use crate::document::document;
use crate::kept_view::{Kept, KeptView, ListKey, kept};
use crate::question::{Group, Question, Request, Scope, Sort};
use crate::refusal::Refusal;
use crate::scope::{pattern, view_options};
use crate::{flame, functions, matches, source, summary, treemap};

/// Views that are kept.
const MAX_VIEWS: usize = 4;
/// Documents that are kept. One may have megabytes.
const MAX_DOCUMENTS: usize = 8;
/// The rows of the lists of the first screen that is prepared, as the page asks for it.
const OVERVIEW_ROWS: usize = 8;
/// The rows of a function's lists that are prepared, as the page asks for them.
const PREPARED_ROWS: usize = 100;
/// The limits of the call tree that is prepared, as the page asks for it.
const PREPARED_SHARE: u32 = 2;
const PREPARED_DEPTH: usize = 100;
const PREPARED_NODES: usize = 3000;
/// The limit of nodes of a tree.
const MAX_TREE_NODES: usize = 100_000;
/// The limit of rows of each list about a function, which a million functions may call. A server holds the whole answer.
const MAX_ROWS: usize = 10_000;

/// Work on the sources and programs that a profile names. See the example of [the crate](crate).
pub type FileWork = Box<dyn FnOnce(&dyn Sources, &dyn Programs) + Send>;

/// The sources and programs that a profile names. See the example of [the crate](crate).
pub trait Files: Send + Sync {
    /// Does work with finders of sources and programs, here or on the thread that owns them, and returns after it.
    fn with(&self, work: FileWork);

    /// `true` if there may be sources and programs.
    fn is_available(&self) -> bool {
        true
    }
}

/// No sources and no programs. See the example of [the crate](crate).
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFiles;

impl Sources for NoFiles {
    fn get(&self, _: &[u8]) -> Result<Arc<SourceText>, SourceError> {
        Err(SourceError::Missing)
    }
}

impl Programs for NoFiles {
    fn get(&self, _: &[u8], _: &[Evidence<'_>]) -> Result<Rc<dyn Program>, ProgramError> {
        Err(ProgramError::Missing)
    }
}

impl Files for NoFiles {
    fn with(&self, work: FileWork) {
        work(self, self);
    }

    fn is_available(&self) -> bool {
        false
    }
}

/// An answer. Its JSON is that of its content. See the example of [the crate](crate).
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// The first screen.
    Overview(Arc<Overview>),
    /// A page of functions or groups.
    Functions(FunctionsPage),
    /// One function.
    Function(Box<Show>),
    /// The id of a function.
    Found(Found),
    /// Functions, files and objects that contain a text.
    Search(SearchResults),
    /// The call tree.
    Tree(Arc<Tree>),
    /// The loaded profile.
    Summary(Arc<Summary>),
    /// A flame graph.
    Flame(Box<Flame>),
    /// A call graph.
    Graph(Box<Graph>),
    /// A treemap.
    Treemap(Box<Treemap>),
    /// Source text with costs.
    Source(Box<Source>),
    /// The total of a search.
    Matches(Matches),
    /// A page or a picture of changes.
    Changes(ChangesAnswer),
    /// Parts, threads and processes.
    Parts(Parts),
    /// The findings of lint.
    Findings(Findings),
    /// The JSON document of a report: machine code or changes.
    Document(Arc<Box<RawValue>>),
}

/// A loaded profile that answers questions. It can be shared between threads. See the example of [the crate](crate).
pub struct Session {
    profile: Arc<Profile>,
    sides: Option<Sides>,
    files: Box<dyn Files>,
    views: Mutex<Kept<(Scope, bool), KeptView>>,
    /// Comparisons and machine code, which take time to make.
    documents: Mutex<Kept<(Scope, Question), Box<RawValue>>>,
    changes: KeptChanges,
    /// The names of all functions that are not folded, once they are prepared, unless they take too much memory.
    names: OnceLock<Option<NameIndex>>,
    /// `true` once the session is prepared, or is being prepared.
    is_preparing: AtomicBool,
    /// All findings, which take longer than to load the profile.
    findings: OnceLock<Findings>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Session {
    /// Makes a session of a profile.
    pub fn new(profile: Arc<Profile>, files: Box<dyn Files>) -> Self {
        Session {
            profile,
            sides: None,
            files,
            views: Mutex::default(),
            documents: Mutex::default(),
            changes: KeptChanges::default(),
            names: OnceLock::new(),
            is_preparing: AtomicBool::new(false),
            findings: OnceLock::new(),
        }
    }

    /// Does ahead what the first questions of a page need, in the order in which it asks: the answers are the same without it, but
    /// come later. `is_cancelled` is asked between the steps.
    pub fn prepare(&self, is_cancelled: &dyn Fn() -> bool) {
        for nth in 0.. {
            if is_cancelled() {
                return;
            }
            if !self.prepare_step(nth) {
                break;
            }
        }
        if !is_cancelled() {
            self.findings(0);
        }
    }

    /// Does one step of [`prepare`](Self::prepare), counted from 0, and returns `true` if there are more: for who has one thread,
    /// and looks for questions in between. The first one is what the first screen needs. The findings, which take as long as all
    /// other steps, are none of them.
    pub fn prepare_step(&self, nth: usize) -> bool {
        let scope = Scope::default();
        // A profile that has no view, because it is too large, has a reason that each question gets.
        let Ok(kept) = self.view(&scope, false) else { return false };
        let program = |inverted| TreeKey { from: None, inverted };
        let rows = |inverted| tree_options(None, inverted, PREPARED_SHARE, PREPARED_DEPTH, PREPARED_NODES);
        let groups = |group| {
            let key = ListKey { group, ..ListKey::default() };
            drop(functions::groups(&kept, self.names(&scope), &key));
        };
        let orders = |sorts: &[Sort]| {
            for &sort in sorts {
                let key = ListKey { sort, ..ListKey::default() };
                drop(functions::page(&kept, self.names(&scope), key, 0, PREPARED_ROWS));
            }
        };
        let of_cycle = |inverted| {
            if let Some(from) = member_of_largest_cycle(&kept) {
                drop(kept.tree(TreeKey { from: Some(from), inverted }));
            }
        };
        let steps: [&dyn Fn(); 20] = [
            &|| {
                let summary = || drop(self.summary(&kept, &scope));
                both(self.profile.function_count(), summary, || drop(self.overview(&kept, OVERVIEW_ROWS)));
            },
            &|| orders(&[Sort::SelfCost, Sort::Inclusive]),
            &|| {
                if let Some(function) = member_of_largest_cycle(&kept) {
                    let options =
                        ShowOptions { function, depth: 1, lines: Some(0), limit: Some(PREPARED_ROWS) };
                    drop(Show::new(&kept.view, &options));
                }
            },
            &|| {
                self.prepared_names(&kept);
            },
            &|| orders(&[Sort::Name, Sort::Calls]),
            &|| orders(&[Sort::PerCall, Sort::Object, Sort::File]),
            &|| {
                kept.objects();
                kept.files();
            },
            &|| groups(Group::Object),
            &|| groups(Group::File),
            &|| groups(Group::Directory),
            &|| drop(kept.tree(program(false))),
            &|| drop(kept.table(rows(false))),
            &|| of_cycle(false),
            &|| of_cycle(true),
            &|| groups(Group::Class),
            &|| groups(Group::Crate),
            &|| groups(Group::Package),
            &|| groups(Group::Cycle),
            &|| drop(kept.tree(program(true))),
            &|| drop(kept.table(rows(true))),
        ];
        self.is_preparing.store(true, Ordering::Relaxed);
        if let Some(step) = steps.get(nth) {
            step();
        }
        nth + 1 < steps.len()
    }

    /// Returns the names of functions in a scope, if they are prepared.
    fn names(&self, scope: &Scope) -> Option<&NameIndex> {
        let is_folded = scope.fold_recursion || scope.fold_callers;
        self.names.get().and_then(Option::as_ref).filter(|_| !is_folded)
    }

    /// Does the same for a question that looks at all names. While a session is prepared, it waits for them: to make them once
    /// more would take as long.
    fn all_names(&self, kept: &KeptView, scope: &Scope) -> Option<&NameIndex> {
        let is_folded = scope.fold_recursion || scope.fold_callers;
        if !is_folded && self.is_preparing.load(Ordering::Relaxed) {
            self.prepared_names(kept);
        }
        self.names(scope)
    }

    /// Makes the names of the functions of a view without folding, unless they are made already.
    fn prepared_names(&self, kept: &KeptView) -> Option<&NameIndex> {
        self.names.get_or_init(|| NameIndex::new(&kept.view)).as_ref()
    }

    fn summary(&self, kept: &KeptView, scope: &Scope) -> Result<Arc<Summary>, Refusal> {
        kept.summary(|| {
            let mut summary = summary::summary(&self.profile, kept, scope, self.files.is_available())?;
            summary.base = self.sides.as_ref().map(|sides| sides.summary(scope));
            Ok(summary)
        })
    }

    fn overview(&self, kept: &KeptView, limit: usize) -> Result<Arc<Overview>, Refusal> {
        kept.overview(limit, || {
            // The page has buttons in place of commands.
            let options =
                OverviewOptions { limit: Some(limit), omits_next_steps: true, ..OverviewOptions::default() };
            Overview::new(&kept.view, &options)
        })
    }

    fn findings(&self, limit: usize) -> Findings {
        let findings = self.findings.get_or_init(|| summary::findings(&self.profile));
        let rows = findings.rows.iter().take(limit).cloned().collect();
        let (verdict, rules) = (findings.verdict.clone(), findings.rules.clone());
        Findings { verdict, all: findings.all, rules, rows }
    }

    /// Sets the profile that this one is compared with.
    #[must_use]
    pub fn with_base(self, base: Arc<Profile>) -> Self {
        let new = Arc::clone(&self.profile);
        self.with_sides(base, new)
    }

    /// Sets the profiles that are compared. That of the new side can show fewer inlined functions than the profile itself.
    #[must_use]
    pub fn with_sides(self, base: Arc<Profile>, new: Arc<Profile>) -> Self {
        Session { sides: Some(Sides { base, new }), ..self }
    }

    /// Returns the view of a scope. With `bypasses_hidden`, callers of hidden functions call what these called.
    fn view(&self, scope: &Scope, bypasses_hidden: bool) -> Result<Arc<KeptView>, Refusal> {
        // Without hidden functions and focus both are the same.
        let bypasses =
            bypasses_hidden && !(scope.hide.is_empty() && scope.focus.is_empty() && scope.drop.is_empty());
        kept(&self.views, (scope.clone(), bypasses), MAX_VIEWS, || {
            let view = View::new(Arc::clone(&self.profile), &view_options(scope, bypasses)?)?;
            Ok(KeptView::new(view))
        })
    }

    /// Does work with the finders of sources and programs.
    fn with_files<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Sources, &dyn Programs) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        // The channel tells that it is done. One that carries the result would be compiled again for each type.
        let (sender, receiver) = mpsc::sync_channel::<()>(1);
        let result = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&result);
        self.files.with(Box::new(move |sources, programs| {
            let done = work(sources, programs);
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
            // Nobody else has the receiver, which waits.
            let _ = sender.send(());
        }));
        let _ = receiver.recv();
        result.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or(Refusal::NoFiles)
    }

    /// Answers a question. `is_cancelled` is asked between the steps of long answers.
    ///
    /// # Errors
    ///
    /// If the question names what the profile does not have.
    pub fn answer(&self, request: &Request, is_cancelled: &dyn Fn() -> bool) -> Result<Answer, Refusal> {
        let own;
        let scope = match request.question {
            // What lines and instructions cost without hidden functions or in a focus is not known.
            Question::Source { .. } | Question::Assembly { .. } => {
                own = request.scope.without_attribution();
                &own
            }
            _ => &request.scope,
        };
        let kept = |bypasses_hidden| {
            let view = self.view(scope, bypasses_hidden)?;
            if is_cancelled() { Err(Refusal::Cancelled) } else { Ok(view) }
        };
        Ok(match &request.question {
            Question::Overview { limit } => Answer::Overview(self.overview(&*kept(false)?, *limit)?),
            Question::Functions { group, sort, ascending, filter, within, start, count } => {
                let key = ListKey {
                    group: *group,
                    sort: *sort,
                    ascending: *ascending,
                    filter: filter.clone(),
                    within: within.clone(),
                };
                let kept = kept(false)?;
                let names = match key.needs_names() {
                    true => self.all_names(&kept, scope),
                    false => self.names(scope),
                };
                Answer::Functions(functions::page(&kept, names, key, *start, *count)?)
            }
            Question::Function { function, depth, limit } => {
                let kept = kept(true)?;
                let function = kept.subject(*function)?;
                let limit = Some((*limit).min(MAX_ROWS));
                let options = ShowOptions { function, depth: *depth, lines: limit, limit };
                let show = Show::new(&kept.view, &options)?;
                Answer::Function(Box::new(self.with_files(move |sources, _| show.with_sources(sources))?))
            }
            Question::Find { name, file, object } => {
                Answer::Found(functions::find(&kept(false)?.view, name, file, object))
            }
            Question::Search { text, is_pattern, limit } => {
                let kept = kept(false)?;
                let names = self.all_names(&kept, scope);
                Answer::Search(functions::search(&kept, names, text, *is_pattern, *limit)?)
            }
            Question::Tree { from, inverted, min_share, max_depth, limit } => {
                let kept = kept(true)?;
                let from = from.map(|id| kept.subject(id)).transpose()?;
                Answer::Tree(kept.table(tree_options(from, *inverted, *min_share, *max_depth, *limit))?)
            }
            Question::Assembly { function } => {
                let kept = kept(false)?;
                let subject = Some(kept.subject(*function)?);
                if !has_addresses(&self.profile, kept.view.selection()) {
                    return Err(Refusal::NoAddresses);
                }
                #[cfg(not(target_family = "wasm"))]
                if self.profile.has_inlined_calls() {
                    return Err(Refusal::Inlined);
                }
                self.document(request, move |sources, programs| {
                    let options = AssemblyOptions { subject, ..AssemblyOptions::default() };
                    let assembly = Assembly::new(&kept.view, &options, programs, sources)?;
                    let sources = assembly.shown_lines()?;
                    document(|out| {
                        json::write(&AssemblyAnswer { document: assembly.document(), sources }, out)
                    })
                })?
            }
            Question::Summary => Answer::Summary(self.summary(&*kept(false)?, scope)?),
            Question::Flame { from, inverted, order, zoom, resolution } => {
                let kept = kept(true)?;
                let from = from.map(|id| kept.subject(id)).transpose()?;
                let tree = kept.tree(TreeKey { from, inverted: *inverted })?;
                Answer::Flame(Box::new(flame::flame(&tree, &kept.head, *order, zoom, *resolution)))
            }
            Question::Graph { around, callers, callees, nodes, min_share, cluster } => {
                let kept = kept(true)?;
                let limits = Limits {
                    callers: *callers,
                    callees: *callees,
                    nodes: *nodes,
                    min_share: *min_share,
                    cluster: *cluster,
                };
                let graph = match around {
                    None => call_graph::graph(&kept.view, &kept.head, None, &limits),
                    Some(id) => {
                        let subject = kept.subject(*id)?;
                        let tree = |inverted| kept.tree(TreeKey { from: Some(subject), inverted });
                        let (callers, callees) = (&*tree(true)?, &*tree(false)?);
                        let around = Around { subject, callers, callees };
                        call_graph::graph(&kept.view, &kept.head, Some(&around), &limits)
                    }
                };
                Answer::Graph(Box::new(graph))
            }
            Question::Treemap { from, callers, width, height } => {
                let kept = kept(true)?;
                let from = from.map(|id| kept.subject(id)).transpose()?;
                let tree = kept.tree(TreeKey { from, inverted: *callers })?;
                Answer::Treemap(Box::new(treemap::treemap(&tree, &kept.head, *width, *height)))
            }
            Question::Matches { from, inverted, pattern: text } => {
                let kept = kept(true)?;
                let from = from.map(|id| kept.subject(id)).transpose()?;
                let tree = kept.tree(TreeKey { from, inverted: *inverted })?;
                Answer::Matches(matches::matches(&tree, &kept.head, &pattern(text)?))
            }
            Question::Source { function, file } => {
                let kept = kept(false)?;
                let (row, listing) = match (function, file) {
                    (Some(id), _) => {
                        let subject = kept.subject(*id)?;
                        let row = FunctionRow::of_function(&kept.view, &kept.head, subject);
                        (Some(row), SourceListing::of_function(&kept.view, &kept.head, subject)?)
                    }
                    (None, Some(path)) => {
                        let is_meant = |file: &FileId| lossy(self.profile.file(*file)) == *path;
                        let file = self.profile.files().find(is_meant);
                        let file = file.ok_or_else(|| Refusal::NoSuchFile(path.clone()))?;
                        (None, SourceListing::of_file(&kept.view, &kept.head, file)?)
                    }
                    (None, None) => return Err(Refusal::NothingToShow),
                };
                let (head, file) = (kept.head.clone(), file.clone());
                let source = move |sources: &dyn Sources, _: &dyn Programs| {
                    source::source(head, row, listing, file.as_deref(), sources)
                };
                Answer::Source(Box::new(self.with_files(source)?))
            }
            Question::Parts => {
                let kept = kept(false)?;
                Answer::Parts(summary::parts(&self.profile, &kept.head, &kept.view)?)
            }
            Question::Findings { limit } => Answer::Findings(self.findings(*limit)),
            question @ (Question::ChangesPage { .. }
            | Question::ChangesFlame { .. }
            | Question::ChangesTreemap { .. }
            | Question::ChangesGraph { .. }) => {
                let sides = self.sides.as_ref().ok_or(Refusal::NoBase)?;
                Answer::Changes(self.changes.answer(sides, scope, question)?)
            }
            question @ (Question::Changes { .. }
            | Question::ChangesTree { .. }
            | Question::ChangedFunction { .. }) => {
                let sides = self.sides.clone().ok_or(Refusal::NoBase)?;
                let (scope, question) = (scope.clone(), question.clone());
                self.document(request, move |sources, _| sides.answer(&scope, &question, sources))?
            }
        })
    }

    /// Answers with a document that is kept, or made with the finders of sources and programs.
    fn document(
        &self,
        request: &Request,
        make: impl FnOnce(&dyn Sources, &dyn Programs) -> Result<Box<RawValue>, Refusal> + Send + 'static,
    ) -> Result<Answer, Refusal> {
        let key = (request.scope.clone(), request.question.clone());
        let document = kept(&self.documents, key, MAX_DOCUMENTS, || self.with_files(make)?)?;
        Ok(Answer::Document(document))
    }
}

/// Returns a member of the largest cycle, whose answers have in common what takes long.
fn member_of_largest_cycle(kept: &KeptView) -> Option<SubjectId> {
    let cycles = kept.view.inclusive().cycles();
    let largest = cycles.ids().max_by_key(|&cycle| cycles.members(cycle).len())?;
    cycles.members(largest).first().map(|&member| kept.view.subject_at(member))
}

/// Returns the options of a tree whose nodes are rows.
fn tree_options(
    from: Option<SubjectId>,
    inverted: bool,
    min_share: u32,
    max_depth: usize,
    limit: usize,
) -> TreeOptions {
    TreeOptions {
        from,
        inverted,
        min_share,
        max_depth: Some(max_depth),
        limit: Some(limit.clamp(1, MAX_TREE_NODES)),
        max_members: Some(MAX_MEMBERS),
        is_for_people: false,
        splits_chains: true,
    }
}
