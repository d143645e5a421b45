//! Builds profiles in memory.

use gristmill_format::{
    Calls, Cost, CostLine, CostRole, Costs, Error, Header, Line, Name, NameKey, NameStyle, PositionKind,
    Positions, Record, Words, Writer,
};

use crate::input::Input;
use crate::load::Loader;
use crate::profile::Profile;

/// A builder of profiles from functions, lines and calls.
///
/// The profile is written in the Callgrind format and loaded, so it is the same as one from a file, and can be saved as one.
///
/// ```
/// use gristmill_profile::{Builder, Selection};
///
/// let mut builder = Builder::new(&["Ir"]);
/// let main = builder.function(b"mill", b"mill.c", b"main");
/// let grind = builder.function(b"mill", b"stone.c", b"grind");
/// builder.cost(main, 16, &[400]);
/// builder.cost(grind, 50, &[9000]);
/// builder.call(main, 17, grind, 3, &[9000]);
/// let profile = builder.build()?;
/// assert_eq!(profile.totals(&Selection::default()), [9400]);
/// # Ok::<(), gristmill_profile::BuildError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Builder {
    events: Vec<Vec<u8>>,
    headers: Vec<(String, Vec<u8>)>,
    /// Object, file and name.
    functions: Vec<[Vec<u8>; 3]>,
    lines: Vec<BuilderLine>,
    costs: Vec<Cost>,
}

/// A function of a [`Builder`], whose example has two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuilderFunction(usize);

/// The error of a profile that the Callgrind format cannot express, such as one with a line end in a name.
///
/// See the example of [`Builder`].
pub type BuildError = Error;

#[derive(Debug, Clone)]
struct BuilderLine {
    function: usize,
    /// The file of inlined code.
    file: Option<Vec<u8>>,
    line: u64,
    /// Callee and count of calls.
    call: Option<(usize, Cost)>,
    costs: (usize, usize),
}

impl Builder {
    /// Creates a builder with these event types.
    pub fn new(events: &[&str]) -> Self {
        let events = events.iter().map(|event| event.as_bytes().to_vec()).collect();
        Builder { events, ..Builder::default() }
    }

    /// Adds a header line `key: value`: `cmd`, `pid`, `part`, `thread`, `creator`, or a key of your own.
    pub fn header(&mut self, key: &str, value: &[u8]) -> &mut Self {
        self.headers.push((key.to_owned(), value.to_vec()));
        self
    }

    /// Adds a function. Two with the same object, file and name are the same function.
    pub fn function(&mut self, object: &[u8], file: &[u8], name: &[u8]) -> BuilderFunction {
        self.functions.push([object.to_vec(), file.to_vec(), name.to_vec()]);
        BuilderFunction(self.functions.len() - 1)
    }

    /// Adds self costs of a line; missing costs are 0.
    pub fn cost(&mut self, function: BuilderFunction, line: u64, costs: &[Cost]) -> &mut Self {
        self.add(function, None, line, None, costs)
    }

    /// Adds self costs of a line of another file that was inlined into the function.
    pub fn inlined(
        &mut self,
        function: BuilderFunction,
        file: &[u8],
        line: u64,
        costs: &[Cost],
    ) -> &mut Self {
        self.add(function, Some(file.to_vec()), line, None, costs)
    }

    /// Adds calls from a line to another function, with their inclusive costs.
    pub fn call(
        &mut self,
        caller: BuilderFunction,
        line: u64,
        callee: BuilderFunction,
        count: Cost,
        inclusive: &[Cost],
    ) -> &mut Self {
        self.add(caller, None, line, Some((callee.0, count)), inclusive)
    }

    fn add(
        &mut self,
        function: BuilderFunction,
        file: Option<Vec<u8>>,
        line: u64,
        call: Option<(usize, Cost)>,
        costs: &[Cost],
    ) -> &mut Self {
        let start = self.costs.len();
        self.costs.extend_from_slice(costs);
        self.lines.push(BuilderLine {
            function: function.0,
            file,
            line,
            call,
            costs: (start, self.costs.len()),
        });
        self
    }

    /// Builds the profile.
    ///
    /// # Errors
    ///
    /// If a name or header cannot be written so that it reads back, or a cost is too large for a file.
    pub fn build(&self) -> Result<Profile, BuildError> {
        let bytes = self.write()?;
        Ok(Loader::new().load(vec![Input { name: String::new(), bytes: bytes.into() }]))
    }

    fn write(&self) -> Result<Vec<u8>, Error> {
        let mut writer = Writer::new(Vec::new()).names(NameStyle::Compressed);
        for (key, value) in &self.headers {
            writer.header(key, value)?;
        }
        writer.position_columns(&[PositionKind::Line])?;
        let events: Vec<&[u8]> = self.events.iter().map(Vec::as_slice).collect();
        writer.write(&Record::new(Line::Header(Header::Events(Words::new(&events)))))?;

        // The lines of a function are written together, in the order in which they came.
        let mut lines: Vec<&BuilderLine> = self.lines.iter().collect();
        lines.sort_by_key(|line| line.function);
        let mut current = None;
        for made in lines {
            let [object, file, name] = &self.functions[made.function];
            if current != Some(made.function) {
                current = Some(made.function);
                writer.object(object)?;
                writer.file(file)?;
                writer.function(name)?;
            }
            let costs = &self.costs[made.costs.0..made.costs.1];
            let mut write = |line| writer.write(&Record::new(line));
            let cost =
                |role| CostLine { role, positions: Positions::new(&[made.line]), costs: Costs::new(costs) };
            match (&made.file, made.call) {
                (Some(inlined), _) => {
                    write(Line::Name(NameKey::Fi, Name::plain(inlined)))?;
                    write(Line::Cost(cost(CostRole::SelfCost)))?;
                    write(Line::Name(NameKey::Fe, Name::plain(file)))?;
                }
                (None, None) => write(Line::Cost(cost(CostRole::SelfCost)))?,
                (None, Some((callee, count))) => {
                    let [object, file, name] = &self.functions[callee];
                    write(Line::Name(NameKey::Cob, Name::plain(object)))?;
                    write(Line::Name(NameKey::Cfi, Name::plain(file)))?;
                    write(Line::Name(NameKey::Cfn, Name::plain(name)))?;
                    write(Line::Calls(Calls { count, target: Positions::new(&[0]) }))?;
                    write(Line::Cost(cost(CostRole::Call)))?;
                }
            }
        }
        writer.finish()
    }
}
