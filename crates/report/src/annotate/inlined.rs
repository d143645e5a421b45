//! The names of inlined functions at the lines that they bring into other functions.
//!
//! A profile has the file of such a line (`fi=`), never the name of the function. The program has it, by the address of the
//! cost.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use gristmill_profile::{FileId, FunctionId, ObjectId};

use super::Annotation;
use crate::program::{FoundProgram, Programs, evidence};
use crate::view::View;

/// The names by file and line.
#[derive(Debug, Default)]
pub(super) struct InlinedNames {
    by_line: HashMap<(FileId, u64), Vec<Rc<str>>>,
    /// Problems with programs, and what to do.
    remarks: Vec<(String, Option<String>)>,
}

impl InlinedNames {
    pub(super) fn get(&self, file: FileId, line: u64) -> &[Rc<str>] {
        self.by_line.get(&(file, line)).map_or(&[], Vec::as_slice)
    }
}

impl Annotation<'_> {
    /// Returns the same annotation with the names of inlined functions at lines that are in another file than the function
    /// that has their cost. They come from the programs, if these are the recorded ones, and need addresses in the profile.
    ///
    /// ```
    /// use std::ops::Range;
    /// use std::rc::Rc;
    /// use std::sync::Arc;
    ///
    /// use gristmill_output::source::{SourceError, SourceText, Sources};
    /// use gristmill_profile::Profile;
    /// use gristmill_report::annotate::{Annotation, AnnotationOptions};
    /// use gristmill_report::program::{Agreement, Evidence, Frame, Instruction, Program, ProgramError, Programs};
    /// use gristmill_report::{View, ViewOptions};
    ///
    /// #[derive(Debug)]
    /// struct Mill;
    ///
    /// impl Programs for Mill {
    ///     fn get(&self, _: &[u8], _: &[Evidence<'_>]) -> Result<Rc<dyn Program>, ProgramError> {
    ///         Ok(Rc::new(Mill))
    ///     }
    /// }
    ///
    /// impl Program for Mill {
    /// #   fn found_at(&self) -> &str { "mill" }
    /// #   fn agreement(&self) -> Agreement { Agreement { checked: 1, agreeing: 1 } }
    /// #   fn has_lines(&self) -> bool { true }
    /// #   fn has_inlining(&self) -> bool { true }
    /// #   fn function_at(&self, _: u64) -> Option<Range<u64>> { None }
    /// #   fn instructions(&self, _: Range<u64>) -> Vec<Instruction> { Vec::new() }
    ///     fn frames(&self, _: u64) -> Vec<Frame> {
    ///         let frame = |function: &str, file: &str, line| {
    ///             Frame { function: function.into(), file: file.as_bytes().into(), line: Some(line) }
    ///         };
    ///         vec![frame("main", "mill.c", 4), frame("weigh", "grain.h", 7)]
    ///     }
    /// }
    ///
    /// impl Sources for Mill {
    ///     fn get(&self, _: &[u8]) -> Result<Arc<SourceText>, SourceError> {
    ///         Err(SourceError::Missing)
    ///     }
    /// }
    ///
    /// let text = "positions: instr line\nevents: Ir\nob=mill\nfl=mill.c\nfn=main\n0x10 1 3\nfi=grain.h\n0x12 7 4\n";
    /// let view = View::new(Profile::from_bytes(text.as_bytes().to_vec()), &ViewOptions::default())?;
    /// let annotation = Annotation::new(&view, &AnnotationOptions::default(), &Mill)?.with_inlined(&Mill);
    /// let names: Vec<_> = annotation.file_rows().flat_map(|file| file.lines().map(|line| line.inlined)).collect();
    /// assert_eq!(names, [Some(vec!["weigh".into()]), Some(vec![])]);
    /// # Ok::<(), gristmill_report::ViewError>(())
    /// ```
    #[must_use]
    pub fn with_inlined(self, programs: &dyn Programs) -> Self {
        let inlined = Some(names(self.view, programs));
        Annotation { inlined, ..self }
    }

    /// The programs that are missing or uncertain: a sentence, and what to do. Empty before [`Annotation::with_inlined`].
    pub fn program_remarks(&self) -> &[(String, Option<String>)] {
        self.inlined.as_ref().map_or(&[], |inlined| &inlined.remarks)
    }
}

fn names(view: &View, programs: &dyn Programs) -> InlinedNames {
    let profile = view.profile();
    let selection = view.selection();
    let mut found: HashMap<ObjectId, FoundProgram> = HashMap::new();
    let mut remarks = Vec::new();
    let mut of_object: HashMap<ObjectId, Vec<FunctionId>> = HashMap::new();
    for id in profile.functions() {
        of_object.entry(profile.function(id).object).or_default().push(id);
    }
    let mut by_line: BTreeMap<(FileId, u64), BTreeSet<Rc<str>>> = BTreeMap::new();
    for id in profile.functions() {
        let function = profile.function(id);
        let places = profile.places(id, selection);
        let brought = places.iter().filter(|place| place.file != function.file);
        let brought: Vec<_> =
            brought.filter_map(|place| Some((place.file, place.line?, place.address?))).collect();
        if brought.is_empty() {
            continue;
        }
        let program = found.entry(function.object).or_insert_with(|| {
            let name = profile.object(function.object);
            let functions = of_object[&function.object].iter().copied();
            let program = FoundProgram::find(programs, name, &evidence(profile, selection, functions));
            remarks.extend(program.remark(name).map(|remark| (remark.text, remark.hint)));
            program
        });
        // A name that may be wrong is worse than none.
        let Some(program) = program.usable().filter(|program| program.agreement().is_certain()) else {
            continue;
        };
        for (file, line, address) in brought {
            if let [_, .., innermost] = program.frames(address).as_slice()
                && !innermost.function.is_empty()
            {
                by_line.entry((file, line)).or_default().insert(Rc::clone(&innermost.function));
            }
        }
    }
    let by_line = by_line.into_iter().map(|(key, names)| (key, names.into_iter().collect())).collect();
    InlinedNames { by_line, remarks }
}
